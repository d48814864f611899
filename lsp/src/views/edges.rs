//! The callers and callees of a function with their places, for lists in the editor.

use lsp_types::Range;
use serde::Serialize;

use crate::document::View;
use crate::uri;

/// Calls from or to another function.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EdgeOut {
    /// `caller` or `callee`.
    pub direction: &'static str,
    /// The path of the other function; `None` is code without hooks.
    pub name: Option<String>,
    /// The number of calls.
    pub calls: u64,
    /// Their time; 0 if they were not timed.
    pub total_ns: u64,
    /// The file of its declaration, if it is known.
    pub uri: Option<String>,
    /// The name in its declaration; the beginning of the recorded line if it is not in the text any more.
    pub range: Option<Range>,
}

/// The edges of the function around a byte, callers first and each with the most frequent first.
pub fn at(view: &View<'_>, byte: usize) -> Vec<EdgeOut> {
    let Some(found) = view.document.outline().function_around(byte).and_then(|at| view.matches[at].as_ref()) else {
        return Vec::new();
    };
    let edges = view.model.edges(&found.places);
    let callers = edges.callers.into_iter().map(|(name, edge)| ("caller", name, edge));
    let callees = edges.callees.into_iter().map(|(name, edge)| ("callee", Some(name), edge));
    let edge = callers.chain(callees).map(|(direction, name, edge)| {
        let place = name.as_deref().and_then(|name| view.declarations.of(name));
        EdgeOut {
            direction,
            name,
            calls: edge.count,
            total_ns: edge.total_ns,
            range: place.as_ref().map(|(_, range)| *range),
            uri: place.and_then(|(file, _)| Some(uri::of_path(&file)?.as_str().to_owned())),
        }
    });
    edge.collect()
}
