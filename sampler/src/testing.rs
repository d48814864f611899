//! Profiles for tests, from a notation. The text `main:1 > outer:11 [middle:5 inner:99]` is a
//! stack, outermost first, with inlined functions in brackets. Names have the owner of their crate.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use crate::options::Options;
use crate::profile::Profile;
use crate::run::{Ended, Run};
use crate::samples::{CodeLocation, NO_EVENT, Sample, Samples, Stack, StackEnd, Thread};
use crate::statistics::Statistics;
use crate::symbols::{Category, Frame, Function, Resolved, Symbols};

/// A stack with its number of samples.
pub struct Sampled {
    pub count: u64,
    pub stack: &'static str,
}

/// Makes the profile of a run of a single thread with these samples, a millisecond apart.
pub fn profile(sampled: &[Sampled]) -> Profile {
    let mut samples = Samples::default();
    let mut symbols = Symbols::default();
    let (mut functions, mut addresses): (HashMap<&str, u32>, HashMap<&str, u32>) =
        Default::default();
    samples.threads.push(Thread { pid: 1, tid: 1, name: "main".into() });
    for (number, Sampled { count, stack }) in sampled.iter().enumerate() {
        let mut frames = Vec::new();
        for text in stack.split(" > ") {
            let new = addresses.len() as u32;
            frames.push(*addresses.entry(text).or_insert_with(|| {
                let inlined =
                    text.split_once(" [").map(|(_, inlined)| inlined.trim_end_matches(']'));
                let outer = text.split(" [").next();
                let frame = |text: &'static str| {
                    let (name, line) = text.rsplit_once(':').expect("a frame is a name and a line");
                    let function = *functions.entry(name).or_insert_with(|| {
                        let file = Some("/src/main.rs".into());
                        let module = "/bin/test".into();
                        let category = Category::of(name, None, "/bin/test", true);
                        symbols.functions.push(Function {
                            name: name.into(),
                            file,
                            category,
                            module,
                        });
                        symbols.functions.len() as u32 - 1
                    });
                    Frame { function, line: line.parse().expect("a line is a number") }
                };
                let inlined = inlined.into_iter().flat_map(|inlined| inlined.split(' ').rev());
                let frames = inlined.chain(outer).map(frame).collect();
                symbols.addresses.push(Resolved { frames, range: None });
                samples.addresses.push(CodeLocation::Kernel(new.into()));
                new
            }));
        }
        frames.reverse();
        samples.stacks.push(Stack { frames: frames.into(), end: StackEnd::Whole });
        for _ in 0..*count {
            let time_ns = samples.samples.len() as u64 * 1_000_000;
            samples.samples.push(Sample {
                time_ns,
                thread: 0,
                stack: number as u32,
                events: NO_EVENT,
                event: None,
                cpu_ns: 0,
                wall_ns: 0,
            });
        }
    }
    let total = samples.samples.len() as u64;
    let run = Run {
        target: vec!["/bin/test".into(), "--fast".into()],
        pid: 1,
        started_at: SystemTime::UNIX_EPOCH,
        elapsed: Duration::from_millis(total),
        processor_ns: total * 1_000_000,
        back_end: crate::run::PERF,
        refused: None,
        untimed: 0,
        with_kernel: true,
        options: Options::default(),
        ended: Ended::Unknown,
        statistics: Statistics::default(),
        samples,
        recordings: Vec::new(),
    };
    let mut counts = vec![0; sampled.len()];
    sampled.iter().zip(&mut counts).for_each(|(of, count)| *count = of.count);
    let cpu_ns = counts.iter().map(|count| count * 1_000_000).collect();
    Profile { run, symbols, counts, cpu_ns, sample_ns: 1_000_000 }
}
