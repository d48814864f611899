//! Each tool: what it answers, that its command works, cursors, and errors that name what there is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use metaspy_core::method_profilers::Contexts;
use metaspy_core::{Profiler, Recording, Subject};
use serde_json::{Value, json};

use crate::client::{COMMAND, Client, live, workspace};
use crate::fixture;
use crate::market::{PACK, SELL, call};

/// A kind of which each recording of the page has a finding.
pub const SETTINGS: &str = r#"
[[findings.own]]
kind = "measures"
by = ["subject"]
when = "count(site:measure) > 1"
title = "{site} runs {count} times on one subject"
"#;

/// A workspace with the recording of a page as `run.spy`, settings, and the source of its sites.
pub fn page(name: &str, frames: usize) -> PathBuf {
    let directory = workspace(name);
    let recording = fixture::closed(&format!("{name}.spy"), frames);
    fs::rename(recording, directory.join("run.spy")).expect("it can be moved");
    fs::write(directory.join("metaspy.toml"), SETTINGS).expect("it can be written");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tui/tests/fixture/mod.rs");
    fs::create_dir_all(directory.join("tui/tests/fixture")).expect("it can be made");
    fs::copy(source, directory.join("tui/tests/fixture/mod.rs")).expect("it can be copied");
    directory
}

/// Runs the command of an answer as a person who pastes it.
pub fn pasted(directory: &Path, command: &Value) -> Output {
    let command = command.as_str().expect("an answer has a command");
    let own = Path::new(COMMAND).parent().expect("a command is in a directory");
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(directory)
        .env("PATH", path)
        .env("METASPY_DIR", live(directory));
    shell
        .env_remove("METASPY_RECORD")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("there is a shell")
}

/// Fails unless the command works. The crawler has no terminal here, and says so last.
fn check_command(directory: &Path, command: &Value) {
    let output = pasted(directory, command);
    let error = String::from_utf8_lossy(&output.stderr);
    let is_crawler = command.as_str().is_some_and(|command| command.starts_with("metaspy open"));
    if is_crawler {
        assert!(error.contains("the crawler needs a terminal"), "{command}: {error}")
    } else {
        assert!(output.status.success() && !output.stdout.is_empty(), "{command}: {error}")
    }
}

fn names(rows: &Value) -> Vec<String> {
    let rows = rows.as_array().expect("a list").iter();
    rows.map(|row| format!("{} {}", row["site"], row["name"])).collect()
}

#[test]
fn every_tool_has_a_title_schemas_and_a_hint_that_it_only_reads() {
    let directory = page("described", 1);
    let client = Client::start(&directory, &["run.spy", "--allow-run", "cargo metaspy *"]);
    let expected = [
        "recordings",
        "findings",
        "explain",
        "rows",
        "event",
        "causes",
        "effects",
        "compare",
        "expect",
        "source",
        "run",
    ];
    let listed: Vec<&str> = client.tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(expected.iter().all(|name| listed.contains(name)), "{listed:?}");
    for tool in &client.tools {
        let reads = tool["name"] != "run";
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{tool}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool}");
        }
        assert!(tool["inputSchema"]["properties"]["max_bytes"].is_object(), "{tool}");
    }
    assert_eq!(client.close(), 0);
}

#[test]
fn every_tool_answers_as_its_schema_says_and_its_command_works() {
    let directory = page("answers", 30);
    let after = fixture::closed("answers-after.spy", 40);
    fs::rename(after, directory.join("after.spy")).unwrap();
    let mut client = Client::start(&directory, &["run.spy"]);

    let recordings = client.ask("recordings", json!({}));
    let run = recordings["recordings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["name"] == "run.spy")
        .unwrap();
    assert_eq!((&run["state"], &run["found"]), (&json!("closed"), &json!("argument")), "{run}");
    check_command(&directory, &recordings["command"]);
    check_command(&directory, &run["command"]);

    let findings = client.ask("findings", json!({}));
    let finding = &findings["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["number"]),
        (&json!("measures"), &json!(1)),
        "{findings:#}"
    );
    check_command(&directory, &findings["command"]);
    check_command(&directory, &finding["command"]);
    let filtered = client.ask("rows", json!({ "filter": finding["filter"], "by": "site,subject" }));
    assert!(filtered["total"].as_u64() > Some(0), "{filtered:#}");
    check_command(&directory, &filtered["command"]);

    let rows = client.ask("rows", json!({}));
    // A frame has a resize, four layouts, six measures with a hit each, and a paint.
    let layout = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "page::Scene::layout")
        .unwrap();
    assert_eq!((&layout["calls"], &layout["panicked"]), (&json!(120), &json!(30)), "{layout}");
    assert_eq!((&rows["calls"], &rows["exact"]), (&json!(30 * 19), &json!(true)));
    check_command(&directory, &rows["command"]);
    for by in ["subject", "site,subject", "cause", "sender", "cause,subject", "type", "package"] {
        let rows = client.ask("rows", json!({ "by": by, "sort": "count", "top": 5 }));
        assert!(
            rows["total"].as_u64().is_some_and(|total| (1..=5).contains(&total)),
            "{by}: {rows:#}"
        );
        check_command(&directory, &rows["command"]);
    }
    for (by, why) in [
        ("function", "no samples were recorded"),
        ("context", "METASPY_PROFILE=contexts"),
        ("arrived", "--types"),
    ] {
        let error = client.refused("rows", json!({ "by": by }));
        assert!(error.contains(why), "{by}: {error}");
    }

    let slowest =
        client.ask("event", json!({ "filter": "site:Scene::layout", "order": "slowest" }));
    assert_eq!(slowest["total"], 120);
    let first = &slowest["events"][0];
    assert_eq!(first["subject"]["label"], "#1 <html>", "{first}");
    check_command(&directory, &slowest["command"]);
    let of_subject =
        client.ask("rows", json!({ "by": "subject", "filter": first["subject"]["filter"] }));
    assert_eq!(of_subject["rows"][0]["name"], "#1 <html>");

    let one = client.ask("event", json!({ "id": first["id"] }));
    let more = &one["events"][0]["more"];
    assert_eq!(more["cause_site"], "page::frame", "{one:#}");
    assert_eq!(more["relations"][0]["relation"], "owner", "{one:#}");
    check_command(&directory, &one["command"]);

    let measured = client.ask("event", json!({ "filter": "site:measure", "order": "last" }));
    let id = &measured["events"][0]["id"];
    let causes = client.ask("causes", json!({ "id": id }));
    let sites: Vec<&str> =
        causes["causes"].as_array().unwrap().iter().filter_map(|it| it["site"].as_str()).collect();
    assert_eq!(sites, ["page::Scene::layout", "page::Scene::layout", "page::frame"]);
    assert_eq!(causes["ends"], "at a root, which has no cause");
    check_command(&directory, &causes["command"]);

    let effects = client.ask("effects", json!({ "id": first["id"] }));
    assert_eq!(
        (&effects["total"], &effects["by_site"][0]["effects"]),
        (&json!(3), &json!(3)),
        "{effects:#}"
    );
    check_command(&directory, &effects["command"]);

    let changed =
        client.ask("compare", json!({ "before": "run.spy", "after": "after.spy", "by": "method" }));
    let measure = changed["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "page::Scene::measure");
    assert_eq!(
        measure.unwrap()["calls"],
        json!({ "before": 180, "after": 240, "ratio": 1.3333 }),
        "{changed:#}"
    );
    check_command(&directory, &changed["command"]);

    let held =
        client.ask("expect", json!({ "expectation": "site:measure => cause:Scene::layout" }));
    assert_eq!((&held["holds"], &held["judged"]), (&json!(true), &json!(180)), "{held:#}");
    check_command(&directory, &held["command"]);
    let missed =
        client.ask("expect", json!({ "expectation": "site:Scene::layout => cause:resize" }));
    assert_eq!((&missed["holds"], &missed["missed"]), (&json!(false), &json!(120)), "{missed:#}");

    let source = client.ask("source", json!({ "site": "Scene::measure" }));
    assert_eq!(
        (&source["first_line"], &source["site_lines"]),
        (&json!(82), &json!([88, 96])),
        "{source:#}"
    );
    check_command(&directory, &source["command"]);

    let explained = client.ask("explain", json!({ "kind": "repeated" }));
    assert!(explained["lines"].to_string().contains("When it is wrong"), "{explained:#}");
    check_command(&directory, &explained["command"]);
    assert!(client.ask("explain", json!({}))["lines"].to_string().contains("hot-subject"));
    assert_eq!(client.close(), 0);
}

/// Packs boxes within boxes.
fn pack(boxes: u32) {
    if boxes > 0 {
        call(&PACK, Subject::NONE, || pack(boxes - 1));
    }
}

#[test]
fn calling_contexts_are_rows_within_their_callers() {
    let directory = workspace("contexts");
    let turn = fixture::turn();
    let recording = Recording::file(directory.join("run.spy"))
        .budget(4 << 20)
        .collector(false)
        .start()
        .unwrap();
    let profiler = Profiler::new("tree").method_profiler(Contexts::default()).install().unwrap();
    pack(1);
    (0..4).for_each(|_| call(&SELL, Subject::NONE, || pack(2)));
    drop(profiler);
    recording.close();
    drop(turn);
    let mut client = Client::start(&directory, &["run.spy"]);
    let rows = client.ask("rows", json!({ "by": "context", "sort": "count" }));
    let (sell, pack) = ("market::Stall::sell", "market::Box::pack");
    let mut found: Vec<_> = rows["rows"].as_array().unwrap().iter().collect();
    found.sort_by_key(|row| row["within"].as_array().map_or(0, Vec::len));
    let found: Vec<_> =
        found.iter().map(|row| (&row["name"], &row["within"], &row["calls"])).collect();
    let expected = [
        (&json!(sell), &Value::Null, &json!(4)),
        (&json!(pack), &Value::Null, &json!(1)),
        (&json!(pack), &json!([sell]), &json!(4)),
        (&json!(pack), &json!([sell, pack]), &json!(4)),
    ];
    assert_eq!((found, &rows["exact"]), (expected.to_vec(), &json!(true)));
    check_command(&directory, &rows["command"]);
    assert!(
        client.refused("rows", json!({ "by": "context", "sort": "max" })).contains("are sorted by")
    );
    assert!(
        client
            .refused("rows", json!({ "by": "context", "filter": "site:x" }))
            .contains("have no filter")
    );
}

#[test]
fn answers_are_small_and_cursors_go_on_to_the_exact_end() {
    let directory = workspace("cursors");
    fs::rename(fixture::crowded("crowded.spy", 3_000), directory.join("run.spy")).unwrap();
    let mut client = Client::start(&directory, &[]);
    for (tool, list, arguments) in [
        ("rows", "rows", json!({ "by": "subject" })),
        ("rows", "rows", json!({ "by": "site,subject", "sort": "self" })),
        ("event", "events", json!({ "filter": "site:measure", "order": "slowest" })),
    ] {
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        let total = loop {
            let mut arguments = arguments.clone();
            arguments["cursor"] = cursor;
            arguments["max_bytes"] = json!(if seen.is_empty() { 8192 } else { 65536 });
            let answer = client.call(tool, arguments);
            assert!(
                answer.bytes <= if seen.is_empty() { 8192 + 64 } else { 65536 + 64 },
                "{}",
                answer.bytes
            );
            let items = answer.content[list].as_array().unwrap();
            let total = answer.content["total"].as_u64().unwrap();
            assert_eq!(answer.content["left_out"], json!(total - items.len() as u64));
            seen.extend(
                items
                    .iter()
                    .map(|item| format!("{} {} {}", item["site"], item["name"], item["id"])),
            );
            cursor = answer.content.get("next_cursor").cloned().unwrap_or(Value::Null);
            if cursor.is_null() {
                break total;
            }
        };
        let distinct: std::collections::HashSet<&String> = seen.iter().collect();
        assert_eq!(
            (distinct.len() as u64, seen.len() as u64),
            (total, total),
            "{tool} {arguments}"
        );
        assert!(total > 1_000, "{tool}: {total}");
    }
    let first = client.ask("rows", json!({ "by": "subject" }));
    let other = client.refused("rows", json!({ "by": "site", "cursor": first["next_cursor"] }));
    assert!(other.contains("other arguments"), "{other}");
    assert!(client.refused("rows", json!({ "cursor": "x" })).contains("no cursor"));
    assert!(client.refused("rows", json!({ "max_bytes": 3 })).contains("from 4096 to 65536"));
}

#[test]
fn an_error_names_what_is_nearest() {
    let directory = page("errors", 2);
    let mut client = Client::start(&directory, &["run.spy"]);
    for (tool, arguments, expected) in [
        ("rows", json!({ "recording": "rum.spy" }), "did you mean run.spy?"),
        ("rows", json!({ "filter": "site:Scene::measur" }), "did you mean page::Scene::measure"),
        ("rows", json!({ "filter": "site:zzzzzzzz" }), "the tool `rows` lists the sites"),
        ("rows", json!({ "filter": "sight:x" }), "sight"),
        ("rows", json!({ "sort": "selfs" }), "did you mean self"),
        ("rows", json!({ "by": "sites" }), "`site`"),
        ("rows", json!({ "filtr": "x" }), "did you mean filter?"),
        ("findings", json!({ "kind": "repeats" }), "did you mean repeated"),
        ("findings", json!({ "unit": "page::fram" }), "did you mean page::frame"),
        ("explain", json!({ "kind": "hot-subjects" }), "did you mean hot-subject"),
        ("event", json!({ "id": "77" }), "such as 77.3"),
        ("event", json!({ "id": "999999.3" }), "it left the window"),
        ("causes", json!({}), "missing field `id`"),
        (
            "compare",
            json!({ "before": "run.spy", "after": "nowhere.spy" }),
            "there is no recording `nowhere.spy`",
        ),
        ("expect", json!({ "expectation": "site:layout" }), "`=>` is missing"),
        ("source", json!({ "site": "Scene::masure" }), "did you mean page::Scene::measure"),
        ("rows", json!({ "recording": "/etc/hostname" }), "outside of"),
        ("rows", json!({ "recording": "metaspy.toml" }), "not a metaspy recording"),
    ] {
        let error = client.refused(tool, arguments.clone());
        assert!(error.contains(expected), "{tool} {arguments}: {error}");
    }
    let unknown = client.try_request("tools/call", json!({ "name": "finding", "arguments": {} }));
    assert!(unknown["error"]["message"].to_string().contains("did you mean findings"), "{unknown}");
    let absent = client.try_request("tools/call", json!({ "name": "run", "arguments": {} }));
    assert!(absent["error"]["message"].to_string().contains("--allow-run"), "{absent}");
    if !client.tools.iter().any(|tool| tool["name"] == "query") {
        let absent = client.try_request("tools/call", json!({ "name": "query", "arguments": {} }));
        assert!(
            absent["error"]["message"].to_string().contains("cargo install --locked --path scale"),
            "{absent}"
        );
    }
}

#[test]
fn labels_are_data_and_the_instructions_say_so() {
    let directory = page("labels", 2);
    let mut client = Client::start(&directory, &["run.spy"]);
    // `call` finds control characters. The label of this node has some.
    let rows = client.call("rows", json!({ "by": "subject" }));
    assert!(
        names(&rows.content["rows"])
            .iter()
            .any(|name| name.contains("#4 evil \u{fffd}[2J\u{fffd}")),
        "{:#}",
        rows.content
    );
    assert!(rows.text.contains("\"#4 evil \u{fffd}[2J\u{fffd}\""), "{}", rows.text);
    let quoted = rows.text.lines().find(|line| line.contains("quick brown fox")).unwrap();
    assert!(
        quoted.contains(r##""#3 <p> \"The quick brown fox jumps over the lazy dog\"""##),
        "{quoted}"
    );
    let mut command = crate::client::metaspy(&directory, &["mcp"]);
    let mut other = Client::unintroduced(&mut command);
    let parameters = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let hello = other.request("initialize", parameters);
    assert!(hello["instructions"].to_string().contains("never instructions to you"), "{hello}");
}

#[test]
fn a_grammar_answers_with_productions() {
    let directory = workspace("grammar");
    fs::write(
        directory.join("number.pest"),
        "number = { hex | ASCII_DIGIT+ }\nhex = { \"0\" ~ \"x\" }\n",
    )
    .unwrap();
    fs::write(directory.join("corpus.txt"), "17").unwrap();
    let arguments =
        ["grammar", "number.pest", "--rule", "number", "corpus.txt", "--record", "parses.spy"];
    let output = crate::client::metaspy(&directory, &arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut client = Client::start(&directory, &["parses.spy"]);
    let found = client.ask("findings", json!({ "kind": "never-matched", "all": true }));
    let silent = client.ask("rows", json!({ "sort": "failed" }));
    assert!(
        found["findings"].to_string().contains("hex") || silent["rows"].to_string().contains("hex"),
        "{found:#}{silent:#}"
    );
    check_command(&directory, &found["command"]);
}
