//! The cost of the hooks of a timed call: measured in this process, or as the user gives it.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context, Result};
use metaspy_blueprints::Graph;
use metaspy_blueprints::graph::HookCost;
use metaspy_core::hook::{Frame, Guard, observed};
use metaspy_core::method_profilers::{Calls, MethodProfiler};
use metaspy_core::site::register_dynamic;
use metaspy_core::{Profiler, Recording, Site, SiteDef, SiteKind, Store};

use crate::exit::say;

/// Rounds of a measurement; the fastest counts.
const ROUNDS: usize = 40;
/// Calls in a round.
const CALLS: u32 = 1_000;

/// Where the cost of hooks comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hooks {
    /// It is measured now.
    Measured,
    /// It was measured elsewhere.
    Cost(HookCost),
    /// Times stay as they were recorded.
    Kept,
}

/// Reads `measured`, `kept`, or two numbers as in `21,58`.
pub fn parse(text: &str) -> Result<Hooks, String> {
    match text {
        "measured" => return Ok(Hooks::Measured),
        "kept" => return Ok(Hooks::Kept),
        _ => {}
    }
    let numbers = text.split_once(',').and_then(|(within, whole)| Some((within.parse().ok()?, whole.parse().ok()?)));
    match numbers {
        Some((within_ns, whole_ns)) if 0.0 <= within_ns && within_ns <= whole_ns && f64::is_finite(whole_ns) => {
            Ok(Hooks::Cost(HookCost { within_ns, whole_ns }))
        }
        _ => Err("expected `measured`, `kept`, or the nanoseconds between the clocks of a call and of its hooks in all: 21,58"
            .into()),
    }
}

/// Subtracts the cost of hooks from the times of a recording: the requested cost, and without a request the cost
/// measured now, if the recording is of this machine since it was started. Other times stay as they are.
pub fn subtract(graph: &mut Graph, store: &Store, requested: Option<Hooks>) -> Result<()> {
    let has_calls = graph.has_callers && !graph.callers_are_causes;
    let cost = match requested {
        Some(Hooks::Kept) => None,
        Some(_) if !has_calls => {
            return Err(say("--hooks subtracts the cost of METASPY_PROFILE=calls, which this recording does not have"));
        }
        Some(Hooks::Cost(cost)) => Some(cost),
        // Hooks of a woven program are always optimised.
        Some(Hooks::Measured) if cfg!(debug_assertions) => {
            return Err(say(
                "this metaspy is a debug build, so its hooks are slower: write --hooks 21,58 with known costs",
            ));
        }
        Some(Hooks::Measured) => {
            Some(measured().context("the cost of hooks cannot be measured: write --hooks 21,58 with known costs")?.cost)
        }
        None => default_cost(graph, Some(&store.program().boot)),
    };
    cost.into_iter().for_each(|cost| graph.subtract_hooks(cost));
    Ok(())
}

/// The cost that is subtracted without a request. `boot` is the machine of a recording since its start; without one, it is
/// this machine. `None`: what the hooks cost there is not known.
pub fn default_cost(graph: &Graph, boot: Option<&str>) -> Option<HookCost> {
    if !graph.has_callers || graph.callers_are_causes || cfg!(debug_assertions) {
        return None;
    }
    let measured = measured().ok()?;
    boot.is_none_or(|boot| !boot.is_empty() && boot == measured.boot).then_some(measured.cost)
}

/// The cost of the hooks of a call that does nothing, and the machine.
#[derive(Clone, Debug)]
struct Measured {
    cost: HookCost,
    /// The machine since it was started, as recordings name it.
    boot: String,
}

/// As [`measure`], once for all pictures.
fn measured() -> Result<Measured> {
    static MEASURED: OnceLock<Measured> = OnceLock::new();
    match MEASURED.get() {
        Some(measured) => Ok(measured.clone()),
        None => measure().map(|measured| MEASURED.get_or_init(|| measured).clone()),
    }
}

/// Measures calls that do nothing.
fn measure() -> Result<Measured> {
    let recording = Recording::memory().budget(4 << 20).collector(false).start()?;
    let site = register_dynamic(SiteDef {
        kind: SiteKind::Method,
        module: "metaspy",
        name: "hook_cost",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
    let installed = Profiler::new("hook cost").method_profiler(Calls::default()).install()?;
    let store = recording.store();
    let own = || {
        let profile = store.profile(Calls::NAME);
        let table = profile.as_ref().and_then(|profile| profile.table("")).context("the calls were not recorded")?;
        Ok::<u64, anyhow::Error>(table.rows.iter().filter_map(|row| table.value(row.key, "self").number()).sum())
    };
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let before = own()?;
        let whole_ns = round(site);
        rounds.push((whole_ns, (own()? - before) as f64));
    }
    drop(installed);
    // Other programs interrupt the others. A round without times counts in another recording of this process.
    let timed = rounds.into_iter().filter(|round| round.1 > 0.0);
    let fastest = timed.min_by(|a, b| a.0.total_cmp(&b.0)).context("there was no round")?;
    let (whole_ns, within_ns) = (fastest.0 / f64::from(CALLS), fastest.1 / f64::from(CALLS));
    let cost = HookCost { within_ns: within_ns.min(whole_ns), whole_ns };
    Ok(Measured { cost, boot: store.program().boot.clone() })
}

/// The nanoseconds of calls that do nothing.
fn round(site: &'static Site) -> f64 {
    let begin = Instant::now();
    for _ in 0..CALLS {
        if black_box(site).is_armed() {
            let mut frame = Frame::vacant();
            drop(Guard::of(site, observed::enter_site(&mut frame, site)));
        }
    }
    begin.elapsed().as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_two_numbers_the_first_a_part_of_the_second() {
        let cost = HookCost { within_ns: 21.5, whole_ns: 58.0 };
        assert_eq!((parse("21.5,58"), parse("measured")), (Ok(Hooks::Cost(cost)), Ok(Hooks::Measured)));
        assert_eq!(parse("kept"), Ok(Hooks::Kept));
        for wrong in ["", "21", "58,21", "-1,5", "NaN,NaN", "1,inf", "a,b"] {
            assert!(parse(wrong).is_err_and(|error| error.contains("21,58")), "{wrong}");
        }
    }

    #[test]
    fn the_hooks_of_an_empty_call_are_measured() {
        let _alone = crate::ONE_RECORDING.lock();
        let Measured { cost, boot } = measure().expect("there is memory");
        assert!(!boot.is_empty() || !cfg!(target_os = "linux"));
        assert!(0.0 < cost.within_ns && cost.within_ns <= cost.whole_ns, "{cost:?}");
    }
}
