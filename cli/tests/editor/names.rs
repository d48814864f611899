//! Namesakes: types and functions that share a name in several modules.

use serde_json::json;

use crate::client::{Client, uri};
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
    // What is in self.wide(1) is no call, and neither is \"a.load(2)\".
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
    let files =
        [("Cargo.toml", manifest.as_str()), ("src/lib.rs", SOURCE), ("src/other.rs", OTHER)];
    let package = Package::new(name, &files);
    package.metaspy(&["test", "--lib", "--timed"]);
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

#[test]
fn a_comment_contains_no_call() {
    let (package, mut client) = opened("editor_comments");
    assert_eq!(client.hover(&package, SOURCE, "is no call", "wide"), "");
    assert!(
        client
            .hover(&package, SOURCE, "other::Config.load()", "load")
            .contains("called `load` once")
    );
}

#[test]
fn links_lead_to_the_present_place_of_a_function() {
    let (package, mut client) = opened("editor_links");
    // One file is edited in the editor, and the other one by another program.
    let text = &format!("// A comment.\n\n{SOURCE}");
    client.change_file(&package, text);
    package.write("src/other.rs", &format!("// A comment.\n{OTHER}"));
    let (this, other) =
        (uri(&package.dir.join("src/lib.rs")), uri(&package.dir.join("src/other.rs")));
    let at = json!({ "textDocument": { "uri": this }, "position": { "line": 13, "character": 8 } });
    let edges = client.request("metaspy/edges", at);
    let callee = |name: &str| {
        let mut found = edges
            .as_array()
            .expect("it is a list")
            .iter()
            .filter(|edge| edge["name"].as_str().is_some_and(|path| path.ends_with(name)));
        let edge = found.next().unwrap_or_else(|| panic!("{name}: {edges:?}"));
        (edge["uri"].clone(), edge["range"]["start"].clone())
    };
    assert_eq!(callee("Wide::wide"), (json!(this), json!({ "line": 7, "character": 11 })));
    assert_eq!(callee("Config::load"), (json!(other), json!({ "line": 6, "character": 11 })));
    let hover = client.hover(&package, text, "pub fn run", "run");
    assert!(
        hover.contains(&format!("{this}#L8>)")) && hover.contains(&format!("{other}#L7>)")),
        "{hover}"
    );
}

#[test]
fn calls_that_are_too_deep_for_a_context_are_named() {
    let source = "pub fn deep(n: u32) -> u32 {\n    if n == 0 { 0 } else { 1 + deep(n - 1) }\n}\n\n#[test]\nfn t() {\n    deep(1_500);\n}\n";
    let manifest = manifest("editor_deep", "2024", "");
    let package = Package::new("editor_deep", &[("Cargo.toml", &manifest), ("src/lib.rs", source)]);
    for more in [&["--timed"][..], &[]] {
        let did = package.metaspy(&[&["test", "--lib", "--contexts"], more].concat());
        let profiles = did.json["profiles"].as_array().expect("there is a list");
        let contexts = profiles.iter().find(|it| it["name"] == "contexts").expect("it is there");
        assert_eq!(contexts["cut"], 478, "{more:?}");
        assert_eq!(did.json["exact"], false, "{more:?}");
    }
    let mut client = Client::start(&[&package], json!({}));
    client.open_file(&package, source);
    client.await_numbers(&package);
    for (line, part) in [("deep(n - 1)", "deep"), ("pub fn deep", "deep")] {
        let hover = client.hover(&package, source, line, part);
        assert!(hover.contains("At least: 478 calls without a calling context"), "{hover}");
    }
}
