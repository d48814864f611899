//! A method: its source, and the measurements of profilers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use metaspy_format::facts::Facts;
use metaspy_reader::RecordedSite;

use super::element::Receivers;
use super::profiles::{ColumnValue, INSTRUCTIONS, OWN_INSTRUCTIONS};
use crate::text::grouped;

/// A method, with everything that the recordings contain of it.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its site, as the first recording describes it.
    pub site: RecordedSite,
    /// The facts that the weaver read from its source; `None` if it was not woven.
    pub facts: Option<Facts>,
    /// The measurements of profilers.
    pub profile: MethodProfile,
}

/// The measurements of profilers of a method, in all processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodProfile {
    /// The objects that it was called on; `None` if no profiler looked at objects, or if they
    /// cannot be distinguished.
    pub receivers: Option<Receivers>,
    /// The kind of its return values.
    pub returns: Option<Returned>,
    /// Calls that it made to methods with a hook.
    pub calls: u64,
    /// The tests in which it ran, as far as they are known.
    pub tests: BTreeSet<String>,
    /// True if it may have run in further tests, because the recording had no room for them.
    pub(crate) has_lost_tests: bool,
    /// True if its times are lower bounds, because some found no room in the recording.
    pub has_lost_times: bool,
    /// Its time with the methods that it called, if calls were timed.
    pub total_ns: Option<u64>,
    /// Its time without them.
    pub self_ns: Option<u64>,
    /// The calls that have these times.
    pub timed_calls: u64,
    /// Its callers by path, with the most frequent first. `None` is code without hooks.
    pub callers: Vec<(Option<String>, Edge)>,
    /// True if it may have further callers, because the recording had no room for them.
    pub has_lost_callers: bool,
    /// The methods that it called, by path.
    pub callees: Vec<(String, Edge)>,
    /// The objects that it allocated on the heap, if they were counted.
    pub objects: Option<Objects>,
    /// The calls in the recordings to which executed instructions were added.
    pub instructed_calls: u64,
    /// Columns of other profilers, by the names of profiler and column.
    pub columns: BTreeMap<String, BTreeMap<String, ColumnValue>>,
}

impl MethodProfile {
    /// The number of tests in which it ran.
    pub fn test_count(&self) -> TestCount {
        TestCount { count: self.tests.len() as u64, is_least: self.has_lost_tests }
    }

    /// The instructions in its own code, if callgrind counted them.
    pub fn instructions(&self) -> Option<Instructions> {
        let value = &self.columns.get(INSTRUCTIONS)?.get(OWN_INSTRUCTIONS)?.value;
        Some(Instructions { count: value.number()?, is_least: value.is_at_least() })
    }
}

/// A number of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestCount {
    /// The number.
    pub count: u64,
    /// True if there may be more.
    pub is_least: bool,
}

impl fmt::Display for TestCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_least { "≥" } else { "" };
        f.pad(&format!("{sign}{}", grouped(self.count)))
    }
}

/// Objects on the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// The number of objects.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The calls that allocated them, and those that allocated nothing.
    pub calls: u64,
    /// True if there may be more of all, because some found no room in the recording.
    pub is_least: bool,
}

/// Executed instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// The number.
    pub count: u64,
    /// True if there may be more, because some found no room in the recording.
    pub is_least: bool,
}

/// Calls from one method to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// The number of calls.
    pub count: u64,
    /// Their time.
    pub total_ns: u64,
    /// True if there may be more calls, because some found no room in the recording.
    pub is_least: bool,
}

/// The kind of a method's return values. The kinds of two processes merge to the greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Returned {
    /// Nothing.
    Unit,
    /// Its receiver.
    Itself,
    /// The same value for each receiver.
    Constant,
    /// Values that cannot be compared.
    NotComparable,
    /// Different values.
    Varies,
}

impl Method {
    /// Its path with the type arguments of its `impl`, which other methods of the same path do not
    /// have.
    pub fn path_with_arguments(&self) -> String {
        self.site.path_with_arguments()
    }

    /// The number of its lines.
    pub fn line_count(&self) -> u32 {
        match self.site.lines {
            (0, _) => 0,
            (first, last) => last.saturating_sub(first).saturating_add(1),
        }
    }

    /// Its cyclomatic complexity; `None` if it was not woven.
    pub fn complexity(&self) -> Option<u32> {
        self.facts.as_ref().map(|facts| facts.complexity)
    }

    /// True for a test.
    pub fn is_test(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.is_test)
    }

    /// True if it counts in every ratio, pattern, picture and export of coverage: it can run, and
    /// it is no test and not inside `#[cfg(test)]`.
    pub fn is_counted(&self) -> bool {
        self.site.skipped.is_none() && !self.facts.as_ref().is_some_and(Facts::is_of_tests)
    }

    /// True for a closure.
    pub fn is_closure(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.is_closure)
    }
}

impl Edge {
    /// Adds more calls of the same pair.
    pub fn add(&mut self, more: Edge) {
        self.count = self.count.saturating_add(more.count);
        self.total_ns = self.total_ns.saturating_add(more.total_ns);
        self.is_least |= more.is_least;
    }

    /// The sign before the number of calls and their time.
    pub fn sign(&self) -> &'static str {
        if self.is_least { "≥" } else { "" }
    }
}

impl Returned {
    const ALL: [Returned; 5] = [
        Returned::Unit,
        Returned::Itself,
        Returned::Constant,
        Returned::NotComparable,
        Returned::Varies,
    ];

    /// The variant with this word.
    pub fn from_word(word: &str) -> Option<Returned> {
        Returned::ALL.into_iter().find(|returned| returned.word() == word)
    }

    /// The word of a variant in profiles and in JSON.
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
