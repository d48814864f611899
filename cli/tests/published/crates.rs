//! Copies of published crates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A copy of a published crate's source.
pub struct Copy {
    /// Where it is.
    pub dir: PathBuf,
    /// Which version it is.
    pub version: String,
}

impl Copy {
    /// The newest version that cargo finds.
    pub fn of(name: &str) -> Copy {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("published");
        let asking = root.join(format!("asking-{name}"));
        let manifest = format!(
            "[package]\nname = \"asking\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{name} = \"*\"\n\n[workspace]\n"
        );
        write(&asking.join("Cargo.toml"), &manifest);
        write(&asking.join("src/lib.rs"), "");
        let output =
            cargo(&asking).args(["metadata", "--format-version=1"]).output().expect("cargo starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let graph: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
        let packages = graph["packages"].as_array().expect("there are packages");
        let found = packages.iter().find(|package| package["name"] == name).expect("it is there");
        let source = Path::new(found["manifest_path"].as_str().expect("it has a manifest"))
            .parent()
            .expect("in a directory");
        let dir = root.join(name);
        let _ = fs::remove_dir_all(&dir);
        copy(source, &dir);
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).expect("it can be read");
        write(&dir.join("Cargo.toml"), &(manifest + "\n[workspace]\n"));
        Copy { dir, version: found["version"].as_str().unwrap_or_default().to_owned() }
    }

    /// What became of each test.
    pub fn test(&self, line: &[&str]) -> Vec<String> {
        results(&cargo(&self.dir).args(line).output().expect("cargo starts"))
    }

    /// The same, woven, and what `--json` wrote.
    pub fn woven_test(&self, line: &[&str]) -> (Vec<String>, Value) {
        let file = self.dir.join("metaspy.json");
        let mut command = cargo(&self.dir);
        command
            .args(["metaspy", "test", "--lib", "--tests"])
            .arg(format!("--json={}", file.display()))
            .args(line);
        let mut woven = Command::new(env!("CARGO_BIN_EXE_cargo-metaspy"));
        woven.args(command.get_args()).current_dir(&self.dir).envs(environment());
        let results = results(&woven.output().expect("it was built for this test"));
        let json =
            serde_json::from_slice(&fs::read(file).expect("it was written")).expect("it is JSON");
        (results, json)
    }
}

/// Cargo, with a target directory that all share, and so the core that programs are given.
pub fn cargo(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(dir).envs(environment());
    command
}

fn environment() -> [(&'static str, String); 3] {
    let target =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("published-target").display().to_string();
    [
        ("CARGO_TARGET_DIR", target),
        ("CARGO_INCREMENTAL", "0".into()),
        ("RUST_TEST_THREADS", "2".into()),
    ]
}

/// The lines that say what became of each test, in order of their names.
fn results(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let is_result = |line: &&str| line.starts_with("test ") && line.contains(" ... ");
    let mut lines: Vec<String> = text.lines().filter(is_result).map(str::to_owned).collect();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    lines.sort_unstable();
    lines
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("it is in a directory")).expect("it is made");
    fs::write(path, text).expect("it is written");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it is made");
    for entry in fs::read_dir(from).expect("it can be read").flatten() {
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()))
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).map(drop).expect("it is copied")
        }
    }
}
