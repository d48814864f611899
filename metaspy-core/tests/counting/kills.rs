//! A process that is killed between any two instructions: what it counted is there.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use metaspy_core::store::{EndState, Store};
use metaspy_core::{Outcome, Recording};

use crate::{by_subject, count, node, wide, work};

const KEYS: u64 = 900;

/// Not a test of its own: the part of the next one that is killed.
#[test]
fn case() {
    let Some(path) = std::env::var_os("FILE_UNDER_TEST").map(PathBuf::from) else { return };
    Recording::file(&path).budget(16 << 20).start().expect("there is room");
    let _counted = count();
    let notes =
        std::fs::OpenOptions::new().read(true).write(true).open(path.with_extension("notes"));
    let notes = memmap2::MmapOptions::new()
        .map_raw(&notes.expect("it was made"))
        .expect("it can be mapped");
    for round in 1_u64.. {
        (0..KEYS).for_each(|key| {
            work(node(if key % 2 == 0 { key } else { wide(key) }), Outcome::Failed)
        });
        // SAFETY: the first word of the map, which no other thread writes.
        unsafe { notes.as_mut_ptr().cast::<u64>().write_volatile(round) };
    }
}

#[test]
fn a_kill_loses_no_call_that_was_counted() {
    let path = std::env::temp_dir().join(format!("metaspy-counting-{}.spy", std::process::id()));
    for round in 0..3 {
        std::fs::File::create(path.with_extension("notes"))
            .and_then(|file| file.set_len(8))
            .expect("it can be made");
        let mut command = Command::new(std::env::current_exe().expect("it is known"));
        command
            .args(["--exact", "kills::case"])
            .env("FILE_UNDER_TEST", &path)
            .stdout(Stdio::null());
        let mut recorder = command.spawn().expect("it starts");
        let noted = || {
            let bytes = std::fs::read(path.with_extension("notes")).expect("it was made");
            u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
        };
        let began = Instant::now();
        // The rounds differ: some are killed while they make rows.
        while noted() < 10 * round && began.elapsed() < Duration::from_secs(60) {
            std::thread::yield_now();
        }
        recorder.kill().and_then(|()| recorder.wait()).expect("it is ours");
        let store = match Store::open(&path) {
            Ok(store) => store,
            // Killed before it had made the recording. The next round takes its place.
            Err(_) if round == 0 => continue,
            Err(error) => panic!("{error}"),
        };
        let rounds = noted();
        assert!(rounds >= 10 * round, "it was killed too early: {rounds}");
        assert_eq!(store.end_state(), EndState::Killed);
        assert!(store.verify().is_sound(), "{:?}", store.verify());
        let found = by_subject(&store);
        for (subject, (calls, failed, panicked)) in &found {
            let is_noted =
                (rounds..=rounds + 2).contains(calls) && (*calls - 1..=*calls).contains(failed);
            assert!(
                is_noted && *panicked == 0,
                "{subject:?}: {calls} calls, {failed} failed in {rounds} rounds"
            );
        }
        assert!(rounds == 0 || found.len() as u64 == KEYS);
    }
    for file in [path.with_extension("notes"), path] {
        std::fs::remove_file(file).expect("it was made");
    }
}
