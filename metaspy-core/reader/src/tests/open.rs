//! Files that are not recordings, or not complete.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use crate::testing::store_of;
use crate::{By, EndState, OpenError, Scope, Store};
use metaspy_format::superblock as sb;

use super::busy;

/// A file in a directory of this test's own.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let directory =
            std::env::temp_dir().join(format!("metaspy-store-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        fs::write(directory.join("a.spy"), bytes).expect("a file");
        Temporary(directory)
    }

    fn path(&self) -> PathBuf {
        self.0.join("a.spy")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_reads_as_the_memory_it_was_written_from() {
    let (mut writer, _) = busy(2, 2, 5_000, 1);
    writer.summarise();
    let file = Temporary::new("equal", &writer.bytes());
    let memory = writer.store();
    let file = Store::open(&file.path()).expect("a recording");
    assert_eq!(memory.totals(), file.totals());
    let rows = |store: &Store| store.tally(By::SiteSubject, &Scope::default()).rows;
    assert_eq!(rows(&memory), rows(&file));
    assert_eq!((file.end_state(), file.missing()), (EndState::Closed, &[][..]));
}

#[test]
fn what_is_no_recording_is_answered_with_what_to_do() {
    let (writer, _) = busy(1, 1, 10, 1);
    let mut newer = writer.bytes();
    newer[sb::VERSION * 8 + 4] = 9;
    let cases: [(&str, Vec<u8>, &str); 6] = [
        ("empty", Vec::new(), "is empty"),
        ("text", b"# not a recording, but long enough".to_vec(), "not a metaspy recording"),
        ("short", b"abc".to_vec(), "not a metaspy recording"),
        ("zeros", vec![0; 9_000], "has no beginning"),
        ("newer", newer, "install a newer metaspy"),
        ("page", writer.bytes()[..2_000].to_vec(), "within its first page"),
    ];
    for (name, bytes, words) in cases {
        let file = Temporary::new(name, &bytes);
        let error = Store::open(&file.path()).expect_err(name).to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
    let file = Temporary::new("directory", &[]);
    assert!(matches!(Store::open(&file.0), Err(OpenError::NoFile(_))));
    assert!(matches!(Store::open(&file.0.join("b.spy")), Err(OpenError::Missing(_))));
}

#[cfg(unix)]
#[test]
fn a_recording_that_is_being_begun_is_awaited() {
    let (writer, _) = busy(1, 1, 10, 1);
    let whole = writer.bytes();
    for begun in [Vec::new(), vec![0; sb::BYTES]] {
        let file = Temporary::new("begun", &begun);
        let made = fs::File::options().write(true).open(file.path()).expect("a file");
        made.lock().expect("no other process has it");
        thread::scope(|scope| {
            let read = scope.spawn(|| Store::open(&file.path()).map(|store| store.totals()));
            // Long enough that the reader has looked at the file, as a rule.
            thread::sleep(Duration::from_millis(30));
            made.write_all_at(&whole[8..], 8)
                .and_then(|()| made.write_all_at(&whole[..8], 0))
                .expect("it is ours");
            assert_eq!(
                read.join().expect("no panic").expect("it has begun"),
                writer.store().totals()
            );
        });
    }
}

#[test]
fn a_live_recording_whose_process_is_gone_was_killed() {
    let (writer, _) = busy(1, 1, 10, 1);
    writer.set(sb::STATE, sb::STATE_LIVE);
    writer.set(sb::PID, u64::from(std::process::id()));
    writer.set(sb::PROCESS_START, 1);
    let file = Temporary::new("killed", &writer.bytes());
    let ended = Store::open(&file.path()).expect("a recording").end_state();
    assert_eq!(ended, if cfg!(target_os = "linux") { EndState::Killed } else { EndState::Live });
    assert!(writer.store().is_live(), "in memory it is this process");
}

#[test]
fn a_file_cut_anywhere_is_read_as_far_as_it_goes() {
    let (mut writer, _) = busy(2, 2, 15_800, 9);
    writer.summarise();
    let bytes = writer.bytes();
    let whole = writer.store().totals().stored;
    for eighths in 1..8 {
        let cut = store_of(&bytes[..bytes.len() * eighths / 8]).expect("the tables are there");
        let read = cut.tally(By::Site, &Scope::default());
        let count: u64 = read.rows.iter().map(|row| row.measure.count).sum();
        assert!(count < whole && (count > 0 || eighths < 3), "{eighths}: {count}");
        assert!(!cut.missing().is_empty() && !cut.verify().is_sound(), "{eighths}");
    }
}

/// Writes a recording with a sparse tail: it claims 32 GiB of blocks in use, of which the file has
/// the first ones, and a byte at its end.
#[cfg(target_os = "linux")]
fn sparse(name: &str) -> Temporary {
    const BLOCKS: u64 = 8 << 20;
    let (mut writer, _) = busy(2, 2, 5_000, 1);
    writer.summarise();
    let first_block = writer.get(sb::CHUNKS);
    for (word, number) in [
        (sb::BLOCKS, BLOCKS),
        (sb::GROWN, BLOCKS),
        (sb::FRESH, BLOCKS),
        (sb::CHUNKS + 1, BLOCKS * 4096),
    ] {
        writer.set(word, number);
    }
    let file = Temporary::new(name, &writer.bytes());
    let sparse = fs::File::options().write(true).open(file.path()).expect("a file");
    sparse
        .write_all_at(&[1], first_block + BLOCKS * 4096 - 1)
        .expect("a file system with sparse files");
    file
}

#[cfg(target_os = "linux")]
#[test]
fn a_sparse_file_is_read_as_far_as_its_data_goes() {
    let file = sparse("sparse");
    let store = Store::open(&file.path()).expect("the tables are there");
    let length = fs::metadata(file.path()).expect("it is there").len();
    assert!(
        length > 32 << 30 && (store.words().len() as u64) < 1 << 30,
        "{length}: {}",
        store.words().len()
    );
    assert!(
        store.missing().iter().any(|sentence| sentence.contains("512 MiB of holes")),
        "{:?}",
        store.missing()
    );
    assert!(!store.verify().is_sound());
}

#[cfg(target_os = "linux")]
#[test]
fn a_sparse_recording_that_a_process_writes_is_mapped_whole() {
    let file = sparse("sparse-live");
    let writer = fs::File::open(file.path()).expect("it is there");
    writer.lock().expect("no other process has it");
    let store = Store::open(&file.path()).expect("the tables are there");
    assert_eq!(
        store.words().len() as u64,
        fs::metadata(file.path()).expect("it is there").len() / 8
    );
}
