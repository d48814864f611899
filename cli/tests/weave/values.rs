//! Values that hooks see, and code of the program that runs on them.

use serde_json::{Value, json};

use crate::common::{Did, Package, manifest};

/// A library whose private functions return values that their callers complete. Any code of the type that runs before aborts,
/// as it does where a pointer is followed.
const LIBRARY: &str = r#"use std::fmt;
use std::hash::{Hash, Hasher};

mod raw {
    pub fn begin() -> super::Node {
        super::Node(0)
    }
}

#[derive(Clone, Copy, Eq)]
pub struct Node(u64);

impl Node {
    fn complete(&self) -> u64 {
        if self.0 == 0 {
            std::process::abort();
        }
        self.0
    }
}
impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.complete())
    }
}
impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.complete() == other.complete()
    }
}
impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.complete().hash(state);
    }
}

fn begin() -> Node {
    raw::begin()
}

fn step(node: Node) -> Option<Node> {
    Some(Node(node.0 + 1))
}

async fn later() -> Node {
    begin()
}

pub unsafe fn unchecked() -> Node {
    begin()
}

fn number() -> Result<u64, String> {
    Ok(7)
}

pub fn make() -> Node {
    let (_, _) = (std::pin::pin!(later()).poll(&mut std::task::Context::from_waker(std::task::Waker::noop())), unsafe { unchecked() });
    number().unwrap();
    step(begin()).unwrap()
}
"#;

fn package(name: &str) -> Package {
    let library = format!("{name}_library");
    Package::new(
        name,
        &[
            ("Cargo.toml", &manifest(name, "2024", &format!("[dependencies]\n{library} = {{ path = \"library\" }}"))),
            (
                "src/main.rs",
                &format!(
                    "fn main() {{\n    for _ in 0..3 {{\n        {library}::make();\n    }}\n    println!(\"done\");\n}}\n"
                ),
            ),
            (
                "library/Cargo.toml",
                &format!("[package]\nname = \"{library}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
            ),
            ("library/src/lib.rs", LIBRARY),
        ],
    )
}

#[test]
fn values_that_a_caller_completes_are_not_looked_into() {
    let package = package("completing");
    let line = ["run", "--weave", "completing_library::**", "--without", "Node::**", "--returns", "--args"];
    let did = package.metaspy(&line);
    assert!(did.stdout.starts_with("done"), "{}", did.stderr);
    let returns = |did: &Did, name: &str| -> Value {
        let methods = did.json["methods"].as_array().expect("there is a list");
        let path = format!("completing_library::{name}");
        methods.iter().find(|method| method["path"] == path).unwrap_or_else(|| panic!("{name}: {}", did.json))["returns"].clone()
    };
    assert_eq!(returns(&did, "begin"), "not-comparable");
    assert_eq!(returns(&did, "make"), "constant", "other crates see the value, too");
    assert_eq!(returns(&did, "number"), "constant", "it is made of types of std");

    // Details are values as `Debug` prints them.
    let file = package.dir.join("run.spy");
    let details = [("METASPY_RECORD", file.as_os_str()), ("METASPY_DETAILS", "1".as_ref())];
    let did = package.metaspy_in(&line, &details);
    assert!(did.code == 0 && did.stdout.starts_with("done"), "{}", did.stderr);
    let recorded = std::fs::read(&file).expect("it was recorded");
    let holds = |text: &str| recorded.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds("node 1") && holds("Ok(7)"));

    // By request they are looked into.
    let did = package.try_metaspy(&[&line[..], &["--trust", "completing_library::begin"]].concat());
    assert_ne!(did.code, 0);
    let did = package.try_metaspy(&[&line[..], &["--trust", "begun"]].concat());
    assert!(did.code == 2 && did.stderr.contains("--trust `begun`") && did.stderr.contains("begin"), "{}", did.stderr);
    assert_eq!(did.json, json!(null));
}
