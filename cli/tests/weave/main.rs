//! `cargo metaspy` on small packages, with the cargo and the compiler that run these tests.

mod allocations;
mod arrived;
mod attributes;
mod blueprints;
mod builds;
mod causes;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../../../blueprints/tests/browser/chrome.rs"]
mod chrome;
mod common;
mod conditions;
mod drops;
mod entries;
mod faults;
mod kinds;
mod modules;
mod nextest;
mod origins;
mod profilers;
mod reports;
mod runs;
mod selectors;
mod settings;
mod shared_libraries;
mod stated;
mod story;
mod types;
mod values;
