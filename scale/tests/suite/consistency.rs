//! SQL has the numbers of the events: those that the simple reader computes with which all other
//! outputs are compared.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::{fs, future, thread};

use metaspy::prelude::*;
use metaspy_core::Outcome;

use crate::fixture::{directory, printed, rows_of, turn};
use crate::reference::{Numbers, Reference};

/// An account, by number.
#[derive(Clone, Copy, Identify)]
struct Account(u64);

/// The accounts. The last one has async calls, and no others.
const ACCOUNTS: u64 = 7;
const SETTLED: Account = Account(ACCOUNTS - 1);

#[observe]
impl Account {
    /// Calls itself, on this account and on others.
    fn transfer(&self, depth: u64) -> Result<u64, u64> {
        let audited = self.audit(depth).unwrap_or(0);
        for below in 0..depth {
            let other = Account((self.0 + below) % SETTLED.0);
            let _ = other.transfer(depth - below - 1);
        }
        if (self.0 + depth).is_multiple_of(3) { Err(audited) } else { Ok(audited) }
    }

    fn audit(&self, depth: u64) -> Option<u64> {
        let sum =
            (0..200 * (1 + self.0)).fold(0, |sum: u64, part| std::hint::black_box(sum ^ part));
        depth.is_multiple_of(2).then_some(sum)
    }

    fn close(&self) {
        self.audit(1);
        if !self.0.is_multiple_of(2) {
            // No hook of the test harness prints it.
            resume_unwind(Box::new("the account is not empty"));
        }
    }

    async fn settle(&self, polls: u64) {
        for _ in 0..polls {
            let mut is_ready = false;
            future::poll_fn(|_| {
                if std::mem::replace(&mut is_ready, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    }
}

/// Polls a call at most so often. It is cancelled if it is not done by then.
fn poll(call: impl Future<Output = ()>, times: usize) {
    let mut call = pin!(call);
    let mut context = Context::from_waker(Waker::noop());
    (0..times).any(|_| call.as_mut().poll(&mut context).is_ready());
}

/// Records accounts on three threads, into a directory.
fn record(name: &str) -> PathBuf {
    let _turn = turn();
    let run = directory(name);
    let started =
        Recording::file(run.join("accounts.spy")).budget(32 << 20).start().expect("there is room");
    let profiler = Profiler::new("accounts")
        .observe(methods("Account::*"))
        .install()
        .expect("they are observed");
    thread::scope(|scope| {
        for worker in 0..3 {
            scope.spawn(move || {
                for account in 0..SETTLED.0 {
                    let _ = Account(account).transfer(3 + worker);
                    let _ = catch_unwind(AssertUnwindSafe(|| Account(account).close()));
                }
                poll(SETTLED.settle(2), 3);
                poll(SETTLED.settle(5), 2);
            });
        }
    });
    drop(profiler);
    started.close();
    run
}

/// The rows of a query, each with a text, a key, and numbers.
fn numbers(sql: &str, source: &Path) -> Vec<(String, u64, Vec<u64>)> {
    let row = |row: String| {
        let mut cells = row.split(',');
        let site = cells.next().expect("it has a text").to_owned();
        let mut numbers = cells.map(|cell| cell.parse().unwrap_or_else(|_| panic!("{sql}: {row}")));
        let key = numbers.next().expect("it has a key");
        (site, key, numbers.collect())
    };
    rows_of(sql, source).into_iter().map(row).collect()
}

#[test]
fn sql_has_the_numbers_of_the_events() {
    let run = record("consistent");
    let set = run.with_extension("set");
    printed(&["seal", &run.display().to_string(), "--to", &set.display().to_string()]);
    let reference = Reference::read(&run);
    reference.assert_bounds("accounts");
    assert_eq!(reference.by_site.len(), 4, "{:?}", reference.by_site);
    for source in [&run, &set] {
        of_sites(&reference, source);
        of_sites_and_subjects(&reference, source);
        of_subjects(&reference, source);
        let bounds = "SELECT count(*) FROM tallies WHERE at_least OR lost > 0 OR others OR \
                      (total_at_most AND site NOT LIKE '%::settle')";
        assert_eq!(rows_of(bounds, source), ["0"]);
    }
    [run, set].iter().for_each(|directory| fs::remove_dir_all(directory).expect("it is ours"));
}

fn of_sites(reference: &Reference, source: &Path) {
    let of_tallies = "SELECT site, sum(calls), sum(site_total_ns), count(DISTINCT subject_key), sum(self_ns) FROM tallies \
                      GROUP BY site ORDER BY site";
    let counted = rows_of("SELECT site, count(*) FROM events GROUP BY site ORDER BY site", source);
    let counts =
        reference.by_site.iter().map(|(path, numbers)| format!("{path},{}", numbers.count));
    assert_eq!(counted, counts.collect::<Vec<_>>());
    let rows = numbers(of_tallies, source);
    assert_eq!(rows.len(), counted.len());
    for (path, count, cells) in rows {
        let Numbers { total_ns, own_ns, .. } = reference.by_site[&path];
        assert_eq!(count, reference.by_site[&path].count, "{path}");
        if reference.is_async(|at| at == path) {
            continue;
        }
        assert!(cells[0] == total_ns && total_ns > 0, "{path}: {cells:?}, total {total_ns}");
        // Each row is rounded down by itself.
        assert!(
            cells[2] <= own_ns && own_ns - cells[2] <= cells[1],
            "{path}: {cells:?}, self {own_ns}"
        );
    }
}

fn of_sites_and_subjects(reference: &Reference, source: &Path) {
    let rows = numbers(
        "SELECT site, subject_key, calls, failed, panicked, cancelled, running, coalesce(total_ns, 0), coalesce(self_ns, 0) \
         FROM tallies",
        source,
    );
    let events = numbers(
        "SELECT site, subject_key, count(*), count(*) FILTER (WHERE outcome IN ('err', 'none')), \
         count(*) FILTER (WHERE outcome = 'panicked'), count(*) FILTER (WHERE outcome = 'cancelled'), \
         count(*) FILTER (WHERE outcome = 'running') FROM events GROUP BY site, subject_key",
        source,
    );
    let count = |outcome| {
        let sums =
            reference.by_site.keys().flat_map(|site| (0..ACCOUNTS).map(move |key| (key, site)));
        sums.map(|(key, site)| reference.ended(key, site, outcome)).sum::<u64>()
    };
    let outcomes = [Outcome::Failed, Outcome::Panicked, Outcome::Cancelled, Outcome::Running];
    assert!(
        count(Outcome::Failed) > 0 && count(Outcome::Panicked) > 0 && count(Outcome::Cancelled) > 0
    );
    assert_eq!(rows.len(), events.len());
    for (site, key, cells) in rows.iter().chain(&events) {
        let of_row = reference.of_subject(*key, Some(site));
        let ended = outcomes.map(|outcome| reference.ended(*key, site, outcome));
        assert_eq!((cells[0], &cells[1..5]), (of_row.count, &ended[..]), "{site} {key}");
        if cells.len() > 5 && !reference.is_async(|at| at == site) {
            assert_eq!(cells[5..], [of_row.total_ns, of_row.own_ns], "{site} {key}");
        }
    }
}

fn of_subjects(reference: &Reference, source: &Path) {
    let rows = numbers(
        "SELECT subject_kind, subject_key, calls, failed, coalesce(total_ns, 0), coalesce(self_ns, 0) FROM subjects \
         WHERE calls > 0",
        source,
    );
    assert_eq!(rows.len() as u64, ACCOUNTS);
    for (_, key, cells) in rows {
        let of_row = reference.of_subject(key, None);
        let failed = |site: &String| reference.ended(key, site, Outcome::Failed);
        let failed: u64 = reference.by_site.keys().map(failed).sum();
        assert_eq!(cells[..2], [of_row.count, failed], "{key}");
        if key != SETTLED.0 {
            assert_eq!(cells[2..], [of_row.total_ns, of_row.own_ns], "{key}");
        }
    }
}
