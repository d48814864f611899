//! The scene as JSON: what the page in HTML draws, and what other programs read.
//!
//! Rows are arrays, because a picture has thousands of them: `docs/blueprints.md` lists their fields.

use serde_json::{Value, json};

use crate::graph::Graph;
use crate::scene::{EdgeKind, Scene};

/// The scene with the methods that it shows.
pub fn json(scene: &Scene, graph: &Graph) -> Value {
    let mut shown = vec![None; graph.methods.len()];
    let mut methods: Vec<usize> = Vec::new();
    for &at in scene.nodes.iter().flat_map(|node| &node.methods) {
        shown[at].get_or_insert_with(|| {
            methods.push(at);
            methods.len() - 1
        });
    }
    let mut owners: Vec<usize> = methods.iter().map(|&at| graph.methods[at].owner).collect();
    owners.sort_unstable();
    owners.dedup();
    let mut files: Vec<&str> = methods.iter().map(|&at| graph.methods[at].file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let method = |&at: &usize| {
        let method = &graph.methods[at];
        let owner = owners.binary_search(&method.owner).unwrap_or(0);
        let file = files.binary_search(&method.file.as_str()).unwrap_or(0);
        let returns = method.returns.map(metaspy_report::program::Returned::word);
        json!([
            method.name,
            owner,
            method.executions,
            method.total_ns,
            method.self_ns,
            method.receivers.to_string(),
            returns,
            method.tests,
            method.lines,
            file,
            method.line
        ])
    };
    let node = |node: &crate::scene::Node| {
        let rect = &node.rect;
        let methods: Vec<usize> = node.methods.iter().filter_map(|&at| shown[at]).collect();
        let mut row =
            vec![round(rect.x), round(rect.y), round(rect.w), round(rect.h), node.fill.class().into(), methods.into()];
        if node.own > 0.0 || node.label.is_some() {
            row.push(round(node.own));
            row.extend(node.label.clone().map(Value::from));
        }
        Value::from(row)
    };
    let calls = graph
        .calls
        .iter()
        .filter_map(|call| Some(json!([shown[call.from]?, shown[call.to]?, call.count, call.total_ns])));
    json!({
        "kind": scene.kind.word(),
        "title": scene.title,
        "size": [round(scene.size.0), round(scene.size.1)],
        "owners": owners.iter().map(|&at| json!([graph.owners[at].module, graph.owners[at].name])).collect::<Value>(),
        "files": files,
        "methods": methods.iter().map(method).collect::<Value>(),
        "calls": calls.collect::<Value>(),
        "frames": scene.frames.iter().map(|frame| {
            let rect = &frame.rect;
            json!([round(rect.x), round(rect.y), round(rect.w), round(rect.h), frame.kind.class(), frame.label, frame.name])
        }).collect::<Value>(),
        "nodes": scene.nodes.iter().map(node).collect::<Value>(),
        "edges": scene.edges.iter().map(|edge| json!([edge.from, edge.to, edge.count, kind(edge.kind)])).collect::<Value>(),
        "legend": scene.legend.iter().map(|sign| {
            json!([sign.size.map(|(w, h)| [round(w), round(h)]), sign.fill.class(), sign.text])
        }).collect::<Value>(),
        "notes": scene.notes,
    })
}

fn kind(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Tree => "tree",
        EdgeKind::Cross => "cross",
        EdgeKind::Back => "back",
    }
}

/// A length with one decimal, and without one where it is whole.
fn round(length: f64) -> Value {
    let tenths = (length * 10.0).round();
    if tenths % 10.0 == 0.0 { Value::from((tenths / 10.0) as i64) } else { Value::from(tenths / 10.0) }
}
