//! The profiler of the framework, and its view.

use metaspy::prelude::*;

use crate::depth::Depth;
use crate::graph::Graph;
use crate::unread::Unread;

/// Shows which signals are computed too often.
pub fn profiler(graph: &Graph) -> Profiler {
    Profiler::new("signals")
        .observe(methods("Graph::*"))
        .observe(Unread(graph.listeners.clone()))
        .observe(announcements(&graph.announcements).named("announced"))
        .method_profiler(Depth)
        .group_by("subject")
        .relation("input")
}
