//! Recordings that cannot be read, clients that are gone, and messages that make no sense.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::client::{Client, uri};
use crate::common::{Package, manifest};
use crate::shapes::{SOURCE, package, recorded};

#[test]
fn a_server_ends_with_its_client() {
    let package = package("editor_ends");
    assert_eq!(Client::spawn(&package).vanish(), Some(0));
    let mut client = Client::start(&[&package], json!({}));
    client.open_file(&package, SOURCE);
    assert_eq!(client.vanish(), Some(0), "it was killed");
    let mut client = Client::start(&[&package], json!({}));
    client.request("shutdown", Value::Null);
    client.notify("exit", Value::Null);
    assert_eq!(client.server.wait().expect("it ends").code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_server_ends_with_the_process_of_its_client_although_its_input_is_open() {
    let package = package("editor_orphan");
    let mut editor = Command::new("sleep").arg("600").spawn().expect("every Unix has it");
    let mut client = Client::spawn(&package);
    let parameters = json!({ "processId": editor.id(), "rootUri": null, "capabilities": {} });
    client.request("initialize", parameters);
    client.notify("initialized", json!({}));
    client.request("metaspy/runs", json!({}));
    editor.kill().and_then(|()| editor.wait()).expect("it is ours");
    assert_eq!(client.server.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_message_without_end_is_refused() {
    let package = package("editor_endless");
    let mut command = package.clean_command(Path::new(env!("CARGO_BIN_EXE_metaspy")));
    command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = command.spawn().expect("it was built for this test");
    let mut input = server.stdin.take().expect("it is piped");
    input.write_all(b"Content-Length: 99999999999999\r\n\r\n{").expect("the server reads");
    let output = server.wait_with_output().expect("it ends");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("it may be at most 67108864") && output.status.code() == Some(2),
        "{message}"
    );
}

#[test]
fn a_recording_that_cannot_be_read_is_reported_and_the_others_are_shown() {
    let package = recorded("editor_damaged", &[]);
    let run = package.runs().join("1");
    fs::write(run.join("empty-1-1.spy"), "").expect("it is written");
    fs::write(run.join("other-1-1.spy"), "no recording at all").expect("it is written");
    let mut client = Client::open(&package, json!({}));
    let message = client.await_note("window/showMessage", |_| true);
    assert!(
        message["message"].as_str().is_some_and(|text| text.contains("cannot be read")),
        "{message}"
    );
    assert_eq!(client.lenses(&package).len(), 5);
}

#[test]
fn what_a_setting_names_and_does_not_exist_is_reported() {
    let package = recorded("editor_missing", &[]);
    fs::create_dir_all(package.dir.join("empty")).expect("it is made");
    let report = |settings: Value| {
        let mut client = Client::start(&[&package], settings);
        let message = client.await_note("window/showMessage", |_| true);
        message["message"].as_str().unwrap_or_default().to_owned()
    };
    let missing = report(json!({ "recordings": ["missing.spy"] }));
    assert!(missing.contains("missing.spy` cannot be read"), "{missing}");
    let empty = report(json!({ "recordings": ["empty"] }));
    assert!(empty.ends_with("the directory contains no recording"), "{empty}");
    #[cfg(unix)]
    {
        let pipe = package.dir.join("pipe.spy");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("every Unix has it").success());
        let pipe = report(json!({ "recordings": ["pipe.spy"] }));
        assert!(pipe.contains("pipe.spy` cannot be read"), "{pipe}");
    }
    let metric = report(json!({ "metric": "heat" }));
    assert!(
        metric.contains("`metric` is \"heat\"; it must be one of: calls, self-time"),
        "{metric}"
    );
    let run = report(json!({ "runs": ["99"] }));
    assert!(run.ends_with("there is no run `99`; the runs are 1"), "{run}");
}

#[test]
fn what_makes_no_sense_has_no_numbers() {
    let package = recorded("editor_senseless", &[]);
    let mut client = Client::open(&package, json!({ "metric": 7, "runs": {}, "more": [[]] }));
    let open = |client: &mut Client, uri: &str| {
        let document = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": SOURCE });
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        client.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }))
    };
    for uri in [
        "untitled:Untitled-1",
        "file:///nowhere/lib.rs",
        "file:///",
        "http://host/lib.rs",
        "file:///%00%ff",
    ] {
        assert!(open(&mut client, uri).is_null(), "{uri}");
    }
    for wrong in [json!(null), json!([]), json!({ "textDocument": 3 })] {
        let error = client.try_request("textDocument/hover", wrong).expect_err("it is wrong");
        assert!(error.contains("textDocument/hover"), "{error}");
    }
    client.notify("textDocument/didOpen", json!({ "textDocument": [] }));
    client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    client.notify("no/such", json!({}));
    assert_eq!(client.lenses(&package).len(), 5, "it still answers");
}

const OTHER: &str = "pub fn load() -> u32 {\n    7\n}\n\n#[test]\nfn loads() {\n    load();\n}\n";

/// A package with a second file after its tests ran.
fn two_files(name: &str) -> Package {
    let library = format!("{SOURCE}\npub mod other;\n");
    let files = [
        ("Cargo.toml", &*manifest(name, "2024", "")),
        ("src/lib.rs", &library),
        ("src/other.rs", OTHER),
    ];
    let package = Package::new(name, &files);
    package.metaspy(&["test", "--lib", "--timed"]);
    package
}

/// The lenses of the second file of a package.
fn lenses_of_other(client: &mut Client, package: &Package) -> String {
    let uri = uri(&package.dir.join("src/other.rs"));
    let document = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": OTHER });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    client.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } })).to_string()
}

/// This many of some brackets within each other.
fn nested(open: &str, close: &str, levels: usize) -> String {
    open.repeat(levels) + &close.repeat(levels)
}

#[test]
fn a_text_beyond_a_bound_has_the_numbers_of_the_last_one_within_and_is_logged_once() {
    let package = two_files("editor_bounds");
    let mut client = Client::open(&package, json!({}));
    let (before, other) = (client.lenses(&package), lenses_of_other(&mut client, &package));
    assert!(before.len() == 5 && other.contains("1 call"), "{before:?} {other}");
    for text in [
        nested("{", "}", 30_000),
        format!("fn x() {{ {} }}", nested("m!(", ")", 30_000)),
        nested("fn x() { fn y() {", "} }", 30_000),
        format!("impl A for {}", nested("[", "; 1]", 30_000)),
        "impl X for ".repeat(100_000),
        "struct S<".repeat(100_000),
    ] {
        client.change_file(&package, &text);
        assert_eq!(client.lenses(&package), before, "{}", &text[..20]);
        let hover = client.hover(&package, SOURCE, "shape.area()", "area");
        assert!(hover.contains("`total` called `area` 10 times:"), "{hover}");
        assert_eq!(lenses_of_other(&mut client, &package), other);
        client.await_hints(&package);
    }
    let logged = client.messages_of("window/logMessage");
    let about: Vec<_> =
        logged.iter().filter(|message| message.contains("exceeds a bound")).collect();
    assert!(about.len() == 1 && about[0].contains("src/lib.rs"), "{logged:?}");
    let bound = "brackets may be nested 100 levels deep; its numbers are those of its last text within this bound";
    assert!(about[0].ends_with(bound), "{logged:?}");

    client.change_file(&package, &format!("// One.\n{SOURCE}"));
    assert_eq!(client.lenses(&package)[0].0, before[0].0 + 1, "the present text answers again");
}

#[test]
fn a_text_that_begins_beyond_a_bound_has_the_numbers_around() {
    let package = two_files("editor_beyond");
    let mut client = Client::start(&[&package], json!({}));
    client.open_file(&package, &format!("{SOURCE}fn x() {{ {} }}", nested("{", "}", 30_000)));
    client.await_numbers(&package);
    assert_eq!(client.lenses(&package).len(), 5);
    let logged =
        client.await_note("window/logMessage", |note| note.to_string().contains("exceeds a bound"));
    assert!(logged.to_string().contains("what is behind this bound has no numbers"), "{logged}");
}

#[test]
fn a_long_text_within_the_bounds_is_read() {
    let package = two_files("editor_long");
    let mut client = Client::open(&package, json!({}));
    let titles = |client: &mut Client| {
        client.lenses(&package).into_iter().map(|(_, title)| title).collect::<Vec<_>>()
    };
    let before = titles(&mut client);
    let other = lenses_of_other(&mut client, &package);
    let aliases: String =
        (0..20_000).map(|number| format!("type A{number} = A{};\n", number + 1)).collect();
    let aliases = aliases + "type A20000 = fn();\n";
    for (kind, more) in [
        ("a line of 900 KB", "fn x() {} ".repeat(90_000)),
        ("a line of one token", "x".repeat(1_000_000)),
        ("closing brackets", "}".repeat(500_000)),
        ("opening brackets", "{\n".repeat(200_000)),
        ("namesakes", "fn x() {}\n".repeat(50_000)),
        ("blocks of one type", "impl Circle {}\n".repeat(20_000)),
        ("names of names", aliases),
    ] {
        client.change_file(&package, &format!("\u{feff}{SOURCE}\n{more}"));
        assert_eq!(titles(&mut client), before, "{kind}");
        let symbols = client.about("textDocument/documentSymbol", &package);
        assert!(symbols.as_array().is_some_and(|all| all.len() > 5), "{kind}");
        client.about("textDocument/inlayHint", &package);
        assert_eq!(lenses_of_other(&mut client, &package), other, "{kind}");
        client.await_hints(&package);
    }
    let logged = client.messages_of("window/logMessage");
    assert!(!logged.iter().any(|message| message.contains("exceeds a bound")), "{logged:?}");
}

#[test]
fn a_text_of_megabytes_is_not_read_and_keeps_no_request_waiting() {
    let package = two_files("editor_megabytes");
    let mut client = Client::open(&package, json!({}));
    let (before, other) = (client.lenses(&package), lenses_of_other(&mut client, &package));
    for text in [
        "impl X for ".repeat(220_000),
        "fn x() { ".repeat(130_000) + &"}".repeat(130_000),
        format!("fn x() {{ a{} }}", ".b(c)[d]".repeat(300_000)),
        SOURCE.repeat(2_400_000 / SOURCE.len()),
    ] {
        client.change_file(&package, &text);
        assert_eq!(client.lenses(&package), before, "{}", &text[..20]);
        assert_eq!(lenses_of_other(&mut client, &package), other);
    }
    let logged =
        client.await_note("window/logMessage", |note| note.to_string().contains("exceeds a bound"));
    assert!(
        logged
            .to_string()
            .contains("a text may have 1 MiB; its numbers are those of its last text"),
        "{logged}"
    );
    client.change_file(&package, &format!("// One.\n{SOURCE}"));
    assert_eq!(client.lenses(&package)[0].0, before[0].0 + 1, "the present text answers again");
}

#[cfg(unix)]
#[test]
fn a_file_of_a_recording_that_is_a_pipe_now_is_not_waited_for() {
    const CALLER: &str = "mod other;\n\npub fn run() -> u32 {\n    other::load()\n}\n\n#[test]\nfn runs() {\n    run();\n}\n";
    let name = "editor_pipe";
    let other = "pub fn load() -> u32 {\n    7\n}\n";
    let files = [
        ("Cargo.toml", &*manifest(name, "2024", "")),
        ("src/lib.rs", CALLER),
        ("src/other.rs", other),
    ];
    let package = Package::new(name, &files);
    package.metaspy(&["test", "--lib", "--timed"]);
    let pipe = package.dir.join("src/other.rs");
    fs::remove_file(&pipe).expect("it is there");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("every Unix has it").success());
    let mut client = Client::open(&package, json!({}));
    client.open_file(&package, CALLER);
    let hover = client.hover(&package, CALLER, "pub fn run", "run");
    assert!(hover.contains("load"), "{hover}");
}
