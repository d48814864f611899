//! The results, for programs. `docs/weaving.md` says what stands where.

use serde_json::{Value, json};

use crate::front::results::{Ran, Results};
use crate::wrapper::Left;

/// All of them.
pub fn of(results: &Results) -> Value {
    let packages =
        results.packages.iter().map(|(package, functions)| json!({ "package": package, "functions": functions }));
    json!({
        "format": 1,
        "woven": packages.collect::<Vec<_>>(),
        "skipped": results.skipped.iter().map(skipped).collect::<Vec<_>>(),
        "macros": results.invisible.0,
        "derives": results.invisible.1,
        "processes": results.processes,
        "exact": results.doubts.is_empty(),
        "methods": results.methods.iter().map(|ran| method(ran, results.processes.is_some())).collect::<Vec<_>>(),
    })
}

fn skipped(left: &Left) -> Value {
    let Left { method, reason } = left;
    json!({ "path": method.path, "file": method.file, "line": method.line, "reason": reason })
}

fn method(ran: &Ran, was_run: bool) -> Value {
    let Ran { method, calls } = ran;
    json!({
        "path": method.path,
        "file": method.file,
        "line": method.line,
        "lines": method.lines,
        "complexity": method.complexity,
        "async": method.is_async,
        "executions": was_run.then_some(calls.count),
        "total_ns": calls.total_ns,
        "self_ns": calls.self_ns,
    })
}
