//! Callers and callees of a function with their positions, for lists in the editor.

use lsp_types::Range;
use serde::Serialize;

use crate::uri;
use crate::views::View;

/// Calls from or to another function.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EdgeOut {
    /// Direction of the calls: `caller` or `callee`.
    pub direction: &'static str,
    /// Path of the other function; `None` is code without hooks.
    pub name: Option<String>,
    /// Number of calls.
    pub calls: u64,
    /// Total time of the calls, in ns; 0 if they were not timed.
    pub total_ns: u64,
    /// True if there may be more calls, because some found no room in the recording.
    pub at_least: bool,
    /// Address of the file with the declaration, if it is known.
    pub uri: Option<String>,
    /// Range of the name in the declaration, or the start of the recorded line if the text no
    /// longer has the function.
    pub range: Option<Range>,
}

/// Returns the edges of the function around a byte. Callers come first, both lists with the most
/// frequent first.
pub fn at(view: &View<'_>, byte: usize) -> Vec<EdgeOut> {
    let Some(found) =
        view.document.outline().function_around(byte).and_then(|at| view.matches[at].as_ref())
    else {
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
            at_least: edge.is_least,
            range: place.as_ref().map(|(_, range)| *range),
            uri: place.and_then(|(file, _)| Some(uri::of_path(&file)?.as_str().to_owned())),
        }
    });
    edge.collect()
}
