//! Export for the Firefox Profiler (<https://profiler.firefox.com>): the samples of each thread in
//! the order of time, coloured by the owner of the code.

use std::collections::HashMap;
use std::io::{self, Write};

use fxprof_processed_profile::{
    CategoryColor, CpuDelta, Frame, FrameFlags, FrameInfo, Profile as Document, SamplingInterval,
    Timestamp,
};
use metaspy_report::export::{Exporter, Firefox, Written};

use crate::export::thread_name;
use crate::profile::Profile;
use crate::symbols::Category;

impl Exporter<Profile> for Firefox {
    fn export(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<Written> {
        let run = &profile.run;
        let symbols = &profile.symbols;
        let interval = SamplingInterval::from_nanos(profile.sample_ns);
        let mut document = Document::new(&run.target.join(" "), run.started_at.into(), interval);
        let first = run.samples.samples.first().map_or(0, |sample| sample.time_ns);
        let at = |ns: u64| Timestamp::from_nanos_since_reference(ns.saturating_sub(first));
        let categories: HashMap<Category, _> = Category::ALL
            .into_iter()
            .map(|of| (of, document.add_category(of.name(), color(of))))
            .collect();
        let (mut processes, mut threads, mut stacks) =
            (HashMap::new(), HashMap::new(), HashMap::new());
        for sample in &run.samples.samples {
            let of = &run.samples.threads[sample.thread as usize];
            let name = run.target.first().map_or("", String::as_str);
            let process = *processes
                .entry(of.pid)
                .or_insert_with(|| document.add_process(name, of.pid, at(first)));
            let thread = *threads.entry(sample.thread).or_insert_with(|| {
                let thread = document.add_thread(process, of.tid, at(first), of.tid == of.pid);
                document.set_thread_name(thread, &thread_name(profile, sample.thread));
                thread
            });
            let stack = *stacks.entry((sample.thread, sample.stack)).or_insert_with(|| {
                let mut frames: Vec<u32> = profile.methods_of(sample.stack).collect();
                frames.reverse();
                frames.into_iter().fold(None, |parent, function| {
                    let function = &symbols.functions[function as usize];
                    let label = Frame::Label(document.intern_string(&function.name));
                    let category_pair = categories[&function.category].into();
                    let info =
                        FrameInfo { frame: label, category_pair, flags: FrameFlags::empty() };
                    let frame = document.intern_frame(thread, info);
                    Some(document.intern_stack(thread, parent, frame))
                })
            });
            let cpu_ns = if sample.wall_ns == 0 { profile.sample_ns } else { sample.cpu_ns.into() };
            document.add_sample(thread, at(sample.time_ns), stack, CpuDelta::from_nanos(cpu_ns), 1);
        }
        serde_json::to_writer(&mut *out, &document)?;
        Ok(Written { events: profile.total(), notes: Vec::new() })
    }
}

fn color(category: Category) -> CategoryColor {
    match category {
        Category::User => CategoryColor::Blue,
        Category::Dependency => CategoryColor::Green,
        Category::Std => CategoryColor::Purple,
        Category::Libc => CategoryColor::Yellow,
        Category::Kernel => CategoryColor::Orange,
        Category::Registered => CategoryColor::Red,
        Category::Metaspy => CategoryColor::Brown,
        Category::Unknown => CategoryColor::Gray,
    }
}
