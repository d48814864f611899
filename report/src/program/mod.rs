//! The structure of a program as its recording knows it: packages, types and methods, each with what its calls came to.
//!
//! It mirrors the code: whatever was woven or observed has its place, run or not.

mod builder;
mod element;
mod order;
mod place;
mod receivers;

use std::collections::HashMap;

use metaspy_core::store::{By, Filter, Measure, Scope, What};
use metaspy_core::{SiteId, SiteKind, Store};

pub use element::{Element, Key, Of, Receivers};
pub use order::{Column, Order};

/// A program: its elements in the order of the tree, each before those within it.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// The elements.
    pub elements: Vec<Element>,
    /// How what stands under the same element is sorted.
    pub order: Order,
    /// Whether every count is exact.
    pub exact: bool,
}

impl Structure {
    /// Whether a recording knows any method.
    pub fn is_known(store: &Store) -> bool {
        store.sites().iter().any(|site| is_method(site.kind))
    }

    /// Reads the methods, and what their calls came to that pass the filter; under one, only what it lets through.
    pub fn read(store: &Store, filter: &Filter, order: Order) -> Self {
        let tally = store.tally(By::Site, &Scope::of(filter.clone()));
        let measures: HashMap<SiteId, Measure> =
            tally.rows.iter().filter_map(|row| Some((row.site?, row.measure))).collect();
        let sites = store.sites().iter().filter(|site| is_method(site.kind));
        let wanted = sites.filter(|site| filter.is_all() || measures.contains_key(&site.id));
        let mut grown = builder::Grown::default();
        for site in wanted {
            grown.method(site, measures.get(&site.id).copied().unwrap_or_default());
        }
        let counts = Scope { what: What::Counts, ..Scope::of(filter.clone()) };
        receivers::count(&mut grown, &store.tally(By::SiteSubject, &counts).rows);
        let mut structure = Structure { elements: grown.elements, order, exact: tally.exact };
        structure.sort(order);
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

    /// The lines of the tree before an element's name, `│ └ `: so many levels at most, the innermost ones.
    pub fn guide(&self, at: usize, levels: usize) -> String {
        let mut lines = Vec::new();
        let mut element = &self.elements[at];
        while let Some(under) = element.under.filter(|_| lines.len() < levels) {
            lines.push(match (lines.is_empty(), element.is_last) {
                (true, true) => "└ ",
                (true, false) => "├ ",
                (false, true) => "  ",
                (false, false) => "│ ",
            });
            element = &self.elements[under];
        }
        if let (Some(outermost), true) = (lines.last_mut(), element.under.is_some()) {
            *outermost = "… ";
        }
        lines.into_iter().rev().collect()
    }
}

fn is_method(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::Method | SiteKind::Async)
}
