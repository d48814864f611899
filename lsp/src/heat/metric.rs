//! Metrics that heat can show.

use metaspy_report::text::{counted, short_bytes, time};
use serde::{Deserialize, Serialize};

use crate::numbers::Numbers;

/// Metric of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Number of calls.
    #[default]
    Calls,
    /// Time of the calls without the time of callees, in ns.
    SelfTime,
    /// Time of the calls with the time of callees, in ns.
    TotalTime,
    /// Mean total time of a timed call, in ns.
    TimePerCall,
    /// Number of distinct objects that the function was called on.
    Receivers,
    /// Number of heap allocations in the function's own code, without its callees.
    Allocations,
    /// Bytes of the heap allocations in the function's own code.
    Memory,
    /// Number of executed instructions in the function's own code.
    Instructions,
    /// Mean number of heap allocations of a call, in the function's own code.
    AllocationsPerCall,
    /// Mean bytes of the heap allocations of a call, in the function's own code.
    MemoryPerCall,
    /// Mean number of executed instructions of a call, in the function's own code.
    InstructionsPerCall,
}

impl Metric {
    /// All metrics, in the order of the settings.
    pub const ALL: [Metric; 11] = [
        Metric::Calls,
        Metric::SelfTime,
        Metric::TotalTime,
        Metric::TimePerCall,
        Metric::Receivers,
        Metric::Allocations,
        Metric::Memory,
        Metric::Instructions,
        Metric::AllocationsPerCall,
        Metric::MemoryPerCall,
        Metric::InstructionsPerCall,
    ];

    /// Returns the word for the settings.
    pub fn word(self) -> &'static str {
        match self {
            Metric::Calls => "calls",
            Metric::SelfTime => "self-time",
            Metric::TotalTime => "total-time",
            Metric::TimePerCall => "time-per-call",
            Metric::Receivers => "receivers",
            Metric::Allocations => "allocations",
            Metric::Memory => "memory",
            Metric::Instructions => "instructions",
            Metric::AllocationsPerCall => "allocations-per-call",
            Metric::MemoryPerCall => "memory-per-call",
            Metric::InstructionsPerCall => "instructions-per-call",
        }
    }

    /// Returns the metric whose values can be added up: the total of a mean.
    pub fn total(self) -> Metric {
        match self {
            Metric::TimePerCall => Metric::TotalTime,
            Metric::AllocationsPerCall => Metric::Allocations,
            Metric::MemoryPerCall => Metric::Memory,
            Metric::InstructionsPerCall => Metric::Instructions,
            total => total,
        }
    }

    /// Returns the value of a function, or `None` if it was not recorded.
    pub fn of(self, numbers: &Numbers) -> Option<f64> {
        let count = match self {
            Metric::Calls => numbers.calls,
            Metric::SelfTime => numbers.self_ns?,
            Metric::TotalTime => numbers.total_ns?,
            Metric::Receivers => numbers.receivers?.magnitude(),
            Metric::Allocations => numbers.objects?.count,
            Metric::Memory => numbers.objects?.bytes,
            Metric::Instructions => numbers.instructions?.count,
            Metric::TimePerCall => return mean(numbers.total_ns?, numbers.timed_calls),
            Metric::AllocationsPerCall => {
                return mean(numbers.objects?.count, numbers.objects?.calls);
            }
            Metric::MemoryPerCall => return mean(numbers.objects?.bytes, numbers.objects?.calls),
            Metric::InstructionsPerCall => {
                return mean(numbers.instructions?.count, numbers.instructed_calls);
            }
        };
        Some(count as f64)
    }

    /// Formats the value of a function with its unit, and with a sign if it is a bound. Returns
    /// `None` if it was not recorded.
    pub fn phrase(self, numbers: &Numbers) -> Option<String> {
        let sign = match (self, numbers.is_partly_timed(), numbers.total_at_most) {
            // The self time of a call contains callees that were not timed.
            (Metric::SelfTime, true, _) | (Metric::TotalTime, true, true) => "~",
            (Metric::TotalTime, true, false) => "≥",
            (Metric::TotalTime | Metric::TimePerCall, _, true) => "≤",
            _ if self.is_least(numbers) => "≥",
            _ => "",
        };
        self.of(numbers).map(|value| format!("{sign}{}", self.write(value)))
    }

    /// Returns true if some objects or instructions of a function found no room. Those of its calls
    /// are then too few.
    fn is_least(self, numbers: &Numbers) -> bool {
        match self {
            Metric::Allocations
            | Metric::Memory
            | Metric::AllocationsPerCall
            | Metric::MemoryPerCall => numbers.objects.is_some_and(|objects| objects.is_least),
            Metric::Instructions | Metric::InstructionsPerCall => {
                numbers.instructions.is_some_and(|instructions| instructions.is_least)
            }
            _ => false,
        }
    }

    /// Formats a value with its unit.
    pub fn write(self, value: f64) -> String {
        let whole = value.round() as u64;
        match self {
            Metric::Calls => counted(whole, "call"),
            Metric::SelfTime => format!("{} self", time(whole)),
            Metric::TotalTime => time(whole),
            Metric::TimePerCall => format!("{} a call", time(whole)),
            Metric::Receivers => counted(whole, "receiver"),
            Metric::Allocations => counted(whole, "allocation"),
            Metric::Memory => format!("{} allocated", short_bytes(whole)),
            Metric::Instructions => counted(whole, "instruction"),
            Metric::AllocationsPerCall => format!("{} a call", mean_of(value, "allocation")),
            Metric::MemoryPerCall if value > 0.0 && whole == 0 => "<1 B allocated a call".into(),
            Metric::MemoryPerCall => format!("{} allocated a call", short_bytes(whole)),
            Metric::InstructionsPerCall => format!("{} a call", mean_of(value, "instruction")),
        }
    }
}

/// Returns the mean of the calls that were measured, or `None` without such calls.
fn mean(sum: u64, calls: u64) -> Option<f64> {
    (calls > 0).then(|| sum as f64 / calls as f64)
}

/// Formats a mean number of things.
fn mean_of(value: f64, thing: &str) -> String {
    match value {
        _ if value.fract() == 0.0 || value >= 100.0 => counted(value.round() as u64, thing),
        _ if value < 0.05 => format!("<0.1 {thing}s"),
        _ => format!("{value:.1} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use metaspy_report::program::{Instructions, Objects};

    use super::*;

    #[test]
    fn a_metric_that_was_not_recorded_has_no_value() {
        let none = Numbers { calls: 2, ..Numbers::default() };
        let metrics =
            [Metric::Allocations, Metric::Memory, Metric::Instructions, Metric::TimePerCall];
        assert_eq!(metrics.map(|metric| metric.of(&none)), [None; 4]);
        let objects = Some(Objects { count: 1_200, bytes: 9, calls: 2, is_least: false });
        let all = Numbers {
            objects,
            instructions: Some(Instructions { count: 1, is_least: false }),
            total_ns: Some(8_000),
            ..none
        };
        assert_eq!(
            metrics.map(|metric| written(metric, &all)),
            ["1,200 allocations", "9 B allocated", "1 instruction", ""]
        );
    }

    #[test]
    fn a_mean_is_one_of_the_calls_that_were_measured() {
        let means = [
            Metric::TimePerCall,
            Metric::AllocationsPerCall,
            Metric::MemoryPerCall,
            Metric::InstructionsPerCall,
        ];
        let check = |count, measured, expected: [&str; 4]| {
            let numbers = Numbers {
                calls: 1_000_000,
                total_ns: Some(count),
                timed_calls: measured,
                objects: Some(Objects { count, bytes: count, calls: measured, is_least: false }),
                instructions: Some(Instructions { count, is_least: false }),
                instructed_calls: measured,
                ..Numbers::default()
            };
            assert_eq!(
                means.map(|metric| written(metric, &numbers)),
                expected,
                "{count} of {measured}"
            );
        };
        check(
            3,
            2,
            [
                "2 ns a call",
                "1.5 allocations a call",
                "2 B allocated a call",
                "1.5 instructions a call",
            ],
        );
        check(
            4,
            4,
            ["1 ns a call", "1 allocation a call", "1 B allocated a call", "1 instruction a call"],
        );
        check(
            1,
            99,
            [
                "0 ns a call",
                "<0.1 allocations a call",
                "<1 B allocated a call",
                "<0.1 instructions a call",
            ],
        );
        check(
            0,
            9,
            [
                "0 ns a call",
                "0 allocations a call",
                "0 B allocated a call",
                "0 instructions a call",
            ],
        );
        check(7, 0, [""; 4]);
    }

    #[test]
    fn objects_and_instructions_that_found_no_room_are_lower_bounds() {
        let numbers = Numbers {
            objects: Some(Objects { count: 4, bytes: 8, calls: 2, is_least: true }),
            instructions: Some(Instructions { count: 6, is_least: true }),
            instructed_calls: 2,
            ..Numbers::default()
        };
        let all = Metric::ALL
            .into_iter()
            .filter_map(|metric| metric.phrase(&numbers).filter(|_| metric != Metric::Calls));
        let expected = [
            "≥4 allocations",
            "≥8 B allocated",
            "≥6 instructions",
            "≥2 allocations a call",
            "≥4 B allocated a call",
            "≥3 instructions a call",
        ];
        assert_eq!(all.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_time_that_is_a_bound_has_a_sign() {
        let check = |timed_calls, total_at_most, expected: [&str; 3]| {
            let self_ns = Some(20);
            let total_ns = Some(30);
            let numbers = Numbers {
                calls: 3,
                self_ns,
                total_ns,
                timed_calls,
                total_at_most,
                ..Numbers::default()
            };
            let times = [Metric::SelfTime, Metric::TotalTime, Metric::TimePerCall];
            assert_eq!(
                times.map(|metric| written(metric, &numbers)),
                expected,
                "{timed_calls} {total_at_most}"
            );
        };
        check(3, false, ["20 ns self", "30 ns", "10 ns a call"]);
        check(3, true, ["20 ns self", "≤30 ns", "≤10 ns a call"]);
        check(2, false, ["~20 ns self", "≥30 ns", "15 ns a call"]);
        check(2, true, ["~20 ns self", "~30 ns", "≤15 ns a call"]);
    }

    fn written(metric: Metric, numbers: &Numbers) -> String {
        metric.phrase(numbers).unwrap_or_default()
    }
}
