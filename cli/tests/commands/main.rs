//! The command from outside: what it prints, how it ends, and its messages for bad input.

#[cfg(all(feature = "demo", feature = "grammar", unix))]
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../../../blueprints/tests/browser/chrome.rs"]
mod chrome;
#[path = "../fixture/client_and_servers.rs"]
mod client_and_servers;
#[path = "../../../tui/tests/fixture/mod.rs"]
mod fixture;
#[path = "../fixture/market.rs"]
mod market;
#[path = "../fixture/schemas.rs"]
mod schemas;

mod bad_input;
#[cfg(all(feature = "demo", unix))]
mod beginner;
mod completions;
mod consistency;
mod contexts;
#[cfg(feature = "demo")]
mod demo;
mod diff;
#[cfg(all(feature = "demo", unix))]
mod examples;
mod export;
mod findings;
mod gates;
mod import;
mod kept;
#[cfg(all(feature = "demo", unix))]
mod killed;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod outputs;
#[cfg(all(feature = "demo", feature = "grammar", unix))]
mod pictures;
mod processes;
mod profiles;
mod report;
mod report_columns;
mod rotated;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod sample;
mod schema;
#[cfg(unix)]
mod sealed;
mod stream;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The command, with a directory of live recordings of its own.
pub fn metaspy(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env("METASPY_DIR", fixture::directory().join("live"));
    command.env_remove("METASPY_RECORD");
    command
}

/// How a command ended, and what it printed: to standard output, and to standard error. JSON is as
/// its schema has it.
pub fn ended(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } =
        metaspy(arguments).output().expect("the command can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command prints UTF-8");
    let stdout = text(stdout);
    schemas::assert_valid_if_json(arguments, &stdout);
    (status.code().expect("the command ends by itself"), stdout, text(stderr))
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("the paths of tests are UTF-8")
}
