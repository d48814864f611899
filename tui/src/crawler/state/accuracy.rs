//! Why a number is not exact: in a sign before it, and in a few words beside it.

use metaspy_core::Store;
use metaspy_core::store::{Ended, Filter, Totals};

use super::filter_edit;
use crate::text::counted;

/// Why a number is not exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inaccuracy {
    /// The recording is damaged.
    Damaged,
    /// The filter asks, by this term, what is not known of calls that left the window.
    UnknownTerm(String),
    /// The recording moved on while it was read.
    BeingWritten,
    /// Of some calls only the number is known: they may be among those asked for.
    Unattributed(u64),
    /// Calls whose subjects were not told apart may be among those asked for.
    Merged,
}

impl Inaccuracy {
    /// Why numbers under this filter that are not exact are not.
    pub fn new(store: &Store, totals: &Totals, filter: &Filter) -> Inaccuracy {
        if !store.missing().is_empty() {
            return Inaccuracy::Damaged;
        }
        match filter_edit::first_event_term(filter) {
            // Calls that are counted and not stored.
            Some(term) if totals.emitted > totals.stored => Inaccuracy::UnknownTerm(term.to_owned()),
            _ if totals.unnamed > 0 => Inaccuracy::Unattributed(totals.unnamed),
            _ if matches!(store.ended(), Ended::Live | Ended::Snapshot) => Inaccuracy::BeingWritten,
            _ => Inaccuracy::Merged,
        }
    }

    /// What stands before such a number.
    pub fn sign(&self) -> &'static str {
        match self {
            Inaccuracy::BeingWritten => "about ",
            _ => "≥ ",
        }
    }

    /// What stands beside a table of such numbers.
    pub fn reason(&self) -> String {
        match self {
            Inaccuracy::Damaged => "at least: damaged".into(),
            Inaccuracy::UnknownTerm(term) => format!("at least: `{term}:` is unknown beyond the window"),
            Inaccuracy::BeingWritten => "about: it is being written".into(),
            Inaccuracy::Unattributed(calls) => format!("at least: of {} no more is known", counted(*calls, "call")),
            Inaccuracy::Merged => "at least: some were counted together".into(),
        }
    }
}
