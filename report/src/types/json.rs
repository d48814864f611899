//! Types as JSON.

use serde_json::{Value, json};

use super::arrived::{Arrived, CallSite, MethodTypes, Types, ValueTypes};
use super::findings::{Shape, Target, Unseen, Wide};

/// All that is known of types.
pub fn json(types: &Types) -> Value {
    json!({
        "methods": types.methods.iter().map(method).collect::<Vec<_>>(),
        "calls": types.call_sites().iter().map(shape).collect::<Vec<_>>(),
        "never_arrived": types.unseen().iter().map(unseen).collect::<Vec<_>>(),
        "wider_than_needed": types.wide().iter().map(wide).collect::<Vec<_>>(),
        "unresolved": types.unresolved,
        "lost": types.lost,
        "notes": types.notes,
    })
}

fn method(method: &MethodTypes) -> Value {
    let caller = |site: &CallSite| json!({ "caller": site.caller, "values": values(&site.values) });
    json!({
        "path": method.path,
        "file": method.file,
        "line": method.line,
        "values": values(&method.values),
        "callers": method.callers.iter().map(caller).collect::<Vec<_>>(),
    })
}

fn values(values: &[ValueTypes]) -> Value {
    let value = |value: &ValueTypes| {
        let all = value.count();
        let types: Vec<Value> = value.arrived.iter().map(|one| arrived(one, all)).collect();
        json!({ "name": value.name, "open": value.open, "count": all, "types": types })
    };
    values.iter().map(value).collect()
}

fn arrived(one: &Arrived, all: u64) -> Value {
    json!({
        "type": (!one.is_unresolved).then_some(&one.name),
        "through": one.through,
        "variant": one.variant,
        "count": one.count,
        "share": one.count as f64 / all.max(1) as f64,
        "total_ns": time(one.total_ns),
    })
}

fn time(ns: u64) -> Option<u64> {
    (ns > 0).then_some(ns)
}

fn shape(shape: &Shape) -> Value {
    let targets: Vec<Value> = shape.targets.iter().map(|one| {
        let Target { path, receiver, count, total_ns } = one;
        json!({ "path": path, "receiver": receiver, "count": count, "total_ns": time(*total_ns) })
    }).collect();
    json!({ "caller": shape.caller, "name": shape.name, "class": shape.class(), "count": shape.count(), "targets": targets })
}

fn unseen(one: &Unseen) -> Value {
    let Unseen { of, is_enum, never, all } = one;
    json!({ "of": of, "kind": if *is_enum { "enum" } else { "trait" }, "never": never, "all": all })
}

fn wide(one: &Wide) -> Value {
    let Wide { path, parameter, declared, arrived, common, count } = one;
    json!({ "path": path, "parameter": parameter, "declared": declared, "arrived": arrived, "common_trait": common, "count": count })
}
