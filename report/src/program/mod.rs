//! The program model: packages, types and methods, each with the numbers of its calls.
//!
//! The tree is built from recordings alone ([`Program::read`], [`Builder`]). There is one tree, not
//! one for each front end, so text, JSON, lcov, Cobertura and the crawler print the same ratios. It
//! contains everything that was woven or observed, also methods that never ran. A type is
//! identified by the path where it is defined, whichever module its `impl` blocks are in.

mod builder;
mod element;
mod method;
mod owner;
mod profiles;
mod ratio;
mod receivers;
#[cfg(test)]
pub(crate) mod testing;

use std::cmp::Ordering;
use std::collections::HashMap;

use metaspy_probe::SiteId;
use metaspy_reader::{Filter, HookCost, Store};

pub use builder::{Builder, Identity};
pub use element::{Element, Key, Of, Receivers};
pub use method::{Edge, Instructions, Method, MethodProfile, Objects, Returned, TestCount};
pub(crate) use profiles::cut_note;
pub use profiles::{
    CALLERS, ColumnValue, INSTRUCTIONS, OWN_INSTRUCTIONS, PLACES, Profiles, is_additive, lost_note,
    lost_values, with_bound,
};
pub use ratio::{Ratio, rate};

/// A program: its elements in the order of the tree, each before its children.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The elements.
    pub elements: Vec<Element>,
    /// True if every count is exact.
    pub exact: bool,
    /// The method profilers that were installed, and their columns.
    pub profiles: Profiles,
    /// The calls from one method to another, by caller and callee. No caller is code without hooks.
    pub edges: Vec<(Option<SiteId>, SiteId, Edge)>,
    /// The cost of the hooks in the times of calls, if all recordings with such times have it.
    pub hook_cost: Option<HookCost>,
}

impl Program {
    /// True if a recording contains a method.
    pub fn is_known(store: &Store) -> bool {
        store.sites().iter().any(|site| builder::is_method(site.kind))
    }

    /// Reads the program of a recording, with the calls that match the filter.
    pub fn read(store: &Store, filter: &Filter) -> Self {
        let mut builder = Builder::new();
        builder.add_recording(store, filter);
        builder.build()
    }

    /// Forgets the times and callers that a profiler added up over all calls: then those of events
    /// are in their place.
    pub fn forget_calls(&mut self) {
        self.edges.clear();
        self.profiles.has_lost_edges = false;
        for method in self.elements.iter_mut().filter_map(|element| element.method.as_mut()) {
            (method.profile.total_ns, method.profile.self_ns) = (None, None);
            (method.profile.has_lost_times, method.profile.has_lost_callers) = (false, false);
        }
    }

    /// The elements without a parent.
    pub fn crates(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(|element| element.under.is_none())
    }

    /// The types, the traits, and the free functions of each module.
    pub fn types(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(|element| matches!(element.of, Of::Type { .. } | Of::Functions))
    }

    /// The methods and functions.
    pub fn methods(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(|element| element.method.is_some())
    }

    /// A key for each method, which no other method has: its path with the type arguments of its
    /// `impl`. If that is not enough, as with methods under different conditions, its file and its
    /// line follow.
    pub fn keys(&self) -> HashMap<SiteId, String> {
        let mut keys: HashMap<SiteId, String> = HashMap::new();
        let mut uses: HashMap<String, u32> = HashMap::new();
        for (site, method) in
            self.methods().filter_map(|element| element.site().zip(element.method.as_deref()))
        {
            let path = method.path_with_arguments();
            *uses.entry(path.clone()).or_default() += 1;
            keys.insert(site, path);
        }
        for (site, method) in
            self.methods().filter_map(|element| element.site().zip(element.method.as_deref()))
        {
            if let Some(key) = keys.get_mut(&site).filter(|key| uses[*key] > 1) {
                *key = format!("{key}@{}:{}", method.site.file, method.site.lines.0);
            }
        }
        keys
    }

    /// The path of each method, or its key if it shares the path with another method.
    pub fn names(&self) -> HashMap<SiteId, String> {
        let mut names = self.keys();
        let mut uses: HashMap<&str, u32> = HashMap::new();
        for method in self.methods() {
            *uses.entry(method.path_text()).or_default() += 1;
        }
        for method in self.methods().filter(|method| uses[method.path_text()] == 1) {
            if let Some(name) = method.site().and_then(|site| names.get_mut(&site)) {
                method.path_text().clone_into(name);
            }
        }
        names
    }

    /// The children of the element at this place.
    pub fn children(&self, at: usize) -> impl Iterator<Item = (usize, &Element)> {
        let within = self.elements.iter().enumerate().skip(at + 1);
        let within =
            within.take_while(move |(_, element)| element.under.is_some_and(|under| under >= at));
        within.filter(move |(_, element)| element.under == Some(at))
    }

    /// The methods of the type at this place.
    pub fn methods_of(&self, at: usize) -> impl Iterator<Item = (&Element, &Method)> {
        self.children(at).filter_map(|(_, element)| Some((element, element.method.as_deref()?)))
    }

    /// How much of the program ran.
    pub fn ratio(&self) -> Ratio {
        self.crates().fold(Ratio::default(), |mut all, element| {
            all += element.ratio();
            all
        })
    }

    /// The number of methods that ran, and the number of methods.
    pub fn ran(&self) -> (u32, u32) {
        let Ratio { methods, covered, .. } = self.ratio();
        (covered, methods)
    }

    /// Sorts the elements under the same parent, which are given by their places. Puts all in the
    /// order of the tree.
    pub fn sort_siblings(&mut self, compare: impl Fn(usize, usize) -> Ordering) {
        let mut elements: Vec<Option<Element>> =
            std::mem::take(&mut self.elements).into_iter().map(Some).collect();
        let mut under: Vec<Vec<usize>> = vec![Vec::new(); elements.len() + 1];
        for (at, element) in elements.iter().enumerate() {
            under[element.as_ref().and_then(|element| element.under).map_or(0, |at| at + 1)]
                .push(at);
        }
        for siblings in &mut under {
            siblings.sort_by(|&a, &b| compare(a, b));
        }
        let hang = |of: usize, parent: Option<usize>| {
            let children = &under[of];
            let last = children.len().saturating_sub(1);
            children.iter().enumerate().rev().map(move |(at, &child)| (child, parent, at == last))
        };
        let mut next: Vec<_> = hang(0, None).collect();
        while let Some((at, parent, is_last)) = next.pop() {
            let Some(element) = elements[at].take() else { continue };
            next.extend(hang(at + 1, Some(self.elements.len())));
            self.elements.push(Element { under: parent, is_last, ..element });
        }
    }
}
