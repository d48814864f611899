//! Why a number is not exact: in a sign before it, and in a few words beside it.

use metaspy_core::Store;
use metaspy_core::store::{Ended, Filter, Totals};

use super::narrow;
use crate::text::counted;

/// Why a number is not exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The recording is damaged.
    Damaged,
    /// The filter asks, by this term, what is not known of calls that left the window.
    Unknown(String),
    /// The recording moved on while it was read.
    Moving,
    /// Of some calls only the number is known: they may be among those asked for.
    Unnamed(u64),
    /// Calls whose subjects were not told apart may be among those asked for.
    Together,
}

impl Doubt {
    /// Why numbers under this filter that are not exact are not.
    pub fn about(store: &Store, totals: &Totals, filter: &Filter) -> Doubt {
        if !store.missing().is_empty() {
            return Doubt::Damaged;
        }
        match narrow::beyond_tallies(filter) {
            // Calls that are counted and not stored.
            Some(term) if totals.emitted > totals.stored => Doubt::Unknown(term.to_owned()),
            _ if totals.unnamed > 0 => Doubt::Unnamed(totals.unnamed),
            _ if matches!(store.ended(), Ended::Live | Ended::Snapshot) => Doubt::Moving,
            _ => Doubt::Together,
        }
    }

    /// What stands before such a number.
    pub fn sign(&self) -> &'static str {
        match self {
            Doubt::Moving => "about ",
            _ => "≥ ",
        }
    }

    /// What stands beside a table of such numbers.
    pub fn reason(&self) -> String {
        match self {
            Doubt::Damaged => "at least: damaged".into(),
            Doubt::Unknown(term) => format!("at least: `{term}:` is unknown beyond the window"),
            Doubt::Moving => "about: it is being written".into(),
            Doubt::Unnamed(calls) => format!("at least: of {} no more is known", counted(*calls, "call")),
            Doubt::Together => "at least: some were counted together".into(),
        }
    }
}
