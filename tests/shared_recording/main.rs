//! Tests that run at the same time and share one recording: each looks at its own sites and its own
//! events.
#![cfg(feature = "record")]

mod causes;
#[path = "../common/mod.rs"]
mod common;
mod ends;
mod files;
mod futures;
mod handlers;
mod identity;
mod locks;
mod observe;
mod parallel;
mod productions;
mod span_fields;
mod spans;
mod spans_with_other_layers;
mod tasks;
