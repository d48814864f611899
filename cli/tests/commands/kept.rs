//! Recordings with rules for what stays: `METASPY_KEEP`, and the commands that read what stayed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use metaspy_core::hook::{self, Frame, Guard};
use metaspy_core::{Outcome, Recording, Site};
use serde_json::Value;

use crate::report::json;
use crate::schemas::assert_changes_are_noticed;
use crate::{ended, fixture, market, text};

/// Sold boxes, of which the packing of each so many fails, or takes long.
const SALES: u64 = 60_000;
const FAILS: u64 = 5_000;
const FAILED: u64 = SALES / FAILS;
const PACKINGS: u64 = 20;
const PACKING: Duration = Duration::from_millis(2);
const SELLING: Duration = Duration::from_micros(5);

fn call(site: &'static Site, key: u64, outcome: Outcome, inner: impl FnOnce()) {
    let mut frame = Frame::vacant();
    let guard = Guard::of(site, hook::enter_in(&mut frame, site, fixture::node(key)));
    inner();
    guard.done(outcome);
}

fn work(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {}
}

/// What a process does that is recorded. It does the rounds of the collector itself, so that none
/// comes late.
#[test]
fn sells() {
    let Ok(how) = std::env::var("METASPY_KEPT_SELLS") else { return };
    let recording = Recording::current().expect("it is recorded");
    for sale in 0..SALES {
        let is_rare = sale % FAILS == 7;
        let outcome = if is_rare && how == "failing" { Outcome::Failed } else { Outcome::Returned };
        let packings = match how.as_str() {
            "slow" => u64::from(is_rare) * PACKINGS,
            _ => 1,
        };
        let (selling, packing) =
            if how == "slow" { (SELLING, PACKING) } else { (Duration::ZERO, Duration::ZERO) };
        call(&market::SELL, sale, Outcome::Returned, || {
            work(selling);
            for _ in 0..packings {
                call(&market::PACK, sale, outcome, || work(packing));
            }
        });
        if sale % 500 == 0 {
            while recording.collect() {}
        }
    }
}

/// The recording of such a process, and what it wrote to standard error.
fn sold(name: &str, how: &str, rules: &str) -> (PathBuf, String) {
    let path = fixture::directory().join(name);
    let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
    command
        .args(["kept::sells", "--exact"])
        .env("METASPY_KEPT_SELLS", how)
        .env("METASPY_RECORD", &path);
    command.env("METASPY_BUDGET", "2MiB").env("METASPY_KEEP", rules).env_remove("METASPY_OBSERVE");
    let output = command.output().expect("it can be run again");
    assert!(output.status.success());
    (path, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn units(report: &Value) -> &Vec<Value> {
    report["units"].as_array().expect("it has units")
}

fn count(path: &Path, filter: &str) -> u64 {
    let (_, report) = json(&["report", text(path), "--filter", filter]);
    report["rows"]
        .as_array()
        .expect("it has rows")
        .iter()
        .filter_map(|row| row["count"].as_u64())
        .sum()
}

#[test]
fn what_failed_stays_with_the_call_around_it() {
    let (path, _) = sold("kept.spy", "failing", "outcome:failed");
    let (code, report) = json(&["report", text(&path), "--kept"]);
    let rule = serde_json::json!({ "rule": "outcome:failed", "units": FAILED, "ordinary": 0 });
    assert_eq!((code, &report["rules"][0], &report["gone"]), (0, &rule, &0.into()));
    assert_changes_are_noticed(&["metaspy", "report", text(&path), "--kept", "--json"], &report);
    assert_eq!(
        (units(&report).len() as u64, &report["unseen_blocks"]),
        (FAILED, &0.into()),
        "{report}"
    );
    let is_whole = |unit: &Value| {
        unit["events"] == 2 && unit["outcome"] == "failed" && unit["site"] == "market::Box::pack"
    };
    assert!(units(&report).iter().all(is_whole), "{report}");
    let left = units(&report).iter().filter(|unit| unit["left_window"] == true).count() as u64;
    assert!(left > FAILED / 2, "{report}");
    assert_eq!(
        (count(&path, "kept:yes"), count(&path, "kept:yes outcome:failed")),
        (2 * left, left)
    );
    assert_eq!(count(&path, "site:Stall::sell"), SALES);
    let (_, out, _) = ended(&["report", text(&path), "--kept", "--top", "3"]);
    assert!(out.starts_with(&format!("{FAILED} units of 1 rule; {} events", 2 * left)), "{out}");
    assert!(out.contains(&format!("… and {} more", FAILED - 3)), "{out}");
    let (_, out, _) = ended(&["report", text(&path)]);
    assert!(out.contains(&format!(" in the window, {} kept, ", 2 * left)), "{out}");
    let (_, one) = json(&["report", text(&path), "--kept", "--filter", "subject:#10007"]);
    assert_eq!(units(&one).len(), 1, "{one}");
    assert!(ended(&["verify", text(&path)]).0 == 0);
    // Several recordings read as one have the units of each.
    let (other, _) =
        sold("kept-other.spy", "failing", "took:>p99.9 at site:Stall::sell; outcome:failed");
    let (_, both) = json(&["report", text(&path), text(&other), "--kept"]);
    let of_failures =
        units(&both).iter().filter(|unit| unit["rule"] == "outcome:failed").count() as u64;
    assert!(
        units(&both)
            .iter()
            .any(|unit| unit["ordinary"] == true && unit["site"] == "market::Stall::sell"),
        "{both}"
    );
    assert_eq!(
        (of_failures, both["rules"].as_array().map(Vec::len)),
        (2 * FAILED, Some(2)),
        "{both}"
    );
}

#[test]
fn a_rule_with_an_error_is_reported_and_the_program_is_recorded() {
    let (path, error) = sold("kept-nothing.spy", "failing", "took:>pfast");
    assert!(
        error.contains("METASPY_KEEP: `took:>pfast` is no quantile: write `took:>p99`"),
        "{error}"
    );
    assert_eq!(count(&path, "site:Stall::sell"), SALES);
    let (code, _, error) = ended(&["report", text(&path), "--kept"]);
    assert!(code == 2 && error.contains("METASPY_KEEP='took:>p99.9; outcome:failed'"), "{error}");
    let (code, _, error) = ended(&["report", text(&path), "--filter", "kept:maybe"]);
    assert!(code == 2 && error.contains("write `kept:yes` or `kept:no`"), "{error}");
}

#[test]
fn a_slow_call_says_what_it_has_that_ordinary_ones_have_not() {
    let (path, _) = sold("slow.spy", "slow", "took:>p99.9 at site:market::Stall::sell");
    let (_, report) = json(&["report", text(&path), "--kept"]);
    assert_changes_are_noticed(&["metaspy", "report", text(&path), "--kept", "--json"], &report);
    let number = |unit: &Value| {
        unit["subject"].as_str().and_then(|text| text.split_once('#')?.1.parse::<u64>().ok())
    };
    let is_planted = |unit: &&Value| {
        number(unit).is_some_and(|sale| sale % FAILS == 7) && unit["ordinary"] == false
    };
    let planted: Vec<&Value> = units(&report).iter().filter(is_planted).collect();
    // The first one comes before there is a threshold.
    assert_eq!(planted.len() as u64, FAILED - 1, "{report}");
    for unit in planted {
        let because = &unit["because_of"];
        let found = (&because["site"], &because["calls"], &because["usual_calls"]);
        assert_eq!(found, (&"market::Box::pack".into(), &PACKINGS.into(), &0.into()), "{unit}");
        assert!(
            because["self_ns"].as_u64() > Some(30_000_000)
                && because["compared_with"].as_u64() >= Some(3),
            "{unit}"
        );
    }
    let (_, out, _) = ended(&["report", text(&path), "--kept"]);
    assert!(
        out.contains(&format!("pack {PACKINGS} × ")) && out.contains(", usually none"),
        "{out}"
    );
    let (code, found) = json(&["findings", text(&path), "--kind", "slow-because"]);
    let titles: Vec<&Value> =
        found["findings"].as_array().into_iter().flatten().map(|it| &it["title"]).collect();
    assert_eq!(
        (code, titles),
        (
            0,
            vec![
                &"Stall::sell is slow when it calls Box::pack, which ordinary calls do not".into()
            ]
        )
    );
}
