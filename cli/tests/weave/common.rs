//! Small packages, and `cargo metaspy` on them.

#[path = "../fixture/schemas.rs"]
pub mod schemas;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::Value;

/// What a command did, unless a test names another file.
const JSON: &str = "metaspy.json";

/// A package of a test. Packages share the core that programs are given. Each has a target
/// directory of its own, because runs with different selections wait for each other in one.
pub struct Package {
    /// Its directory.
    pub dir: PathBuf,
}

/// What a command did.
pub struct Did {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its exit code.
    pub code: i32,
    /// What `--json` wrote.
    pub json: Value,
}

impl Package {
    /// A package with these files, made anew. A file without a directory stands in `src`.
    pub fn new(dir: &str, files: &[(&str, &str)]) -> Package {
        let dir = temporary().join("packages").join(dir);
        let _ = fs::remove_dir_all(&dir);
        let package = Package { dir };
        // What is built stays, and the runs of an earlier test do not.
        let _ = fs::remove_dir_all(package.runs());
        for (path, text) in files {
            package.write(path, text);
        }
        package
    }

    /// Writes a file; its time is another one than before, however coarse the file system's clock
    /// is.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        let before = fs::metadata(&path).and_then(|meta| meta.modified()).ok();
        fs::create_dir_all(path.parent().expect("it is in a directory"))
            .expect("the directory is made");
        fs::write(&path, text).expect("the file is written");
        if let Some(before) = before {
            let later = SystemTime::now().max(before + Duration::from_secs(2));
            fs::File::options()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_modified(later))
                .expect("it has a time");
        }
    }

    /// Runs `cargo metaspy`, and expects it to do well.
    pub fn metaspy(&self, line: &[&str]) -> Did {
        let did = self.try_metaspy(line);
        assert_eq!(did.code, 0, "cargo metaspy {line:?}:\n{}\n{}", did.stderr, did.stdout);
        did
    }

    /// Runs `cargo metaspy`.
    pub fn try_metaspy(&self, line: &[&str]) -> Did {
        self.metaspy_in(line, &[])
    }

    /// Runs `cargo metaspy` with more in its environment.
    pub fn metaspy_in(&self, line: &[&str], environment: &[(&str, &OsStr)]) -> Did {
        let mut command = self.command(line, JSON);
        self.did(
            command.envs(environment.iter().copied()).output().expect("it was built for this test"),
            JSON,
        )
    }

    /// `cargo metaspy`, still to be run. What it does goes into this file.
    pub fn command(&self, line: &[&str], json: &str) -> Command {
        let json = self.dir.join(json);
        let _ = fs::remove_file(&json);
        let mut command = self.clean_command(Path::new(env!("CARGO_BIN_EXE_cargo-metaspy")));
        command
            .arg("metaspy")
            .arg(line[0])
            .arg("--offline")
            .arg(format!("--json={}", json.display()))
            .args(&line[1..]);
        command
    }

    /// What such a command did. The JSON is as its schema has it.
    pub fn did(&self, output: Output, json: &str) -> Did {
        let json = fs::read(self.dir.join(json))
            .map_or(Value::Null, |text| serde_json::from_slice(&text).expect("it is JSON"));
        if !json.is_null() {
            schemas::assert_valid(&["cargo", "metaspy", "run", "--json"], &json);
        }
        Did { json, ..Did::of(output) }
    }

    /// Writes a script.
    #[cfg(unix)]
    pub fn script(&self, path: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        self.write(path, &format!("#!/bin/sh\n{text}"));
        let path = self.dir.join(path);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be run");
        path
    }

    /// Runs `cargo metaspy` with these words alone.
    pub fn plain_metaspy(&self, line: &[&str]) -> Did {
        let mut command = self.clean_command(Path::new(env!("CARGO_BIN_EXE_cargo-metaspy")));
        Did::of(command.arg("metaspy").args(line).output().expect("it was built for this test"))
    }

    /// Runs cargo as it is.
    pub fn cargo(&self, line: &[&str]) -> Did {
        self.cargo_in(line, &[])
    }

    /// Runs cargo as it is, with more in its environment.
    pub fn cargo_in(&self, line: &[&str], environment: &[(&str, &OsStr)]) -> Did {
        let mut command = self.clean_command(Path::new(env!("CARGO")));
        command.args(line).envs(environment.iter().copied());
        Did::of(command.output().expect("cargo runs, as it runs this test"))
    }

    /// The directory of its runs.
    pub fn runs(&self) -> PathBuf {
        self.target_dir().join("metaspy/runs")
    }

    /// The directory that it is built in.
    pub fn target_dir(&self) -> PathBuf {
        let packages = temporary().join("packages");
        // A package in another one shares its target directory.
        let name = self.dir.strip_prefix(packages).ok().and_then(|path| path.components().next());
        temporary().join("targets").join(name.map_or("other".as_ref(), |name| name.as_os_str()))
    }

    /// A command in the package, without what the environment of the tests would add.
    pub fn clean_command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.dir)
            .env("CARGO_TARGET_DIR", self.target_dir())
            .env("METASPY_CACHE", cache());
        for name in [
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "METASPY_RECORD",
            "METASPY_OBSERVE",
            "METASPY_PROFILE",
            "RUST_BACKTRACE",
            "CARGO_ENCODED_RUSTFLAGS",
        ] {
            command.env_remove(name);
        }
        command
    }
}

impl Drop for Package {
    /// Where room is short, what a test built goes with it. What a failed test built stays, to be
    /// looked at, and so does what several tests build together.
    fn drop(&mut self) {
        let is_of_one_test = self.dir.starts_with(temporary());
        if is_of_one_test
            && std::env::var_os("METASPY_CHECK_ONCE").is_some()
            && !std::thread::panicking()
        {
            let _ = fs::remove_dir_all(self.target_dir());
        }
    }
}

impl Did {
    fn of(output: Output) -> Did {
        Did {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
            json: Value::Null,
        }
    }

    /// How often a function ran; `None` if it has no hook.
    pub fn calls(&self, path: &str) -> Option<u64> {
        let methods = self.json["methods"].as_array().expect("there is a list");
        let found = methods.iter().find(|method| method["path"] == path);
        found.map(|method| method["executions"].as_u64().expect("it was run"))
    }

    /// Whether a function has a hook.
    pub fn wove(&self, path: &str) -> bool {
        self.json["methods"]
            .as_array()
            .is_some_and(|methods| methods.iter().any(|method| method["path"] == path))
    }

    /// Why a function has no hook.
    pub fn reason(&self, path: &str) -> Option<&str> {
        let skipped = self.json["skipped"].as_array().expect("there is a list");
        skipped.iter().find(|left| left["path"] == path).and_then(|left| left["reason"].as_str())
    }

    /// The packages that cargo compiled.
    pub fn compiled(&self) -> Vec<&str> {
        let lines =
            self.stderr.lines().filter_map(|line| line.trim_start().strip_prefix("Compiling "));
        lines.filter_map(|line| line.split(' ').next()).collect()
    }
}

/// Configuration of a package whose core is not that of all tests: it is built quickly.
pub const QUICK_CORE: &str = "[profile.metaspy-core]\nopt-level = 0\n";

/// The directory of everything that these tests write.
pub fn temporary() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// What is built once for all tests.
pub fn cache() -> PathBuf {
    temporary().join("cache")
}

/// What the compiler builds for.
pub fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("there is a compiler");
    let text = String::from_utf8(output.stdout).expect("it writes UTF-8");
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("it says so").to_owned()
}

/// A program and two libraries.
pub fn three(name: &str) -> Package {
    let dependencies =
        format!("[dependencies]\n{name}_a = {{ path = \"a\" }}\n{name}_b = {{ path = \"b\" }}");
    let library = |letter: &str| {
        format!("[package]\nname = \"{name}_{letter}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
    };
    let main =
        format!("fn main() {{\n    println!(\"{{}}\", {name}_a::one() + {name}_b::one());\n}}\n");
    Package::new(
        name,
        &[
            ("Cargo.toml", &manifest(name, "2024", &dependencies)),
            ("src/main.rs", &main),
            ("a/Cargo.toml", &library("a")),
            ("a/src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
            ("b/Cargo.toml", &library("b")),
            ("b/src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
        ],
    )
}

/// A manifest.
pub fn manifest(name: &str, edition: &str, more: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n\n{more}\n\n[workspace]\n"
    )
}
