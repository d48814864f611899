//! `metaspy grammar` from outside: what it finds, what it writes, and how it ends.
#![cfg(feature = "grammar")]

mod baseline;
mod gates;
mod inputs;
mod merged;
mod refused;
mod runners;
#[path = "../fixture/schemas.rs"]
mod schemas;
mod written;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Values in a list. `float` takes what `integer` would, `hex` is never used, no input here has a
/// `date`.
pub const LIST: &str = r#"// A list of values.
list    =  { SOI ~ value ~ ("," ~ value)* ~ EOI }
value   =  { float | integer | word | date }
float   = @{ digit+ ~ ("." ~ digit+)? }
integer = @{ digit+ }
word    = @{ 'a'..'z'+ ~ mark? }
mark    =  { "!" | "?" }
date    = @{ "@" ~ year }
year    = @{ digit{4} }
digit   =  { '0'..'9' }
hex     =  { "0x" ~ digit }
"#;

/// A directory of a test's own, with its files.
pub struct TestDirectory(PathBuf);

impl TestDirectory {
    /// An empty one.
    pub fn new(test: &str) -> TestDirectory {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("grammar").join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        TestDirectory(path)
    }

    /// One with the grammar of lists, and three inputs: two that it takes and one that it does not.
    pub fn with_lists(test: &str) -> TestDirectory {
        let place = TestDirectory::new(test).file("list.pest", LIST);
        place.file("in/a.txt", "1,2.5,abc").file("in/b.txt", "12").file("in/sub/c.txt", "x?,#")
    }

    /// Writes a file.
    pub fn file(self, name: &str, bytes: impl AsRef<[u8]>) -> TestDirectory {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// How `metaspy grammar` ended in it, and what it printed: to standard output, and to standard
    /// error. JSON is as its schema has it.
    pub fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        self.run_with(b"", arguments)
    }

    /// The same, with this on its standard input.
    pub fn run_with(&self, stdin: &[u8], arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
        command.arg("grammar").args(arguments).current_dir(&self.0);
        command.env_remove("METASPY_RECORD").env("METASPY_DIR", self.path("live"));
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the command can be started");
        // A command that refuses its arguments reads no input: that is no failure of this one.
        let _ = child.stdin.take().expect("it is piped").write_all(stdin);
        let Output { status, stdout, stderr } = child.wait_with_output().expect("the command ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command prints UTF-8");
        let stdout = text(stdout);
        schemas::assert_valid_if_json(&[&["grammar"], arguments].concat(), &stdout);
        (status.code().expect("the command ends by itself"), stdout, text(stderr))
    }

    /// The JSON that it printed, and how it ended.
    pub fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let (code, out, error) = self.run(&[arguments, &["--json"]].concat());
        (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {out}{error}")))
    }
}

/// The production of this name.
pub fn production<'v>(report: &'v Value, name: &str) -> &'v Value {
    let mut all = report["productions"].as_array().unwrap().iter();
    all.find(|production| production["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}
