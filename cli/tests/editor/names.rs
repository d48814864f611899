//! Namesakes: types and functions that share a name in several modules.

use serde_json::json;

use crate::client::Client;
use crate::common::{Package, manifest};

const SOURCE: &str = "\
pub mod other;

pub struct Config;

impl other::Wide {
    pub fn wide(&self) -> u64 {
        1
    }
}

pub fn run() -> u64 {
    other::Config.load() + other::Wide.wide()
}

#[test]
fn runs() {
    run();
}
";

const OTHER: &str = "\
pub struct Config;

pub struct Wide;

impl Config {
    pub fn load(&self) -> u64 {
        2
    }
}
";

/// The package after a run, and a client with its first file.
fn opened(name: &str) -> (Package, Client) {
    let manifest = manifest(name, "2024", "");
    let files = [("Cargo.toml", manifest.as_str()), ("src/lib.rs", SOURCE), ("src/other.rs", OTHER)];
    let package = Package::new(name, &files);
    package.metaspy(&["test", "--lib"]);
    let mut client = Client::start(&[&package], json!({}));
    client.open_file(&package, SOURCE);
    client.await_numbers(&package);
    (package, client)
}

#[test]
fn a_type_has_no_numbers_of_its_namesake_in_another_file() {
    let (package, mut client) = opened("editor_names");
    assert_eq!(client.hover(&package, SOURCE, "struct Config", "Config"), "");
    let wide = client.hover(&package, SOURCE, "impl other::Wide", "Wide");
    assert!(wide.ends_with("`editor_names::other::Wide`: 1 of 1 method ran · 1 call"), "{wide}");
    let other = client.hover(&package, SOURCE, "mod other", "other");
    assert!(other.contains("2 of 2 methods ran"), "{other}");
}
