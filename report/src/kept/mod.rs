//! The events that a recording keeps beyond its window, each with the rule that it met.

mod differences;
mod json;
mod text;

use metaspy_reader::{Event, Filter, Kept, KeptUnit, Store};

pub use differences::{Difference, Work};
pub use json::json;
pub use text::text;

/// The error where no rule asks for events to be kept.
pub const NO_RULES: &str = "the recording has no rules for events that it keeps: record with \
                            METASPY_KEEP='took:>p99.9; outcome:failed', or `Recording::file(…).keep(…)`";

/// Kept units, the earliest event first.
#[derive(Clone, Debug)]
pub struct KeptUnits {
    /// The kept events, with all units.
    pub kept: Kept,
    /// The units whose event passes a filter.
    pub units: Vec<Unit>,
}

/// A unit and the event that it is about.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// The unit.
    pub unit: KeptUnit,
    /// Its event.
    pub event: Event,
    /// True if the event left the window.
    pub is_kept: bool,
    /// Its difference from ordinary events of its site, if it is a slow one and there are some to
    /// compare it with.
    pub difference: Option<Difference>,
}

impl KeptUnits {
    /// Reads the units whose event passes a filter. `None` without rules.
    pub fn read(store: &Store, filter: &Filter) -> Option<KeptUnits> {
        let kept = store.kept()?;
        let with_event = |unit: &KeptUnit| {
            let event = store.event(unit.event)?;
            Some(Unit { unit: *unit, event, is_kept: store.is_kept(event.id), difference: None })
        };
        let mut units: Vec<Unit> = kept.units.iter().filter_map(with_event).collect();
        differences::find(store, &mut units);
        let mut tester = filter.tester(store);
        units.retain(|unit| tester.matches(&unit.event));
        Some(KeptUnits { kept, units })
    }

    /// The text of a unit's rule.
    fn rule(&self, unit: &Unit) -> &str {
        self.kept.rules.get(unit.unit.rule).map_or("", String::as_str)
    }

    /// How many units met a rule, and how many ordinary ones are kept beside them.
    fn units_of(&self, rule: usize) -> (usize, usize) {
        let all: Vec<&KeptUnit> = self.kept.units.iter().filter(|unit| unit.rule == rule).collect();
        let ordinary = all.iter().filter(|unit| unit.is_ordinary).count();
        (all.len() - ordinary, ordinary)
    }

    /// Returns sentences about events that are not kept.
    fn notes(&self) -> Vec<String> {
        let Kept { gone, unseen_blocks, cut, .. } = self.kept;
        let counted = |number, thing, text: &str| {
            (number > 0).then(|| format!("{} {text}", crate::text::counted(number, thing)))
        };
        [
            counted(gone, "unit", "gave way to more surprising ones: a larger METASPY_BUDGET keeps more"),
            counted(
                unseen_blocks,
                "block",
                "of events left the window unseen, because the program was faster than the search",
            ),
            counted(
                cut,
                "time",
                "an event of a unit was missing: its block had left the window, or the unit was too large",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
