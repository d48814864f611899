#![forbid(unsafe_code)]
//! The command `cargo metaspy`, which cargo also starts in place of the compiler.

use std::ffi::OsString;
use std::process::ExitCode;

use metaspy_cli::cargo_metaspy;
use metaspy_core::environment::UNASKED;
use metaspy_core::site::linkme;
use metaspy_weave::wrapper;

/// `METASPY_RECORD` in the environment is for other programs.
#[linkme::distributed_slice(UNASKED)]
#[linkme(crate = linkme)]
static NOT_THIS: &str = env!("CARGO_BIN_NAME");

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if wrapper::is_wanted(arguments.first().map(OsString::as_os_str)) {
        wrapper::run(arguments)
    } else {
        cargo_metaspy::run(arguments)
    }
}
