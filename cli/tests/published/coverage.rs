//! The result of `-C instrument-coverage` for the same test suite.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Ran;
use crate::crates::{Copy, cargo};

/// By file and first line, how often each function of the crate ran; `None` if no tool here reads
/// it.
pub fn of(copy: &Copy) -> Option<Ran> {
    let profiles = copy.dir.join("profiles");
    let _ = fs::remove_dir_all(&profiles);
    let mut test = cargo(&copy.dir);
    test.args(["test", "--lib", "--tests", "--no-fail-fast", "--message-format=json"]);
    test.env("RUSTFLAGS", "-Cinstrument-coverage")
        .env("LLVM_PROFILE_FILE", profiles.join("%p-%m.profraw"));
    test.env("CARGO_TARGET_DIR", copy.dir.join("target-coverage"));
    let output = test.output().expect("cargo starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let programs = messages.filter(|message| message["profile"]["test"] == true);
    let programs: Vec<String> =
        programs.filter_map(|message| Some(message["executable"].as_str()?.to_owned())).collect();
    let merged = copy.dir.join("merged.profdata");
    let mut merge = Command::new(tool("llvm-profdata"));
    merge.args(["merge", "-sparse", "-o"]).arg(&merged).args(files(&profiles));
    if !merge.output().is_ok_and(|output| output.status.success()) {
        return None;
    }
    let mut export = Command::new(tool("llvm-cov"));
    export.arg("export").arg(format!("-instr-profile={}", merged.display()));
    export.args(programs.iter().map(|program| format!("-object={program}")));
    let output = export.output().ok().filter(|output| output.status.success())?;
    let exported: Value = serde_json::from_slice(&output.stdout).ok()?;
    let mut ran = Ran::new();
    let functions = exported["data"]
        .as_array()?
        .iter()
        .filter_map(|data| data["functions"].as_array())
        .flatten();
    for function in functions {
        let (file, line) =
            (function["filenames"][0].as_str()?, function["regions"][0][0].as_u64()?);
        if let Ok(file) = Path::new(file).strip_prefix(&copy.dir) {
            *ran.entry((file.display().to_string(), line)).or_default() +=
                function["count"].as_u64()?;
        }
    }
    Some(ran)
}

/// In the directory that the environment names, or on the path.
fn tool(name: &str) -> PathBuf {
    let dir: Option<OsString> = std::env::var_os("METASPY_LLVM");
    dir.map_or_else(|| name.into(), |dir| PathBuf::from(dir).join(name))
}

fn files(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
