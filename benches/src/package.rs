//! Packages to weave, in `target/weave`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::report::target;

/// A package, and where it is built.
pub struct Package {
    /// Its directory.
    pub dir: PathBuf,
    /// Its target directory.
    pub target: PathBuf,
}

impl Package {
    /// One with these files, made anew; what was built of it stays.
    pub fn new(name: &str, files: &[(&str, String)]) -> Package {
        let dir = target().join("weave").join(name);
        for (path, text) in files {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().expect("it is in a directory")).expect("it is made");
            if fs::read_to_string(&path).ok().as_ref() != Some(text) {
                fs::write(path, text).expect("it is written");
            }
        }
        Package { target: target().join("weave").join(format!("{name}.target")), dir }
    }

    /// A copy of the source of a crate that this workspace depends on.
    pub fn published(name: &str) -> Package {
        let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version=1", "--manifest-path"])
            .arg(manifest)
            .output()
            .expect("cargo starts");
        let graph: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
        let packages = graph["packages"].as_array().expect("there are packages");
        let found =
            packages.iter().find(|package| package["name"] == name).expect("it is in the graph");
        let source = Path::new(found["manifest_path"].as_str().expect("it has a manifest"))
            .parent()
            .expect("in a directory");
        let package = Package::new(name, &[]);
        copy(source, &package.dir);
        let manifest = fs::read_to_string(source.join("Cargo.toml")).expect("it can be read");
        fs::write(package.dir.join("Cargo.toml"), manifest + "\n[workspace]\n")
            .expect("it is written");
        package
    }

    /// Cargo, or what stands for it, in this package.
    pub fn command(&self, program: &Path, line: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(line)
            .current_dir(&self.dir)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0");
        command
    }

    /// Seconds that a command takes, which must do well.
    pub fn time(&self, program: &Path, line: &[&str]) -> f64 {
        let started = Instant::now();
        let output = self.command(program, line).output().expect("it starts");
        let took = started.elapsed().as_secs_f64();
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
        took
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it is made");
    for entry in fs::read_dir(from).expect("it can be read").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).expect("it is copied")
        }
    }
}
