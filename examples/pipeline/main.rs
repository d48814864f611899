//! Where did this late result wait?
//!
//! A pipeline of three tasks with a queue before each: pictures are decoded, resized and stored.
//! Most take a few milliseconds, some take many times as long, and no call stack shows it: a
//! sampled task is never slow.
//!
//! **The finding.** The causes of a late result lead back through the tasks, from receipt to
//! sending, with the time of each step. The task that stores pictures stops at every sixteenth one
//! to flush. But only 12 of 46 late results were flushed. The other 34 were in time in every
//! function on their way, and waited behind a flush in the queue `resized`. The profiler has no
//! site for a flush; it takes the longest step on the way of each late result.
//!
//! Run it with `cargo run --release --example pipeline [-- --record FILE.spy]`, and walk through it
//! with `metaspy open FILE.spy`: the slowest `pipeline::store` first, then its causes up.

mod stages;
mod way;

use std::path::PathBuf;
use std::process::ExitCode;

use metaspy::channels::proxied;
use metaspy::prelude::*;
use metaspy::store::{Filter, Position};
use metaspy::tasks::tasks;
use way::Way;

/// Pictures that go through.
const PICTURES: u64 = 200;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let record: Option<PathBuf> = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => None,
        (Some("--record"), Some(file)) => Some(file.into()),
        _ => {
            eprintln!("usage: pipeline [--record FILE.spy]");
            return ExitCode::from(2);
        }
    };
    match run(record) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pipeline: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(record: Option<PathBuf>) -> Result<(), Box<dyn std::error::Error>> {
    let recording = record.as_ref().map(|file| Recording::file(file).start()).transpose()?;
    let profiler = Profiler::new("pipeline")
        .observe(methods("stages::**"))
        .observe(tasks())
        .observe(proxied("decoded::*"))
        .observe(proxied("resized::*"))
        .observe(proxied("pictures::*"))
        .install()?;
    stages::run(PICTURES)?;
    let profile = profiler.uninstall();

    let store = profile.store();
    let stored: Filter = "site:stages::store".parse()?;
    let results = store.forward(Position::Start, &stored, usize::MAX, usize::MAX).events;
    let mut ways: Vec<Way> = results.iter().map(|event| Way::of(store, event)).collect();
    ways.sort_by_key(|way| std::cmp::Reverse(way.total_ns()));
    let median = ways[ways.len() / 2].total_ns();
    let late: Vec<&Way> = ways.iter().filter(|way| way.total_ns() > 3 * median).collect();
    println!(
        "{} results, half of them within {}; {} took more than three times as long",
        ways.len(),
        ms(median),
        late.len()
    );
    println!("\nWhat held them up longest:");
    let held_up = way::longest(&late);
    for (step, times) in &held_up {
        println!("{times:>5}  {step}");
    }
    // Those that were flushed are no riddle; of the others the latest.
    let waited = late
        .iter()
        .find(|way| held_up.first().is_some_and(|(step, _)| way.longest_name() == Some(step)));
    if let Some(way) = waited {
        println!("\nThe latest of the most frequent, from its beginning:\n{way}");
    }
    if let (Some(recording), Some(file)) = (recording, record) {
        recording.close();
        println!("\nEvent by event:  metaspy open {}", file.display());
    }
    Ok(())
}

/// For people.
fn ms(ns: u64) -> String {
    format!("{:.1} ms", ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_leads_back_to_its_beginning() {
        let profiler = Profiler::new("ways")
            .observe(methods("stages::**"))
            .observe(proxied("*::*"))
            .observe(tasks());
        let profiler = profiler.install().expect("it is observed");
        stages::run(20).expect("a runtime");
        let profile = profiler.uninstall();
        let store = profile.store();
        let stored: Filter = "site:stages::store".parse().expect("it is a filter");
        let results = store.forward(Position::Start, &stored, usize::MAX, usize::MAX).events;
        assert_eq!(results.len(), 20);
        for result in results {
            let queues = ["pictures", "decoded", "resized"];
            let steps = queues
                .iter()
                .flat_map(|queue| [format!("{queue}::sent"), format!("{queue}::received")]);
            let expected: Vec<String> =
                ["pipeline::stages::take".to_owned()].into_iter().chain(steps).collect();
            let mut way: Vec<&str> =
                store.causes(result.id).map(|cause| store.site_path(cause.site)).collect();
            way.reverse();
            assert_eq!(way, expected);
            // The picture is the same all the way.
            assert_eq!(
                store.causes(result.id).last().and_then(|first| first.subject),
                result.subject
            );
        }
    }
}
