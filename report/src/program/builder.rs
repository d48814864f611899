//! Builds the tree method by method: each package and each type is created once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{
    By, DetailLevel, Filter, HookCost, Measure, RecordedSite, Scope, SiteGroups, Store, Tally,
};

use super::element::{Element, Key, Of};
use super::method::{Method, MethodProfile};
use super::owner::{MethodPlace, Owner};
use super::profiles::{Edges, Profiles};
use super::{Program, receivers};

/// Modules that are nested at most.
const DEPTH: usize = 63;
/// The package of methods whose path has no module.
const NOWHERE: &str = "(no module)";
/// The name of the free functions of a module.
const FUNCTIONS: &str = "(functions)";

/// A program that is being built, from one or more recordings.
#[derive(Default)]
pub struct Builder {
    /// The elements, each behind its parent.
    pub(super) elements: Vec<Element>,
    places: HashMap<Key, usize>,
    methods: HashMap<Identity, usize>,
    crates: HashSet<String>,
    is_inexact: bool,
    pub(super) profiles: Profiles,
    pub(super) edges: Edges,
    /// Those of the recordings with times of calls.
    pub(super) hook_costs: Vec<Option<HookCost>>,
}

/// The identity of a method in several processes: its path with type arguments, its file and its
/// first line.
///
/// The weaver and the compiler write some of them differently: `src/../other.rs`, and `r#type` for
/// a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    path: String,
    file: PathBuf,
    line: u32,
}

impl Identity {
    /// The identity of the function with this path and first line in this file.
    pub fn new(path: &str, file: &str, line: u32) -> Identity {
        Identity { path: without_raw(path), file: without_dots(Path::new(file)), line }
    }

    /// The path.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// A site whose path has no raw identifiers, and whose file has no `..`.
fn plain(site: &RecordedSite) -> RecordedSite {
    let module = site.module_and_name().map_or(0, |(module, _)| without_raw(module).len() as u32);
    let file = without_dots(Path::new(&site.file)).display().to_string();
    RecordedSite { path: without_raw(&site.path), module, file, ..site.clone() }
}

fn without_raw(path: &str) -> String {
    let segments = path.split("::").map(|segment| segment.strip_prefix("r#").unwrap_or(segment));
    segments.collect::<Vec<_>>().join("::")
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            component => plain.push(component),
        }
    }
    plain
}

impl Builder {
    /// A program without methods.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Adds the methods of a recording, with the numbers of their calls that match the filter. If
    /// the filter excludes anything, methods without such calls are left out. Returns true if the
    /// numbers are exact.
    pub fn add_recording(&mut self, store: &Store, filter: &Filter) -> bool {
        let tally = store.tally(By::Site, &Scope::matching(filter.clone()));
        self.is_inexact |= !tally.exact;
        let measures: HashMap<SiteId, Measure> =
            tally.rows.iter().filter_map(|row| Some((row.site?, row.measure))).collect();
        let sites = store.sites().iter().filter(|site| is_method(site.kind));
        self.crates.extend(sites.clone().map(|site| first_segment(&site.path).to_owned()));
        let places: HashMap<SiteId, usize> = sites
            .filter(|site| filter.is_all() || measures.contains_key(&site.id))
            .filter_map(|site| Some((site.id, self.add_site(site, &Measure::default())?)))
            .collect();
        for (site, &place) in &places {
            self.add_measure(place, &measures.get(site).copied().unwrap_or_default());
        }
        self.add_totals(store, filter, &places, &tally);
        self.add_profiles(store, &places, &measures);
        let counts = Scope { detail: DetailLevel::Counts, ..Scope::matching(filter.clone()) };
        receivers::count(
            &mut self.elements,
            &places,
            &store.tally(By::SiteSubject, &counts).rows,
            |kind| store.kind(kind).is_some_and(|kind| kind.place),
        );
        tally.exact
    }

    /// Adds the times of packages and types. Their methods call each other, so these are not the
    /// sums of the methods' times.
    fn add_totals(
        &mut self,
        store: &Store,
        filter: &Filter,
        places: &HashMap<SiteId, usize>,
        by_site: &Tally,
    ) {
        if by_site.rows.iter().all(|row| row.measure.timed == 0) {
            return;
        }
        let sites = places.keys().map(|site| site.0 as usize + 1).max().unwrap_or(0);
        let mut groups = SiteGroups { of_site: vec![None; sites], around: Vec::new() };
        groups.around.extend(self.elements.iter().map(|element| element.under));
        for (site, &place) in places {
            groups.of_site[site.0 as usize] = self.elements[place].under;
        }
        let totals = store.group_totals(&groups, filter, by_site);
        for (element, total) in
            self.elements.iter_mut().zip(totals).filter(|(element, _)| element.site().is_none())
        {
            let measure = &mut element.measure;
            measure.total_ticks = measure.total_ticks.saturating_add(total.ticks);
            measure.total_at_most |= total.at_most;
        }
    }

    /// Adds a method with the numbers of its calls, and returns its place. A test that only marks
    /// which test runs is left out.
    pub fn add_site(&mut self, site: &RecordedSite, measure: &Measure) -> Option<usize> {
        let identity = Identity::new(&site.path_with_arguments(), &site.file, site.lines.0);
        let known = self.methods.get(&identity).copied();
        let place = match known {
            Some(place) => place,
            None => {
                let place = self.insert(site)?;
                self.methods.insert(identity, place);
                place
            }
        };
        self.add_measure(place, measure);
        Some(place)
    }

    /// The profile of a method; `None` if the program has no such method.
    pub fn profile(&mut self, method: &Identity) -> Option<&mut MethodProfile> {
        let place = *self.methods.get(method)?;
        self.elements[place].method.as_mut().map(|method| &mut method.profile)
    }

    /// The program. The children of each element are sorted by name.
    pub fn build(mut self) -> Program {
        self.finish_edges();
        receivers::complete(&mut self.elements);
        self.count_methods();
        let edges = self.edges_by_site();
        let hook_cost = HookCost::lowest(self.hook_costs);
        let elements = self.elements;
        let profiles = self.profiles;
        let mut program = Program { elements, exact: !self.is_inexact, profiles, edges, hook_cost };
        let names: Vec<String> =
            program.elements.iter().map(|element| element.name.clone()).collect();
        program.sort_siblings(|a, b| names[a].cmp(&names[b]));
        program
    }

    fn insert(&mut self, site: &RecordedSite) -> Option<usize> {
        let site = &plain(site);
        let facts = site.facts();
        if facts.as_ref().is_some_and(|facts| facts.is_alone) {
            return None;
        }
        let place = MethodPlace::new(site, facts.as_ref(), |name: &str| {
            self.crates.contains(name) || name == first_segment(&site.path)
        });
        let package = self.package(place.module);
        let parent = match &place.owner {
            Some(owner) => self.owner(package, place.module, owner),
            None => {
                let key = Key::Functions(place.module.into());
                self.element(key, Some(package), || (FUNCTIONS.into(), Of::Functions))
            }
        };
        if let Some((facts, Of::Type { traits, .. })) =
            facts.as_ref().zip(Some(&mut self.elements[parent].of))
        {
            let implemented = facts.of_type.as_ref().and(facts.of_trait.as_ref());
            let mut all: BTreeSet<String> = std::mem::take(traits).into_iter().collect();
            all.extend(implemented.into_iter().chain(&facts.supertraits).cloned());
            *traits = all.into_iter().collect();
        }
        let of = Of::Method(facts.clone().map(Box::new));
        let at = self.element(Key::Method(self.key_of(site)), Some(parent), || (place.name, of));
        let method = Method { site: site.clone(), facts, profile: MethodProfile::default() };
        let lines = u64::from(method.line_count());
        let complexity = method.complexity();
        self.elements[at].method = Some(Box::new(method));
        self.up(at, |element| {
            element.lines += lines;
            element.complexity = element.complexity.max(complexity);
        });
        Some(at)
    }

    /// The id of a site in its own recording, or a new one if another recording uses it for another
    /// method.
    fn key_of(&self, site: &RecordedSite) -> SiteId {
        let is_free = |id: &SiteId| !self.places.contains_key(&Key::Method(*id));
        if is_free(&site.id) {
            return site.id;
        }
        let number = (self.places.len() as u32..).map(SiteId).find(is_free);
        number.expect("there are fewer elements than numbers")
    }

    fn add_measure(&mut self, place: usize, measure: &Measure) {
        self.up(place, |element| element.add(measure));
    }

    /// Counts the methods and types of each element, and how many of them ran.
    fn count_methods(&mut self) {
        for at in 0..self.elements.len() {
            let Some(method) = &self.elements[at].method else { continue };
            if !method.is_counted() {
                continue;
            }
            let ran = self.elements[at].measure.count > 0;
            self.up(at, |element| {
                element.methods += 1;
                element.ran += u32::from(ran);
            });
        }
        for at in 0..self.elements.len() {
            let element = &self.elements[at];
            let is_counted =
                matches!(element.of, Of::Type { is_unresolved: false, .. }) && element.methods > 0;
            let has_run = u32::from(element.ran > 0);
            if is_counted {
                self.up(at, |element| {
                    element.types += 1;
                    element.covered_types += has_run;
                });
            }
        }
    }

    /// Changes an element and everything around it.
    fn up(&mut self, place: usize, mut change: impl FnMut(&mut Element)) {
        let mut at = Some(place);
        while let Some(element) = at.map(|at| &mut self.elements[at]) {
            change(element);
            at = element.under;
        }
    }

    /// The package with this path, and those around it.
    fn package(&mut self, path: &str) -> usize {
        if let Some(&at) = self.places.get(&Key::Package(path.into())) {
            return at;
        }
        // A damaged recording may contain a very deep path. Its last segments become one package.
        let ends = path.match_indices("::").map(|(at, _)| at).take(DEPTH).chain([path.len()]);
        let mut under = None;
        let mut begin = 0;
        for end in ends {
            let name = if path.is_empty() { NOWHERE } else { &path[begin..end] };
            let key = Key::Package(path[..end].into());
            under = Some(self.element(key, under, || (name.to_owned(), Of::Package)));
            begin = end + 2;
        }
        under.unwrap_or(0)
    }

    fn owner(&mut self, package: usize, module: &str, owner: &Owner) -> usize {
        let path: Arc<str> = match module {
            "" => owner.name.as_str().into(),
            module => format!("{module}::{}", owner.name).into(),
        };
        let at = self.element(Key::Type(path), Some(package), || {
            let Owner { is_trait, is_unresolved, .. } = *owner;
            (owner.name.clone(), Of::Type { is_trait, is_unresolved, traits: Vec::new() })
        });
        if let Of::Type { is_trait, is_unresolved, .. } = &mut self.elements[at].of {
            *is_trait |= owner.is_trait;
            // Another method of the same path is resolved, so this is the definition.
            *is_unresolved &= owner.is_unresolved;
        }
        at
    }

    fn element(
        &mut self,
        key: Key,
        under: Option<usize>,
        of: impl FnOnce() -> (String, Of),
    ) -> usize {
        *self.places.entry(key.clone()).or_insert_with(|| {
            let (name, of) = of();
            self.elements.push(Element::new(key, name, of, under));
            self.elements.len() - 1
        })
    }
}

fn first_segment(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}

/// True for the sites of methods and functions.
pub(super) fn is_method(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::Method | SiteKind::Async)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Ratio;
    use crate::program::testing::{program, woven};

    #[test]
    fn types_are_merged_by_their_definition_and_ratios_add_up() {
        let all = [
            (woven("a::b", "Scene::measure", "type=Scene owner=crate::Scene"), 1),
            (woven("a::c", "Scene::draw", "type=Scene owner=crate::Scene"), 0),
            (woven("a::c", "X::lost", "type=X unresolved"), 0),
            (woven("a", "main", "c=1"), 1),
            (woven("a", "checks", "test"), 4),
            (woven("a", "fixture", "test_only"), 4),
        ];
        let program = program(&all);
        let types: Vec<_> =
            program.types().map(|ty| (ty.path_text(), ty.ran, ty.methods)).collect();
        assert_eq!(types, [("a", 1, 1), ("a::Scene", 1, 2), ("a::c::X", 0, 1)]);
        assert_eq!(program.ratio(), Ratio { methods: 4, covered: 2, types: 1, covered_types: 1 });
        let unresolved =
            program.types().find(|ty| ty.path_text() == "a::c::X").expect("it is there");
        assert!(unresolved.is_unresolved() && !unresolved.never_ran());
    }

    #[test]
    fn a_method_of_two_recordings_is_one_method() {
        let mut builder = Builder::new();
        let one = woven("a", "Scene::measure", "type=Scene");
        builder.add_site(&one, &Measure { count: 2, ..Measure::default() });
        let again =
            RecordedSite { id: SiteId(77), file: "src/../src/./lib.rs".into(), ..one.clone() };
        builder.add_site(&again, &Measure { count: 3, ..Measure::default() });
        let other = RecordedSite { path: "a::Scene::draw".into(), ..one };
        builder.add_site(&other, &Measure::default());
        let program = builder.build();
        let methods: Vec<_> =
            program.methods().map(|it| (it.name.as_str(), it.measure.count)).collect();
        assert_eq!(methods, [("draw", 0), ("measure", 5)]);
    }
}
