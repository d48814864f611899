//! SQL has the numbers of `metaspy report` for woven code, of whose calls some return what no hook
//! sees.
//!
//! The sites are in a program of their own, because a failure that is not seen at one of them is
//! unknown of all subjects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use metaspy_core::Recording;
use metaspy_reader::{Filter, Store};
use metaspy_report::rows::{By, Report, json};
use metaspy_report::table::Top;
use serde_json::{Value, json};

/// An account, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Account(u64);

impl Account {
    /// Calls itself, on this account and on others.
    fn transfer(&self, depth: u64) -> Result<u64, u64> {
        metaspy_probe::whole!(
            "Account::transfer", 1, 9, "c=3 self=ref type=Account vis=pub result deep", [key * self], [],
            [own any Result<u64, u64>], {
                let audited = self.audit(depth).unwrap_or(0);
                for below in 0..depth {
                    let _ = Account((self.0 + below) % 5).transfer(depth - below - 1);
                }
                if (self.0 + depth).is_multiple_of(3) { Err(audited) } else { Ok(audited) }
            }
        )
    }

    /// Whether it returns `None` is seen by no hook.
    fn audit(&self, depth: u64) -> Option<u64> {
        metaspy_probe::hook!(
            "Account::audit",
            11,
            19,
            "c=1 self=ref type=Account vis=pub option unseen",
            [key * self],
            []
        );
        let sum =
            (0..200 * (1 + self.0)).fold(0, |sum: u64, part| std::hint::black_box(sum ^ part));
        depth.is_multiple_of(2).then_some(sum)
    }
}

/// What the recorded process does.
#[test]
#[ignore = "the other tests start it"]
fn a_process_with_woven_code() {
    assert!(Recording::current().is_ok(), "the environment asks for a recording");
    std::thread::scope(|scope| {
        for worker in 0..3 {
            scope.spawn(move || {
                for account in 0..500 {
                    let _ = Account(account % 5).transfer(3 + worker);
                }
            });
        }
    });
    // No other call of this account.
    Account(7).audit(1);
}

/// Records the process, with these variables.
fn record(name: &str, variables: &[(&str, &str)]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("woven-{name}-{}.spy", std::process::id()));
    let mut command = Command::new(std::env::current_exe().expect("a test is a file"));
    command
        .args(["--exact", "a_process_with_woven_code", "--ignored"])
        .env("METASPY_RECORD", &path);
    assert!(command.envs(variables.iter().copied()).status().expect("it starts").success());
    path
}

/// The rows of a query.
fn query(sql: &str, source: &Path) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
    let output = command.args(["query", "--json", sql]).arg(source).output().expect("it starts");
    assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// The rows of the report's JSON.
fn report(path: &Path, by: By) -> Vec<Value> {
    let store = Store::open(path).expect("it was recorded");
    let report = Report::new(&store, by, &Filter::all(), Top::All);
    let mut text = Vec::new();
    json::write(&mut text, &store, &report, usize::MAX, &[], &[]).expect("a buffer takes it");
    let json: Value = serde_json::from_slice(&text).expect("it is JSON");
    json["rows"]
        .as_array()
        .expect("it has rows")
        .iter()
        .filter(|row| row["count"] != 0)
        .cloned()
        .collect()
}

/// Some values of each row, by some others.
fn cells<const K: usize>(
    rows: &[Value],
    keys: [&str; K],
    values: &[&str],
) -> BTreeMap<[String; K], Vec<Value>> {
    let row = |row: &Value| {
        let cells = values
            .iter()
            .map(|name| row.pointer(&format!("/{name}")).cloned().unwrap_or(Value::Null));
        (keys.map(|key| row[key].to_string()), cells.collect())
    };
    rows.iter().map(row).collect()
}

#[test]
fn sql_has_the_rows_of_the_report() {
    for (name, variables) in [
        ("events", &[("METASPY_OBSERVE", "woven::**")][..]),
        ("counts", &[("METASPY_OBSERVE", "woven::**"), ("METASPY_MODE", "tally")]),
        ("folded", &[("METASPY_OBSERVE", "woven::**"), ("METASPY_BUDGET", "1MiB")]),
    ] {
        let path = record(name, variables);
        let outcomes = ["count", "failed", "panicked", "cancelled", "running"];
        let times = ["total_ns", "self_ns", "max_ns"];
        let all = [&outcomes[..], &times].concat();

        let of_both = query("SELECT *, calls AS count, subject_key AS key FROM tallies", &path);
        let both = cells(&report(&path, By::SiteSubject), ["site", "key"], &all);
        assert_eq!(cells(&of_both, ["site", "key"], &all), both, "{name}");

        let of_subjects =
            query("SELECT *, calls AS count, subject_key AS key FROM subjects", &path);
        let mut subjects = report(&path, By::Subject);
        // The row of calls without a subject, which hooks that count do not see.
        subjects.retain(|row| !row["key"].is_null());
        assert_eq!(cells(&of_subjects, ["key"], &all), cells(&subjects, ["key"], &all), "{name}");

        let of_sites = query(
            "SELECT site AS key, sum(calls) AS count, sum(failed) AS failed, sum(panicked) AS panicked, \
             sum(cancelled) AS cancelled, sum(running) AS running, sum(site_total_ns) AS total_ns, \
             CASE WHEN count(self_ns) = count(total_ns) THEN sum(self_ns) END AS self_ns, max(max_ns) AS max_ns, \
             count(*) AS parts FROM tallies GROUP BY site",
            &path,
        );
        let summed = cells(&of_sites, ["key"], &["self_ns", "parts"]);
        let exact = [&outcomes[..], &["total_ns", "max_ns"]].concat();
        let sites = report(&path, By::Site);
        assert_eq!(cells(&of_sites, ["key"], &exact), cells(&sites, ["key"], &exact), "{name}");
        for (key, of_report) in cells(&sites, ["key"], &["self_ns"]) {
            // Each row of a site is rounded down by itself.
            let number = |value: &Value| value.as_u64().unwrap_or(0);
            let lacks = number(&of_report[0]).checked_sub(number(&summed[&key][0]));
            assert!(
                lacks.is_some_and(|lacks| lacks <= number(&summed[&key][1])),
                "{name} {key:?}: {summed:?}"
            );
        }

        let failed = |rows: &[Value], key: Value| {
            rows.iter()
                .find(|row| row["key"] == key)
                .map(|row| row["failed"].clone())
                .expect("it was called")
        };
        assert!(
            failed(&of_sites, json!("woven::Account::transfer")).as_u64() > Some(0),
            "{of_sites:?}"
        );
        assert_eq!(failed(&of_sites, json!("woven::Account::audit")), Value::Null);
        // The failures that were seen are a number. Of an account without any, it is not known.
        let unknown = of_subjects.iter().filter(|row| row["failed"].is_null()).count();
        assert_eq!(
            (of_subjects.len(), unknown),
            if name == "counts" { (0, 0) } else { (6, 1) },
            "{name}: {of_subjects:?}"
        );
        std::fs::remove_file(path).expect("it is ours");
    }
}

#[test]
fn sql_has_the_times_of_the_profiler_of_calls() {
    let path = record("calls", &[("METASPY_PROFILE", "calls"), ("METASPY_OBSERVE", "")]);
    let of_sites = query(
        "SELECT t.site AS key, t.calls AS count, t.failed, c.total_ns, c.self_ns FROM \
         (SELECT site, sum(calls) AS calls, sum(failed) AS failed FROM tallies GROUP BY site) AS t \
         JOIN calls AS c ON c.site = t.site",
        &path,
    );
    let report = report(&path, By::Site);
    let (columns, of_report) = (
        ["count", "failed", "total_ns", "self_ns"],
        ["count", "failed", "profiles/calls/total_ns", "profiles/calls/self_ns"],
    );
    let rows = cells(&of_sites, ["key"], &columns);
    assert_eq!(rows, cells(&report, ["key"], &of_report));
    assert!(
        rows.len() == 2
            && rows
                .values()
                .all(|row| row[2].as_u64() >= row[3].as_u64() && row[3].as_u64() > Some(0))
    );
    std::fs::remove_file(path).expect("it is ours");
}
