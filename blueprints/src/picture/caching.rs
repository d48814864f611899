//! Candidates for a cache (*Execution profiling blueprints*, section 5.3): methods that always
//! return the same value for a receiver, and run more often than there are receivers.
//!
//! The paper names four signs: many calls, several callers, a constant value, and a constant callee
//! that runs as often. Candidates are ranked here by the most time that a cache could save; each
//! row counts the signs. Methods that are caches already are left out, judged by their name, the
//! name of their type, or their body.

use std::collections::BTreeSet;

use metaspy_report::coverage::{TRUST, test_command};
use metaspy_report::program::Returned;
use metaspy_report::text::{counted, time};

use crate::graph::{Graph, Method};
use crate::scene::{List, ListRow, Node};

/// Number of calls that counts as many.
const MANY: u64 = 100;

/// Finds the candidates among the boxes of a picture, in descending order of the time to save.
pub fn caching(graph: &Graph, nodes: &[Node]) -> Option<List> {
    if !graph.has_returns {
        return None;
    }
    let mut callers = vec![0_usize; graph.methods.len()];
    let mut constant_callee = vec![false; graph.methods.len()];
    for call in graph.calls.iter().filter(|call| call.from != call.to) {
        callers[call.to] += 1;
        let callee = &graph.methods[call.to];
        constant_callee[call.from] |= callee.returns == Some(Returned::Constant)
            && callee.executions == graph.methods[call.from].executions;
    }
    let mut rows: Vec<(u64, usize, String)> = nodes
        .iter()
        .enumerate()
        .filter_map(|(place, node)| {
            let &at = node.methods.first()?;
            let method = &graph.methods[at];
            let saved = saving(method).filter(|&saved| saved > 0 && !method.is_cache)?;
            let signs = [method.executions >= MANY, callers[at] > 1, true, constant_callee[at]];
            let signs = signs.into_iter().filter(|&sign| sign).count();
            let callers = counted(callers[at] as u64, "caller");
            Some((saved, place, format!("≤ {}, {callers}, {signs} of 4 signs", time(saved))))
        })
        .collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let title = "a cache could save at most this time: always the same value for a receiver".into();
    let rows: Vec<_> =
        rows.into_iter().map(|(_, node, text)| ListRow { node: Some(node), text }).collect();
    (!rows.is_empty()).then_some(List { title, rows })
}

/// Computes the time of all calls but the first on each receiver; `None` if the method is no
/// candidate.
fn saving(method: &Method) -> Option<u64> {
    let again = method.executions.checked_sub(method.receivers.magnitude())?;
    let is_candidate =
        method.returns == Some(Returned::Constant) && method.receivers.magnitude() > 0;
    let share = again as f64 / method.executions.max(1) as f64;
    is_candidate.then(|| (method.total_ns.unwrap_or(0) as f64 * share) as u64)
}

/// Explains how to test a candidate, and how to make more values comparable.
pub fn notes(graph: &Graph, has_candidates: bool) -> Vec<String> {
    let test = test_command("METHOD", &BTreeSet::new());
    let test = format!(
        "the tests that reach a method show whether a cache is safe, before and after: {test}"
    );
    let is_hidden = |method: &Method| method.returns == Some(Returned::NotComparable);
    let hidden = graph.methods.iter().filter(|method| is_hidden(method)).count() as u64;
    let trust = format!("the values of {} cannot be compared: {TRUST}", counted(hidden, "method"));
    has_candidates.then_some(test).into_iter().chain((hidden > 0).then_some(trust)).collect()
}
