//! What is known of each workspace at a moment: its program, with the numbers of the chosen runs, by source file.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use metaspy_format::facts::Facts;
use metaspy_reader::{Filter, Store, files};
use metaspy_report::program::{Builder, Element, Key, Method, Objects, Program};
use metaspy_report::text::last_segment;
use metaspy_report::types::{MethodTypes, Shape, Types, ValueTypes};

use crate::declared_traits::traits_in;
use crate::heat::{Classes, Metric, Scale};
use crate::numbers::{Edges, Numbers, Totals, add, is_shown, merge};
use crate::runs::Run;
use crate::versions::{self, Functions};

/// The state of all recordings.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// All runs, with the newest first.
    pub runs: Vec<Run>,
    /// The workspaces with a chosen run.
    pub models: Vec<Model>,
}

impl Snapshot {
    /// The names of all runs.
    pub fn names(&self) -> String {
        self.runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Those of these names that no run has.
    pub fn unknown<'i>(&self, ids: &'i [String]) -> impl Iterator<Item = &'i String> {
        ids.iter().filter(|id| self.runs.iter().all(|run| run.id != **id))
    }

    /// The model with this file. A workspace may contain it as a dependency, but the numbers of its own workspace come first.
    pub fn model_of(&self, file: &Path) -> Option<&Model> {
        let around = self.models.iter().filter(|model| file.starts_with(&model.root));
        let own = around.max_by_key(|model| model.root.components().count());
        match own {
            Some(own) => Some(own).filter(|own| own.files.contains_key(file)),
            None => self.models.iter().find(|model| model.files.contains_key(file)),
        }
    }
}

/// The program of a workspace.
#[derive(Debug)]
pub struct Model {
    /// The program of each version of the source, the newest first.
    parts: Vec<Part>,
    /// The methods of all parts: part and element.
    methods: Vec<(usize, usize)>,
    /// The functions, each with the places of its methods. They are several if several versions have its present code.
    functions: Vec<Vec<usize>>,
    /// The function of each method; `None` for earlier code.
    function_of: HashMap<(usize, usize), usize>,
    /// The places of the methods of each file.
    pub files: HashMap<PathBuf, Vec<usize>>,
    /// The newest method with a path.
    by_path: HashMap<String, Named>,
    /// The part and the place of the elements with a key, the newest first, once they were needed.
    by_key: OnceLock<HashMap<Key, Vec<(usize, usize)>>>,
    /// The traits that the files declare, once they were needed.
    traits: OnceLock<HashSet<String>>,
    /// The names of functions, true if all functions of the name have a hook, once they were needed.
    hooked: OnceLock<HashMap<String, bool>>,
    /// True if every count is exact.
    pub is_exact: bool,
    /// Calls whose callers are not known, because they were nested too deep, or the tree of contexts was full.
    pub cut: u64,
    /// The runs.
    runs: Vec<Run>,
    /// The calls of all methods but tests.
    pub calls: u64,
    /// Their self time.
    pub self_ns: u64,
    root: PathBuf,
    /// The classes of each metric and scale, once they were needed.
    classes: [OnceLock<Classes>; Metric::ALL.len() * Scale::ALL.len()],
}

/// The program of the recordings of one version of the source.
#[derive(Debug)]
struct Part {
    program: Program,
    /// The types that arrived at methods.
    types: Types,
    /// The calls of one name in one function, with the types of their receivers.
    shapes: Vec<Shape>,
    /// Converts ticks.
    clock: Store,
}

/// The newest method with a path.
#[derive(Clone, Copy, Debug)]
struct Named {
    place: usize,
    /// False if another method of its version has the same path.
    is_only: bool,
}

impl Model {
    /// The program of these recordings of a workspace; `None` without recordings.
    pub fn new(root: &Path, stores: &[Store], runs: &[&Run]) -> Option<Model> {
        stores.first()?;
        let parts: Vec<Part> = versions::of(stores).iter().filter_map(|stores| Part::new(stores)).collect();
        let mut numbers = Functions::default();
        let (mut all, mut functions, mut function_of) = (Vec::new(), Vec::<Vec<usize>>::new(), HashMap::new());
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
                let file = resolved.entry(&method.site.file).or_insert_with(|| resolve(root, &method.site.file));
                files.entry(file.clone()).or_default().push(place);
                let named = Named { place, is_only: true };
                let known = by_path.entry(method.site.path.clone()).or_insert(named);
                known.is_only &= known.place == place || all[known.place].0 != version;
            }
        }
        let mut model = Model {
            is_exact: parts.iter().all(|part| part.program.exact),
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
            runs: runs.iter().map(|&run| run.clone()).collect(),
            calls: 0,
            self_ns: 0,
            root: root.to_owned(),
            classes: Default::default(),
        };
        // Calls of earlier code are calls, too.
        let each = (0..model.methods.len()).map(|place| model.numbers(&[place]));
        for numbers in each.filter(is_shown).collect::<Vec<_>>() {
            model.calls += numbers.calls;
            model.self_ns += numbers.self_ns.unwrap_or(0);
        }
        Some(model)
    }

    /// Names the runs.
    pub fn title(&self) -> String {
        match &self.runs[..] {
            [only] => format!("{}, {}", only.label, only.ago()),
            several => format!("{} runs", several.len()),
        }
    }

    /// An element.
    pub fn element(&self, place: usize) -> &Element {
        let (version, at) = self.methods[place];
        &self.parts[version].program.elements[at]
    }

    /// The element around the method at a place: its type, or the functions of its module.
    pub fn around(&self, place: usize) -> Option<&Element> {
        let elements = &self.parts[self.methods[place].0].program.elements;
        self.element(place).under.map(|at| &elements[at])
    }

    /// The element with this key.
    pub fn element_with(&self, key: &Key) -> Option<&Element> {
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

    /// True if the callers of functions were recorded.
    pub fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| part.program.profiles.has_calls())
    }

    /// The methods of a file.
    pub fn methods_of(&self, file: &Path) -> impl Iterator<Item = (usize, &Method)> + Clone {
        let places = self.files.get(file).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|&at| Some((at, self.element(at).method.as_deref()?)))
    }

    /// The file and the line of the method with this path, if there is only one.
    pub fn declaration(&self, path: &str) -> Option<(PathBuf, u32)> {
        let named = self.by_path.get(path).filter(|named| named.is_only)?;
        let method = self.element(named.place).method.as_deref()?;
        Some((resolve(&self.root, &method.site.file), method.site.lines.0))
    }

    /// The numbers of these methods together. They are the same function in several runs.
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
            sum.total_ns = add(sum.total_ns, profile.total_ns.or_else(|| ns(element.total_ticks())));
            if element.receivers.magnitude() > 0 {
                let all = sum.receivers.get_or_insert_default();
                all.count += element.receivers.count;
                all.places += element.receivers.places;
                all.is_least |= element.receivers.is_least;
            }
            if let Some(objects) = profile.objects {
                let before = sum.objects.unwrap_or_default();
                let (count, bytes) = (before.count + objects.count, before.bytes + objects.bytes);
                sum.objects = Some(Objects { count, bytes });
            }
            sum.instructions = add(sum.instructions, profile.instructions());
            sum.returns = sum.returns.max(profile.returns);
            sum.tests = sum.tests.max(profile.test_count());
            sum.skipped = sum.skipped.or_else(|| method.site.skipped.clone());
            sum.is_test |= method.is_test();
            sum.is_of_tests |= method.site.skipped.is_none() && !method.is_counted();
        }
        sum
    }

    /// The numbers of each function of a file, in its present code.
    pub fn numbers_of(&self, file: &Path) -> impl Iterator<Item = Numbers> {
        let places = self.files.get(file).map_or(&[][..], Vec::as_slice);
        let functions: BTreeSet<usize> =
            places.iter().filter_map(|&place| self.function_of.get(&self.methods[place]).copied()).collect();
        functions.into_iter().map(|number| self.numbers(&self.functions[number])).filter(is_shown)
    }

    /// The totals of the type or the module with this key, in its present code.
    pub fn totals(&self, key: &Key) -> Totals {
        let mut totals = Totals::default();
        // The functions that ran, and those that did not.
        let mut functions: BTreeMap<usize, bool> = BTreeMap::new();
        for &(version, at) in self.places_of(key) {
            let program = &self.parts[version].program;
            let receivers = program.elements[at].receivers;
            let behind = program.elements.iter().enumerate().skip(at + 1);
            let within = behind.take_while(|(_, element)| element.under.is_some_and(|under| under >= at));
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
            // Objects of earlier code are not known from those of present code.
            let count = if has_earlier { 0 } else { receivers.count };
            totals.receivers.count += count;
            totals.receivers.places += if has_earlier { 0 } else { receivers.places };
            totals.receivers.is_least |= receivers.is_least || has_earlier && receivers.count > 0;
        }
        totals.methods = functions.len();
        totals.ran = functions.values().filter(|ran| **ran).count();
        totals
    }

    /// The types that arrived at these methods.
    pub fn types_of(&self, places: &[usize]) -> Vec<&MethodTypes> {
        let types = places.iter().filter_map(|&place| {
            let site = &self.element(place).method.as_deref()?.site;
            self.parts[self.methods[place].0].types.method(&site.path, site.lines.0)
        });
        types.collect()
    }

    /// The types of the values of the method with a path, by those of these methods that called it.
    pub fn types_at_calls<'m>(&'m self, places: &'m [usize], path: &'m str) -> impl Iterator<Item = &'m [ValueTypes]> {
        places.iter().flat_map(move |&place| {
            let caller = self.element(place).method.as_deref().map(|method| method.site.path.as_str());
            let methods = self.parts[self.methods[place].0].types.methods.iter();
            let sites = methods.filter(move |method| method.path == path).flat_map(|method| &method.callers);
            let own = sites.filter(move |site| caller.is_some() && site.caller.as_deref() == caller);
            own.map(|site| &*site.values)
        })
    }

    /// Values whose types found no room in the recordings.
    pub fn lost_types(&self) -> u64 {
        self.parts.iter().map(|part| part.types.lost).sum()
    }

    /// The calls of a name in these methods, with the types of their receivers.
    pub fn shapes<'m>(&'m self, places: &'m [usize], name: &'m str) -> impl Iterator<Item = &'m Shape> {
        places.iter().flat_map(move |&place| {
            let caller = self.element(place).method.as_deref().map(|method| method.site.path.as_str());
            let shapes = self.parts[self.methods[place].0].shapes.iter();
            shapes.filter(move |shape| shape.name == name && caller.is_some() && shape.caller.as_deref() == caller)
        })
    }

    /// The trait of the methods with a path, if they are of one.
    pub fn trait_of(&self, path: &str) -> Option<&str> {
        self.facts_of(path)?.of_trait.as_deref()
    }

    /// True if only woven code can call the methods with a path: functions, methods of types, and those of traits that a
    /// woven file declares. Code of other crates may call methods of other traits, such as `clone` and `next`.
    pub fn is_called_directly(&self, path: &str) -> bool {
        self.facts_of(path).is_some_and(|facts| facts.of_trait.as_ref().is_none_or(|name| self.has_trait(name)))
    }

    /// True if a woven file declares a trait with this name.
    pub fn has_trait(&self, name: &str) -> bool {
        let read = |path: &PathBuf| files::read_text(path).map(|text| traits_in(&text)).unwrap_or_default();
        self.traits.get_or_init(|| self.files.keys().flat_map(read).collect()).contains(name)
    }

    /// True if all functions with this name, the last segment of a path, have a hook; `None` if no function is known.
    pub fn has_hook(&self, name: &str) -> Option<bool> {
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

    /// The facts of the newest method with a path.
    pub fn facts_of(&self, path: &str) -> Option<&Facts> {
        self.element(self.by_path.get(path)?.place).method.as_deref()?.facts.as_ref()
    }

    /// The calls from and to these methods together.
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

    /// The classes of a metric.
    pub fn classes(&self, metric: Metric, scale: Scale) -> &Classes {
        let at = metric as usize * Scale::ALL.len() + scale as usize;
        self.classes[at].get_or_init(|| {
            let functions = self.functions.iter().map(|places| self.numbers(places)).filter(is_shown);
            let values: Vec<u64> = functions.filter_map(|numbers| metric.of(&numbers)).collect();
            Classes::new(&values, scale)
        })
    }
}

impl Part {
    /// The program of recordings of one version.
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
    program.elements.iter().enumerate().filter_map(|(at, element)| Some((at, element.method.as_deref()?)))
}

/// The path of a recorded file. Files of the workspace are named relative to its root.
fn resolve(root: &Path, file: &str) -> PathBuf {
    let path = root.join(file);
    fs::canonicalize(&path).unwrap_or(path)
}
