//! `metaspy lsp` beside real recordings: the server over standard input and output, and real
//! editors.

mod call_sites;
mod client;
#[allow(dead_code, reason = "the tests of weaving use the rest")]
#[path = "../weave/common.rs"]
mod common;
mod editors;
mod edits;
mod findings;
#[path = "../../../tui/tests/fixture/mod.rs"]
mod fixture;
mod hostile;
mod live;
mod metrics;
mod names;
mod receivers;
mod shapes;
mod versions;
mod views;
mod vscode;
