//! The stories on published crates, checked against what the crates themselves say. They take half an hour of building the
//! first time, so they run with `METASPY_LONG=1` only.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The output of a story's script; `None` if long tests are off.
fn story(name: &str, argument: Option<&str>) -> Option<String> {
    if std::env::var_os("METASPY_LONG").is_none_or(|value| value.is_empty()) {
        println!("SKIPPED: {name}: METASPY_LONG=1 runs examples/{name}/run.sh");
        return None;
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_metaspy")).parent().expect("in a directory");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(root().join("examples").join(name).join("run.sh"));
    let output = command.args(argument).env("PATH", path).output().expect("it is a script");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("it is text"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The number that ends at the first of these words in a line: `1,200,012` of `  1,200,012 calls`.
fn number_before(line: &str, word: &str) -> Option<u64> {
    let before = line.split_once(word)?.0.trim_end().rsplit(' ').next()?;
    before.replace(',', "").parse().ok()
}
