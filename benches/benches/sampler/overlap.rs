//! M30: how much of the full profile of the layout story `Mode::Sampled` finds, and at what cost.
//!
//! The overlap of two profiles is the sum, over all nodes, of the smaller of their two shares
//! (Arnold and Ryder, *A framework for reducing the cost of instrumented code*, 2001). Two full
//! profiles do not overlap wholly, because time is never the same twice: their overlap is printed,
//! too. A profile covers all rounds.

use std::collections::HashMap;

use metaspy::instrumenter::Arming;
use metaspy::store::{By, Scope, TallyRow};
use metaspy::{InstallError, Installation, Instrumenter, Mode, Profiler, Recording, Session};
use metaspy_benches::child;
use metaspy_benches::clock::Took;
use metaspy_benches::stats::median;
use metaspy_layout_story::Page;
use metaspy_layout_story::bench::{Case, Relayouts};
use serde::{Deserialize, Serialize};

use crate::{Goal, Limit, rounds};

/// A run of the layout: its time, and calls and time of each node.
#[derive(Default, Serialize, Deserialize)]
struct LayoutRun {
    cpu_ns: f64,
    nodes: HashMap<String, (f64, f64)>,
}

impl LayoutRun {
    /// Adds the calls and the time of another run.
    fn add(&mut self, run: LayoutRun) {
        for (node, (calls, ticks)) in run.nodes {
            let all = self.nodes.entry(node).or_default();
            *all = (all.0 + calls, all.1 + ticks);
        }
    }
}

/// A quantity of a node.
type Of = fn(&(f64, f64)) -> f64;

struct Layouts(Mode);

impl Instrumenter for Layouts {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&"Scene::layout".parse()?, &Arming::all(self.0))?;
        Ok(Installation::none())
    }
}

/// The child: re-layouts of one letter or of the whole page, in one mode.
pub fn run(case: &str) {
    let (case, mode) = case.split_once('/').expect("a case and a mode");
    let (case, times) =
        if case == "whole" { (Case::WholePage, 600) } else { (Case::OneChange, 3_000) };
    let times = if child::is_smoke() { 4 } else { times };
    let mode = match mode {
        "full" => Mode::Full,
        "sampled" => Mode::Sampled,
        _ => Mode::Off,
    };
    let mut page =
        Relayouts::of(Page::shipped().scene()).expect("the shipped page can be laid out");
    page.run(case, times / 10 + 2).expect("it still can");
    let recording = Recording::memory().start().expect("a recording starts");
    let installed = (mode != Mode::Off).then(|| {
        Profiler::new("layouts").observe(Layouts(mode)).install().expect("the story has layouts")
    });
    let (took, _) = Took::by(|| page.run(case, times).expect("it still can"));
    drop(installed);
    let rows = recording.store().tally(By::Subject, &Scope::default()).rows;
    let node = |row: TallyRow| {
        let measure = row.measure;
        // The mean of the timed calls stands for all.
        let each = measure.total_ticks as f64 / measure.timed.max(1) as f64;
        (format!("{:?}", row.subject), (measure.count as f64, each * measure.count as f64))
    };
    let nodes = rows.into_iter().map(node).collect();
    child::report(&LayoutRun { cpu_ns: took.cpu.as_nanos() as f64, nodes });
}

/// Runs the modes, interleaved.
pub fn measure() -> Result<Vec<Goal>, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    println!(
        "\n{:<30} {:>8} {:>9} {:>9} {:>11}",
        "Mode::Sampled", "cpu +%", "calls %", "time %", "full twice %"
    );
    let mut goals = Vec::new();
    for (case, what) in [("whole", "whole page"), ("one", "one letter")] {
        let (mut costs, mut pooled): (Vec<f64>, [LayoutRun; 3]) = Default::default();
        for _ in 0..rounds() {
            let run =
                |mode: &str| child::start::<LayoutRun>(&own, &format!("layout:{case}/{mode}"), &[]);
            let (off, runs) = (run("off")?, [run("sampled")?, run("full")?, run("full")?]);
            costs.push(100.0 * (runs[0].cpu_ns / off.cpu_ns - 1.0));
            pooled.iter_mut().zip(runs).for_each(|(all, run)| all.add(run));
        }
        let [sampled, full, again] = &pooled;
        let cost = median(&costs);
        let calls = overlap(sampled, full, |node| node.0);
        let time = overlap(sampled, full, |node| node.1);
        let twice = overlap(again, full, |node| node.1);
        println!("{what:<30} {cost:>8.2} {calls:>9.2} {time:>9.2} {twice:>11.2}");
        let goal =
            |of: &str, is, limit| Goal { what: format!("Mode::Sampled, {what}: {of}"), is, limit };
        goals.push(goal("cost, % of processor time", cost, Limit::AtMost(3.0)));
        goals.push(goal("overlap of calls with the full profile, %", calls, Limit::AtLeast(98.0)));
        goals.push(goal("overlap of time with the full profile, %", time, Limit::AtLeast(98.0)));
    }
    Ok(goals)
}

/// The overlap of two profiles, in %.
fn overlap(one: &LayoutRun, other: &LayoutRun, of: Of) -> f64 {
    let sum = |found: &LayoutRun| found.nodes.values().map(of).sum::<f64>();
    let (one_sum, other_sum) = (sum(one), sum(other));
    let share = |found: &LayoutRun, sum: f64, node: &String| {
        found.nodes.get(node).map_or(0.0, |it| of(it) / sum)
    };
    let least =
        one.nodes.keys().map(|node| share(one, one_sum, node).min(share(other, other_sum, node)));
    100.0 * least.sum::<f64>()
}
