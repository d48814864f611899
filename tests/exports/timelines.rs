//! Chrome's trace: slices on tracks, and arrows between them.

use std::collections::HashMap;

use metaspy_report::export::Format;
use serde_json::Value;

use crate::{json, recorded};

/// The objects of a trace with this phase.
fn of_phase<'t>(trace: &'t Value, phase: &str) -> Vec<&'t Value> {
    let events = trace["traceEvents"].as_array().expect("a list");
    events.iter().filter(|event| event["ph"] == phase).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn slices_of_a_track_nest_and_every_event_has_one() {
    let store = recorded::store("slices.spy");
    let trace = json(&store, Format::Chrome, "");
    let slices = of_phase(&trace, "X");
    assert_eq!(slices.len() as u64, store.totals().stored);
    let mut open: HashMap<String, Vec<f64>> = HashMap::new();
    for slice in slices {
        let (start, end) = (number(&slice["ts"]), number(&slice["ts"]) + number(&slice["dur"]));
        let track = open.entry(format!("{} {}", slice["pid"], slice["tid"])).or_default();
        track.retain(|around| *around > start);
        assert!(
            track.last().is_none_or(|around| end <= around + 0.001),
            "{slice} ends after the one around it"
        );
        track.push(end);
    }
    let threads: Vec<&Value> = of_phase(&trace, "M").iter().map(|it| &it["args"]["name"]).collect();
    assert!(
        threads.contains(&&Value::from("page")) && threads.contains(&&Value::from("worker \"2\"")),
        "{threads:?}"
    );
}

#[test]
fn causes_and_links_are_arrows_where_nesting_does_not_show_them() {
    let store = recorded::store("arrows.spy");
    let trace = json(&store, Format::Chrome, "");
    let (begins, ends) = (of_phase(&trace, "s"), of_phase(&trace, "f"));
    // Six measures on another thread, and the link of the layout.
    assert_eq!((begins.len(), ends.len()), (7, 7));
    for begin in begins {
        let end = ends.iter().find(|end| end["id"] == begin["id"]).expect("every arrow ends");
        assert!(number(&end["ts"]) >= number(&begin["ts"]), "{begin} {end}");
        for side in [begin, *end] {
            let is_its = |slice: &&&Value| slice["ts"] == side["ts"] && slice["tid"] == side["tid"];
            assert!(
                of_phase(&trace, "X").iter().any(|slice| is_its(&slice)),
                "{side} begins with a slice"
            );
        }
    }
    // An arrow needs both of its ends.
    assert!(of_phase(&json(&store, Format::Chrome, "site:paint"), "s").is_empty());
}
