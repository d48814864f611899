//! The view of a profiler, which travels as JSON inside a recording.

use serde::{Deserialize, Serialize};

/// How a profiler wants to be shown: data, so that another process can show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// The profiler's name.
    pub name: String,
    /// Sites that belong to it, by path.
    pub sites: Vec<String>,
    /// The grouping that a screen opens with: `subject`, `site` or `cause`.
    pub group_by: String,
    /// Columns that a screen shows, in order; empty = its own choice.
    pub columns: Vec<String>,
    /// Relations of the model that belong to the question: `owner`, `sibling`, …
    pub relations: Vec<String>,
}
