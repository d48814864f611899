//! Comparison of two versions of a program: methods that changed beyond the noise of several runs
//! (*Execution profiling blueprints*, section 4.2).
//!
//! Methods are matched by their paths. A new method with the tokens of a removed method counts as
//! renamed.

mod change;
mod matching;

use std::collections::HashMap;

pub use change::{By, Change};
use matching::{Key, keys, renamed};
use metaspy_report::diff::{Change as Numbers, Sample};

use crate::graph::{Call, Graph};

/// Version of a program, with the recordings of one or more runs.
#[derive(Clone, Debug)]
pub struct Version {
    /// Name of the version, as pictures show it.
    pub name: String,
    /// Graphs of the runs; the last run represents the version in pictures.
    pub runs: Vec<Graph>,
}

/// Comparison of two successive versions.
#[derive(Clone, Debug)]
pub struct Step {
    /// Graph of the newer version, whose times are medians of its runs.
    pub graph: Graph,
    /// Same graph with the larger number of both versions, so that a faster method keeps its place
    /// in a picture.
    pub larger: Graph,
    /// Comparison of each method of the newer version, in the order of its methods.
    pub methods: Vec<Comparison>,
    /// Methods that ran in the older version and do not exist in the newer version.
    pub gone: Vec<Former>,
    /// Methods that ran in the older version, and exist but do not run in the newer version.
    pub idle: Vec<Former>,
    /// Quantity that was compared.
    pub by: By,
    /// Number of runs of the older and of the newer version.
    pub runs: (usize, usize),
}

/// Method that ran in the older version only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Former {
    /// Path in the newer version, or in the older version if the newer has no such method.
    pub path: String,
    /// Number of executions in the older version.
    pub executions: u64,
}

/// Numbers of a method in two versions, and the verdict on them.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Verdict on the compared quantity.
    pub change: Change,
    /// Total times in the runs of both versions; no values where the method did not run, or was not
    /// timed.
    pub time: Numbers,
    /// Executions in the runs of both versions; no older values for a method that did not run
    /// before.
    pub executions: Numbers,
    /// Objects allocated in the runs of both versions; no values where they were not counted.
    pub objects: Numbers,
    /// Instructions executed in the runs of both versions; no values where they were not counted.
    pub instructions: Numbers,
    /// Numbers that are bounds in a run of either version.
    pub bounds: Bounds,
    /// True if the tokens of the method differ from the older version's.
    pub has_new_source: bool,
    /// Path in the older version, if the method was renamed.
    pub was: Option<String>,
}

/// Numbers of a method that are bounds. Some of its calls may come from elsewhere, and some counts
/// may have found no room in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// True if the numbers of calls are upper bounds.
    pub calls: bool,
    /// True if the times are upper bounds.
    pub times: bool,
    /// True if the numbers of objects are lower bounds.
    pub objects: bool,
    /// True if the numbers of instructions are lower bounds.
    pub instructions: bool,
}

/// Numbers of a method in all runs of a version.
#[derive(Clone, Debug, Default)]
struct Samples {
    bounds: Bounds,
    executions: Vec<u64>,
    total_ns: Vec<u64>,
    objects: Vec<u64>,
    instructions: Vec<u64>,
}

impl Version {
    /// Restricts the version to the calls and times within the calls of one method, like
    /// [`Graph::below`].
    ///
    /// # Errors
    ///
    /// If the path is not the end of the path of one method in each run.
    pub fn below(self, path: &str) -> Result<Version, String> {
        let Version { name, runs } = self;
        let runs = runs.into_iter().map(|run| Ok(run.below(path)?.without_the_rest()));
        let runs =
            runs.collect::<Result<_, String>>().map_err(|error| format!("{name}: {error}"))?;
        Ok(Version { name, runs })
    }
}

/// Compares two versions by one quantity.
pub fn compare(old: &Version, new: &Version, by: By) -> Step {
    let before = samples(&old.runs);
    let after = samples(&new.runs);
    let mut graph = new.runs.last().cloned().unwrap_or_default();
    let old_graph = old.runs.last().cloned().unwrap_or_default();
    let old_keys = keys(&old_graph);
    let new_keys = keys(&graph);
    let old_places: HashMap<&Key, usize> =
        old_keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let renamed = renamed(&old_graph, &old_keys, &graph, &new_keys);
    let whole = after.values().map(|samples| samples.time().median()).max();
    let mut methods = Vec::with_capacity(graph.methods.len());
    let former = |path: &str, executions| Former { path: path.to_owned(), executions };
    let mut is_found = vec![false; old_graph.methods.len()];
    let mut idle = Vec::new();
    for (at, key) in new_keys.iter().enumerate() {
        let now = after.get(key).cloned().unwrap_or_default();
        let old_at = old_places.get(key).copied().or(renamed.get(&at).copied());
        let then = old_at.and_then(|old| before.get(&old_keys[old])).filter(|then| then.has_run());
        if let Some(old) = old_at {
            is_found[old] = true;
            let executions = old_graph.methods[old].executions;
            if executions > 0 && !now.has_run() {
                idle.push(former(&key.0, executions));
            }
        }
        let method = &mut graph.methods[at];
        let both = |of: fn(&Samples) -> Sample| Numbers {
            before: then.map(of).unwrap_or_default(),
            after: of(&now),
        };
        let time = both(Samples::time);
        let executions = both(Samples::executions);
        let objects = both(Samples::objects);
        let instructions = both(Samples::instructions);
        method.executions = executions.after.median();
        method.total_ns = (!time.after.values().is_empty()).then(|| time.after.median());
        let earlier = then.map(|then| then.bounds).unwrap_or_default();
        let bounds = now.bounds.or(earlier);
        let change = match by {
            // This method is listed among the idle methods.
            _ if !now.has_run() => Change::Same,
            // Bounds say nothing about the difference.
            _ if bounds.has(by) => Change::Same,
            By::Time => change::by_time(&time, whole.unwrap_or(0)),
            By::Calls => change::by_count(&executions),
            // A method that did not run is new, whether it allocates or not.
            By::Objects | By::Instructions if executions.before.values().is_empty() => Change::New,
            By::Objects => change::by_count(&objects),
            By::Instructions => change::by_count(&instructions),
        };
        let hashes = old_at.map(|old| (old_graph.methods[old].fingerprint, method.fingerprint));
        methods.push(Comparison {
            change,
            time,
            executions,
            objects,
            instructions,
            bounds,
            has_new_source: hashes.is_some_and(|(old, new)| old != new && old != 0 && new != 0),
            was: renamed.get(&at).map(|&old| old_graph.methods[old].path.clone()),
        });
    }
    let gone = old_graph
        .methods
        .iter()
        .zip(is_found)
        .filter(|(method, is_found)| !is_found && method.executions > 0);
    let mut gone: Vec<Former> =
        gone.map(|(method, _)| former(&method.path, method.executions)).collect();
    for list in [&mut gone, &mut idle] {
        list.sort_by(|a, b| b.executions.cmp(&a.executions).then_with(|| a.path.cmp(&b.path)));
    }
    let larger = larger(&graph, &methods, &old_graph, &old_keys, &new_keys, &renamed);
    Step { graph, larger, methods, gone, idle, by, runs: (old.runs.len(), new.runs.len()) }
}

impl Step {
    /// Returns the share of the newer version's methods that ran there and not before.
    pub(crate) fn share_of_new(&self) -> f64 {
        let ran = self.methods.iter().filter(|method| method.has_run()).count();
        self.methods.iter().filter(|method| method.change == Change::New).count() as f64
            / ran.max(1) as f64
    }
}

impl Comparison {
    /// Returns the numbers of the quantity that is compared.
    pub fn numbers(&self, by: By) -> &Numbers {
        match by {
            By::Time => &self.time,
            By::Calls => &self.executions,
            By::Objects => &self.objects,
            By::Instructions => &self.instructions,
        }
    }

    /// Returns true if the method ran in the newer version.
    pub fn has_run(&self) -> bool {
        self.executions.after.median() > 0
    }
}

impl Bounds {
    /// Returns true if the numbers of a quantity are bounds, so that they are not judged.
    pub fn has(self, by: By) -> bool {
        match by {
            By::Time => self.times,
            By::Calls => self.calls,
            By::Objects => self.objects,
            By::Instructions => self.instructions,
        }
    }

    fn or(self, other: Bounds) -> Bounds {
        Bounds {
            calls: self.calls || other.calls,
            times: self.times || other.times,
            objects: self.objects || other.objects,
            instructions: self.instructions || other.instructions,
        }
    }
}

impl Samples {
    fn has_run(&self) -> bool {
        self.executions.iter().any(|&executions| executions > 0)
    }

    fn executions(&self) -> Sample {
        Sample::new(self.executions.iter().copied())
    }

    fn objects(&self) -> Sample {
        Sample::new(self.objects.iter().copied())
    }

    fn instructions(&self) -> Sample {
        Sample::new(self.instructions.iter().copied())
    }

    fn time(&self) -> Sample {
        Sample::new(self.total_ns.iter().copied())
    }
}

/// Collects the numbers of all methods in some runs.
fn samples(runs: &[Graph]) -> HashMap<Key, Samples> {
    let mut all: HashMap<Key, Samples> = HashMap::new();
    for graph in runs {
        let has_objects = graph.has_objects();
        let has_instructions = graph.has_instructions();
        for (at, (key, method)) in keys(graph).into_iter().zip(&graph.methods).enumerate() {
            let samples = all.entry(key).or_default();
            samples.bounds.calls |= !graph.calls_sign(at).is_empty();
            samples.bounds.times |= !graph.time_sign(at).is_empty();
            samples.bounds.objects |= method.has_more_objects;
            samples.bounds.instructions |=
                method.instructions.is_some_and(|instructions| instructions.is_least);
            samples.executions.push(method.executions);
            samples.total_ns.extend(method.total_ns);
            // A method without allocations or instructions has no row in their tables.
            samples.objects.extend(has_objects.then(|| method.objects.unwrap_or(0)));
            let instructions = method.instructions.map_or(0, |instructions| instructions.count);
            samples.instructions.extend(has_instructions.then_some(instructions));
        }
    }
    all
}

/// Builds the newer graph with the larger time of both versions, for methods, calls and entries.
fn larger(
    graph: &Graph,
    methods: &[Comparison],
    old: &Graph,
    old_keys: &[Key],
    new_keys: &[Key],
    renamed: &HashMap<usize, usize>,
) -> Graph {
    let mut larger = graph.clone();
    for (method, comparison) in larger.methods.iter_mut().zip(methods) {
        let medians = [&comparison.time.before, &comparison.time.after];
        let medians =
            medians.into_iter().filter(|it| !it.values().is_empty() && comparison.has_run());
        method.total_ns = medians.map(Sample::median).max();
    }
    let new_places: HashMap<&Key, usize> =
        new_keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let new_name: HashMap<usize, usize> = renamed.iter().map(|(&new, &old)| (old, new)).collect();
    let place = |at: usize| {
        let place = new_places.get(&old_keys[at]).or(new_name.get(&at)).copied();
        place.filter(|&place| methods[place].has_run())
    };
    let mut calls: HashMap<(usize, usize), Call> =
        larger.calls.iter().map(|call| ((call.from, call.to), *call)).collect();
    for call in &old.calls {
        if let (Some(from), Some(to)) = (place(call.from), place(call.to)) {
            let both = calls.entry((from, to)).or_insert(Call { from, to, count: 0, total_ns: 0 });
            (both.count, both.total_ns) =
                (both.count.max(call.count), both.total_ns.max(call.total_ns));
        }
    }
    larger.calls = calls.into_values().collect();
    larger.calls.sort_by_key(|call| (call.from, call.to));
    for &(at, edge) in &old.entries {
        let Some(at) = place(at) else { continue };
        match larger.entries.iter_mut().find(|(entry, _)| *entry == at) {
            Some((_, both)) => {
                (both.count, both.total_ns) =
                    (both.count.max(edge.count), both.total_ns.max(edge.total_ns));
            }
            None => larger.entries.push((at, edge)),
        }
    }
    larger
}
