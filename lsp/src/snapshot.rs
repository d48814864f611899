//! Snapshot of all recordings: the program of each workspace, with the numbers of the chosen runs,
//! by source file.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use metaspy_format::facts::Facts;
use metaspy_reader::{Filter, Store, files};
use metaspy_report::program::{Builder, Element, Key, Method, Program};
use metaspy_report::text::last_segment;
use metaspy_report::types::{MethodTypes, Shape, Types, ValueTypes};

use crate::declared_traits::traits_in;
use crate::findings::RecordedFinding;
use crate::heat::{Classes, Metric, Scale};
use crate::numbers::{Edges, Numbers, Totals, add, is_shown, merge};
use crate::runs::Run;
use crate::versions::{self, Functions};

/// State of all recordings at a moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// All runs, the newest first.
    pub runs: Vec<Run>,
    /// Programs of the workspaces with a chosen run.
    pub models: Vec<Model>,
}

impl Snapshot {
    /// Lists the names of all runs, for a message.
    pub fn names(&self) -> String {
        self.runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the names that belong to no run.
    pub fn unknown<'i>(&self, ids: &'i [String]) -> impl Iterator<Item = &'i String> {
        ids.iter().filter(|id| self.runs.iter().all(|run| run.id != **id))
    }

    /// Returns the model that contains a file.
    ///
    /// Several workspaces may contain the file as a dependency, but the numbers of its own
    /// workspace come first.
    pub(crate) fn model_of(&self, file: &Path) -> Option<&Model> {
        let around = self.models.iter().filter(|model| file.starts_with(&model.root));
        let own = around.max_by_key(|model| model.root.components().count());
        match own {
            Some(own) => Some(own).filter(|own| own.files.contains_key(file)),
            None => self.models.iter().find(|model| model.files.contains_key(file)),
        }
    }
}

/// Program of a workspace, from its chosen runs.
#[derive(Debug)]
pub struct Model {
    /// Programs by version of the source, the newest first.
    parts: Vec<Part>,
    /// Methods of all parts, as indices of part and element.
    methods: Vec<(usize, usize)>,
    /// Functions, each with its indices in `methods`. There are several if several versions have
    /// the present code.
    functions: Vec<Vec<usize>>,
    /// Function of each method; a method of earlier code has none.
    function_of: HashMap<(usize, usize), usize>,
    /// Methods of each file, as indices in `methods`.
    pub files: HashMap<PathBuf, Vec<usize>>,
    /// Newest method of each path.
    by_path: HashMap<String, Named>,
    /// Part and element of each key, the newest first. It is computed on demand.
    by_key: OnceLock<HashMap<Key, Vec<(usize, usize)>>>,
    /// Traits that the files declare. It is computed on demand.
    traits: OnceLock<HashSet<String>>,
    /// Names of functions, true if all functions with the name have a hook. It is computed on
    /// demand.
    hooked: OnceLock<HashMap<String, bool>>,
    /// True if all counts are exact.
    pub is_exact: bool,
    /// Number of calls with unknown callers, because they were nested too deep, or the tree of
    /// contexts was full.
    pub cut: u64,
    /// True if calls between functions found no room in a recording.
    pub has_lost_edges: bool,
    /// Findings of the recordings, by the file of their first site.
    findings: HashMap<PathBuf, Vec<RecordedFinding>>,
    /// Runs whose numbers the model has.
    runs: Vec<Run>,
    /// Calls of all methods, except tests.
    pub calls: u64,
    /// Self time of all methods, except tests, in ns; 0 if it is not known, as where times found no
    /// room.
    pub self_ns: u64,
    root: PathBuf,
    /// Classes of each metric and scale. They are computed on demand.
    classes: [OnceLock<Classes>; Metric::ALL.len() * Scale::ALL.len()],
}

/// Program of the recordings of a single version of the source.
#[derive(Debug)]
struct Part {
    program: Program,
    /// Types of the values that arrived at methods.
    types: Types,
    /// Calls by name and calling function, with the types of their receivers.
    shapes: Vec<Shape>,
    /// Recording whose clock converts ticks.
    clock: Store,
}

/// Newest method of a path.
#[derive(Clone, Copy, Debug)]
struct Named {
    place: usize,
    /// False if another method of the same version has this path.
    is_only: bool,
}

impl Model {
    /// Builds the program of a workspace from these recordings. Returns `None` without recordings.
    pub fn new(root: &Path, stores: &[Store], runs: &[&Run]) -> Option<Model> {
        stores.first()?;
        let parts: Vec<Part> =
            versions::of(stores).iter().filter_map(|stores| Part::new(stores)).collect();
        let mut numbers = Functions::default();
        let (mut all, mut functions, mut function_of) =
            (Vec::new(), Vec::<Vec<usize>>::new(), HashMap::new());
        let mut resolved: HashMap<&str, PathBuf> = HashMap::new();
        let mut files: HashMap<PathBuf, Vec<usize>> = HashMap::new();
        let mut by_path: HashMap<String, Named> = HashMap::new();
        for (version, part) in parts.iter().enumerate() {
            for (at, method) in methods(&part.program) {
                let place = all.len();
                all.push((version, at));
                if let Some(number) = numbers.number(version, method) {
                    functions.resize(functions.len().max(number + 1), Vec::new());
                    functions[number].push(place);
                    function_of.insert((version, at), number);
                }
                let file = resolved
                    .entry(&method.site.file)
                    .or_insert_with(|| resolve(root, &method.site.file));
                files.entry(file.clone()).or_default().push(place);
                let named = Named { place, is_only: true };
                let known = by_path.entry(method.site.path.clone()).or_insert(named);
                known.is_only &= known.place == place || all[known.place].0 != version;
            }
        }
        let mut model = Model {
            is_exact: parts.iter().all(|part| part.program.exact),
            has_lost_edges: parts.iter().any(|part| part.program.profiles.has_lost_edges),
            cut: parts.iter().flat_map(|part| part.program.profiles.cut.values()).sum(),
            parts,
            methods: all,
            functions,
            function_of,
            files,
            by_path,
            by_key: OnceLock::new(),
            traits: OnceLock::new(),
            hooked: OnceLock::new(),
            findings: HashMap::new(),
            runs: runs.iter().map(|&run| run.clone()).collect(),
            calls: 0,
            self_ns: 0,
            root: root.to_owned(),
            classes: Default::default(),
        };
        // Calls of earlier code also count.
        let each = (0..model.methods.len()).map(|place| model.numbers(&[place]));
        let mut has_lost_times = false;
        for numbers in each.filter(is_shown).collect::<Vec<_>>() {
            model.calls += numbers.calls;
            model.self_ns += numbers.self_ns.unwrap_or(0);
            has_lost_times |= numbers.has_lost_times;
        }
        if has_lost_times {
            model.self_ns = 0;
        }
        Some(model)
    }

    /// Adds the findings of the recordings.
    pub(crate) fn add_findings(&mut self, found: Vec<RecordedFinding>) {
        for found in found {
            if let Some(site) = found.finding.sites.first().filter(|site| !site.file.is_empty()) {
                self.findings.entry(resolve(&self.root, &site.file)).or_default().push(found);
            }
        }
    }

    /// Returns the findings whose first site is in a file, the most expensive first.
    pub fn findings_of(&self, file: &Path) -> impl Iterator<Item = &RecordedFinding> {
        self.findings.get(file).into_iter().flatten()
    }

    /// Names the shown runs.
    pub fn title(&self) -> String {
        match &self.runs[..] {
            [only] => format!("{}, {}", only.label, only.ago()),
            several => format!("{} runs", several.len()),
        }
    }

    /// Returns the program's element for a method.
    pub fn element(&self, place: usize) -> &Element {
        let (version, at) = self.methods[place];
        &self.parts[version].program.elements[at]
    }

    /// Returns the type of a method, or the module of a function.
    pub fn around(&self, place: usize) -> Option<&Element> {
        let elements = &self.parts[self.methods[place].0].program.elements;
        self.element(place).under.map(|at| &elements[at])
    }

    /// Returns the element with this key, from the newest version that has it.
    pub(crate) fn element_with(&self, key: &Key) -> Option<&Element> {
        let (version, at) = *self.places_of(key).first()?;
        Some(&self.parts[version].program.elements[at])
    }

    fn places_of(&self, key: &Key) -> &[(usize, usize)] {
        let by_key = self.by_key.get_or_init(|| {
            let mut by_key: HashMap<Key, Vec<(usize, usize)>> = HashMap::new();
            for (version, part) in self.parts.iter().enumerate() {
                for (at, element) in part.program.elements.iter().enumerate() {
                    by_key.entry(element.key.clone()).or_default().push((version, at));
                }
            }
            by_key
        });
        by_key.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns true if the callers of functions were recorded.
    pub fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| part.program.profiles.has_calls())
    }

    /// Returns the methods of a file, with their indices.
    pub fn methods_of(&self, file: &Path) -> impl Iterator<Item = (usize, &Method)> + Clone {
        let places = self.files.get(file).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|&at| Some((at, self.element(at).method.as_deref()?)))
    }

    /// Returns the file and the line of the method with this path, or `None` if several have it.
    pub fn declaration(&self, path: &str) -> Option<(PathBuf, u32)> {
        let named = self.by_path.get(path).filter(|named| named.is_only)?;
        let method = self.element(named.place).method.as_deref()?;
        Some((resolve(&self.root, &method.site.file), method.site.lines.0))
    }

    /// Adds up the numbers of these methods, which are the same function in several versions.
    pub fn numbers(&self, places: &[usize]) -> Numbers {
        let mut sum = Numbers::default();
        for &at in places {
            let element = self.element(at);
            let Some(method) = &element.method else { continue };
            let measure = &element.measure;
            sum.calls += measure.count;
            sum.failed += measure.failed;
            sum.failure = method.site.failure();
            sum.panicked += measure.panicked;
            sum.cancelled += measure.cancelled;
            sum.running += measure.running;
            let clock = &self.parts[self.methods[at].0].clock;
            let ns = |ticks: Option<u64>| ticks.map(|ticks| clock.span_ns(ticks));
            let profile = &method.profile;
            sum.self_ns = add(sum.self_ns, profile.self_ns.or_else(|| ns(element.self_ticks())));
            sum.total_ns =
                add(sum.total_ns, profile.total_ns.or_else(|| ns(element.total_ticks())));
            sum.has_lost_times |= profile.has_lost_times;
            sum.timed_calls +=
                if profile.total_ns.is_some() { profile.timed_calls } else { measure.timed };
            sum.instants += measure.instants;
            sum.total_at_most |= profile.total_ns.is_none() && measure.total_at_most;
            if element.receivers.magnitude() > 0 {
                let all = sum.receivers.get_or_insert_default();
                all.count += element.receivers.count;
                all.places += element.receivers.places;
                all.is_least |= element.receivers.is_least;
            }
            if let Some(objects) = profile.objects {
                let known = sum.objects.get_or_insert_default();
                known.count += objects.count;
                known.bytes += objects.bytes;
                known.calls += objects.calls;
                known.is_least |= objects.is_least;
            }
            if let Some(instructions) = profile.instructions() {
                let known = sum.instructions.get_or_insert_default();
                known.count += instructions.count;
                known.is_least |= instructions.is_least;
            }
            sum.instructed_calls += profile.instructed_calls;
            sum.returns = sum.returns.max(profile.returns);
            sum.tests = sum.tests.max(profile.test_count());
            sum.skipped = sum.skipped.or_else(|| method.site.skipped.clone());
            sum.is_test |= method.is_test();
            sum.is_of_tests |= method.site.skipped.is_none() && !method.is_counted();
        }
        sum
    }

    /// Returns the numbers of each function of a file, in its present code.
    pub(crate) fn numbers_of(&self, file: &Path) -> impl Iterator<Item = Numbers> {
        let places = self.files.get(file).map_or(&[][..], Vec::as_slice);
        let functions: BTreeSet<usize> = places
            .iter()
            .filter_map(|&place| self.function_of.get(&self.methods[place]).copied())
            .collect();
        functions.into_iter().map(|number| self.numbers(&self.functions[number])).filter(is_shown)
    }

    /// Computes the totals of the type or the module with this key, in its present code.
    pub fn totals(&self, key: &Key) -> Totals {
        let mut totals = Totals::default();
        // The flag is true for functions that ran.
        let mut functions: BTreeMap<usize, bool> = BTreeMap::new();
        for &(version, at) in self.places_of(key) {
            let program = &self.parts[version].program;
            let receivers = program.elements[at].receivers;
            let behind = program.elements.iter().enumerate().skip(at + 1);
            let within =
                behind.take_while(|(_, element)| element.under.is_some_and(|under| under >= at));
            let mut has_earlier = false;
            for (at, element) in within {
                let Some(method) = &element.method else { continue };
                let Some(&number) = self.function_of.get(&(version, at)) else {
                    has_earlier = true;
                    continue;
                };
                totals.calls += element.measure.count;
                if method.is_counted() {
                    *functions.entry(number).or_default() |= element.measure.count > 0;
                }
            }
            // Objects of earlier code cannot be distinguished from objects of present code.
            let count = if has_earlier { 0 } else { receivers.count };
            totals.receivers.count += count;
            totals.receivers.places += if has_earlier { 0 } else { receivers.places };
            totals.receivers.is_least |= receivers.is_least || has_earlier && receivers.count > 0;
        }
        totals.methods = functions.len();
        totals.ran = functions.values().filter(|ran| **ran).count();
        totals
    }

    /// Returns the types that arrived at these methods.
    pub fn types_of(&self, places: &[usize]) -> Vec<&MethodTypes> {
        let types = places.iter().filter_map(|&place| {
            let site = &self.element(place).method.as_deref()?.site;
            self.parts[self.methods[place].0].types.method(&site.path, site.lines.0)
        });
        types.collect()
    }

    /// Returns the types at the method with this path, in the calls by each of these methods.
    pub(crate) fn types_at_calls<'m>(
        &'m self,
        places: &'m [usize],
        path: &'m str,
    ) -> impl Iterator<Item = &'m [ValueTypes]> {
        places.iter().flat_map(move |&place| {
            let caller =
                self.element(place).method.as_deref().map(|method| method.site.path.as_str());
            let methods = self.parts[self.methods[place].0].types.methods.iter();
            let sites = methods
                .filter(move |method| method.path == path)
                .flat_map(|method| &method.callers);
            let own =
                sites.filter(move |site| caller.is_some() && site.caller.as_deref() == caller);
            own.map(|site| &*site.values)
        })
    }

    /// Number of values whose types found no room in the recordings.
    pub(crate) fn lost_types(&self) -> u64 {
        self.parts.iter().map(|part| part.types.lost).sum()
    }

    /// Returns the calls of a name in these methods, with the types of their receivers.
    pub fn shapes<'m>(
        &'m self,
        places: &'m [usize],
        name: &'m str,
    ) -> impl Iterator<Item = &'m Shape> {
        places.iter().flat_map(move |&place| {
            let caller =
                self.element(place).method.as_deref().map(|method| method.site.path.as_str());
            let shapes = self.parts[self.methods[place].0].shapes.iter();
            shapes.filter(move |shape| {
                shape.name == name && caller.is_some() && shape.caller.as_deref() == caller
            })
        })
    }

    /// Returns the trait of the methods with a path, or `None` if they belong to no trait.
    pub fn trait_of(&self, path: &str) -> Option<&str> {
        self.facts_of(path)?.of_trait.as_deref()
    }

    /// Returns true if only woven code can call the methods with a path.
    ///
    /// These are functions, methods of types, and methods of traits that a woven file declares.
    /// Code of other crates may call methods of other traits, such as `clone` and `next`.
    pub(crate) fn is_called_directly(&self, path: &str) -> bool {
        self.facts_of(path)
            .is_some_and(|facts| facts.of_trait.as_ref().is_none_or(|name| self.has_trait(name)))
    }

    /// Returns true if a woven file declares a trait with this name.
    pub(crate) fn has_trait(&self, name: &str) -> bool {
        let read = |path: &PathBuf| {
            files::read_text(path).map(|text| traits_in(&text)).unwrap_or_default()
        };
        self.traits.get_or_init(|| self.files.keys().flat_map(read).collect()).contains(name)
    }

    /// Returns true if all functions whose path ends with this name have a hook, or `None` if no
    /// function is known.
    pub(crate) fn has_hook(&self, name: &str) -> Option<bool> {
        let hooked = self.hooked.get_or_init(|| {
            let mut hooked = HashMap::new();
            for named in self.by_path.values() {
                let Some(method) = self.element(named.place).method.as_deref() else { continue };
                let all = hooked.entry(last_segment(&method.site.path).to_owned()).or_insert(true);
                *all &= method.site.skipped.is_none();
            }
            hooked
        });
        hooked.get(name).copied()
    }

    /// Returns the facts of the newest method with a path.
    pub fn facts_of(&self, path: &str) -> Option<&Facts> {
        self.element(self.by_path.get(path)?.place).method.as_deref()?.facts.as_ref()
    }

    /// Adds up the calls from and to these methods.
    pub fn edges(&self, places: &[usize]) -> Edges {
        let mut sum = Edges::default();
        for method in places.iter().filter_map(|&at| self.element(at).method.as_deref()) {
            sum.callers.extend(method.profile.callers.iter().cloned());
            sum.callees.extend(method.profile.callees.iter().cloned());
        }
        merge(&mut sum.callers);
        merge(&mut sum.callees);
        sum
    }

    /// Returns the classes of a metric, which are computed once.
    pub fn classes(&self, metric: Metric, scale: Scale) -> &Classes {
        let at = metric as usize * Scale::ALL.len() + scale as usize;
        self.classes[at].get_or_init(|| {
            let functions =
                self.functions.iter().map(|places| self.numbers(places)).filter(is_shown);
            let values: Vec<f64> = functions.filter_map(|numbers| metric.of(&numbers)).collect();
            Classes::new(&values, scale)
        })
    }
}

impl Part {
    /// Builds the program of the recordings of a single version.
    fn new(stores: &[Store]) -> Option<Part> {
        let clock = stores.first()?.clone();
        let mut builder = Builder::new();
        for store in stores {
            builder.add_recording(store, &Filter::all());
        }
        let types = Types::read(stores);
        Some(Part { program: builder.build(), shapes: types.call_sites(), types, clock })
    }
}

fn methods(program: &Program) -> impl Iterator<Item = (usize, &Method)> {
    program
        .elements
        .iter()
        .enumerate()
        .filter_map(|(at, element)| Some((at, element.method.as_deref()?)))
}

/// Resolves the path of a recorded file. Files of the workspace are named relative to its root.
fn resolve(root: &Path, file: &str) -> PathBuf {
    let path = root.join(file);
    fs::canonicalize(&path).unwrap_or(path)
}
