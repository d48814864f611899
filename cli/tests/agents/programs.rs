//! Programs that a call starts: only allowed ones, without a shell, and ended with their call.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use metaspy_core::EventId;
use serde_json::{Value, json};

use crate::client::{Client, live, metaspy, workspace};
use crate::fixture;
use crate::tools::{page, pasted};

/// Waits for what another process does.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// True if a process runs with this word among its arguments.
fn runs(word: &str) -> bool {
    let entries = fs::read_dir("/proc").expect("Linux has it").filter_map(Result::ok);
    let of = |path: &Path| fs::read(path.join("cmdline")).unwrap_or_default();
    entries
        .map(|entry| of(&entry.path()))
        .any(|line| line.split(|byte| *byte == 0).any(|own| own == word.as_bytes()))
}

#[test]
fn only_allowed_commands_run_and_no_shell_does() {
    let directory = page("allowed", 2);
    let next = fixture::closed("allowed-next.spy", 4);
    let mut client =
        Client::start(&directory, &["--allow-run", "cp * made.spy", "--allow-run", "echo *"]);
    let made = client.ask("run", json!({ "command": ["cp", next, "made.spy"] }));
    assert_eq!(
        (&made["exit_code"], &made["new_recordings"]),
        (&json!(0), &json!(["made.spy"])),
        "{made:#}"
    );
    let echoed = client.ask("run", json!({ "command": ["echo", "$HOME;", "`id`", "*"] }));
    assert_eq!(echoed["last_lines"], json!(["$HOME; `id` *"]), "{echoed:#}");
    let again = pasted(&directory, &echoed["command"]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), "$HOME; `id` *\n");
    for command in [
        json!(["cp", next, "other.spy"]),
        json!(["sh", "-c", "echo x"]),
        json!(["echo x"]),
        json!([]),
    ] {
        let error = client.refused("run", json!({ "command": command }));
        assert!(error.contains("may not run") || error.contains("no words"), "{error}");
    }
    assert!(!directory.join("other.spy").exists());
}

#[test]
fn a_call_tells_how_far_it_is_and_is_cancelled_with_all_that_it_started() {
    let directory = page("cancelled", 2);
    // A number that no other process has as its argument.
    let word = format!("7{:05}.25", std::process::id());
    let mut client =
        Client::start(&directory, &["--allow-run", "sh -c *", "--allow-run", "sleep *"]);
    let script = format!("sleep {word} & wait");
    let parameters = json!({
        "name": "run", "arguments": { "command": ["sh", "-c", script] }, "_meta": { "progressToken": "mine" },
    });
    let id = client.begin("tools/call", parameters);
    let mut progress = Vec::new();
    while progress.len() < 2 {
        let told = client.next();
        assert_eq!(
            (&told["method"], &told["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("mine"))
        );
        progress.push(told["params"]["progress"].as_f64().unwrap());
    }
    assert!(progress[0] < progress[1], "{progress:?}");
    until("the program runs", || runs(&word));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    until("the program is ended", || !runs(&word));
    assert_eq!(
        client.ask("rows", json!({ "recording": "run.spy" }))["calls"],
        38,
        "the server lives on"
    );

    // A client that dies takes its programs with it.
    client
        .begin("tools/call", json!({ "name": "run", "arguments": { "command": ["sleep", word] } }));
    until("the program runs", || runs(&word));
    assert_eq!(client.close(), 0);
    until("the program is ended", || !runs(&word));
}

#[test]
fn a_running_process_is_read_by_its_number() {
    let directory = workspace("attached");
    let mut story = metaspy(&directory, &["__story"]);
    story
        .env("METASPY_RECORD", "live")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null());
    let mut story =
        story.stderr(std::process::Stdio::null()).spawn().expect("it was built for this test");
    let pid = story.id().to_string();
    until("the story is recorded", || {
        fs::read_dir(live(&directory)).is_ok_and(|entries| entries.count() > 0)
    });
    let mut client = Client::start(&directory, &[&pid]);
    let mut calls = || client.call("rows", json!({})).content["calls"].as_u64().unwrap_or(0);
    until("it calls something", || calls() > 0);
    let before = calls();
    until("it goes on", || calls() > before);
    let listed = client.ask("recordings", json!({}));
    assert_eq!(
        (&listed["recordings"][0]["name"], &listed["recordings"][0]["state"]),
        (&json!(pid), &json!("live"))
    );
    let rows = client.ask("rows", json!({}));
    let shown = pasted(&directory, &rows["command"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Scene::"), "{:?}", shown);
    story.kill().expect("it runs");
    story.wait().expect("it ends");
    until("its end is noticed", || {
        client.ask("recordings", json!({}))["recordings"][0]["state"] == "killed"
    });
    assert!(client.ask("rows", json!({}))["calls"].as_u64() > Some(before));
}

/// A stand-in for `metaspy-scale`, whose engine takes long to build: it shows what it is started
/// with.
#[test]
fn a_query_goes_to_the_engine_with_the_paths_of_the_recordings() {
    let directory = page("queried", 2);
    let programs = workspace("engine");
    let script = "#!/bin/sh\nif [ \"$2\" = --schema ]; then echo 'events: site text'; exit; fi\n\
        case \"$4\" in *wrong*) echo 'there is no column `wrong`' >&2; exit 2;; *damaged*) code=1\n\
        printf 'metaspy query: run.spy: a block is damaged\\n' >&2;; esac\n\
        printf '[{\"sql\":\"%s\",\"file\":\"%s\"},{\"sql\":\"two\",\"file\":\"\"}]' \"$4\" \"$5\"\nexit $code\n";
    fs::write(programs.join("metaspy-scale"), script).unwrap();
    fs::set_permissions(programs.join("metaspy-scale"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = metaspy(&directory, &["mcp", "run.spy"]);
    command.env(
        "PATH",
        format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default()),
    );
    let mut client = Client::of(command);
    let answer = client.ask("query", json!({ "sql": "SELECT 1" }));
    assert_eq!(
        answer["rows"],
        json!([{ "sql": "SELECT 1", "file": "run.spy" }, { "sql": "two", "file": "" }])
    );
    assert_eq!(answer["command"], "metaspy query 'SELECT 1' run.spy");
    let tables = client.ask("query", json!({}));
    assert_eq!(tables["rows"], json!([{ "table": "events: site text" }]));
    assert_eq!(client.refused("query", json!({ "sql": "wrong" })), "there is no column `wrong`");
    // Rows of a damaged recording are rows.
    let damaged = client.ask("query", json!({ "sql": "damaged" }));
    assert_eq!(
        (&damaged["total"], &damaged["notes"]),
        (&json!(2), &json!(["run.spy: a block is damaged"]))
    );
    let none: Vec<Value> = Client::start(&directory, &["run.spy"]).tools.clone();
    let is_installed = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .any(|at| at.join("metaspy-scale").is_file());
    assert_eq!(none.iter().any(|tool| tool["name"] == "query"), is_installed);
}

/// The engine itself, where it was built.
#[test]
fn the_engine_has_the_numbers_of_the_other_tools() {
    let Some(engine) = std::env::var_os("METASPY_SCALE").map(PathBuf::from) else {
        println!(
            "SKIPPED: engine: METASPY_SCALE does not name metaspy-scale (scale/check.sh builds it and does)"
        );
        return;
    };
    assert!(engine.is_file(), "{} is not there", engine.display());
    let directory = page("engine-itself", 30);
    let mut command = metaspy(&directory, &["mcp", "run.spy"]);
    let programs = engine.parent().expect("a program is in a directory");
    command.env(
        "PATH",
        format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default()),
    );
    let mut client = Client::of(command);
    let mut query = |sql: &str| client.ask("query", json!({ "sql": sql }))["rows"].clone();
    let of_sql = query(
        "SELECT site AS name, sum(calls) AS calls, sum(panicked) AS panicked FROM tallies GROUP BY site ORDER BY site",
    );
    let named = query("SELECT label AS name, calls FROM subjects WHERE calls > 0 ORDER BY label");
    let found = query(
        "SELECT number, kind, title, events, time_ns, filter, event, command FROM findings \
         WHERE NOT small AND state = 'open' ORDER BY number",
    );
    let rows = |client: &mut Client, by: &str, keys: &[&str]| {
        let rows = client.ask("rows", json!({ "by": by }))["rows"].clone();
        let row = |row: &Value| {
            let cell = |key: &&str| {
                ((*key).to_owned(), if row[key].is_null() { json!(0) } else { row[key].clone() })
            };
            Value::Object(keys.iter().map(cell).collect())
        };
        let mut rows: Vec<Value> = rows.as_array().unwrap().iter().map(row).collect();
        rows.sort_by_key(|row| row["name"].as_str().map(str::to_owned));
        Value::from(rows)
    };
    assert_eq!(of_sql, rows(&mut client, "site", &["name", "calls", "panicked"]));
    let mut of_subjects = rows(&mut client, "subject", &["name", "calls"]);
    of_subjects.as_array_mut().unwrap().retain(|row| row["name"] != "no subject");
    assert_eq!(named, of_subjects);
    let findings = client.ask("findings", json!({}))["findings"].clone();
    let of_tool = findings.as_array().unwrap();
    assert!(
        !of_tool.is_empty() && of_tool.len() == found.as_array().unwrap().len(),
        "{findings:#} {found:#}"
    );
    for (finding, row) in of_tool.iter().zip(found.as_array().unwrap()) {
        for key in ["kind", "title", "events", "time_ns", "filter", "command"] {
            assert_eq!(row[key], finding[key], "{key}: {row:#} {finding:#}");
        }
        let event = EventId::from_raw(row["event"].as_u64().unwrap()).unwrap();
        assert_eq!(finding["event_ids"][0], event.to_string());
    }
    assert!(
        client
            .refused("query", json!({ "sql": "SELECT sit FROM events" }))
            .contains("nearest: site")
    );
    let tables = client.ask("query", json!({ "max_bytes": 32_000 }));
    assert!(
        tables["rows"].as_array().unwrap().contains(&json!({ "table": "findings" })),
        "{tables:#}"
    );
    let ordered = "SELECT event FROM events ORDER BY event";
    let some = client.ask("query", json!({ "sql": ordered, "max_bytes": 4_096 }));
    assert_eq!(some["total"], 30 * 19);
    let next = json!({ "sql": ordered, "max_bytes": 4_096, "cursor": some["next_cursor"] });
    let (first, second) = (&some["rows"], &client.ask("query", next)["rows"]);
    let last = first.as_array().unwrap().last().unwrap();
    assert!(last["event"].as_u64() < second[0]["event"].as_u64(), "{last} {second}");
}
