//! `metaspy demo --record`: where it stops, and its messages when its budget is spent.

use crate::{ended, fixture, text};

#[test]
fn a_demo_that_spends_its_budget_is_marked_everywhere() {
    let path = fixture::directory().join("spent.spy");
    let arguments = ["--policy", "grow", "--budget", "1MiB", "--events", "100k"];
    let (code, out, error) = ended(&[&["demo", "--record", text(&path)], &arguments[..]].concat());
    assert_eq!(code, 0, "{out}{error}");
    assert!(error.contains("metaspy: the budget was spent: "), "{error}");
    for out in [out, ended(&["report", text(&path)]).1, ended(&["verify", text(&path)]).1] {
        assert!(out.contains("note: The budget of 1 MiB is spent"), "{out}");
    }
}

#[test]
fn a_demo_stops_within_twice_its_events() {
    let path = fixture::directory().join("stopped.spy");
    // The first change of the page lays out little, and later ones much more.
    let (code, _, error) = ended(&["demo", "--record", text(&path), "--events", "150k"]);
    assert_eq!(code, 0, "{error}");
    let (_, report) = crate::report::json(&["report", text(&path)]);
    let emitted = report["emitted"].as_u64().expect("a number");
    assert!((150_000..300_000).contains(&emitted), "{emitted}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_demo_of_one_frame_is_as_long_as_what_it_holds() {
    let path = fixture::directory().join("frame.spy");
    let (code, _, error) = ended(&["demo", "--record", text(&path), "--events", "5"]);
    assert_eq!(code, 0, "{error}");
    let (_, report) = crate::report::json(&["report", text(&path)]);
    let (events, bytes) = (
        report["emitted"].as_u64().expect("a number"),
        path.metadata().expect("it is there").len(),
    );
    // An event has 32 bytes, and each element of the page has a label and relations.
    assert!(bytes < events * 80, "{bytes} bytes for {events} events");
    assert!(ended(&["verify", text(&path)]).1.contains("sound"));
}

#[test]
fn a_filter_selects_the_events_behind_a_picture_of_subjects() {
    let path = fixture::directory().join("subjects.spy");
    ended(&["demo", "--record", text(&path), "--events", "20k"]);
    let view = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/layout/views/needless.toml");
    let widths = |filter: &str| {
        let line =
            ["blueprint", "domain", text(&path), "--view", view, "--filter", filter, "--json"];
        let (code, out, error) = ended(&line);
        assert_eq!(code, 0, "{error}");
        let scene: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
        assert!(out.contains(&format!("only events that pass {filter}")), "{}", scene["notes"]);
        let nodes = scene["nodes"].as_array().expect("there are boxes").iter();
        let mut widths: Vec<u64> =
            nodes.map(|node| (node[2].as_f64().expect("a width") * 10.0) as u64).collect();
        widths.sort_unstable();
        widths.dedup();
        widths.len()
    };
    // Width is the number of layouts: what a filter leaves out is in no box.
    assert!(widths("site:layout") > 1);
    assert_eq!(widths("site:change"), 1);
    // The methods of the program, too, have a view.
    let methods = fixture::directory().join("methods.toml");
    let of_layout = "width = { query = \"site:layout\" }\nfill = { value = \"longest\", query = \"took:>1ns\" }\n";
    std::fs::write(&methods, of_layout).expect("it can be written");
    let (code, out, error) =
        ended(&["blueprint", "structural", text(&path), "--view", text(&methods), "--json"]);
    assert_eq!(code, 0, "{error}");
    let scene: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    let nodes = scene["nodes"].as_array().expect("there are boxes");
    let wide = nodes.iter().filter(|node| node[2].as_f64() > Some(3.0)).count();
    assert!(wide == 1 && nodes.len() > 1, "only the site of the query is wide: {nodes:?}");
    let (code, _, error) = ended(&["blueprint", "coverage", text(&path), "--view", text(&methods)]);
    assert!(code == 2 && error.contains("structural and behavioural"), "{error}");
    // A query of the view that selects nothing is no picture of zeros.
    let wrong = fixture::directory().join("wrong.toml");
    std::fs::write(&wrong, "subjects = \"node\"\nwidth = { query = \"site:layot\" }\n")
        .expect("it can be written");
    let (_, _, error) = ended(&["blueprint", "structural", text(&path), "--view", text(&wrong)]);
    assert!(error.contains("or draw `domain`"), "{error}");
    let (code, _, error) = ended(&["blueprint", "domain", text(&path), "--view", text(&wrong)]);
    assert!(code == 2 && error.contains("no site matches `layot`: did you mean"), "{error}");
}

#[test]
fn a_recorded_demo_ends_with_its_finding() {
    let path = fixture::directory().join("found.spy");
    let (code, out, error) = ended(&["demo", "--record", text(&path), "--events", "250k"]);
    assert_eq!(code, 0, "{error}");
    let last: Vec<&str> = out.lines().rev().take(3).collect();
    let (_, report) =
        crate::report::json(&["report", text(&path), "--filter", "site:Scene::needless"]);
    let needless = report["rows"][0]["count"].as_u64().expect("a number");
    assert!(last[2].starts_with(&metaspy_report::text::grouped(needless)), "{needless}: {out}");
    assert!(last[2].contains("were needless") && last[1].contains("were not kept"), "{out}");
    // The line is a command.
    let command: Vec<&str> =
        last[0].split("metaspy ").nth(1).expect("a command").split(' ').collect();
    let (code, nodes, error) = ended(&command);
    assert_eq!(code, 0, "{error}");
    assert!(nodes.contains("<div>"), "{nodes}");
}
