//! The commands of this repository.

use std::path::PathBuf;
use std::process::Command;

/// `cargo-metaspy`, built from this repository.
pub fn weaver() -> PathBuf {
    command("cargo-metaspy")
}

/// A command, built from this repository.
pub fn command(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--package=metaspy-cli", "--message-format=json"])
        .stderr(std::process::Stdio::inherit())
        .current_dir(root)
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "the commands are built");
    let messages = String::from_utf8(output.stdout).expect("it is text");
    let messages =
        messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs =
        messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    programs
        .find(|program| program.file_stem().is_some_and(|stem| stem == name))
        .expect("it has a program")
}
