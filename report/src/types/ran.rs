//! The implementations whose methods ran, also those without a value that has their type.

use metaspy_core::store::{Profile, RowKey};
use metaspy_core::{SiteId, Store};
use std::collections::BTreeSet;

use crate::text::last_segment;

/// An implementation of a trait, by a method of it that ran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ran {
    /// The path of the method.
    pub method: String,
    /// The name of the trait.
    pub of_trait: String,
    /// The path of the type.
    pub of_type: String,
}

impl Ran {
    /// True if this is the implementation of the trait with this path.
    pub fn is_of(&self, of_trait: &str, of_type: &str) -> bool {
        self.of_type == of_type && self.of_trait == last_segment(of_trait)
    }
}

/// The implementations of which a recording has a call.
pub(super) fn implementations(store: &Store, profiles: &[Profile]) -> BTreeSet<Ran> {
    let ran = |id: SiteId| {
        let site = store.site(id)?;
        let facts = site.facts().filter(|facts| facts.of_type.is_some())?;
        let of_trait = facts.of_trait.as_deref().map(|name| last_segment(name.split('<').next().unwrap_or(name)));
        Some(Ran { method: site.path.clone(), of_trait: of_trait?.to_owned(), of_type: facts.owner? })
    };
    called(profiles).into_iter().filter_map(ran).collect()
}

/// The methods that were called, in any table that counts calls.
fn called(profiles: &[Profile]) -> BTreeSet<SiteId> {
    let mut called = BTreeSet::new();
    for table in profiles.iter().flat_map(|profile| &profile.tables) {
        let Some(calls) = table.column("calls") else { continue };
        let is_method = |key| !matches!(key, RowKey::Subject(..) | RowKey::Sampled(..));
        let rows = table.rows.iter().filter(|row| is_method(row.key));
        let rows = rows.filter(|row| row.value(table, calls).number().is_some_and(|calls| calls > 0));
        called.extend(rows.map(|row| row.key.site()));
    }
    called
}
