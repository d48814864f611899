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
    let package = Package::new(
        "editor_live",
        &[("Cargo.toml", &manifest), ("src/lib.rs", SOURCE), ("src/main.rs", main)],
    );
    package.metaspy(&["build"]);
    let mut command = package.command(&["run"], "metaspy.json");
    let running =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
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

const HOLD: &str = "\
pub fn hold() {
    let mut kept = Vec::new();
    for line in std::io::stdin().lines() {
        kept.push(Box::new(line));
    }
}
";

#[test]
fn numbers_follow_a_program_that_calls_nothing() {
    let manifest = manifest("editor_live_tables", "2024", "");
    let main = "fn main() {\n    editor_live_tables::hold();\n}\n";
    let files = [("Cargo.toml", manifest.as_str()), ("src/lib.rs", HOLD), ("src/main.rs", main)];
    let package = Package::new("editor_live_tables", &files);
    let mut command = package.command(&["run", "--allocations"], "metaspy.json");
    let running =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut running = running.expect("it was built for this test");
    let mut input = running.stdin.take().expect("it is piped");

    let mut client = Client::start(&[&package], json!({}));
    client.open_file(&package, HOLD);
    let mut before = client.hover(&package, HOLD, "fn hold", "hold");
    for _ in 0..3 {
        writeln!(input, "line").expect("the program reads");
        loop {
            let now = client.hover(&package, HOLD, "fn hold", "hold");
            let objects =
                |text: &str| text.split_once(" allocated").map(|(before, _)| before.to_owned());
            if objects(&now).is_some() && objects(&now) != objects(&before) {
                before = now;
                break;
            }
            client.await_note("metaspy/changed", |_| true);
        }
    }
    drop(input);
    assert!(running.wait_with_output().expect("it ends").status.success());
}
