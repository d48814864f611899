//! The real thing, for loads of several sizes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use metaspy::Store;
use metaspy::store::{EndState, Filter, Position};
use serde_json::Value;

use super::*;

/// There is one log in a process, so loads take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a load; what it found, as object and as text.
fn run(
    publishes: u64,
    subscribers: usize,
    slow: usize,
    payload: usize,
) -> (Findings, Value, String) {
    let _turn = turn();
    let options = Options { publishes, subscribers, slow, payload, ..Options::default() };
    let (findings, receivers) = profile(&options).expect("a server on loopback");
    let (json, text) =
        (json::of(&findings, &options, receivers), text::of(&findings, &options, receivers));
    (findings, json, text)
}

fn number(json: &Value, name: &str) -> u64 {
    json[name].as_u64().unwrap_or_else(|| panic!("{name} is a number: {json}"))
}

/// Facts of a load without missed messages.
fn check(publishes: u64, subscribers: usize) -> (Value, String) {
    let (_, json, text) = run(publishes, subscribers, 0, 0);
    let receipts = publishes * subscribers as u64;
    assert_eq!(
        [number(&json, "sent"), number(&json, "received"), number(&json, "lagged")],
        [publishes, receipts, 0]
    );
    assert_eq!(number(&json, "receivers"), receipts);
    let roots = json["roots"].as_array().expect("a list");
    assert_eq!(roots.len() as u64, receipts);
    assert!(
        roots.iter().all(|root| root["is_publish"] == true && root["is_known"] == true),
        "{json}"
    );
    let announced = json["announcements"].as_object().expect("an object").values();
    assert_eq!(announced.map(|announced| number(announced, "published")).sum::<u64>(), publishes);
    // Where there are two subscriptions, the first view has two.
    let too_often = if subscribers > 1 { publishes } else { 0 };
    assert_eq!(number(&json, "too_often"), too_often);
    assert_eq!(text.contains("TOO OFTEN"), too_often > 0, "{text}");
    (json, text)
}

#[test]
fn every_receipt_leads_back_to_its_publish() {
    for (publishes, subscribers) in
        [(0, 0), (0, 3), (1, 0), (1, 1), (1, 2), (40, 1), (137, 5), (12, 60)]
    {
        check(publishes, subscribers);
    }
}

#[test]
fn a_double_subscription_is_found_with_its_places() {
    let (json, text) = check(137, 5);
    let [repeated] = json["repeated"].as_array().expect("a list").as_slice() else {
        panic!("one view: {json}")
    };
    assert_eq!((&repeated["view"], number(repeated, "receipts")), (&Value::from("tree"), 274));
    let subscribed: Vec<_> = repeated["subscribed"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        subscribed[0].starts_with("View::open (") && subscribed[1].starts_with("View::show ("),
        "{json}"
    );
    // It is the first that anybody sees.
    let screen: Vec<&str> = text.lines().take(6).collect();
    assert!(
        screen.contains(&"TOO OFTEN  tree heard 274 times of 137 announcements: 137 too many,"),
        "{text}"
    );
    for (kind, times) in [("nodes::node_selected", 35), ("panels::panel_refreshed", 34)] {
        let announced = &json["announcements"][kind];
        let counts = ["published", "received", "too_often"].map(|name| number(announced, name));
        assert_eq!(counts, [times, times * 5, times], "{kind}");
    }
}

#[test]
fn the_missing_edge_is_the_one_into_the_server() {
    let (json, _) = check(20, 3);
    let spans = json["spans"].as_array().expect("a list");
    let at = |path: &str| {
        spans.iter().find(|span| span["path"] == path).unwrap_or_else(|| panic!("{path}: {json}"))
    };
    // The client's half is known: 20 of its spans, and three that end the channels.
    let client = at("mini_redis::client::publish");
    assert_eq!(["events", "roots", "under_publish"].map(|name| number(client, name)), [23, 0, 20]);
    // One for each connection: three that subscribe, three that publish, one that ends.
    let server = at("mini_redis::server::run");
    assert_eq!(["events", "roots", "under_publish"].map(|name| number(server, name)), [7, 7, 0]);
    // Of 20 commands PUBLISH two have seven and one has six, one ends three channels, and three
    // subscribe.
    assert_eq!(server["under_each_root"], serde_json::json!([7, 7, 6, 3, 1, 1, 1]));
    assert!(
        json["missing_edges"]
            .as_array()
            .expect("a list")
            .contains(&"mini_redis::server::run".into()),
        "{json}"
    );
    let modules = json["modules_cut_off"].as_object().expect("an object");
    assert_eq!(modules.keys().collect::<Vec<_>>(), ["mini_redis::server"]);
}

#[test]
fn the_effects_of_a_publish_reach_the_last_receipt() {
    let (_, text) = check(1, 3);
    let tree =
        text.lines().skip_while(|line| !line.starts_with("what one PUBLISH set off")).skip(1);
    let tree =
        tree.take_while(|line| !line.is_empty()).filter(|line| !line.contains("mini_redis::"));
    // Which view is first is the kernel's to say.
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines: Vec<String> = tree
        .map(|line| {
            let what: Vec<&str> = line.split_whitespace().take(2).collect();
            format!("{} {}", indent(line), what.join(" "))
        })
        .collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "2 bus::publisher::Publisher::node_selected editor",
            "4 received::nodes::node_selected list",
            "4 received::nodes::node_selected tree",
            "4 received::nodes::node_selected tree",
            "6 bus::view::View::refresh list",
            "6 bus::view::View::refresh tree",
            "6 bus::view::View::refresh tree",
        ]
    );
}

#[test]
fn messages_that_a_slow_subscriber_missed_are_counted_at_the_gap() {
    // More than the kernel and the server's channels, of 1,024 messages each, can hold.
    let (findings, json, _) = run(8_000, 2, 1, 4 << 10);
    let [received, lagged] = ["received", "lagged"].map(|name| number(&json, name));
    assert!(lagged > 0, "{received} were received");
    assert_eq!((received + lagged, number(&json, "sent")), (16_000, 8_000));
    // The server reported both receivers, and no dropped message.
    assert_eq!(number(&json, "receivers"), 16_000);
    assert_eq!(number(&json, "roots_that_are_publishes"), received);
    let missed: Filter = "site:received::missed".parse().expect("it is a filter");
    let gaps = findings.store.forward(Position::Start, &missed, usize::MAX, usize::MAX).events;
    assert!(!gaps.is_empty() && (gaps.len() as u64) < lagged, "{} gaps", gaps.len());
    assert_eq!(gaps.iter().filter_map(|gap| findings.store.gap(gap.id)).sum::<u64>(), lagged);
}

#[test]
fn a_kept_recording_has_every_receipt_and_its_cause() {
    let _turn = turn();
    let path = std::env::temp_dir().join(format!("metaspy-bus-{}.spy", std::process::id()));
    let record = format!("--record={}", path.display());
    let line = ["--publishes=7", "--subscribers=3", "--json", &record];
    assert_eq!(start(line.map(str::to_owned)), 0);
    let store = Store::open(&path).expect("it was kept");
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(store.end_state(), EndState::Closed);
    let caused: Filter = "site:received::** cause:Publisher::*".parse().expect("it is a filter");
    assert_eq!(store.forward(Position::Start, &caused, usize::MAX, usize::MAX).events.len(), 21);
}

#[test]
fn a_wrong_command_line_exits_with_two() {
    assert_eq!(start(["--publishes".to_owned(), "many".to_owned()]), 2);
    assert_eq!(start(["--help".to_owned()]), 0);
}
