//! What tests of spans share.

use metaspy_instrumenters::spans::{layer, spans};
use tracing_subscriber::prelude::*;

use super::{Seen, watch};

/// Runs on this thread under a registry with our layer.
pub fn with_layer<R>(run: impl FnOnce() -> R) -> R {
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer()), run)
}

/// What was seen of a run: spans and events whose target is `target`, with their fields.
pub fn seen(target: &str, run: impl FnOnce()) -> Seen {
    let selector = format!("{target}::*");
    watch(spans(selector.as_str()).details(), &selector, || with_layer(run))
}
