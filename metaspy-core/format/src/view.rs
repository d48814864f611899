//! The view of a profiler, which is JSON inside a recording.

use serde::{Deserialize, Serialize};

/// The view of a profiler. It is data, so that another process can show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// The profiler's name.
    pub name: String,
    /// The paths of the sites.
    pub sites: Vec<String>,
    /// The first grouping on a screen: `subject`, `site` or `cause`.
    pub group_by: String,
    /// The columns on a screen, in order; empty = the default columns.
    pub columns: Vec<String>,
    /// The relations of the model that matter to the profiler: `owner`, `sibling`, …
    pub relations: Vec<String>,
}
