//! The cost of the hooks of a timed call: as the recording has it, or as the user gives it.

use anyhow::Result;
use metaspy_blueprints::Graph;
use metaspy_blueprints::graph::HookCost;

use crate::exit::say;

/// Where the cost of hooks comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hooks {
    /// It was measured while recording.
    Measured,
    /// It is known otherwise.
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
    let numbers = text
        .split_once(',')
        .and_then(|(within, whole)| Some((within.parse().ok()?, whole.parse().ok()?)));
    match numbers {
        Some((within_ns, whole_ns)) if 0.0 <= within_ns && within_ns <= whole_ns && f64::is_finite(whole_ns) => {
            Ok(Hooks::Cost(HookCost { within_ns, whole_ns, returned_ns: 0.0 }))
        }
        _ => Err("expected `measured`, `kept`, or the nanoseconds between the clocks of a call and of its hooks in all: 21,58"
            .into()),
    }
}

/// Subtracts the cost of hooks from the times of a recording: the requested cost, and without a
/// request the cost in the recording, if it has one. Other times stay as they are.
pub fn subtract(graph: &mut Graph, requested: Option<Hooks>) -> Result<()> {
    let has_calls = graph.has_callers && !graph.callers_are_causes;
    let cost = match requested {
        Some(Hooks::Kept) => None,
        Some(_) if !has_calls => {
            return Err(say(
                "--hooks subtracts the cost of METASPY_PROFILE=calls, which this recording does not have",
            ));
        }
        Some(Hooks::Cost(cost)) => Some(cost),
        Some(Hooks::Measured) if graph.recorded_hooks().is_none() => {
            return Err(say(
                "the cost of hooks was not measured while recording: record again, or write --hooks 21,58 with known costs",
            ));
        }
        Some(Hooks::Measured) | None => graph.recorded_hooks(),
    };
    cost.into_iter().for_each(|cost| graph.subtract_hooks(cost));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_two_numbers_the_first_a_part_of_the_second() {
        let cost = HookCost { within_ns: 21.5, whole_ns: 58.0, returned_ns: 0.0 };
        assert_eq!(
            (parse("21.5,58"), parse("measured")),
            (Ok(Hooks::Cost(cost)), Ok(Hooks::Measured))
        );
        assert_eq!(parse("kept"), Ok(Hooks::Kept));
        for wrong in ["", "21", "58,21", "-1,5", "NaN,NaN", "1,inf", "a,b"] {
            assert!(parse(wrong).is_err_and(|error| error.contains("21,58")), "{wrong}");
        }
    }
}
