//! Metrics that heat can show.

use metaspy_report::program::Receivers;
use metaspy_report::text::{self, counted, grouped, short_bytes};
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
    /// Mean total time of a call, in ns.
    TimePerCall,
    /// Number of distinct objects that the function was called on.
    Receivers,
    /// Number of heap allocations in the function's own code, without its callees.
    Allocations,
    /// Bytes of the heap allocations in the function's own code.
    Memory,
    /// Number of executed instructions in the function's own code.
    Instructions,
}

impl Metric {
    /// All metrics, in the order of the settings.
    pub const ALL: [Metric; 8] = [
        Metric::Calls,
        Metric::SelfTime,
        Metric::TotalTime,
        Metric::TimePerCall,
        Metric::Receivers,
        Metric::Allocations,
        Metric::Memory,
        Metric::Instructions,
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
        }
    }

    /// Returns the value of a function, or `None` if it was not recorded.
    pub fn of(self, numbers: &Numbers) -> Option<u64> {
        match self {
            Metric::Calls => Some(numbers.calls),
            Metric::SelfTime => numbers.self_ns,
            Metric::TotalTime => numbers.total_ns,
            Metric::TimePerCall => Some(numbers.total_ns?.checked_div(numbers.calls).unwrap_or(0)),
            Metric::Receivers => numbers.receivers.map(Receivers::magnitude),
            Metric::Allocations => numbers.objects.map(|objects| objects.count),
            Metric::Memory => numbers.objects.map(|objects| objects.bytes),
            Metric::Instructions => numbers.instructions,
        }
    }

    /// Formats a value with its unit.
    pub fn write(self, value: u64) -> String {
        match self {
            Metric::Calls if value == 1 => "1 call".into(),
            Metric::Calls => format!("{} calls", grouped(value)),
            Metric::SelfTime => format!("{} self", duration(value)),
            Metric::TotalTime => duration(value),
            Metric::TimePerCall => format!("{} a call", duration(value)),
            Metric::Receivers if value == 1 => "1 receiver".into(),
            Metric::Receivers => format!("{} receivers", grouped(value)),
            Metric::Allocations => counted(value, "allocation"),
            Metric::Memory => format!("{} allocated", short_bytes(value)),
            Metric::Instructions => counted(value, "instruction"),
        }
    }
}

/// Formats a duration without the padding of a table.
pub fn duration(ns: u64) -> String {
    text::duration(ns).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_that_was_not_recorded_has_no_value() {
        let none = Numbers { calls: 2, ..Numbers::default() };
        let metrics = [Metric::Allocations, Metric::Memory, Metric::Instructions];
        assert_eq!(metrics.map(|metric| metric.of(&none)), [None; 3]);
        let objects = Some(metaspy_report::program::Objects { count: 1_200, bytes: 9 });
        let both = Numbers { objects, instructions: Some(1), ..none };
        let texts = metrics.map(|metric| metric.of(&both).map(|value| metric.write(value)).unwrap_or_default());
        assert_eq!(texts, ["1,200 allocations", "9 B allocated", "1 instruction"]);
    }

    #[test]
    fn a_duration_has_one_space() {
        let texts = [7, 4_040, 4_040_000_000, 404_000_000_000].map(duration);
        assert_eq!(texts, ["7 ns", "4.04 µs", "4.04 s", "404 s"]);
    }
}
