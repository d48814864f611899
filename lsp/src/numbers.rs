//! The numbers of functions, types and modules, and how those of several recordings are added up.

use metaspy_report::program::{Edge, Objects, Receivers, Returned, TestCount};

/// The totals of a type or a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// The number of methods that can run, without tests.
    pub methods: usize,
    /// The number of those that ran.
    pub ran: usize,
    /// The calls of its methods.
    pub calls: u64,
    /// The objects that its calls were about.
    pub receivers: Receivers,
}

/// The numbers of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Its calls.
    pub calls: u64,
    /// Calls that returned an error, or nothing.
    pub failed: u64,
    /// The word for those: `err`, `none`, or `failed` if the return type does not tell.
    pub failure: &'static str,
    /// Calls that panicked.
    pub panicked: u64,
    /// Async calls that were dropped before their end.
    pub cancelled: u64,
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
    /// The instructions of its own code, if they were counted.
    pub instructions: Option<u64>,
    /// What it returned, if values were recorded.
    pub returns: Option<Returned>,
    /// The number of tests in which it ran.
    pub tests: TestCount,
    /// The reason, if it cannot be recorded.
    pub skipped: Option<String>,
    /// True for a test.
    pub is_test: bool,
    /// True for a test, and for what only builds of tests contain: it does not count as a function that ran.
    pub is_of_tests: bool,
}

/// The calls from and to a function, with the most frequent first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    /// Its callers; `None` is code without hooks.
    pub callers: Vec<(Option<String>, Edge)>,
    /// The functions that it called.
    pub callees: Vec<(String, Edge)>,
}

/// True for the numbers of functions that can be recorded, except those of tests.
pub fn is_shown(numbers: &Numbers) -> bool {
    !numbers.is_of_tests && numbers.skipped.is_none()
}

/// Adds numbers that may be unknown.
pub fn add(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum + more),
        (sum, more) => sum.or(more),
    }
}

/// Adds up the edges of one path, with the most frequent first.
pub fn merge<P: Ord>(edges: &mut Vec<(P, Edge)>) {
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
