//! The report: rows of two keys, shares, and order.

use serde_json::Value;

use crate::report::{count, json};
use crate::{ended, fixture, text};

#[test]
fn a_row_of_a_site_and_a_subject_has_both() {
    let path = fixture::closed("both.spy", 3);
    let (_, report) = json(&["report", text(&path), "--by", "site,subject"]);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!((&report["by"], count(&report["rows"])), (&"site,subject".into(), 57));
    let of = |site: &str, key: u64| rows.iter().find(|row| row["site"] == site && row["key"] == key);
    let row = of("page::Scene::layout", 3).expect("node 3 is laid out");
    assert_eq!((&row["kind"], &row["count"]), (&"node".into(), &3.into()));
    let calls_at = |site: &Value| -> u64 {
        rows.iter().filter(|row| row["site"] == *site).map(|row| row["count"].as_u64().unwrap()).sum()
    };
    let (_, by_site) = json(&["report", text(&path), "--by", "site"]);
    for row in by_site["rows"].as_array().unwrap() {
        assert_eq!(calls_at(&row["key"]), row["count"].as_u64().unwrap());
        assert!(row.get("site").is_none(), "{row}");
    }
    let (_, out, _) = ended(&["report", text(&path), "--by", "site,subject"]);
    assert!(out.lines().any(|line| line.starts_with("site ") && line.contains(" subject ")), "{out}");
}

#[test]
fn senders_have_rows_with_and_without_their_subjects() {
    let path = fixture::closed("senders.spy", 3);
    let rows = |by: &str, filter: &str| -> Vec<(String, String, u64)> {
        let (code, report) = json(&["report", text(&path), "--by", by, "--filter", filter]);
        assert!(code == 0 && report["exact"] == true && report["by"] == by, "{report}");
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let row = |row: &Value| {
            let site = if by == "sender" { &row["key"] } else { &row["site"] };
            (word(site), word(&row["label"]), row["count"].as_u64().unwrap())
        };
        report["rows"].as_array().unwrap().iter().map(row).collect()
    };
    let layout = "page::Scene::layout";
    // Three nodes with two measures each, in each of three frames.
    assert_eq!(rows("sender", "site:measure"), [(layout.into(), "Scene::layout".into(), 18)]);
    let asked = rows("cause,subject", "site:measure");
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|(site, _, count)| site == layout && *count == 6), "{asked:?}");
    assert_eq!(rows("cause,subject", "site:measure cause.subject:node:2"), [(layout.into(), "#2 <div>".into(), 6)]);
    assert!(rows("sender", "site:page::frame").iter().all(|(_, label, _)| label == "no cause"));
    let (_, out, _) = ended(&["report", text(&path), "--by", "cause,subject", "--filter", "cause.site:layout"]);
    assert!(out.contains("direct cause") && out.contains("subject of the cause"), "{out}");
    let (code, _, error) = ended(&["report", text(&path), "--filter", "cause.site:layuot"]);
    assert!(code == 2 && error.contains("did you mean"), "{error}");
}

#[test]
fn shares_of_calls_and_of_self_time_add_up() {
    let path = fixture::closed("shares.spy", 3);
    for by in ["site", "subject", "site,subject", "cause", "sender", "cause,subject", "type", "package"] {
        let (_, report) = json(&["report", text(&path), "--by", by]);
        // A crate contains its modules.
        let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["kind"] != "module");
        for share in ["count_percent", "self_percent"] {
            let sum: f64 = rows.clone().filter_map(|row| row[share].as_f64()).sum();
            assert!((sum - 100.0).abs() < 0.5, "{by}: {share} adds up to {sum}");
        }
    }
    let (_, report) = json(&["report", text(&path)]);
    let rows = report["rows"].as_array().unwrap();
    let own: u64 = rows.iter().filter_map(|row| row["self_ns"].as_u64()).sum();
    for row in rows.iter().filter(|row| row["timed"] != 0) {
        let share = 100.0 * row["total_ns"].as_u64().unwrap() as f64 / own as f64;
        assert!((row["total_percent"].as_f64().unwrap() - share).abs() < 0.01, "{row}");
        assert_eq!(row["self_ns"], row["window_self_ns"]);
    }
}

#[test]
fn rows_are_sorted_by_any_column_in_text_and_json() {
    let path = fixture::closed("sorted.spy", 3);
    let keys = |sort: &str| -> Vec<String> {
        let (code, report) = json(&["report", text(&path), "--sort", sort]);
        assert_eq!(code, 0);
        let key = |row: &Value| row["key"].as_str().unwrap_or_default().to_owned();
        report["rows"].as_array().unwrap().iter().map(key).collect()
    };
    assert_eq!(keys("total")[..2], ["page::frame", "page::Scene::layout"]);
    assert_eq!(keys("failed")[..2], ["page::Scene::measure", "page::Scene::layout"]);
    assert!(keys("name").is_sorted());
    assert_eq!(keys("max")[0], "page::frame");
    for by in ["site", "subject", "site,subject", "cause", "sender", "cause,subject", "type", "package"] {
        let (code, out, error) = ended(&["report", text(&path), "--by", by, "--sort", "self", "--percent"]);
        assert!(code == 0 && out.contains("self %") && !out.contains("self ms"), "{by}: {out}{error}");
    }
    let (code, _, error) = ended(&["report", text(&path), "--sort", "slef"]);
    assert!(
        code == 2 && error.contains("no row has a column `slef`") && error.contains("count, total, self"),
        "{error}"
    );
}
