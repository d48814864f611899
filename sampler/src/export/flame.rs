//! Flame graph as a page for a browser: the stacks of each thread, merged and in the order of time.
//!
//! If a sampled process records, a second set of stacks begins with the subjects: the object that
//! the time was for, then the code.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use metaspy_report::export::{Exporter, Written};
use metaspy_report::flame::{
    self, Call, FlamePage, InTime, Lane, Longest, MEASURES, Measure, Stacks, Tree, Unit,
    source_lines,
};
use metaspy_report::source_line::SourceFiles;
use metaspy_report::text::counted;

use super::thread_name;
use crate::options::Clock;
use crate::profile::Profile;
use crate::samples::{Sample, UNKNOWN};

/// Exporter of a flame graph as an HTML page.
#[derive(Clone, Copy, Debug)]
pub struct Flame;

impl Exporter<Profile> for Flame {
    fn export(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<Written> {
        out.write_all(page(profile).html().as_bytes())?;
        Ok(Written { events: profile.total(), notes: Vec::new() })
    }
}

/// Builds the page of a run.
fn page(profile: &Profile) -> FlamePage {
    let samples = &profile.run.samples;
    let mut page = FlamePage::new(profile.run.target.join(" "));
    let mut sources = SourceFiles::default();
    let mut lines = profile.lines();
    let functions: Vec<usize> = (0..)
        .zip(&profile.symbols.functions)
        .map(|(number, function)| {
            let place = function.file.as_deref().unwrap_or(&function.module);
            let at = page.function(&function.name, place, function.category.name());
            if let Some(lines) = lines.remove(&number) {
                page.functions[at].lines = source_lines(lines, place, &mut sources);
            }
            at
        })
        .collect();
    let stacks: Vec<Vec<usize>> = (0..samples.stacks.len())
        .map(|stack| {
            profile.own_stack(stack).map(|function| functions[function as usize]).collect()
        })
        .collect();
    page.stacks.push(by_thread(profile, &stacks));
    if samples.events.is_empty() {
        let why = "no sampled process records: METASPY_RECORD=run.spy metaspy sample -- PROGRAM";
        page.absent.push(flame::Absent { name: "subjects".into(), why: why.into() });
    } else {
        let subjects = by_subject(profile, &stacks, &mut page);
        page.stacks.push(subjects);
    }
    page
}

fn stacks(profile: &Profile, name: &str, about: &str, lanes: Vec<Lane>) -> Stacks {
    let time =
        if profile.run.options.clock == Clock::Wall { "wall time" } else { "processor time" };
    let mut stacks = Stacks {
        name: name.into(),
        about: about.into(),
        measures: vec![Measure::new(time, Unit::Samples(profile.sample_ns))],
        lanes,
        ..Stacks::default()
    };
    stacks.add_up();
    stacks
}

fn by_thread(profile: &Profile, stacks: &[Vec<usize>]) -> Stacks {
    let samples = &profile.run.samples;
    let first_ns = samples
        .samples
        .iter()
        .map(|sample| sample.time_ns)
        .min()
        .unwrap_or(0)
        .saturating_sub(profile.sample_ns);
    let mut by_thread: HashMap<u32, Vec<&Sample>> = HashMap::new();
    samples
        .samples
        .iter()
        .for_each(|sample| by_thread.entry(sample.thread).or_default().push(sample));
    let mut by_thread: Vec<(u32, Vec<&Sample>)> = by_thread.into_iter().collect();
    by_thread.sort_by_key(|(thread, samples)| (Reverse(samples.len()), *thread));
    let mut longest = Longest::default();
    let mut lanes = Vec::new();
    for (lane, (thread, samples)) in by_thread.into_iter().enumerate() {
        let mut tree = Tree::default();
        for sample in &samples {
            tree.add(stacks[sample.stack as usize].iter().copied(), ONE);
        }
        in_time(profile, stacks, samples, first_ns, |call| longest.add(lane, call));
        lanes.push(Lane { name: thread_name(profile, thread), tree, in_time: None });
    }
    let shorter = longest.shorter;
    let in_time = longest.by_lane(lanes.len());
    for (lane, calls) in lanes.iter_mut().zip(in_time) {
        lane.in_time = Some(InTime { calls: calls.calls });
    }
    let about = "samples of each thread by stack; inlined functions are frames";
    let mut stacks = self::stacks(profile, "samples", about, lanes);
    if shorter > 0 {
        stacks.notes.push(format!(
            "in the order of time: without the {} that are shortest",
            counted(shorter, "call")
        ));
    }
    stacks
}

/// Numbers of a sample.
const ONE: [u64; MEASURES] = [1, 0, 0];

/// Makes calls of the samples of a thread: neighbours with the same callers are in one call. A
/// sample ends the period that it stands for.
fn in_time(
    profile: &Profile,
    stacks: &[Vec<usize>],
    mut samples: Vec<&Sample>,
    first_ns: u64,
    mut found: impl FnMut(Call),
) {
    samples.sort_by_key(|sample| sample.time_ns);
    let mut open: Vec<(u64, usize)> = Vec::new();
    let mut last_ns = 0;
    let end = |open: &mut Vec<(u64, usize)>, kept: usize, at: u64, found: &mut dyn FnMut(Call)| {
        for (start_ns, function) in open.drain(kept..) {
            found(Call { start_ns, end_ns: Reverse(at), function });
        }
    };
    for sample in samples {
        let now = sample.time_ns.saturating_sub(first_ns);
        let start = now.saturating_sub(profile.sample_ns).max(last_ns);
        let stack = &stacks[sample.stack as usize];
        // A thread that waited has no samples meanwhile.
        let waited = start > last_ns.saturating_add(profile.sample_ns / 2);
        let is_same = |(&(_, open), now): (&(u64, usize), &usize)| open == *now;
        let kept = if waited {
            0
        } else {
            open.iter().zip(stack).take_while(|&pair| is_same(pair)).count()
        };
        end(&mut open, kept, last_ns, &mut found);
        open.extend(stack[kept..].iter().map(|&function| (start, function)));
        last_ns = now;
    }
    end(&mut open, 0, last_ns, &mut found);
}

fn by_subject(profile: &Profile, stacks: &[Vec<usize>], page: &mut FlamePage) -> Stacks {
    let samples = &profile.run.samples;
    let labels: Vec<usize> = (samples.events.iter())
        .map(|event| {
            page.function(
                &event_label(&event.site, event.subject.as_deref()),
                "",
                "recorded events",
            )
        })
        .collect();
    let outside = page.function("in no recorded event", "", "");
    let unknown = page.function("in events that left the window", "", "");
    let mut counts: HashMap<(u32, u32), u64> = HashMap::new();
    samples
        .samples
        .iter()
        .for_each(|sample| *counts.entry((sample.events, sample.stack)).or_default() += 1);
    let mut tree = Tree::default();
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    for ((events, stack), count) in counts {
        let around: Vec<usize> =
            match samples.lists.get(events as usize).filter(|list| !list.is_empty()) {
                Some(list) => list.iter().map(|&event| labels[event as usize]).collect(),
                None => vec![if events == UNKNOWN { unknown } else { outside }],
            };
        tree.add(
            around.into_iter().chain(stacks[stack as usize].iter().copied()),
            ONE.map(|one| one * count),
        );
    }
    let about = "samples by the recorded events around them: for which object the time was, and below in which code";
    self::stacks(profile, "subjects", about, vec![Lane { tree, ..Lane::default() }])
}

/// Formats the label of an event: `Scene::layout #412 <p>`.
fn event_label(site: &str, subject: Option<&str>) -> String {
    let site = metaspy_report::text::short_path(site);
    subject.map_or_else(|| site.to_owned(), |subject| format!("{site} {subject}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sampled, profile};

    #[test]
    fn the_page_has_a_tree_whose_frames_add_up_and_calls_in_the_order_of_time() {
        let profile = profile(&[
            Sampled { count: 3, stack: "main:1 > </script>:10 [inner:99]" },
            Sampled { count: 2, stack: "main:2 > </script>:11" },
            Sampled { count: 1, stack: "main:7" },
        ]);
        let mut html = Vec::new();
        Flame.export(&profile, &mut html).expect("memory has room");
        let html = String::from_utf8(html).expect("a page is text");
        assert_eq!(html.matches("</script>").count(), 2, "a name ends no script");
        let page = page(&profile);
        let samples = &page.stacks[0];
        let name = |at: usize| page.functions[at].name.as_str();
        let frames = &samples.lanes[0].tree.frames;
        let found: Vec<_> = frames[1..]
            .iter()
            .map(|frame| (name(frame.function), frame.own[0], frame.total[0]))
            .collect();
        assert_eq!(found, [("main", 1, 6), ("</script>", 2, 5), ("inner", 3, 3)]);
        let lines: Vec<_> = page
            .functions
            .iter()
            .map(|function| (function.name.as_str(), function.lines.len()))
            .collect();
        assert_eq!(lines, [("main", 3), ("inner", 1), ("</script>", 2)]);
        let calls = &samples.lanes[0].in_time.as_ref().expect("samples have times").calls;
        let calls: Vec<_> =
            calls.iter().map(|call| (name(call.function), call.start_ns, call.end_ns.0)).collect();
        // The first sample was taken at 0 ns.
        assert_eq!(
            calls,
            [("main", 0, 5_000_000), ("</script>", 0, 4_000_000), ("inner", 0, 2_000_000)]
        );
        assert_eq!((page.stacks.len(), page.absent[0].name.as_str()), (1, "subjects"));
    }
}
