//! The time in which at least one call of a row was open, whether its calls are stored, were
//! folded, or still ran when they were.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::hook;
use metaspy_core::instrumenter::Installation;
use metaspy_core::store::{By, Scope, Store};
use metaspy_core::{
    InstallError, Instrumenter, Kind, Outcome, Profiler, Recording, Session, Site, SiteDef,
    SiteKind, Subject, because, clock, current,
};

macro_rules! sites {
    ($($name:ident),*) => {$(
        metaspy_core::site::register! {
            static $name: Site = Site::new(SiteDef {
                kind: SiteKind::Method,
                module: "nested",
                name: stringify!($name),
                file: file!(),
                lines: (line!(), line!()),
                skipped: None,
            });
        }
    )*};
}

sites!(OUTER, INNER, LONGEST);

static NODE: Kind = Kind::new("Node");

/// Observes all calls at the sites.
struct All;

impl Instrumenter for All {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        for site in [&OUTER, &INNER, &LONGEST] {
            session.arm(site, Arming::all(Mode::Full))?;
        }
        Ok(Installation::none())
    }
}

/// There is one log and one clock per process, so these tests take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The open calls of a row, and the time in which there was one.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    calls: u64,
    ticks: u64,
}

/// An account of the same calls: whenever the clock moves, each row with an open call gains that
/// time.
#[derive(Default)]
struct Account {
    sites: BTreeMap<&'static str, Open>,
    subjects: BTreeMap<u64, Open>,
    both: BTreeMap<(&'static str, u64), Open>,
}

impl Account {
    fn advance(&mut self, ticks: u64) {
        clock::advance(ticks);
        let rows =
            self.sites.values_mut().chain(self.subjects.values_mut()).chain(self.both.values_mut());
        rows.filter(|row| row.calls > 0).for_each(|row| row.ticks += ticks);
    }

    fn call(&mut self, site: &'static Site, key: u64, within: impl FnOnce(&mut Account)) {
        let name = site.def().name;
        let guard = hook::enter(site, Subject::new(NODE.id(), key));
        self.sites.entry(name).or_default().calls += 1;
        self.subjects.entry(key).or_default().calls += 1;
        self.both.entry((name, key)).or_default().calls += 1;
        self.advance(3);
        within(self);
        self.advance(2);
        for row in
            [self.sites.get_mut(name), self.subjects.get_mut(&key), self.both.get_mut(&(name, key))]
        {
            row.expect("the call began").calls -= 1;
        }
        guard.done(Outcome::Returned);
    }

    /// Calls that call each other, about a few subjects, up to this depth.
    fn calls(&mut self, dice: &mut u64, depth: u64) {
        let roll = |dice: &mut u64| {
            *dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *dice >> 40
        };
        for _ in 0..roll(dice) % 4 {
            let site = [&OUTER, &INNER][(roll(dice) % 2) as usize];
            let key = roll(dice) % 5;
            self.call(site, key, |account| {
                if depth > 0 {
                    account.calls(dice, depth - 1);
                }
            });
            self.advance(roll(dice) % 3);
        }
    }

    /// Compares the times of all rows with those of a recording.
    fn check(&self, store: &Store) {
        let by_site = store.tally(By::Site, &Scope::default());
        for row in &by_site.rows {
            let name = store
                .site_path(row.site.expect("it has one"))
                .rsplit("::")
                .next()
                .unwrap_or_default();
            assert_eq!(
                (row.measure.total_ticks, row.measure.total_sign()),
                (self.sites[name].ticks, ""),
                "{name}"
            );
        }
        assert_eq!(by_site.rows.len(), self.sites.len());
        for row in store.tally(By::Subject, &Scope::default()).rows {
            let key = row.subject.expect("it has one").key;
            assert_eq!(
                (row.measure.total_ticks, row.measure.total_sign()),
                (self.subjects[&key].ticks, ""),
                "#{key}"
            );
        }
        for row in store.tally(By::SiteSubject, &Scope::default()).rows {
            let name = store
                .site_path(row.site.expect("it has one"))
                .rsplit("::")
                .next()
                .unwrap_or_default();
            let key = row.subject.expect("it has one").key;
            let ticks = self
                .both
                .iter()
                .find(|((site, of), _)| *site == name && *of == key)
                .expect("it ran")
                .1
                .ticks;
            assert_eq!(
                (row.measure.total_ticks, row.measure.total_sign()),
                (ticks, ""),
                "{name} #{key}"
            );
        }
    }
}

/// Records calls of this thread, with a clock that is set by hand.
fn record(budget: u64, calls: impl FnOnce(&mut Account)) -> (Account, Store) {
    let _turn = turn();
    clock::set_manual(1_000);
    let recording =
        Recording::memory().budget(budget).collector(false).start().expect("there is room");
    let installed = Profiler::new("test").observe(All).install().expect("it installs");
    let mut account = Account::default();
    calls(&mut account);
    drop(installed);
    (account, recording.store())
}

#[test]
fn nested_calls_count_once_while_they_are_stored() {
    let (account, store) = record(64 << 20, |account| {
        let mut dice = 1;
        (0..500).for_each(|_| account.calls(&mut dice, 6));
    });
    assert_eq!(store.totals().folded, 0);
    account.check(&store);
}

#[test]
fn nested_calls_count_once_after_they_were_folded() {
    let (account, store) = record(1 << 20, |account| {
        let mut dice = 2;
        while account.sites.values().map(|row| row.ticks).sum::<u64>() < 800_000 {
            account.calls(&mut dice, 8);
        }
    });
    let totals = store.totals();
    assert!(totals.folded > 2 * totals.stored && totals.lost == 0, "{totals:?}");
    account.check(&store);
}

#[test]
fn calls_that_run_while_what_is_inside_of_them_is_folded_count_once() {
    let (account, store) = record(1 << 20, |account| {
        account.call(&LONGEST, 9, |account| {
            account.call(&OUTER, 0, |account| {
                let mut dice = 3;
                while account.sites.values().map(|row| row.ticks).max().unwrap_or(0) < 400_000 {
                    account.calls(&mut dice, 8);
                }
            });
        });
    });
    let totals = store.totals();
    assert!(totals.folded > 2 * totals.stored && totals.lost == 0, "{totals:?}");
    account.check(&store);
}

#[test]
fn calls_are_around_others_whatever_causes_are_named() {
    let (account, store) = record(1 << 20, |account| {
        let mut cause = None;
        account.call(&LONGEST, 9, |_| cause = current());
        account.call(&OUTER, 0, |account| {
            let _because = cause.map(because);
            account.call(&INNER, 1, |account| {
                let _because = cause.map(because);
                let mut dice = 4;
                while account.sites.values().map(|row| row.ticks).max().unwrap_or(0) < 400_000 {
                    account.calls(&mut dice, 8);
                }
            });
        });
    });
    let totals = store.totals();
    assert!(totals.folded > 2 * totals.stored && totals.lost == 0, "{totals:?}");
    account.check(&store);
}

#[test]
fn deep_recursion_is_exact_by_site_and_marked_by_subject() {
    fn descend(account: &mut Account, depth: u64) {
        if depth > 0 {
            account.call(if depth.is_multiple_of(3) { &INNER } else { &OUTER }, depth, |account| {
                descend(account, depth - 1)
            });
        }
    }
    let (account, store) = record(1 << 20, |account| (0..400).for_each(|_| descend(account, 250)));
    let totals = store.totals();
    assert!(totals.folded > 2 * totals.stored && totals.lost == 0, "{totals:?}");
    for row in store.tally(By::Site, &Scope::default()).rows {
        let name =
            store.site_path(row.site.expect("it has one")).rsplit("::").next().unwrap_or_default();
        let (is, expected) = (row.measure, account.sites[name].ticks);
        assert!(
            is.total_ticks == expected || (is.total_sign() == "≤" && is.total_ticks > expected),
            "{name} {is:?} {expected}"
        );
    }
    for row in store.tally(By::Subject, &Scope::default()).rows {
        let key = row.subject.expect("it has one").key;
        let (is, expected) = (row.measure, account.subjects[&key].ticks);
        assert!(
            is.total_ticks == expected || (is.total_sign() == "≤" && is.total_ticks > expected),
            "{key} {is:?} {expected}"
        );
    }
}
