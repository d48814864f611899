//! JSON lines and CSV: a record for each event.

use std::collections::HashMap;

use metaspy_report::export::Format;

use crate::recorded::{self, wild_names};
use crate::{export, text};

#[test]
fn a_line_of_json_has_the_names_causes_and_links_of_an_event() {
    let store = recorded::store("lines.spy");
    let (bytes, written) = export(&store, Format::JsonLines, "");
    let lines: Vec<serde_json::Value> = serde_json::Deserializer::from_slice(&bytes)
        .into_iter()
        .map(|line| line.expect("each line is JSON"))
        .collect();
    assert_eq!(
        (lines.len() as u64, written.events),
        (store.totals().stored, store.totals().stored)
    );
    assert!(
        lines.is_sorted_by_key(|line| line["time_ns"].as_u64().expect("every event has a time"))
    );
    let by_id: HashMap<&str, &serde_json::Value> =
        lines.iter().map(|line| (line["event"].as_str().expect("an id"), line)).collect();
    assert_eq!(by_id.len(), lines.len());
    // Every cause is an event of the file, with the site that it is said to have.
    let causes: Vec<_> = lines.iter().filter(|line| !line["cause"].is_null()).collect();
    assert!(!causes.is_empty());
    for line in causes {
        let cause = by_id[line["cause"]["event"].as_str().expect("an id")];
        assert_eq!(cause["site"], line["cause"]["site"]);
    }
    let linked: Vec<_> = lines.iter().filter(|line| line["links"].is_array()).collect();
    let [linked] = linked[..] else { panic!("one event is linked: {linked:?}") };
    assert_eq!(linked["site"], "page::Scene::layout");
    assert_eq!(by_id[linked["links"][0].as_str().expect("an id")]["site"], "page::resize");
    let details = lines
        .iter()
        .find(|line| line["details"].is_array())
        .expect("the root layouts have an argument");
    assert_eq!(details["details"][0]["name"], "known");
    let instant = lines.iter().find(|line| line["site"] == "page::resize").expect("frames resize");
    assert!(instant["took_ns"].is_null() && instant["outcome"] == "instant", "{instant}");
}

#[test]
fn csv_has_the_same_events_with_every_name_whole() {
    let store = recorded::store("table.spy");
    let (bytes, written) = export(&store, Format::Csv, "");
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let titles = reader.headers().expect("it has titles").clone();
    let at = |title: &str| {
        titles.iter().position(|it| it == title).unwrap_or_else(|| panic!("no column {title}"))
    };
    let (key, label, cause, took) =
        (at("subject_key"), at("subject_label"), at("cause"), at("took_ns"));
    let rows: Vec<csv::StringRecord> =
        reader.records().map(|row| row.expect("every row has all columns")).collect();
    assert_eq!(rows.len() as u64, written.events);
    for (number, name) in wild_names() {
        let row = rows
            .iter()
            .find(|row| row[key] == *number.to_string())
            .expect("each node was measured");
        // Control characters are removed from all texts of a recording when it is read.
        let clean: String = name.chars().filter(|c| !c.is_control() && *c != '\u{202e}').collect();
        let found: String = row[label].chars().filter(|c| *c != '\u{fffd}').collect();
        let without_breaks = |text: &str| text.replace(' ', "");
        assert_eq!(without_breaks(&found), without_breaks(&clean), "{number}");
        assert!(row[label].chars().all(|c| !c.is_control()) && !row[cause].is_empty(), "{row:?}");
        assert_eq!(&row[took], "5000");
    }
}

#[test]
fn only_what_passes_the_filter_is_written() {
    let store = recorded::store("filtered.spy");
    let written = text(&store, Format::JsonLines, "subject:#22");
    assert_eq!(written.lines().count(), 1, "{written}");
    let (bytes, written) = export(&store, Format::Csv, "subject:#77");
    assert_eq!((String::from_utf8_lossy(&bytes).lines().count(), written.events), (1, 0));
}
