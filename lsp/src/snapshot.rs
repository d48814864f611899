//! What is known of each workspace at a moment: its program, with the numbers of the chosen runs, by source file.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use metaspy_core::Store;
use metaspy_core::store::Filter;
use metaspy_report::program::{Builder, Edge, Element, Method, Objects, Program, Receivers, Returned};
use metaspy_report::types::{MethodTypes, Shape, Types};

use crate::heat::{Classes, Metric, Scale};
use crate::runs::Run;

/// The state of all recordings.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// All runs, with the newest first.
    pub runs: Vec<Run>,
    /// The workspaces with a chosen run.
    pub models: Vec<Model>,
}

impl Snapshot {
    /// The model with this file.
    pub fn model_of(&self, file: &Path) -> Option<&Model> {
        self.models.iter().find(|model| model.files.contains_key(file))
    }
}

/// The program of a workspace.
#[derive(Debug)]
pub struct Model {
    /// Its elements.
    pub program: Program,
    /// The places of the methods of each file.
    pub files: HashMap<PathBuf, Vec<usize>>,
    /// The place of a method by its path. Methods that share a path have none.
    by_path: HashMap<String, Option<usize>>,
    /// The types that arrived at methods.
    types: Types,
    /// The calls of one name in one function, with the types of their receivers.
    pub shapes: Vec<Shape>,
    /// The runs.
    runs: Vec<Run>,
    /// The calls of all methods but tests.
    pub calls: u64,
    /// Their self time.
    pub self_ns: u64,
    root: PathBuf,
    /// Converts ticks.
    clock: Store,
    /// The classes of each metric and scale, once they were needed.
    classes: [OnceLock<Classes>; Metric::ALL.len() * Scale::ALL.len()],
}

/// The numbers of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Its calls.
    pub calls: u64,
    /// Calls that returned an error.
    pub failed: u64,
    /// Calls that panicked.
    pub panicked: u64,
    /// Calls that have not ended.
    pub running: u64,
    /// Its time without the functions that it called, if calls were timed.
    pub self_ns: Option<u64>,
    /// Its time, if calls were timed.
    pub total_ns: Option<u64>,
    /// The objects that it was called on, if they were counted.
    pub receivers: Option<Receivers>,
    /// Objects that they allocated, if they were counted.
    pub objects: Option<Objects>,
    /// What it returned, if values were recorded.
    pub returns: Option<Returned>,
    /// The number of tests in which it ran.
    pub tests: usize,
    /// The reason, if it cannot be recorded.
    pub skipped: Option<String>,
    /// True for a test.
    pub is_test: bool,
}

/// The calls from and to a function, with the most frequent first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    /// Its callers; `None` is code without hooks.
    pub callers: Vec<(Option<String>, Edge)>,
    /// The functions that it called.
    pub callees: Vec<(String, Edge)>,
}

impl Model {
    /// The program of these recordings of a workspace; `None` without recordings.
    pub fn new(root: &Path, stores: &[Store], runs: &[&Run]) -> Option<Model> {
        let clock = stores.first()?.clone();
        let mut builder = Builder::new();
        for store in stores {
            builder.add_recording(store, &Filter::all());
        }
        let program = builder.build();
        let mut resolved: HashMap<&str, PathBuf> = HashMap::new();
        let mut files: HashMap<PathBuf, Vec<usize>> = HashMap::new();
        let mut by_path = HashMap::new();
        for (at, method) in methods(&program) {
            let file = resolved.entry(&method.site.file).or_insert_with(|| resolve(root, &method.site.file));
            files.entry(file.clone()).or_default().push(at);
            by_path.entry(method.site.path.clone()).and_modify(|place| *place = None).or_insert(Some(at));
        }
        let types = Types::read(stores);
        let runs = runs.iter().map(|&run| run.clone()).collect();
        let mut model = Model {
            program,
            files,
            by_path,
            shapes: types.call_sites(),
            types,
            runs,
            calls: 0,
            self_ns: 0,
            root: root.to_owned(),
            clock,
            classes: Default::default(),
        };
        let all: Vec<Numbers> = model.all_numbers().collect();
        model.calls = all.iter().map(|numbers| numbers.calls).sum();
        model.self_ns = all.iter().filter_map(|numbers| numbers.self_ns).sum();
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
    pub fn element(&self, at: usize) -> &Element {
        &self.program.elements[at]
    }

    /// The methods of a file.
    pub fn methods_of(&self, file: &Path) -> impl Iterator<Item = (usize, &Method)> + Clone {
        let places = self.files.get(file).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|&at| Some((at, self.element(at).method.as_deref()?)))
    }

    /// The file and the line of the method with this path, if there is only one.
    pub fn declaration(&self, path: &str) -> Option<(PathBuf, u32)> {
        let method = self.element((*self.by_path.get(path)?)?).method.as_deref()?;
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
            sum.panicked += measure.panicked;
            sum.running += measure.running;
            let ns = |ticks: Option<u64>| ticks.map(|ticks| self.clock.span_ns(ticks));
            let profile = &method.profile;
            sum.self_ns = add(sum.self_ns, profile.self_ns.or_else(|| ns(element.self_ticks())));
            sum.total_ns = add(sum.total_ns, profile.total_ns.or_else(|| ns(element.total_ticks())));
            if !element.receivers.is_unknown() {
                let before = sum.receivers.unwrap_or_default();
                let Receivers { count, is_least } = element.receivers;
                sum.receivers = Some(Receivers { count: before.count + count, is_least: before.is_least || is_least });
            }
            if let Some(objects) = profile.objects {
                let before = sum.objects.unwrap_or_default();
                let (count, bytes) = (before.count + objects.count, before.bytes + objects.bytes);
                sum.objects = Some(Objects { count, bytes });
            }
            sum.returns = sum.returns.max(profile.returns);
            sum.tests = sum.tests.max(profile.tests.len());
            sum.skipped = sum.skipped.or_else(|| method.site.skipped.clone());
            sum.is_test |= method.is_test();
        }
        sum
    }

    /// The types that arrived at these methods.
    pub fn types_of(&self, places: &[usize]) -> Vec<&MethodTypes> {
        let methods = places.iter().filter_map(|&at| self.element(at).method.as_deref());
        methods.filter_map(|method| self.types.method(&method.site.path, method.site.lines.0)).collect()
    }

    /// True for a method of a trait, whose call may run others.
    pub fn is_of_trait(&self, path: &str) -> bool {
        let method = self.by_path.get(path).copied().flatten().and_then(|at| self.element(at).method.as_deref());
        method.and_then(|method| method.facts.as_ref()).is_some_and(|facts| facts.of_trait.is_some())
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
            let values: Vec<u64> = self.all_numbers().filter_map(|numbers| metric.of(&numbers)).collect();
            Classes::new(&values, scale)
        })
    }

    /// The numbers of each method but tests.
    fn all_numbers(&self) -> impl Iterator<Item = Numbers> {
        let own = methods(&self.program).filter(|(_, method)| !method.is_test() && method.site.skipped.is_none());
        own.map(|(at, _)| self.numbers(&[at]))
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

fn add(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum + more),
        (sum, more) => sum.or(more),
    }
}

/// Adds up the edges of one path, with the most frequent first.
fn merge<P: Ord>(edges: &mut Vec<(P, Edge)>) {
    edges.sort_by(|a, b| a.0.cmp(&b.0));
    edges.dedup_by(|more, sum| {
        let is_same = more.0 == sum.0;
        if is_same {
            sum.1.add(more.1);
        }
        is_same
    });
    edges.sort_by_key(|(_, edge)| std::cmp::Reverse(edge.count));
}
