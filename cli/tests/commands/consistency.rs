//! One number, one meaning: a total is the same in every output, whether its calls are stored or
//! have left the window, and it is the time in which at least one call of its row was open.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use metaspy_core::arm::Mode;
use metaspy_core::{Event, Recording, Store};
use metaspy_reader::{Filter, Position};
use serde_json::Value;

use crate::{ended, fixture, text};

/// Identity of a row: its site, its kind, and its key.
type RowIdentity = (String, String, String);

/// Records the same calls in a recording of this size.
fn record(name: &str, budget: u64) -> PathBuf {
    let _turn = fixture::turn();
    let path = fixture::directory().join(name);
    let (recording, installed) =
        fixture::begin_with(Recording::file(&path), Mode::Full, budget, 3_000);
    drop(installed);
    recording.close();
    path
}

/// The rows of a report.
fn rows(path: &Path, by: &str) -> BTreeMap<RowIdentity, Value> {
    let (code, out, error) = ended(&["report", text(path), "--json", "--by", by]);
    assert_eq!(code, 0, "{error}");
    let report: Value = serde_json::from_str(&out).expect("it is JSON");
    let word = |row: &Value, field: &str| row.get(field).map_or(String::new(), Value::to_string);
    let row = |row: &Value| ((word(row, "site"), word(row, "kind"), word(row, "key")), row.clone());
    report["rows"].as_array().expect("there are rows").iter().map(row).collect()
}

/// The time in which at least one of these events was open. They come in the order of their starts.
fn union<'e>(events: impl Iterator<Item = &'e Event>) -> u64 {
    let mut until = BTreeMap::new();
    let mut sum = 0;
    for event in events {
        let until = until.entry(event.lane).or_insert(0);
        let end = event.start + event.span.unwrap_or(0);
        sum += end.saturating_sub(event.start.max(*until));
        *until = end.max(*until);
    }
    sum
}

#[test]
fn a_total_is_the_union_of_the_calls_of_its_row_in_every_output() {
    let path = record("consistent.spy", 256 << 20);
    let store = Store::open(&path).expect("it is a recording");
    assert_eq!(store.totals().folded, 0);
    let events = store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events;
    let end = events.iter().map(|event| event.start + event.span.unwrap_or(0)).max().unwrap_or(0);
    let begin = events.iter().map(|event| event.start).min().unwrap_or(0);
    let run = store.span_ns(end - begin);

    let total = |row: &Value| row["total_ns"].as_u64();
    let within = |path: &str, of: &str| path == of || path.starts_with(&format!("{of}::"));
    let mut checked = 0;
    for by in ["site", "type", "package"] {
        for ((_, kind, key), row) in rows(&path, by) {
            let Some(found) = total(&row).filter(|_| kind != "\"functions\"") else { continue };
            let of: String = serde_json::from_str(&key).expect("it is a path");
            let of_row = events.iter().filter(|event| within(store.site_path(event.site), &of));
            // A report of types and packages is about methods alone.
            let is_method = |event: &&Event| {
                by == "site"
                    || store.site(event.site).is_some_and(|site| site.kind.name() == "method")
            };
            assert_eq!(found, store.span_ns(union(of_row.filter(is_method))), "{by} {of}");
            assert!(
                row["self_ns"].as_u64().is_some_and(|own| own <= found) && found <= run,
                "{by} {row}"
            );
            checked += 1;
        }
    }
    for ((_, _, key), row) in rows(&path, "subject") {
        let (Some(found), Ok(key)) = (total(&row), key.parse::<u64>()) else { continue };
        let of_row =
            events.iter().filter(|event| event.subject.is_some_and(|subject| subject.key == key));
        assert_eq!(found, store.span_ns(union(of_row)), "#{key}");
        checked += 1;
    }
    assert!(checked >= 15, "{checked} rows were timed");

    // The text and a comparison have the same numbers.
    let (_, listed, _) = ended(&["report", text(&path), "--by", "site", "--top", "all"]);
    let (_, compared, _) =
        ended(&["diff", text(&path), text(&path), "--by", "site", "--top", "all", "--json"]);
    let compared: Value = serde_json::from_str(&compared).expect("it is JSON");
    let compared = compared["rows"].as_array().expect("there are rows");
    for ((_, _, key), row) in rows(&path, "site") {
        let Some(found) = total(&row) else { continue };
        let of: String = serde_json::from_str(&key).expect("it is a path");
        let line = listed.lines().find(|line| line.starts_with(&of)).expect("it has a line");
        assert!(line.contains(&metaspy_report::text::time(found)), "{found} ns: {line}");
        let twice = compared
            .iter()
            .find(|row| row.to_string().contains(&key))
            .expect("it is in the comparison");
        assert_eq!(
            (&twice["total_ns"]["before"], &twice["total_ns"]["after"]),
            (&row["total_ns"], &row["total_ns"])
        );
    }
}

#[test]
fn a_total_stays_the_same_when_its_calls_leave_the_window() {
    let (large, small) = (record("stored.spy", 256 << 20), record("folded.spy", 1 << 20));
    let totals = Store::open(&small).expect("it is a recording").totals();
    assert!(totals.folded > 2 * totals.stored && totals.lost == 0, "{totals:?}");
    for by in ["site", "subject", "site,subject", "type", "package"] {
        let (stored, folded) = (rows(&large, by), rows(&small, by));
        assert_eq!(stored.keys().collect::<Vec<_>>(), folded.keys().collect::<Vec<_>>(), "{by}");
        for (key, row) in &stored {
            let (before, after) = (row["total_ns"].as_u64(), folded[key]["total_ns"].as_u64());
            if folded[key]["total_at_most"].as_bool() == Some(true) {
                assert!(
                    after > before && matches!(by, "type" | "package"),
                    "{by} {row} {}",
                    folded[key]
                );
            } else {
                assert_eq!(before, after, "{by} {row} {}", folded[key]);
            }
            assert_eq!(row["count"], folded[key]["count"], "{by} {row}");
        }
    }
}
