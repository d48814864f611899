//! The tree as JSON: a list in which each context has the place of the one that it was called in.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{Context, Contexts, Shown, text};

/// The version of the JSON. It changes with a change that is more than an addition.
pub(super) const FORMAT: u32 = 1;

/// The contexts that pass. A context comes before those that it called.
pub fn json(contexts: &Contexts, shown: Shown) -> Value {
    let walk = contexts.walk(shown);
    let places: HashMap<usize, usize> =
        walk.iter().enumerate().map(|(place, &(at, _))| (at, place)).collect();
    let list = walk.iter().map(|&(at, depth)| {
        let context = &contexts.all()[at];
        let parent = context.parent.and_then(|parent| places.get(&parent));
        let mut object = Map::new();
        object.insert("path".into(), json!(context.name));
        object.insert("parent".into(), json!(parent));
        object.insert("depth".into(), json!(depth));
        object.extend(numbers(context, contexts.has_objects));
        Value::Object(object)
    });
    let whole = &contexts.all()[0].inclusive;
    json!({
        "format": FORMAT,
        "calls": whole.calls,
        "cut": whole.cut,
        "lost": contexts.lost,
        "hidden": contexts.all().len() - 1 - walk.len(),
        "notes": text::notes(contexts),
        "contexts": list.collect::<Vec<Value>>(),
    })
}

fn numbers(context: &Context, has_objects: bool) -> Map<String, Value> {
    let values = &context.values;
    let mut numbers = vec![
        ("calls", values.calls),
        ("recursive", values.folded),
        ("cut", values.cut),
        ("calls_inclusive", context.inclusive.calls),
    ];
    if values.total_ns > 0 {
        numbers.extend([("total_ns", values.total_ns), ("self_ns", values.self_ns)]);
    }
    if has_objects {
        numbers.extend([
            ("objects", values.objects),
            ("bytes", values.bytes),
            ("freed", values.freed),
            ("freed_bytes", values.freed_bytes),
            ("lifetime_ns", values.lifetime_ns),
            ("bytes_inclusive", context.inclusive.bytes),
        ]);
    }
    numbers.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}
