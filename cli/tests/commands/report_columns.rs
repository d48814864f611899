//! The report: rows of two keys, shares, and order.

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::hook;
use metaspy_core::instrumenter::Installation;
use metaspy_core::{
    InstallError, Instrumenter, Outcome, Profiler, Recording, Session, Site, SiteDef, SiteKind,
    Subject,
};
use serde_json::Value;

use crate::report::{count, json};
use crate::{ended, fixture, text};

#[test]
fn a_row_of_a_site_and_a_subject_has_both() {
    let path = fixture::closed("both.spy", 3);
    let (_, report) = json(&["report", text(&path), "--by", "site,subject"]);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!((&report["by"], count(&report["rows"])), (&"site,subject".into(), 57));
    let of =
        |site: &str, key: u64| rows.iter().find(|row| row["site"] == site && row["key"] == key);
    let row = of("page::Scene::layout", 3).expect("node 3 is laid out");
    assert_eq!((&row["kind"], &row["count"]), (&"node".into(), &3.into()));
    let calls_at = |site: &Value| -> u64 {
        rows.iter()
            .filter(|row| row["site"] == *site)
            .map(|row| row["count"].as_u64().unwrap())
            .sum()
    };
    let (_, by_site) = json(&["report", text(&path), "--by", "site"]);
    for row in by_site["rows"].as_array().unwrap() {
        assert_eq!(calls_at(&row["key"]), row["count"].as_u64().unwrap());
        assert!(row.get("site").is_none(), "{row}");
    }
    let (_, out, _) = ended(&["report", text(&path), "--by", "site,subject"]);
    assert!(
        out.lines().any(|line| line.starts_with("site ") && line.contains(" subject ")),
        "{out}"
    );
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
    assert_eq!(
        rows("cause,subject", "site:measure cause.subject:node:2"),
        [(layout.into(), "#2 <div>".into(), 6)]
    );
    assert!(rows("sender", "site:page::frame").iter().all(|(_, label, _)| label == "no cause"));
    let (_, out, _) =
        ended(&["report", text(&path), "--by", "cause,subject", "--filter", "cause.site:layout"]);
    assert!(out.contains("direct cause") && out.contains("subject of the cause"), "{out}");
    let (code, _, error) = ended(&["report", text(&path), "--filter", "cause.site:layuot"]);
    assert!(code == 2 && error.contains("did you mean"), "{error}");
}

#[test]
fn shares_of_calls_and_of_self_time_add_up() {
    let path = fixture::closed("shares.spy", 3);
    for by in
        ["site", "subject", "site,subject", "cause", "sender", "cause,subject", "type", "package"]
    {
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
    // What a layout leads to does not pass, so its total is no part of the time of what passes.
    let (_, report) = json(&["report", text(&path), "--filter", "site:layout"]);
    let layout = &report["rows"][0];
    assert!(layout["total_ns"].as_u64() > layout["self_ns"].as_u64(), "{layout}");
    assert_eq!((&layout["total_percent"], &layout["self_percent"]), (&Value::Null, &100.0.into()));
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
    for by in
        ["site", "subject", "site,subject", "cause", "sender", "cause,subject", "type", "package"]
    {
        let (code, out, error) =
            ended(&["report", text(&path), "--by", by, "--sort", "self", "--percent"]);
        assert!(code == 0 && out.contains("self %") && !out.contains(" ms"), "{by}: {out}{error}");
    }
    let (code, _, error) = ended(&["report", text(&path), "--sort", "slef"]);
    assert!(
        code == 2
            && error.contains("no row has a column `slef`")
            && error.contains("count, total, self"),
        "{error}"
    );
}

macro_rules! shop {
    ($($name:ident $path:literal $facts:literal;)*) => {$(
        metaspy_core::site::register! {
            static $name: Site = Site::with_facts(SiteDef {
                kind: SiteKind::Method,
                module: "shop",
                name: $path,
                file: "shop/src/lib.rs",
                lines: (1, 2),
                skipped: None,
            }, $facts);
        }
    )*};
}

shop! {
    FIND "find" "c=1 self=none vis=pub option";
    SELL "sell" "c=1 self=none vis=pub result";
    CHECK "check" "c=1 self=none vis=pub";
}

struct Shop(Mode);

impl Instrumenter for Shop {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&"shop::**".parse()?, &Arming::all(self.0))?;
        Ok(Installation::none())
    }
}

#[test]
fn a_failed_call_is_called_what_its_function_returned() {
    let _turn = fixture::turn();
    for (mode, name) in [(Mode::Full, "shop.spy"), (Mode::Tally, "shop-tally.spy")] {
        let path = fixture::directory().join(name);
        let recording = Recording::file(&path).collector(false).start().expect("it can be made");
        let installed =
            Profiler::new("shop").observe(Shop(mode)).install().expect("the sites are there");
        for site in [&FIND, &SELL, &CHECK] {
            hook::enter(site, Subject::NONE).done(Outcome::Failed);
        }
        drop(installed);
        recording.close();
        let (_, out, _) = ended(&["report", text(&path)]);
        for (site, ending) in
            [("shop::find", "1 none"), ("shop::sell", "1 err"), ("shop::check", "1 failed")]
        {
            assert!(
                out.lines().any(|line| line.starts_with(site) && line.ends_with(ending)),
                "{out}"
            );
        }
        let head =
            out.lines().find(|line| line.starts_with("site ")).expect("the table has a head");
        assert!(
            head.trim_end().ends_with("outcome")
                && out.contains("\nfailed: returned Err or None\n"),
            "{out}"
        );
        let (_, report) = json(&["report", text(&path), "--filter", "site:shop::find"]);
        assert_eq!(
            (&report["rows"][0]["failed"], &report["rows"][0]["failed_as"]),
            (&1.into(), &"none".into())
        );
    }
    // What a call caused may have failed in another way.
    let (_, out, _) =
        ended(&["report", text(&fixture::directory().join("shop.spy")), "--by", "cause"]);
    assert!(
        out.lines().any(|line| line.starts_with("shop::find") && line.ends_with("1 failed")),
        "{out}"
    );
    let tally = fixture::directory().join("shop-tally.spy");
    let (_, out, _) = ended(&["report", text(&tally), "--filter", "lane:main"]);
    assert!(out.contains("no stored event passes, and 3 calls have no event"), "{out}");
    let (code, _, error) =
        ended(&["blueprint", "structural", text(&tally), "--filter", "lane:main"]);
    assert!(
        code == 2 && error.contains("no stored event passes the filter, and 3 calls have no event"),
        "{error}"
    );
}

#[test]
fn each_time_has_its_own_unit() {
    let path = fixture::closed("units.spy", 3);
    let (_, out, _) = ended(&["report", text(&path), "--filter", "site:measure"]);
    let row = out.lines().find(|line| line.contains("Scene::measure")).expect("it was called");
    assert!(row.contains("1.09 ms") && row.contains("60.3 µs"), "{out}");
}
