//! Recordings in files: what a kill, a fork, a full disk or a truncated file leaves behind. Each
//! case runs in a process of its own: this test program started again.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use metaspy_core::recording::{self, Policy};
use metaspy_core::store::{EndState, Filter, Position, Store};
use metaspy_core::{Outcome, Recording};

mod cases;

/// Runs a case of this file in a process of its own.
fn child(case: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "cases::case", "--nocapture"])
        .env("CASE", case)
        .env("FILE_UNDER_TEST", path);
    command
}

fn finish(mut command: Command) -> Output {
    succeeded(command.output().unwrap())
}

fn succeeded(output: Output) -> Output {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}\n{text}", output.status);
    output
}

/// A path in a directory of this process. An earlier one may have had its number, and left files.
fn scratch(name: &str) -> PathBuf {
    static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
        let dir = std::env::temp_dir().join(format!("metaspy-test-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    });
    DIR.join(name)
}

fn subjects(store: &Store) -> Vec<u64> {
    let page = store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX);
    page.events.iter().map(|event| event.subject.unwrap().key).collect()
}

/// Not a test of its own: the part of the tests below that runs in the child.
#[test]
fn a_closed_recording_is_read_back() {
    let path = scratch("closed.spy");
    finish(child("closed", &path));
    let store = Store::open(&path).unwrap();
    assert_eq!(store.end_state(), EndState::Closed);
    assert_eq!(subjects(&store), (0..1_000).collect::<Vec<_>>());
    assert!(store.program().name.starts_with("file"));
    assert!(store.verify().is_sound());
}

#[test]
#[cfg(target_os = "linux")]
fn a_recording_of_five_events_is_a_short_file() {
    for case in ["five", "five of a profiler"] {
        let path = scratch("five.spy");
        finish(child(case, &path));
        let (store, file) = (Store::open(&path).unwrap(), std::fs::metadata(&path).unwrap());
        let on_disk = 512 * std::os::unix::fs::MetadataExt::blocks(&file);
        assert!(
            file.len().max(on_disk) < 200_000,
            "{case}: {} bytes, {on_disk} on disk",
            file.len()
        );
        assert_eq!((subjects(&store), store.end_state()), ((0..5).collect(), EndState::Closed));
        let found = store.verify();
        assert!(found.is_sound() && found.unused_cut == 0, "{case}: {found:?}");
        assert!(!path.with_extension("spy.closing").exists());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn calls_that_end_or_begin_after_the_file_was_shortened_are_counted_in_it() {
    let path = scratch("late.spy");
    finish(child("late", &path));
    let store = Store::open(&path).unwrap();
    let open =
        store.forward(Position::Start, &"subject:#0".parse().unwrap(), 1, usize::MAX).events[0];
    assert_eq!(open.outcome, Outcome::Panicked);
    assert!(store.verify().is_sound(), "{:?}", store.verify());
    assert!(store.header().statements_lost > 19_000 && store.labelled().count() > 0);
}

#[test]
#[cfg(target_os = "linux")]
fn no_call_is_lost_while_the_file_of_busy_threads_is_closed() {
    for _ in 0..5 {
        let path = scratch("busy.spy");
        finish(child("busy", &path));
        assert!(Store::open(&path).unwrap().verify().is_sound());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_reader_of_a_file_that_is_replaced_when_it_is_closed_sees_all_of_it() {
    let path = scratch("read.spy");
    let recording = Recording::file(&path).start().unwrap();
    recording.note("read while it is live");
    let mut live = Store::open(&path).unwrap();
    assert_eq!(live.end_state(), EndState::Live);
    recording.close();
    live.refresh().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < 200_000);
    for store in [&live, &Store::open(&path).unwrap(), &recording.store()] {
        assert_eq!((store.end_state(), store.missing()), (EndState::Closed, &[][..]));
        assert!(
            store.notes().iter().any(|note| note == "read while it is live"),
            "{:?}",
            store.notes()
        );
    }
}

#[test]
fn a_recording_is_live_as_long_as_its_file_is_locked_whatever_number_its_process_has() {
    let (path, mut bytes, _) = closed("locked.spy");
    let words = |at: usize| at * 8..at * 8 + 8;
    // As a process of another PID namespace leaves it: not closed, with a number that no process
    // has here.
    bytes[words(metaspy_core::format::superblock::STATE)].copy_from_slice(&0_u64.to_le_bytes());
    bytes[words(metaspy_core::format::superblock::PID)]
        .copy_from_slice(&0x7FFF_FFF0_u64.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.end_state(), EndState::Killed);
    let writer = std::fs::File::options().write(true).open(&path).unwrap();
    writer.lock().unwrap();
    assert_eq!(store.end_state(), EndState::Live);
    drop(writer);
    assert_eq!(store.end_state(), EndState::Killed);
}

/// The bytes of a recording of 1,000 events, and where its blocks begin.
fn closed(name: &str) -> (PathBuf, Vec<u8>, usize) {
    let path = scratch(name);
    finish(child("closed", &path));
    let bytes = std::fs::read(&path).unwrap();
    let at = metaspy_core::format::superblock::CHUNKS * 8;
    let blocks = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    (path, bytes, blocks)
}

#[test]
fn what_became_zeros_in_a_closed_recording_is_missed_and_named() {
    let (path, bytes, blocks) = closed("zeros.spy");
    // Of eight blocks: two in the middle, the last one, and the events at the end of the last one.
    for (from, to, words) in [
        (3 * 4096, 5 * 4096, "closed with 8 blocks, and 6 are present: blocks 3 to 4 are empty"),
        (7 * 4096, 8 * 4096, "closed with 8 blocks, and 7 are present: block 7 is empty"),
        (7 * 4096 + 100 * 32, 8 * 4096, "closed with 1,000 events, and 988 are present"),
    ] {
        let mut zeroed = bytes.clone();
        zeroed[blocks + from..blocks + to].fill(0);
        std::fs::write(&path, &zeroed).unwrap();
        let found = Store::open(&path).unwrap().verify();
        assert!(found.damaged.iter().any(|text| text.contains(words)), "{words}: {found:?}");
    }
}

#[test]
fn a_file_cut_behind_its_last_block_lacks_nothing_and_names_the_cut() {
    let (path, bytes, blocks) = closed("cut.spy");
    assert_eq!(Store::open(&path).unwrap().verify().unused_cut, 0);
    std::fs::write(&path, &bytes[..blocks + 8 * 4096 + 100]).unwrap();
    let found = Store::open(&path).unwrap().verify();
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(found.unused_cut as usize, bytes.len() - blocks - 8 * 4096 - 96);
    // Within the last block.
    std::fs::write(&path, &bytes[..blocks + 8 * 4096 - 64]).unwrap();
    let found = Store::open(&path).unwrap().verify();
    assert!(!found.is_sound() && found.missing[0].contains("1 of 8 blocks"), "{found:?}");
    assert!(found.missing[0].contains(" 64 bytes"), "{found:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_has_little_room_for_labels_at_first_and_more_when_it_is_needed() {
    let path = scratch("labels.spy");
    finish(child("many labels", &path));
    let store = Store::open(&path).unwrap();
    assert_eq!((store.labelled().count(), store.verify().is_sound()), (50_000, true));
}

#[test]
fn a_budget_that_cannot_be_allocated_is_an_error() {
    let output = finish(child("small budget", &scratch("small.spy")));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1000 bytes is below the minimum; this recording takes 1 MiB"), "{text}");
}

#[test]
fn a_kill_loses_no_event_that_was_published() {
    let path = scratch("killed.spy");
    let ids = path.with_extension("ids");
    std::fs::File::create(&ids).unwrap().set_len(16 * 1_000).unwrap();
    for round in 0..5 {
        let mut recorder = child("killed", &path).stdout(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(300 + 100 * round) {
            std::thread::yield_now();
        }
        recorder.kill().unwrap();
        recorder.wait().unwrap();
        let store = Store::open(&path).unwrap();
        assert_eq!(store.end_state(), EndState::Killed);
        let bytes = std::fs::read(&ids).unwrap();
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let notes: Vec<(u64, u64)> =
            (0..1_000).map(|at| (word(at * 16), word(at * 16 + 8))).collect();
        let newest = notes.iter().map(|note| note.1).max().unwrap();
        assert!(newest > 1_000, "the recorder was killed before it had done anything");
        let mut found = 0;
        // The one being noted when the kill came may be half a note.
        for (id, key) in
            notes.into_iter().filter(|(id, key)| *id != 0 && key + 900 > newest && *key < newest)
        {
            let event = metaspy_core::EventId::from_raw(id).and_then(|id| store.event(id));
            let event = event.unwrap_or_else(|| {
                panic!("round {round}: event of {key} is gone, newest {newest}")
            });
            assert_eq!(event.subject.map(|subject| subject.key), Some(key));
            found += 1;
        }
        assert!(found > 800, "{found} of {newest}: {:?}", store.totals());
        let totals = store.totals();
        let rows =
            store.tally(metaspy_core::store::By::Site, &metaspy_core::store::Scope::default());
        let counted: u64 = rows.rows.iter().map(|row| row.measure.count).sum();
        assert_eq!(counted, totals.emitted, "{totals:?}");
        let published = totals.stored + totals.folded;
        assert!((newest..=newest + 2).contains(&published), "{totals:?}, newest {newest}");
        assert!(store.verify().is_sound(), "{:?}", store.verify());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_kill_in_the_middle_of_closing_leaves_one_whole_recording() {
    let path = scratch("closing.spy");
    let copy = path.with_extension("spy.closing");
    // The kill may also come before the copy begins, or after it has taken the place of the file.
    let leaves_a_copy = || {
        assert!(!child("closing", &path).output().unwrap().status.success());
        copy.exists()
    };
    assert!((0..20).any(|_| leaves_a_copy()));
    let store = Store::open(&path).unwrap();
    assert_eq!((store.end_state(), store.totals().emitted), (EndState::Killed, 100_000));
    assert!(store.verify().is_sound(), "{:?}", store.verify());
    assert!(!recording::is_recording(&copy), "a directory with both would have each call twice");
    finish(child("five", &path));
    assert!(!copy.exists());
}

#[test]
#[cfg(unix)]
fn a_forked_child_leaves_the_recording_alone() {
    let path = scratch("forked.spy");
    finish(child("forked", &path));
    let store = Store::open(&path).unwrap();
    assert_eq!(subjects(&store), (0..200).collect::<Vec<_>>());
    let open =
        store.forward(Position::Start, &"subject:#100".parse().unwrap(), 1, usize::MAX).events[0];
    assert_eq!(open.outcome, Outcome::Succeeded);
}

/// Needs a small file system, and so the rights to mount one.
#[test]
#[cfg(target_os = "linux")]
fn without_room_on_the_disk_the_recording_continues_with_a_note() {
    let dir = scratch("full");
    std::fs::create_dir_all(&dir).unwrap();
    for (size, note) in [("1m", "in memory"), ("24m", "stays at")] {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(&dir)
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: small-file-system: no right to mount one");
            return;
        }
        let output = child("full disk", &dir.join("full.spy")).output();
        Command::new("umount").arg(&dir).status().unwrap();
        let output = succeeded(output.unwrap());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(note), "{size}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn a_file_truncated_under_the_writer_does_not_end_it() {
    finish(child("truncated", &scratch("truncated.spy")));
}

#[test]
fn a_closed_recording_is_not_touched_again() {
    finish(child("replaced", &scratch("replaced.spy")));
}

#[test]
fn a_path_with_something_else_in_it_is_refused() {
    let path = scratch("letter.txt");
    std::fs::write(&path, "Dear reader").unwrap();
    let error = Recording::file(&path).policy(Policy::Grow).start().unwrap_err();
    assert!(error.to_string().contains("a file that is no recording exists"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "Dear reader");
}

#[test]
#[cfg(unix)]
fn what_a_process_only_began_before_it_was_killed_is_replaced() {
    let path = scratch("begun.spy");
    let whole = Recording::file(&path).start().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    whole.close();
    let begun = |pid: u64| {
        let mut begun = bytes[..512].to_vec();
        // Without its first word, which is written last, and of another process.
        begun[..8].fill(0);
        begun[72..80].copy_from_slice(&pid.to_le_bytes());
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, &begun).unwrap();
        Recording::file(&path).start().map(|recording| recording.close())
    };
    // No process has this number, and a file without a process is somebody's.
    begun(1 << 30).unwrap();
    assert!(begun(0).unwrap_err().to_string().contains("a file that is no recording exists"));
}

/// Objects that come and go beside the collector's thread, at the default budget.
#[test]
fn a_million_objects_that_come_and_go_leave_a_recording_that_is_whole() {
    let path = scratch("objects.spy");
    finish(child("objects", &path));
    let store = Store::open(&path).unwrap();
    let header = store.header();
    assert!(store.verify().is_sound() && store.notes().is_empty(), "{:?}", store.verify());
    assert_eq!((header.arena_lost, header.statements_lost), (0, 0));
    let event = store.forward(Position::Start, &Filter::all(), 2, usize::MAX).events[0];
    let subject = event.subject.unwrap();
    assert_eq!(
        (store.subject_text(subject), store.subject_name(subject)),
        ("seven".into(), "Node #7".into())
    );
    assert_eq!(store.views().iter().filter(|view| view.view.name == "file").count(), 1);
}
