//! A recording whose calls were only counted, as `cargo metaspy run` makes one: no answer is silent
//! about what it cannot know.

use metaspy_core::Recording;
use metaspy_core::arm::Mode;
use serde_json::{Value, json};

use crate::client::{Client, workspace};
use crate::fixture;

const FULL: &str = "METASPY_MODE=full";

#[test]
fn an_agent_is_told_that_calls_were_only_counted_and_how_events_are_recorded() {
    let directory = workspace("counted");
    let turn = fixture::turn();
    let file = Recording::file(directory.join("run.spy"));
    let (recording, installed) = fixture::begin_with(file, Mode::Tally, 4 << 20, 3);
    drop(installed);
    recording.close();
    drop(turn);
    let mut client = Client::start(&directory, &["run.spy"]);
    assert!(client.call("recordings", json!({})).text.contains("57 calls without events"));
    for (tool, arguments) in [
        ("findings", json!({})),
        ("rows", json!({ "by": "cause" })),
        ("rows", json!({ "sort": "self" })),
        ("rows", json!({ "filter": "took:>1ms" })),
        ("event", json!({})),
        ("event", json!({ "order": "slowest" })),
        ("expect", json!({ "expectation": "site:measure => cause:Scene::layout" })),
    ] {
        let answer = client.call(tool, arguments.clone());
        assert!(
            !answer.is_error && answer.text.contains(FULL),
            "{tool} {arguments}: {}",
            answer.text
        );
    }
    for tool in ["event", "causes", "effects"] {
        let error = client.refused(tool, json!({ "id": "1.1" }));
        assert!(error.contains(FULL), "{tool}: {error}");
    }
    let measured = client.call("rows", json!({ "filter": "site:measure" }));
    assert_eq!(measured.content["rows"][0]["calls"], 18);
    let slow = client.call("rows", json!({ "filter": "took:>1ms" }));
    assert!(
        slow.text.contains("57 calls have no event") && slow.content["exact"] == false,
        "{}",
        slow.text
    );
    let compared = client.call("compare", json!({ "before": "run.spy", "after": "run.spy" }));
    assert!(compared.text.contains("note: no calls were timed"), "{}", compared.text);
}

#[test]
fn silence_of_findings_comes_with_the_kinds_that_were_not_looked_for() {
    let directory = crate::tools::page("silent", 2);
    std::fs::remove_file(directory.join("metaspy.toml")).unwrap();
    let mut client = Client::start(&directory, &["run.spy"]);
    let answer = client.call("findings", json!({}));
    assert_eq!(answer.content["total"], 0, "{:#}", answer.content);
    for reason in answer.content["not_looked_for"].as_array().unwrap() {
        assert!(answer.text.contains(reason["why"].as_str().unwrap()), "{}", answer.text);
    }
    let of_kind = client.call("findings", json!({ "kind": "repeated" })).text;
    assert!(of_kind.starts_with("repeated: nothing found"), "{of_kind}");
    assert!(
        answer.content["not_looked_for"]
            .as_array()
            .is_some_and(|reasons: &Vec<Value>| !reasons.is_empty())
    );
}
