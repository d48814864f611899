//! Several runs, with edits of the source between them.

use serde_json::json;

use crate::client::Client;
use crate::common::{Package, manifest};

const SOURCE: &str = "\
pub trait Shape {
    fn area(&self) -> u64;
}

pub struct Square(pub u64);

pub struct Circle(pub u64);

impl Shape for Square {
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> u64 {
        3 * self.0 * self.0
    }
}

pub fn twice(shape: &dyn Shape) -> u64 {
    shape.area() * 2
}

pub fn thrice(shape: &dyn Shape) -> u64 {
    shape.area() * 3
}

#[test]
fn areas() {
    twice(&Circle(1));
    thrice(&Circle(1));
}
";

#[test]
fn runs_are_added_up_where_they_have_the_same_code() {
    let manifest = manifest("editor_versions", "2024", "");
    let package =
        Package::new("editor_versions", &[("Cargo.toml", &manifest), ("src/lib.rs", SOURCE)]);
    package.metaspy(&["test", "--lib", "--types"]);
    // One function is edited in its place, and the next one moves.
    let edited = SOURCE
        .replace("shape.area() * 2", "2 * shape.area()")
        .replace("(&Circle(1))", "(&Square(1))");
    let edited = &edited.replace("pub fn thrice", "/// Three times.\npub fn thrice");
    package.write("src/lib.rs", edited);
    package.metaspy(&["test", "--lib", "--types"]);

    let mut client = Client::start(&[&package], json!({ "runs": "all" }));
    client.open_file(&package, edited);
    client.await_numbers(&package);
    let mut hover = |line: &str, part: &str| client.hover(&package, edited, line, part);

    let twice = hover("fn twice", "twice");
    assert!(twice.contains("`twice`: 1 call,"), "{twice}");
    let call = hover("2 * shape.area()", "area");
    assert!(call.contains("Square") && !call.contains("Circle"), "{call}");
    let thrice = hover("fn thrice", "thrice");
    assert!(thrice.contains("`thrice`: 2 calls,") && thrice.contains("Types"), "{thrice}");
    assert!(thrice.contains("Circle") && thrice.contains("Square"), "{thrice}");
    let call = hover("shape.area() * 3", "area");
    assert!(
        call.contains("`area` twice:") && call.contains("Square") && call.contains("Circle"),
        "{call}"
    );

    let circle = hover("struct Circle", "Circle");
    assert!(circle.ends_with("1 of 1 method ran · 2 calls · receivers n/a (1 place)"), "{circle}");
    let hints = client.about("textDocument/inlayHint", &package);
    assert_eq!(hints[0]["label"], ": Square 100.0 %", "{hints}");
    let files = client.request("metaspy/files", json!({}));
    assert_eq!(files[0]["text"], "7 calls · 4 of 4 functions ran", "{files}");
}
