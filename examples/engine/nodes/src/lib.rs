//! A profiler of plan nodes: the rows that each node of a query's plan makes.
//!
//! A node at work is a stream that is polled for batches of rows, and it reports each batch to its
//! metrics before the poll ends. So the rows that were reported while a poll ran, and not to a poll
//! within it, are the rows of that node.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Mutex;

use metaspy_core::Subject;
use metaspy_core::method_profilers::{Call, CallEnd, Column, Facts, MethodProfiler, MethodSpy, SubjectTable, Tables};

/// The method that an operator reports a batch with.
const REPORT: &str = "BaselineMetrics::record_output";
/// The method that makes an operator work.
const POLL: &str = "Stream::poll_next";

thread_local! {
    /// Rows and batches since the last poll ended.
    static REPORTED: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

#[derive(Default)]
struct Nodes {
    nodes: SubjectTable,
    labelled: Mutex<HashSet<Subject>>,
}

impl Nodes {
    /// Labels a node with its type, without the path and the parameters.
    fn label(&self, call: &Call<'_>) {
        let of_type = call.receiver_type().split('<').next().unwrap_or_default();
        let is_new = self.labelled.lock().is_ok_and(|mut labelled| labelled.insert(call.subject()));
        if is_new {
            metaspy_core::label(call.subject(), of_type.rsplit("::").next().unwrap_or(of_type));
        }
    }
}

impl MethodProfiler for Nodes {
    const NAME: &'static str = "nodes";
    const TIMED: bool = true;
    type Package = ();
    type Type = ();
    type Method = ();
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        let columns = [Column::new("rows"), Column::new("batches"), Column::ticks("own")];
        self.nodes = tables.by_subject("nodes", columns);
    }

    fn selects(&self, facts: &Facts) -> bool {
        let path = facts.path();
        path.ends_with(REPORT) || path.ends_with(POLL)
    }

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        if !spy.facts.path().ends_with(REPORT) {
            return self.label(call);
        }
        let mut rows = String::new();
        if call.arguments().any(|argument| argument.name() == "num_rows" && argument.show(&mut rows)) {
            let (all, batches) = REPORTED.get();
            REPORTED.set((all + rows.parse::<u64>().unwrap_or(0), batches + 1));
        }
    }

    fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, end: &CallEnd<'_>) {
        if !spy.facts.path().ends_with(POLL) {
            return;
        }
        let (rows, batches) = REPORTED.take();
        let node = self.nodes.row(spy.site, call.subject());
        node.put(0, rows);
        node.put(1, batches);
        node.put(2, end.own_ticks());
    }
}

metaspy_core::profiler!(Nodes);
