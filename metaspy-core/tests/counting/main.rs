//! Calls that are only counted, as instrumented code makes them: each is in one row, with the way
//! it ended, whatever happens to its thread.

mod kills;
mod outcomes;
#[cfg(unix)]
mod signals;
mod threads;
mod words;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::hook::observed::{self, Unwinding};
use metaspy_core::instrumenter::Installation;
use metaspy_core::store::{By, Measure, Scope, Store};
use metaspy_core::{
    InstallError, Installed, Instrumenter, Kind, Outcome, Profiler, Session, Site, SiteDef,
    SiteKind, Subject,
};
use metaspy_probe::{Frame, Guard};

metaspy_core::site::register! {
    static WORK: Site = Site::new(SiteDef {
        kind: SiteKind::Method,
        module: "counting",
        name: "work",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
}

static NODE: Kind = Kind::new("Node");
static EDGE: Kind = Kind::new("Edge");

/// One test at a time observes the site.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

struct Observed(Mode);

impl Instrumenter for Observed {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm(&WORK, Arming::all(self.0)).map(|()| Installation::none())
    }
}

fn record(mode: Mode) -> Installed {
    Profiler::new("counting").observe(Observed(mode)).install().expect("it installs")
}

fn count() -> Installed {
    record(Mode::Tally)
}

/// A call, as `#[observe]` makes it.
fn work(subject: Subject, outcome: Outcome) {
    let mut frame = Frame::vacant();
    let guard = if WORK.is_armed() {
        Guard::of(&WORK, observed::enter(Unwinding::now(), &mut frame, &WORK, subject))
    } else {
        Guard::unarmed(&WORK)
    };
    guard.done(outcome);
}

/// A key as hashes are.
fn wide(key: u64) -> u64 {
    (key + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 << 63
}

fn node(key: u64) -> Subject {
    Subject::new(NODE.id(), key)
}

/// Calls, and those that failed and panicked.
type Counts = (u64, u64, u64);

fn counts(measure: &Measure) -> Counts {
    (measure.count, measure.failed, measure.panicked)
}

/// The counts of each subject; none of them may be a lower bound.
fn by_subject(store: &Store) -> BTreeMap<Option<Subject>, Counts> {
    let tally = store.tally(By::Subject, &Scope::default());
    assert!(tally.exact);
    tally.rows.iter().map(|row| (row.subject, counts(&row.measure))).collect()
}

/// Calls at the site, whatever they are about.
fn calls(store: &Store) -> u64 {
    store.tally(By::Site, &Scope::default()).rows.iter().map(|row| row.measure.count).sum()
}
