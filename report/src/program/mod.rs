//! The structure of a program as its recording knows it: packages, types and methods, each with what its calls came to.
//!
//! It mirrors the code: whatever was woven or observed has its place, run or not.

mod builder;
mod element;
mod order;
mod place;
mod receivers;

use std::collections::HashMap;

use metaspy_core::store::{By, DetailLevel, Filter, Measure, Scope};
use metaspy_core::{SiteId, SiteKind, Store};

pub use element::{Element, Key, Of, Receivers};

/// A program: its elements in the order of the tree, each before those within it.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// The elements.
    pub elements: Vec<Element>,
    /// Whether every count is exact.
    pub exact: bool,
}

impl Structure {
    /// Whether a recording knows any method.
    pub fn is_known(store: &Store) -> bool {
        store.sites().iter().any(|site| is_method(site.kind))
    }

    /// Reads the methods, and what their calls came to that pass the filter; under one, only what it lets through.
    pub fn read(store: &Store, filter: &Filter) -> Self {
        let tally = store.tally(By::Site, &Scope::matching(filter.clone()));
        let measures: HashMap<SiteId, Measure> =
            tally.rows.iter().filter_map(|row| Some((row.site?, row.measure))).collect();
        let sites = store.sites().iter().filter(|site| is_method(site.kind));
        let wanted = sites.filter(|site| filter.is_all() || measures.contains_key(&site.id));
        let mut grown = builder::Grown::default();
        for site in wanted {
            grown.method(site, measures.get(&site.id).copied().unwrap_or_default());
        }
        let counts = Scope { detail: DetailLevel::Counts, ..Scope::matching(filter.clone()) };
        receivers::count(&mut grown, &store.tally(By::SiteSubject, &counts).rows);
        let mut structure = Structure { elements: grown.elements, exact: tally.exact };
        let names: Vec<String> = structure.elements.iter().map(|element| element.name.clone()).collect();
        structure.sort_siblings(|a, b| names[a].cmp(&names[b]));
        structure
    }

    /// The elements that hang under none.
    pub fn crates(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(|element| element.under.is_none())
    }

    /// How many methods ran, and how many there are.
    pub fn ran(&self) -> (u32, u32) {
        self.crates().fold((0, 0), |(ran, of), element| (ran + element.ran, of + element.methods))
    }
}

fn is_method(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::Method | SiteKind::Async)
}
