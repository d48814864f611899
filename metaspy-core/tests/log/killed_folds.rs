//! Processes that are killed while they fold: each call is counted once, wherever the fold was.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use memmap2::{MmapOptions, MmapRaw};
use metaspy_core::clock;
use metaspy_core::format::folder::{CURSOR, Cursor};
use metaspy_core::store::EndState;

use super::*;

const KEYS: u64 = 100;
/// Every call takes as many ticks of a clock that is set by hand.
const TICKS: u64 = 7;
/// The ring is full before: from then on, a block is folded for each one that is filled.
const WARM: u64 = 40_000;
/// Folds in progress that are met. `FOLDS_TO_MEET=1000` meets more.
const MET: u64 = 3;
/// Processes that are killed for each of them, at most.
const RUNS: u64 = 50;
/// Events of two subjects are kept. There are more than a quarter of the blocks can hold, so some
/// give way all the time.
const RULES: &str = "subject:#33 outcome:failed; subject:#50";
/// Calls between two rounds of the collector, where events are kept.
const CALLS_PER_ROUND: u64 = 500;

/// A word that two processes map: the number of calls that are over.
struct Noted(MmapRaw);

impl Noted {
    fn open(recording: &Path) -> Self {
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(recording.with_extension("calls"));
        Noted(MmapOptions::new().map_raw(&file.expect("it was made")).expect("it can be mapped"))
    }

    fn calls(&self) -> &AtomicU64 {
        // SAFETY: the map has eight bytes, aligned to a page, and both processes use them as an
        // atomic word.
        unsafe { &*self.0.as_ptr().cast() }
    }
}

fn outcome(key: u64) -> Outcome {
    if key.is_multiple_of(3) { Outcome::Failed } else { Outcome::Returned }
}

/// Not a test of its own: the process that is killed.
#[test]
fn case() {
    let Some(path) = std::env::var_os("FILE_TO_FOLD").map(PathBuf::from) else { return };
    clock::set_manual(1_000);
    // Without a collector this thread folds.
    let rules = std::env::var("RULES").unwrap_or_default();
    let recording = Recording::file(&path).budget(1 << 20).collector(false).keep(&rules);
    let recording = recording.start().expect("there is room");
    let _installed = arm([&OUTER], Arming::all(Mode::Full)).install().expect("it installs");
    let noted = Noted::open(&path);
    for call in 0.. {
        let key = call % KEYS;
        let guard = enter(&OUTER, node(key));
        clock::advance(TICKS);
        guard.done(outcome(key));
        noted.calls().store(call + 1, Relaxed);
        if !rules.is_empty() && call % CALLS_PER_ROUND == 0 {
            while recording.collect() {}
        }
    }
}

/// Kills a process at some time after its ring is full. True if it was folding; if there are rules,
/// an event of a block that keeps others.
fn kill(path: &Path, run: u64, rules: &str) -> bool {
    std::fs::File::create(path.with_extension("calls"))
        .and_then(|file| file.set_len(8))
        .expect("it can be made");
    let mut command = Command::new(std::env::current_exe().expect("it is known"));
    command
        .args(["--exact", "killed_folds::case"])
        .env("FILE_TO_FOLD", path)
        .env("RULES", rules)
        .stdout(Stdio::null());
    let (mut recorder, noted) = (command.spawn().expect("it starts"), Noted::open(path));
    let calls = noted.calls();
    // Each time at another place of a block and of a fold.
    let more = run.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
    while calls.load(Relaxed) < WARM + more {
        assert!(recorder.try_wait().expect("it is ours").is_none(), "it ended by itself");
        std::hint::spin_loop();
    }
    if !rules.is_empty() {
        // No call is over while the collector folds some 20 blocks together, so this does not count
        // calls.
        let reached = Instant::now();
        while reached.elapsed() < Duration::from_micros(5 * more) {
            std::hint::spin_loop();
        }
    }
    recorder.kill().and_then(|()| recorder.wait()).expect("it is ours");
    let noted = calls.load(Relaxed);
    let store = Store::open(path).expect("it is a recording");
    let (found, totals) = (store.verify(), store.totals());
    assert!(store.end_state() == EndState::Killed && found.is_sound(), "{found:?}");
    assert!(
        (noted..=noted + 1).contains(&totals.emitted) && totals.lost == 0,
        "{noted} calls: {totals:?}"
    );
    check_rows(&store, totals.emitted);
    if rules.is_empty() {
        return found.pending_fold;
    }
    let kept = store.kept().expect("there are rules");
    assert!(
        kept.gone > 0 && kept.events > 0 && kept.blocks <= store.header().blocks / 4,
        "{kept:?}"
    );
    let ring = store.ring();
    Cursor::unpack(ring.words.get(ring.layout.folders.at + CURSOR)).single().is_some()
}

/// The calls take turns, so their number is enough to know each row. The last one may not have
/// ended.
fn check_rows(store: &Store, emitted: u64) {
    let tally = store.tally(By::SiteSubject, &Scope::default());
    let last = (emitted - 1) % KEYS;
    assert_eq!(tally.rows.len() as u64, KEYS);
    for row in &tally.rows {
        let (key, is) = (row.subject.expect("each call has one").key, row.measure);
        let calls = emitted / KEYS + u64::from(key < emitted % KEYS);
        assert_eq!(is.count, calls, "the calls of {key} among {emitted}: {is:?}");
        if key != last {
            let failed = if outcome(key) == Outcome::Failed { calls } else { 0 };
            assert_eq!(
                (is.failed, is.running, is.timed),
                (failed, 0, calls),
                "{key} among {emitted}: {is:?}"
            );
            assert_eq!(
                (is.total_ticks, is.max_ticks),
                (calls * TICKS, TICKS),
                "{key} among {emitted}: {is:?}"
            );
        }
    }
}

fn meet_folds(name: &str, rules: &str) {
    let wanted =
        std::env::var("FOLDS_TO_MEET").map_or(MET, |number| number.parse().expect("a number"));
    let path = std::env::temp_dir().join(format!("metaspy-{name}-{}.spy", std::process::id()));
    let (mut met, mut runs) = (0, 0);
    while met < wanted {
        met += u64::from(kill(&path, runs, rules));
        runs += 1;
        assert!(runs <= wanted * RUNS, "{met} of {runs} processes were folding");
    }
    println!("{met} of {runs} processes were folding");
    for file in [path.with_extension("calls"), path] {
        std::fs::remove_file(file).expect("it was made");
    }
}

#[test]
fn a_process_that_is_killed_while_it_folds_has_counted_each_call_once() {
    meet_folds("folds", "");
}

#[test]
fn a_process_that_is_killed_while_it_folds_around_kept_events_has_counted_each_call_once() {
    meet_folds("kept-folds", RULES);
}
