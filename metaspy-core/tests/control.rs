//! A reader arms and disarms sites and subjects of a running process.
#![cfg(unix)]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::instrumenter::Installation;
use metaspy_core::store::control::{
    Change, ControlError, ControlRequest, Observed, SiteState, Targets, socket_of,
};
use metaspy_core::{
    InstallError, Instrumenter, Kind, Outcome, Profiler, Recording, Session, Site, SiteDef,
    SiteKind, Store, Subject, hook, site,
};

macro_rules! sites {
    ($($name:ident $path:literal $skipped:expr;)*) => {$(
        metaspy_core::site::register! {
            static $name: Site = Site::new(SiteDef {
                kind: SiteKind::Method,
                module: "control",
                name: $path,
                file: file!(),
                lines: (line!(), line!()),
                skipped: $skipped,
            });
        }
    )*};
}

sites! {
    LAYOUT "layout" None;
    MEASURE "measure" None;
    EMPTY "EMPTY" Some("a const fn runs at compile time");
}

static NODE: Kind = Kind::new("Node");

/// There is one log per process.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

struct Arm;

impl Instrumenter for Arm {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm(&LAYOUT, Arming::all(Mode::Full))?;
        Ok(Installation::none())
    }
}

fn node(key: u64) -> Subject {
    Subject::new(NODE.id(), key)
}

fn call(site: &'static Site, key: u64) {
    if site.is_armed() {
        hook::enter(site, node(key)).done(Outcome::Returned);
    }
}

fn path(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("control");
    std::fs::create_dir_all(&directory).expect("cargo's own directory can be written");
    directory.join(name)
}

fn begin(name: &str, controlled: bool) -> (Recording, PathBuf) {
    let path = path(name);
    let recording = Recording::file(&path).budget(4 << 20).controlled(controlled).start();
    (recording.expect("a small recording can be made"), path)
}

fn open(path: &Path) -> Store {
    Store::open(path).expect("it was just started")
}

/// Requests a change at the sites, for nodes with these keys or for all.
fn request(
    store: &Store,
    change: Change,
    sites: &[&'static Site],
    keys: Option<&[u64]>,
) -> Vec<SiteState> {
    try_request(store, change, sites, keys).expect("the process allows it")
}

fn try_request(
    store: &Store,
    change: Change,
    sites: &[&'static Site],
    keys: Option<&[u64]>,
) -> Result<Vec<SiteState>, ControlError> {
    let targets = Targets {
        sites: sites.iter().map(|site| site::entry(site).id).collect(),
        subjects: keys.map(|keys| keys.iter().map(|&key| node(key)).collect()),
    };
    store.control(&ControlRequest::new(change, &targets))
}

fn counts(path: &Path, site: &'static Site) -> Vec<(u64, u64)> {
    let store = open(path);
    let tally =
        store.tally(metaspy_core::store::By::SiteSubject, &metaspy_core::store::Scope::default());
    let rows = tally.rows.iter().filter(|row| row.site == Some(site::entry(site).id));
    let mut counts: Vec<_> =
        rows.map(|row| (row.subject.map_or(0, |it| it.key), row.measure.count)).collect();
    counts.sort_unstable();
    counts
}

#[test]
fn sites_and_subjects_are_armed_and_disarmed_while_the_program_runs() {
    let _turn = turn();
    let (recording, path) = begin("armed.spy", true);
    let store = open(&path);
    call(&MEASURE, 1);
    let states = request(&store, Change::Arm, &[&MEASURE], None);
    assert_eq!((states[0].observed, states[0].kept), (Observed::All, false));
    (1..=3).for_each(|key| call(&MEASURE, key));
    let states = request(&store, Change::Disarm, &[&MEASURE], Some(&[2]));
    assert_eq!(states[0].observed, Observed::AllBut(1));
    (1..=3).for_each(|key| call(&MEASURE, key));
    let states = request(&store, Change::Only, &[&MEASURE], Some(&[3]));
    assert_eq!(states[0].observed, Observed::Only(1));
    (1..=3).for_each(|key| call(&MEASURE, key));
    let states = request(&store, Change::Disarm, &[&MEASURE], None);
    assert_eq!(states[0].observed, Observed::Nothing);
    assert!(!MEASURE.is_armed());
    (1..=3).for_each(|key| call(&MEASURE, key));
    recording.close();
    assert_eq!(counts(&path, &MEASURE), [(1, 2), (2, 1), (3, 3)]);
    // The collector may be in the middle of a round.
    let is_gone = (0..1_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        !socket_of(&path).exists()
    });
    assert!(is_gone, "a closed recording has no socket");
}

#[test]
fn the_programs_own_profilers_keep_what_they_observe() {
    let _turn = turn();
    let (recording, path) = begin("kept.spy", true);
    let store = open(&path);
    let own = Profiler::new("own").observe(Arm).install().expect("the site is there");
    let states = request(&store, Change::Disarm, &[&LAYOUT], None);
    assert_eq!((states[0].observed, states[0].kept), (Observed::Nothing, true));
    call(&LAYOUT, 1);
    assert_eq!(own.uninstall().counts().total(), 1);
    // A controlled one yields.
    let controlled =
        Profiler::new("controlled").observe(Arm).controlled().install().expect("the site is there");
    // What was ordered before stays ordered, so the site is seized anew by a change.
    let states = request(&store, Change::Only, &[&LAYOUT], Some(&[7]));
    assert_eq!((states[0].observed, states[0].kept), (Observed::Only(1), false));
    (6..=8).for_each(|key| call(&LAYOUT, key));
    request(&store, Change::Disarm, &[&LAYOUT], None);
    assert!(!LAYOUT.is_armed());
    assert_eq!(controlled.uninstall().counts().total(), 1);
    recording.close();
}

#[test]
fn a_process_that_does_not_allow_it_stays_as_it_is() {
    let _turn = turn();
    let (recording, path) = begin("refused.spy", false);
    let store = open(&path);
    let error = try_request(&store, Change::Arm, &[&MEASURE], None).expect_err("it is not allowed");
    assert!(error.to_string().contains("METASPY_CONTROL=1"), "{error}");
    assert!(!MEASURE.is_armed());
    recording.close();
    assert_eq!(try_request(&store, Change::Arm, &[&MEASURE], None), Err(ControlError::NotLive));
}

#[test]
fn what_cannot_be_applied_is_refused_with_the_reason() {
    let _turn = turn();
    let (recording, path) = begin("reasons.spy", true);
    let store = open(&path);
    let error = try_request(&store, Change::Arm, &[&EMPTY], None).expect_err("it is skipped");
    assert!(error.to_string().contains("a const fn runs at compile time"), "{error}");
    let request =
        ControlRequest { change: Change::Arm, sites: vec![u32::MAX], ..ControlRequest::default() };
    assert!(store.control(&request).is_err_and(|error| error.to_string().contains("no such site")));
    let subjects = Some((0..100_000).map(|key| (1, key)).collect());
    let request = ControlRequest {
        change: Change::Arm,
        sites: vec![site::entry(&MEASURE).id.0],
        subjects,
        keep: None,
    };
    assert!(
        store.control(&request).is_err_and(|error| error.to_string().contains("at most 65536"))
    );
    assert!(!MEASURE.is_armed());
    recording.close();
}

#[test]
fn a_reader_says_what_stays() {
    let _turn = turn();
    let (recording, path) = begin("rules.spy", true);
    let store = open(&path);
    assert_eq!(
        store.control(&ControlRequest::keep("outcome:failed; took:>p99 at site:MEASURE")),
        Ok(Vec::new())
    );
    let error = store.control(&ControlRequest::keep("outcome:bad")).expect_err("it is no rule");
    assert!(error.to_string().contains("the rule `outcome:bad`"), "{error}");
    let long = format!("site:{}", "x".repeat(5_000));
    let error = store.control(&ControlRequest::keep(long)).expect_err("it is too long");
    assert!(error.to_string().contains("at most 4096 bytes"), "{error}");
    let kept = open(&path).kept().expect("there are rules");
    assert_eq!(kept.rules, ["outcome:failed", "took:>p99 at site:MEASURE"]);
    recording.close();
}

/// Bytes that are no request, halves of lines, and connections without a word.
#[test]
fn hostile_connections_neither_stop_the_collector_nor_each_other() {
    let _turn = turn();
    let (recording, path) = begin("hostile.spy", true);
    let store = open(&path);
    let silent: Vec<UnixStream> =
        (0..3).map(|_| UnixStream::connect(socket_of(&path)).expect("it listens")).collect();
    for line in
        [&b"\n"[..], b"{}{}\n", b"{\"change\":\"explode\"}\n", b"\xFF\xFE\n", &[b'['; 100_000]]
    {
        let mut stream = UnixStream::connect(socket_of(&path)).expect("it listens");
        let _ = stream.write_all(line);
        let _ = stream.write_all(b"\n");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.is_empty() || answer.starts_with("{\"Err\""), "{answer}");
    }
    drop(silent);
    assert_eq!(request(&store, Change::Arm, &[&MEASURE], None)[0].observed, Observed::All);
    request(&store, Change::Disarm, &[&MEASURE], None);
    recording.close();
}
