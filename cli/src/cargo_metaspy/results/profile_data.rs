//! What profilers told of a function.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use metaspy_weave::source::plain;
use metaspy_weave::wrapper::Method;
use serde_json::{Map, Value};

/// What tells functions apart, whoever wrote it: the weaver says what a file is called and the compiler how it came there,
/// `src/../other.rs`, and to the compiler a module may be `r#type`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Its path.
    pub path: String,
    /// Its file, as `file!()` says.
    pub file: String,
    /// Its first line.
    pub line: u32,
}

/// What profilers told of a function, in all processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// How often it ran, as each of metaspy's profilers counted.
    pub covered: u64,
    /// As above.
    pub timed: u64,
    /// On how many objects; `None` if it is about none that can be told apart.
    pub receivers: Option<u64>,
    /// Whether there may have been more.
    pub has_more_receivers: bool,
    /// What it returned.
    pub returns: Option<Returned>,
    /// How many woven functions it called.
    pub calls: u64,
    /// In which tests it ran.
    pub tests: BTreeSet<String>,
    /// Its time with what it called, where it was taken.
    pub total_ns: Option<u64>,
    /// Its time without.
    pub self_ns: Option<u64>,
    /// Who called it; none is what has no hook.
    pub callers: BTreeMap<Option<Name>, Edge>,
    /// What the profilers of others told, by their names.
    pub others: BTreeMap<String, Map<String, Value>>,
}

/// That one function called another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// How often.
    pub count: u64,
    /// How long these calls took.
    pub total_ns: u64,
}

/// What a function returned. Of what two processes saw the greater one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Returned {
    /// Nothing.
    Unit,
    /// Its receiver.
    Itself,
    /// The same for each receiver.
    Constant,
    /// What cannot be compared.
    NotComparable,
    /// Not always the same.
    Varies,
}

impl Name {
    /// Of a function with this path and first line in this file.
    pub fn new(path: &str, file: &str, line: u32) -> Name {
        let path = path.split("::").map(|segment| segment.strip_prefix("r#").unwrap_or(segment));
        Name { path: path.collect::<Vec<_>>().join("::"), file: plain(Path::new(file)).display().to_string(), line }
    }

    /// Of a woven function.
    pub fn of(method: &Method) -> Name {
        Name::new(&method.path, &method.file, method.line)
    }
}

impl Edge {
    /// Adds more of the same.
    pub fn add(&mut self, more: Edge) {
        self.count += more.count;
        self.total_ns += more.total_ns;
    }
}

impl Told {
    /// How often it ran. Whatever counted less began later, or did not see all.
    pub fn executions(&self) -> u64 {
        self.covered.max(self.timed)
    }
}

impl Returned {
    /// All of them.
    const ALL: [Returned; 5] =
        [Returned::Unit, Returned::Itself, Returned::Constant, Returned::NotComparable, Returned::Varies];

    /// As a profile says it.
    pub fn of(word: &str) -> Option<Returned> {
        Returned::ALL.into_iter().find(|returned| returned.word() == word)
    }

    /// As one word.
    pub fn word(self) -> &'static str {
        match self {
            Returned::Unit => "unit",
            Returned::Itself => "self",
            Returned::Constant => "constant",
            Returned::NotComparable => "not-comparable",
            Returned::Varies => "varies",
        }
    }
}

/// Callees by their caller, from callers by their callee.
pub(super) fn turned_round(told: &BTreeMap<Name, Told>) -> BTreeMap<Name, BTreeMap<Name, Edge>> {
    let mut callees: BTreeMap<Name, BTreeMap<Name, Edge>> = BTreeMap::new();
    for (callee, told) in told {
        for (caller, edge) in &told.callers {
            if let Some(caller) = caller {
                callees.entry(caller.clone()).or_default().insert(callee.clone(), *edge);
            }
        }
    }
    callees
}

/// Calls by path, the most frequent first.
pub(super) fn by_path<N, P: Ord>(edges: &BTreeMap<N, Edge>, path: impl Fn(&N) -> P) -> Vec<(P, Edge)> {
    let mut all: BTreeMap<P, Edge> = BTreeMap::new();
    for (name, edge) in edges {
        all.entry(path(name)).or_default().add(*edge);
    }
    let mut all: Vec<(P, Edge)> = all.into_iter().collect();
    all.sort_by_key(|(_, edge)| std::cmp::Reverse(edge.count));
    all
}
