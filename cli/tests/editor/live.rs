//! Numbers while a program runs.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::client::Client;
use crate::common::{Package, manifest};

const SOURCE: &str = "\
pub fn tick() {
}

pub fn listen() {
    for _ in std::io::stdin().lines() {
        tick();
    }
}
";

#[test]
fn numbers_follow_a_running_program() {
    let manifest = manifest("editor_live", "2024", "");
    let main = "fn main() {\n    editor_live::listen();\n}\n";
    let package =
        Package::new("editor_live", &[("Cargo.toml", &manifest), ("src/lib.rs", SOURCE), ("src/main.rs", main)]);
    package.metaspy(&["build"]);
    let mut command = package.command(&["run"], "metaspy.json");
    let running = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut running = running.expect("it was built for this test");
    let mut input = running.stdin.take().expect("it is piped");

    let mut client = Client::start(&[&package], json!({}));
    client.open_file(&package, SOURCE);
    let mut await_text = |text: &str| {
        while !client.lenses(&package).first().is_some_and(|(_, title)| title.contains(text)) {
            client.await_note("metaspy/changed", |_| true);
        }
    };
    await_text("never ran");
    for expected in ["1 call", "2 calls", "3 calls"] {
        writeln!(input, "tick").expect("the program reads");
        await_text(expected);
    }
    drop(input);
    assert!(running.wait_with_output().expect("it ends").status.success());
    await_text("3 calls");
}
