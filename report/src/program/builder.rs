//! The tree grows method by method: what a method stands in is there once.

use std::collections::HashMap;
use std::sync::Arc;

use metaspy_core::SiteId;
use metaspy_core::store::{Measure, RecordedSite};

use super::element::{Element, Key, Of};
use super::place::Place;

/// What has grown so far.
#[derive(Default)]
pub struct Grown {
    /// The elements, each behind what it hangs under.
    pub elements: Vec<Element>,
    places: HashMap<Key, usize>,
}

/// Modules that are nested at most.
const DEPTH: usize = 63;
/// What stands outside of any module.
const NOWHERE: &str = "(no module)";
/// What the free functions of a module are called together.
const FUNCTIONS: &str = "(functions)";

impl Grown {
    /// Adds a method with what its calls came to. A test whose hook only says which test runs is left out.
    pub fn method(&mut self, site: &RecordedSite, measure: Measure) {
        let facts = site.facts();
        if facts.as_ref().is_some_and(|facts| facts.is_alone) {
            return;
        }
        let place = Place::of(site, facts.as_ref());
        let package = self.package(place.module);
        let under = match &place.owner {
            Some(name) => self.owner(package, &place, name),
            None => {
                let key = Key::Functions(place.module.into());
                self.element(key, Some(package), || (FUNCTIONS.into(), Of::Functions))
            }
        };
        if let Of::Type { is_trait, traits } = &mut self.elements[under].of {
            *is_trait |= place.is_trait;
            let implemented = facts.iter().filter(|facts| facts.of_type.is_some()).flat_map(|facts| &facts.of_trait);
            for name in implemented.chain(facts.iter().flat_map(|facts| &facts.supertraits)) {
                if let Err(at) = traits.binary_search(name) {
                    traits.insert(at, name.clone());
                }
            }
        }
        let (lines, complexity) = match &facts {
            Some(facts) => (facts.line_count(), Some(facts.complexity)),
            None if site.lines.0 == 0 => (0, None),
            None => (site.lines.1.saturating_sub(site.lines.0).saturating_add(1), None),
        };
        let of = Of::Method(facts.map(Box::new));
        let mut at = Some(self.element(Key::Method(site.id), Some(under), || (place.name, of)));
        while let Some(element) = at.map(|at| &mut self.elements[at]) {
            element.add(&measure);
            element.lines += u64::from(lines);
            element.complexity = element.complexity.max(complexity);
            element.methods += u32::from(site.skipped.is_none());
            element.ran += u32::from(site.skipped.is_none() && measure.count > 0);
            at = element.under;
        }
    }

    /// The place of a method.
    pub fn place(&self, site: SiteId) -> Option<usize> {
        self.places.get(&Key::Method(site)).copied()
    }

    /// The package with this path, and those around it.
    fn package(&mut self, path: &str) -> usize {
        if let Some(&at) = self.places.get(&Key::Package(path.into())) {
            return at;
        }
        // A path that somebody made up may be very deep; its last segments then are one.
        let ends = path.match_indices("::").map(|(at, _)| at).take(DEPTH).chain([path.len()]);
        let (mut under, mut begin) = (None, 0);
        for end in ends {
            let name = if path.is_empty() { NOWHERE } else { &path[begin..end] };
            let key = Key::Package(path[..end].into());
            under = Some(self.element(key, under, || (name.to_owned(), Of::Package)));
            begin = end + 2;
        }
        under.unwrap_or(0)
    }

    fn owner(&mut self, package: usize, place: &Place<'_>, name: &str) -> usize {
        let path: Arc<str> = match place.module {
            "" => name.into(),
            module => format!("{module}::{name}").into(),
        };
        let of = || (name.to_owned(), Of::Type { is_trait: false, traits: Vec::new() });
        self.element(Key::Type(path), Some(package), of)
    }

    fn element(&mut self, key: Key, under: Option<usize>, of: impl FnOnce() -> (String, Of)) -> usize {
        *self.places.entry(key.clone()).or_insert_with(|| {
            let (name, of) = of();
            self.elements.push(Element::new(key, name, of, under));
            self.elements.len() - 1
        })
    }
}
