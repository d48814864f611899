//! Numbers of functions, types and modules, and their sums over several recordings.

use metaspy_report::program::{Edge, Instructions, Objects, Receivers, Returned, TestCount};

/// Totals of a type or a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Number of methods that can run, without tests.
    pub methods: usize,
    /// Number of methods that ran, without tests.
    pub ran: usize,
    /// Number of calls of all methods.
    pub calls: u64,
    /// Distinct objects that the calls were about.
    pub receivers: Receivers,
}

/// Recorded numbers of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that returned an error, or nothing.
    pub failed: u64,
    /// Word for failed calls: `err`, `none`, or `failed` if the return type does not tell.
    pub failure: &'static str,
    /// Number of calls that panicked.
    pub panicked: u64,
    /// Number of async calls that were dropped before their end.
    pub cancelled: u64,
    /// Number of calls that have not ended.
    pub running: u64,
    /// Time without the function's callees, in ns; `None` if calls were not timed.
    pub self_ns: Option<u64>,
    /// Time with the function's callees, in ns; `None` if calls were not timed.
    pub total_ns: Option<u64>,
    /// True if times found no room in the recording.
    pub has_lost_times: bool,
    /// Number of calls that have these times. Not all runs may have timed their calls.
    pub timed_calls: u64,
    /// Number of calls without a length, because they are instants.
    pub instants: u64,
    /// True if `total_ns` may contain some time twice.
    pub total_at_most: bool,
    /// Distinct objects that the function was called on; `None` if they were not counted.
    pub receivers: Option<Receivers>,
    /// Heap allocations of the calls; `None` if they were not counted.
    pub objects: Option<Objects>,
    /// Executed instructions of the function's own code; `None` if they were not counted.
    pub instructions: Option<Instructions>,
    /// Number of calls in the recordings with instructions.
    pub instructed_calls: u64,
    /// Returned values; `None` if values were not recorded.
    pub returns: Option<Returned>,
    /// Number of tests in which the function ran.
    pub tests: TestCount,
    /// Reason why the function cannot be recorded, or `None` if it can.
    pub skipped: Option<String>,
    /// True for a test function.
    pub is_test: bool,
    /// True for a test, and for code that only builds of tests contain. It does not count as a
    /// function that ran.
    pub is_of_tests: bool,
}

impl Numbers {
    /// Returns true if the times lack some calls. They are lower bounds then.
    pub fn is_partly_timed(&self) -> bool {
        self.has_lost_times || self.timed_calls.saturating_add(self.instants) < self.calls
    }
}

/// Calls from and to a function, the most frequent first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    /// Callers of the function; `None` is code without hooks.
    pub callers: Vec<(Option<String>, Edge)>,
    /// Callees of the function.
    pub callees: Vec<(String, Edge)>,
}

/// Returns true for functions that can be recorded, except tests.
pub fn is_shown(numbers: &Numbers) -> bool {
    !numbers.is_of_tests && numbers.skipped.is_none()
}

/// Adds two numbers, of which either may be unknown.
pub fn add(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum + more),
        (sum, more) => sum.or(more),
    }
}

/// Adds up the edges of each path, and sorts them with the most frequent first.
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
