//! The implementations whose methods ran, also those without a value that has their type.

use std::collections::BTreeSet;

use metaspy_format::facts::SelfKind;
use metaspy_probe::SiteId;
use metaspy_reader::{Profile, RecordedSite, RowKey, Store};

use super::declared::Declared;
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

/// The implementations of which a recording has a call. One that inherits a default method without
/// a receiver may have run it.
pub(super) fn implementations(
    store: &Store,
    profiles: &[Profile],
    declared: &Declared,
) -> BTreeSet<Ran> {
    let called: Vec<Method<'_>> =
        called(profiles).into_iter().filter_map(|id| method(store.site(id)?)).collect();
    let own = called.iter().filter_map(|method| Some(method.ran(method.of_type.as_ref()?)));
    let defaults: Vec<_> =
        called.iter().filter(|method| method.of_type.is_none() && !method.has_receiver).collect();
    let sites = store.sites().iter().filter(|_| !defaults.is_empty());
    let of_source: Vec<Method<'_>> = sites
        .filter_map(method)
        .filter(|method| defaults.iter().any(|default| method.is_like(default)))
        .collect();
    let overrides = |ty: &str, default: &Method<'_>| {
        of_source
            .iter()
            .any(|method| method.is_like(default) && method.of_type.as_deref() == Some(ty))
    };
    let inherited = defaults.iter().flat_map(|default| {
        let implementations =
            declared.implementations.iter().filter(|(of, _)| last_segment(of) == default.of_trait);
        let types = implementations.flat_map(|(_, types)| types);
        types.filter(|ty| !overrides(ty, default)).map(|ty| default.ran(ty))
    });
    own.chain(inherited).collect()
}

/// The names of the traits with a method in the source. Constants and types of the others are used
/// without values.
pub(super) fn traits_with_methods(store: &Store) -> impl Iterator<Item = String> {
    store.sites().iter().filter_map(|site| {
        let name = site.facts.split(' ').find_map(|word| word.strip_prefix("trait="))?;
        Some(trait_name(name).to_owned())
    })
}

/// The name of a trait without its path and its type arguments.
fn trait_name(of_trait: &str) -> &str {
    last_segment(of_trait.split('<').next().unwrap_or(of_trait))
}

/// A method of an implementation, or a default method of a trait.
struct Method<'s> {
    path: &'s str,
    name: String,
    /// The name of the trait.
    of_trait: String,
    /// The path of the type; `None` for a default method.
    of_type: Option<String>,
    has_receiver: bool,
}

impl Method<'_> {
    fn ran(&self, of_type: &str) -> Ran {
        let method = self.path.to_owned();
        let of_trait = self.of_trait.clone();
        Ran { method, of_trait, of_type: of_type.to_owned() }
    }

    fn is_like(&self, other: &Method<'_>) -> bool {
        (&self.of_trait, &self.name) == (&other.of_trait, &other.name)
    }
}

fn method(site: &RecordedSite) -> Option<Method<'_>> {
    let facts = site.facts()?;
    let of_trait = facts.of_trait.as_deref()?;
    Some(Method {
        path: &site.path,
        of_trait: trait_name(of_trait).to_owned(),
        of_type: match facts.of_type {
            Some(_) => Some(facts.owner?),
            None => None,
        },
        has_receiver: facts.self_kind != SelfKind::None || facts.is_nested,
        name: facts.name,
    })
}

/// The methods that were called, in any table that counts calls.
fn called(profiles: &[Profile]) -> BTreeSet<SiteId> {
    let mut called = BTreeSet::new();
    for table in profiles.iter().flat_map(|profile| &profile.tables) {
        let Some(calls) = table.column("calls") else { continue };
        let is_method = |key| !matches!(key, RowKey::Subject(..) | RowKey::Sampled(..));
        let rows = table.rows.iter().filter(|row| is_method(row.key));
        let rows =
            rows.filter(|row| row.value(table, calls).number().is_some_and(|calls| calls > 0));
        called.extend(rows.map(|row| row.key.site()));
    }
    called
}
