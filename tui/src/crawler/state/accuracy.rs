//! Reasons why a number is not exact, shown as a sign before it and a few words beside it.

use metaspy_reader::EndState;
use metaspy_report::text::counted;

use super::{Crawler, filter_edit};

/// Reason why a number is not exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inaccuracy {
    /// The recording is damaged.
    Damaged,
    /// The filter has this term, whose value is unknown for calls that left the window.
    UnknownTerm(String),
    /// The recording was written while it was read.
    BeingWritten,
    /// This many calls were counted without site and subject. Each of them may pass the filter.
    Unattributed(u64),
    /// Some calls were counted together, without their subjects. Each of them may pass the filter.
    Merged,
}

impl Crawler {
    /// Returns the reason why numbers under the open filter are not exact.
    pub(crate) fn inaccuracy(&self) -> Inaccuracy {
        let store = &self.store;
        let totals = &self.status.totals;
        if !store.missing().is_empty() {
            return Inaccuracy::Damaged;
        }
        match filter_edit::first_event_term(&self.view.filter) {
            // Some calls are counted and not stored.
            Some(term) if totals.emitted > totals.stored => {
                Inaccuracy::UnknownTerm(term.to_owned())
            }
            _ if totals.unnamed > 0 => Inaccuracy::Unattributed(totals.unnamed),
            _ if matches!(store.end_state(), EndState::Live | EndState::Snapshot) => {
                Inaccuracy::BeingWritten
            }
            _ => Inaccuracy::Merged,
        }
    }
}

impl Inaccuracy {
    /// Returns the sign to write before such a number.
    pub fn sign(&self) -> &'static str {
        match self {
            Inaccuracy::BeingWritten => "about ",
            _ => "≥ ",
        }
    }

    /// Describes the reason, for the frame around such numbers.
    pub fn reason(&self) -> String {
        match self {
            Inaccuracy::Damaged => "at least: damaged".into(),
            Inaccuracy::UnknownTerm(term) => {
                format!("at least: `{term}:` is unknown outside the window")
            }
            Inaccuracy::BeingWritten => "about: still being written".into(),
            Inaccuracy::Unattributed(calls) => {
                format!("at least: {} without site or subject", counted(*calls, "call"))
            }
            Inaccuracy::Merged => "at least: some subjects share a count".into(),
        }
    }
}
