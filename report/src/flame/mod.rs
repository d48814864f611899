//! The flame page: stacks of a recording with their costs, as one file for a browser and as text.
//!
//! [`FlamePage::read`] reads everything in a recording that has stacks: calling contexts, objects
//! on the heap, samples, callers and times, stored events. Each of these is a [`Stacks`]: a tree
//! for each thread, and exact numbers of each function. Stacks that a recording does not have are
//! listed with the way to record them.
//!
//! The page draws on a canvas with a script of its own, in place of a library: d3-flame-graph has
//! no sandwich, no order of time and no threads, and needs d3 (280 kB); speedscope and Firefox's
//! profiler are programs of megabytes which cannot mark a lower bound or name missing stacks. A
//! page has [`FRAMES`] frames at most, the largest, and states the folded ones; the numbers of
//! functions are of all frames.

mod calls;
mod contexts;
mod difference;
mod events;
mod html;
mod in_time;
mod samples;
mod text;
mod tree;

use std::collections::{BTreeMap, HashMap};

use metaspy_reader::{Filter, Store};

pub use in_time::{Call, InTime, Longest};
pub use samples::source_lines;
pub use tree::{Frame, InTree, Tree, Values};

/// Most frames of each [`Stacks`] that a page draws. Smaller frames are folded into one for each
/// caller.
pub const FRAMES: usize = 20_000;
/// Most measures of a [`Stacks`].
pub const MEASURES: usize = 3;

/// Everything that a page shows.
#[derive(Clone, Debug, Default)]
pub struct FlamePage {
    /// Name of the recording.
    pub title: String,
    /// Functions, which frames name by their place in this list.
    pub functions: Vec<Function>,
    /// The sets of stacks, the first of which a page opens with.
    pub stacks: Vec<Stacks>,
    /// The sets of stacks that were not recorded.
    pub absent: Vec<Absent>,
    places: HashMap<(String, String), usize>,
}

/// Function, method or site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Whole path.
    pub name: String,
    /// File and line, or the file with the code; empty if it is not known.
    pub place: String,
    /// The group that gives a frame its colour: the package, or the owner of the code.
    pub group: String,
    /// Lines with samples: number of the line, samples, source.
    pub lines: Vec<(u32, u64, String)>,
}

/// Set of stacks: the paths of calls, and their costs.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    /// Word for the set: `contexts`, `samples`, …
    pub name: String,
    /// Sentence about the meaning of the frames and their numbers.
    pub about: String,
    /// Measures, at most [`MEASURES`]. The first one is chosen when a page opens.
    pub measures: Vec<Measure>,
    /// Threads; one without a name where threads are not distinguished.
    pub lanes: Vec<Lane>,
    /// Exact numbers of each function. Calls within calls of the same function count once in its
    /// total.
    pub rows: BTreeMap<usize, FunctionValues>,
    /// Calls between functions, where stacks are known one level up only.
    pub edges: Option<Vec<Edge>>,
    /// Sentences about missing calls or events.
    pub notes: Vec<String>,
    /// True if frames and rows have the numbers of two recordings.
    pub is_difference: bool,
}

/// A measure of frames, which gives them their width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Name, such as `calls` or `wall time`.
    pub name: String,
    /// Unit.
    pub unit: Unit,
    /// True if every number is a lower bound.
    pub is_least: bool,
    /// True if callees are a part of their callers, so that frames can have this width.
    pub is_width: bool,
}

/// Units of measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Plain counts.
    #[default]
    Count,
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Samples, each of which stands for this many nanoseconds; 0 if that is not known.
    Samples(u64),
}

/// Stacks of a thread, or of all threads.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// Name of the thread; empty if threads are not distinguished.
    pub name: String,
    /// Merged stacks.
    pub tree: Tree,
    /// Calls in the order of time, if it was recorded.
    pub in_time: Option<InTime>,
}

/// Numbers of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionValues {
    /// Without callees.
    pub own: Values,
    /// With callees.
    pub total: Values,
    /// The same in the earlier recording.
    pub before: Before,
}

/// Numbers of the earlier of two recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Without callees.
    pub own: Values,
    /// With callees.
    pub total: Values,
}

/// Calls from one function to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Caller; `None` for code without hooks.
    pub from: Option<usize>,
    /// Callee.
    pub to: usize,
    /// Numbers of the calls, with their callees.
    pub total: Values,
}

/// Set of stacks that a recording does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// Word for the set.
    pub name: String,
    /// Why, and how to record it.
    pub why: String,
}

impl FlamePage {
    /// A page without stacks.
    pub fn new(title: impl Into<String>) -> FlamePage {
        FlamePage { title: title.into(), ..FlamePage::default() }
    }

    /// Reads all stacks of a recording. A filter selects events; the sums of profilers and samples
    /// cannot be filtered.
    pub fn read(store: &Store, filter: &Filter, title: impl Into<String>) -> FlamePage {
        let mut page = FlamePage::new(title);
        if filter.is_all() {
            contexts::add(&mut page, store);
            calls::add(&mut page, store);
            page.add_profiles(store);
        } else {
            for name in ["contexts", "allocations", "samples", "callers"] {
                page.lacks(
                    name,
                    "it is added up while the program runs, and --filter selects stored events",
                );
            }
        }
        events::add(&mut page, store, filter);
        page
    }

    /// Adds the numbers that include functions without hooks: samples, and the instructions of
    /// callgrind.
    pub fn add_profiles(&mut self, store: &Store) {
        samples::add(self, store);
        calls::add_instructions(self, store);
    }

    /// Returns the place of a function, which is added if it is new.
    pub fn function(&mut self, name: &str, place: &str, group: &str) -> usize {
        let FlamePage { functions, places, .. } = self;
        *places.entry((name.to_owned(), place.to_owned())).or_insert_with(|| {
            let name = name.to_owned();
            let place = place.to_owned();
            let group = group.to_owned();
            functions.push(Function { name, place, group, lines: Vec::new() });
            functions.len() - 1
        })
    }

    fn lacks(&mut self, name: &str, why: &str) {
        self.absent.push(Absent { name: name.to_owned(), why: why.to_owned() });
    }

    /// Adds the function of a path: its place is that of the site with this path, if there is one.
    fn path(&mut self, path: &str, sites: &Sites) -> usize {
        let place = sites.0.get(path).map_or("", String::as_str);
        self.function(path, place, package_of(path))
    }
}

/// The package of a path; empty if the path has none.
fn package_of(path: &str) -> &str {
    path.split_once("::").map_or("", |(package, _)| package)
}

/// File and line of each path.
struct Sites(HashMap<String, String>);

impl Sites {
    fn of(store: &Store) -> Sites {
        let sites = store.sites().iter().filter(|site| !site.file.is_empty());
        Sites(
            sites
                .map(|site| (site.path.clone(), format!("{}:{}", site.file, site.lines.0)))
                .collect(),
        )
    }
}

impl Measure {
    /// A measure of exact numbers.
    pub fn new(name: &str, unit: Unit) -> Measure {
        Measure { name: name.to_owned(), unit, is_least: false, is_width: true }
    }
}

impl Stacks {
    /// Adds up the numbers of each function over all lanes.
    pub fn add_up(&mut self) {
        for lane in &self.lanes {
            lane.tree.add_rows(&mut self.rows);
        }
    }

    /// The sums over all lanes.
    fn whole(&self) -> Values {
        let totals =
            self.lanes.iter().filter_map(|lane| lane.tree.frames.first()).map(|root| root.total);
        totals.fold([0; MEASURES], tree::sum)
    }
}

#[cfg(test)]
mod tests;
