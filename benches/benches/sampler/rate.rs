//! The achieved rate on two busy threads.

use std::sync::atomic::AtomicBool;

use metaspy_benches::stats::median;
use metaspy_sampler::options::{Choice, Clock};
use metaspy_sampler::{Options, Target, sample};

use crate::{Goal, Limit, program, rounds};

const WAYS: [(&str, Choice, Clock, u32); 5] = [
    ("perf, 1 kHz", Choice::Best, Clock::Processor, 1_000),
    ("perf, 1.5 kHz", Choice::Best, Clock::Processor, 1_500),
    ("timer, 100 Hz", Choice::Timer, Clock::Processor, 100),
    ("timer, 1 kHz", Choice::Timer, Clock::Processor, 1_000),
    ("timer, wall, 1 kHz", Choice::Timer, Clock::Wall, 1_000),
];

/// Samples two busy threads with each back end.
pub fn measure() -> Result<Vec<Goal>, String> {
    println!(
        "\n{:<30} {:>9} {:>9} {:>9}",
        "rate on two busy threads", "asked Hz", "got Hz", "lost"
    );
    let mut goals = Vec::new();
    for (name, back_end, clock, rate_hz) in WAYS {
        let (mut hz, mut lost) = (Vec::new(), 0);
        for _ in 0..rounds().min(5) {
            let words = program::command("threads")?;
            let options = Options { back_end, clock, rate_hz, ..Options::default() };
            let run = sample(&Target::Command(words), &options, &AtomicBool::new(false))
                .map_err(|it| it.to_string())?;
            hz.push(run.achieved_hz());
            lost += run.samples.counts.lost;
        }
        println!("{name:<30} {rate_hz:>9} {:>9.1} {lost:>9}", median(&hz));
        let is = 100.0 * (median(&hz) / f64::from(rate_hz) - 1.0).abs();
        goals.push(Goal {
            what: format!("rate of {name}: % from the requested one"),
            is,
            limit: Limit::AtMost(2.0),
        });
    }
    Ok(goals)
}
