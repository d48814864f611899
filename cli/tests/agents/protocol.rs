//! The protocol: resources, the prompt, a client that sends nonsense, and one that dies.

use serde_json::{Value, json};

use crate::client::{Client, metaspy};
use crate::tools::page;

#[test]
fn recordings_are_resources_and_there_is_a_prompt() {
    let directory = page("resources", 2);
    let mut client = Client::start(&directory, &["run.spy"]);
    let listed = client.request("resources/list", json!({}));
    let address = &listed["resources"][0]["uri"];
    assert_eq!(listed["resources"][0]["name"], "run.spy", "{listed}");
    let read = client.request("resources/read", json!({ "uri": address }));
    let text = read["contents"][0]["text"].as_str().unwrap();
    let recording: Value = serde_json::from_str(text).unwrap();
    assert_eq!(
        (&recording["calls"], &recording["state"]),
        (&json!(38), &json!("closed")),
        "{recording:#}"
    );
    let absent =
        client.try_request("resources/read", json!({ "uri": "metaspy:recording/none.spy" }));
    assert!(absent["error"]["message"].to_string().contains("resources/list"), "{absent}");
    let prompts = client.request("prompts/list", json!({}));
    assert_eq!(prompts["prompts"][0]["title"], "Why is this slow", "{prompts}");
    let name = &prompts["prompts"][0]["name"];
    let prompt = client
        .request("prompts/get", json!({ "name": name, "arguments": { "what": "the \"UI\"" } }));
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains(r#"about "the \"UI\""."#), "{text}");
}

/// A generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

#[test]
fn a_thousand_garbled_messages_end_neither_the_server_nor_its_answers() {
    let directory = page("garbled", 2);
    let mut client = Client::start(&directory, &["run.spy"]);
    let mut numbers = Numbers(0x5eed_1234_5678_9abc);
    let whole: Vec<String> = [
        json!({ "jsonrpc": "2.0", "id": 9_000, "method": "tools/call", "params": { "name": "rows", "arguments": { "by": "subject" } } }),
        json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/list", "params": { "cursor": "1" } }),
        json!({ "jsonrpc": "2.0", "id": 9_001, "method": "resources/read", "params": { "uri": "metaspy:recording/run.spy" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9_000 } }),
        json!({ "jsonrpc": "2.0", "id": 9_002, "method": "prompts/get", "params": { "name": "why-is-this-slow" } }),
        json!([{ "jsonrpc": "2.0", "id": 9_003, "method": "ping" }]),
    ]
    .iter()
    .map(Value::to_string)
    .collect();
    for _ in 0..1_000 {
        let mut line = whole[numbers.below(whole.len())].clone().into_bytes();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(line.len());
            match numbers.below(4) {
                0 => line[at] = numbers.below(256) as u8,
                1 => line.truncate(at.max(1)),
                2 => line.insert(at, b"{}[]\",:\0"[numbers.below(8)]),
                _ => {
                    let other = whole[numbers.below(whole.len())].as_bytes();
                    line.splice(at.., other[numbers.below(other.len())..].iter().copied());
                }
            }
            line.retain(|byte| *byte != b'\n');
            line.push(b' ');
        }
        client.send_line(&line);
    }
    // Requests of the garbled messages may have these numbers: the last one does not.
    let id = 77_777;
    client.send(
        &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "rows", "arguments": {} } }),
    );
    let answer = client.answer_to(id);
    assert_eq!(answer["result"]["structuredContent"]["calls"], 38, "{answer}");
    assert_eq!(client.close(), 0);
}

#[test]
fn nonsense_before_the_introduction_is_an_error_or_ignored() {
    let directory = page("early", 1);
    let mut client = Client::unintroduced(&mut metaspy(&directory, &["mcp", "run.spy"]));
    for line in [
        "",
        "hello",
        "{",
        "\u{7f}\u{0}",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
    ] {
        client.send_line(line.as_bytes());
    }
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }));
    let pong = client.answer_to(2);
    assert!(pong.get("result").is_some(), "{pong}");
}

#[test]
fn a_server_ends_when_its_client_is_gone() {
    let directory = page("gone", 1);
    // With nothing said, and after an introduction.
    assert_ne!(Client::unintroduced(&mut metaspy(&directory, &["mcp"])).close(), 101);
    assert_eq!(Client::start(&directory, &[]).close(), 0);
}
