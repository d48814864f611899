//! The values of a method profiler are a table of the recording.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use metaspy_core::method_profilers::{
    Call, Column, Columns, Count, Data, Flags, Max, MethodProfiler, MethodSpy, Min,
};
use metaspy_core::store::{ProfileTable, RowKey, Value};
use metaspy_core::{Recording, Store};

use crate::alone;

/// Sizes of what is read.
struct Sizes;

struct Size {
    bytes: Count,
    largest: Max,
    smallest: Min,
    parities: Flags,
}

impl Data for Size {
    fn new(columns: &mut Columns<'_>) -> Self {
        Size {
            bytes: columns.sum(Column::new("bytes").unit("B")),
            largest: columns.max("largest"),
            smallest: columns.min("smallest"),
            parities: columns.flags("parities", &["even", "odd"]),
        }
    }
}

impl MethodProfiler for Sizes {
    const NAME: &'static str = "sizes";
    type Package = ();
    type Type = ();
    type Method = Size;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        let size = SIZE.get();
        spy.data.bytes.add(size);
        spy.data.largest.see(size);
        spy.data.smallest.see(size);
        spy.data.parities.set(size as usize % 2);
    }
}

thread_local! {
    static SIZE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

fn read(size: u64) {
    SIZE.set(size);
    read_now();
}

fn read_now() {
    metaspy_probe::hook!("read_now", 1, 1, "c=1 self=none", [], []);
}

/// The values of `read_now` by column.
fn values(store: &Store) -> [Value; 4] {
    let profile = store.profile("sizes").expect("it was installed");
    let table: &ProfileTable = profile.table("").expect("it has columns");
    assert_eq!(
        (table.columns[0].name.as_str(), table.columns[0].unit.as_str(), table.lost),
        ("bytes", "B", 0)
    );
    let site =
        store.sites().iter().find(|site| site.path.ends_with("::read_now")).expect("it is there");
    ["bytes", "largest", "smallest", "parities"]
        .map(|column| table.value(RowKey::Site(site.id), column))
}

fn numbers(bytes: u64, largest: u64, smallest: u64, parities: &[&str]) -> [Value; 4] {
    let parities = parities.iter().map(|name| (*name).to_owned()).collect();
    [Value::Number(bytes), Value::Number(largest), Value::Number(smallest), Value::Flags(parities)]
}

#[test]
fn values_of_threads_are_merged_by_the_rule_of_their_column_also_of_threads_that_ended() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let installed = crate::install(Sizes);
    for round in 0..3 {
        std::thread::scope(|scope| {
            (0..4).for_each(|thread| {
                _ = scope.spawn(move || (0..100).for_each(|_| read(10 + 2 * thread + 8 * round)))
            });
        });
    }
    let bytes = (0..12).map(|n| 100 * (10 + 2 * n)).sum();
    assert_eq!(values(&recording.store()), numbers(bytes, 32, 10, &["even"]));
    read(33);
    assert_eq!(values(&recording.store()), numbers(bytes + 33, 33, 10, &["even", "odd"]));
    drop(installed);
    read(99);
    assert_eq!(values(&recording.store()), numbers(bytes + 33, 33, 10, &["even", "odd"]));
}

/// Calls in a column among many.
struct Wide;

struct WideRow([Count; 64]);

impl Data for WideRow {
    fn new(columns: &mut Columns<'_>) -> Self {
        WideRow(std::array::from_fn(|at| columns.sum(Column::new(&format!("column {at}")))))
    }
}

impl MethodProfiler for Wide {
    const NAME: &'static str = "wide";
    type Package = ();
    type Type = ();
    type Method = WideRow;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        spy.data.0[7].add(1);
    }
}

#[test]
fn a_file_grows_with_the_values_of_many_threads() {
    const THREADS: usize = 400;
    let _alone = alone();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wide.spy");
    let recording = Recording::file(&path).start().expect("it starts");
    let installed = crate::install(Wide);
    let all_read = std::sync::Barrier::new(THREADS);
    std::thread::scope(|scope| {
        (0..THREADS).for_each(|_| {
            _ = scope.spawn(|| {
                read_now();
                all_read.wait();
            })
        });
    });
    let store = recording.store();
    let used = store.ring().words.get(metaspy_core::format::superblock::PROFILES_USED);
    assert!(used > 1 << 20, "{used} bytes are not more than a step");
    let site =
        store.sites().iter().find(|site| site.path.ends_with("::read_now")).expect("it is there");
    let profile = store.profile("wide").expect("it was installed");
    let table = profile.table("").expect("it has columns");
    assert_eq!(
        (table.value(RowKey::Site(site.id), "column 7"), table.lost),
        (Value::Number(THREADS as u64), 0)
    );
    drop(installed);
    recording.close();
    std::fs::remove_file(&path).expect("it is ours");
}

#[test]
fn a_recording_that_begins_later_has_the_tables_too() {
    let _alone = alone();
    Recording::memory().start().expect("it starts");
    let installed = crate::install(Sizes);
    read(1);
    let later = Recording::memory().start().expect("it starts");
    read(2);
    assert_eq!(values(&later.store()), numbers(2, 2, 2, &["even"]));
    let mirror = installed.mirror();
    let read = mirror
        .methods()
        .iter()
        .find(|method| method.facts.name == "read_now")
        .expect("it is there");
    assert_eq!((read.data.bytes.get(), read.data.smallest.get()), (3, 1), "the process knows both");
}

#[test]
fn profilers_without_end_count_exactly_and_the_oldest_give_their_room_in_the_recording() {
    let _alone = alone();
    let recording = Recording::memory().budget(6 << 20).start().expect("it starts");
    for number in 1..=100 {
        let installed = crate::install(Sizes);
        let all_read = std::sync::Barrier::new(32);
        let reads = || {
            read(7);
            all_read.wait();
        };
        std::thread::scope(|scope| (0..32).for_each(|_| _ = scope.spawn(reads)));
        let mirror = installed.mirror();
        let method = mirror
            .methods()
            .iter()
            .find(|method| method.facts.name == "read_now")
            .expect("it is there");
        assert_eq!(
            (method.data.bytes.get(), method.data.largest.get()),
            (7 * 32, 7),
            "of the {number}th"
        );
    }
    let store = recording.store();
    let notes = store.notes().join("\n");
    assert!(notes.contains("give theirs to later ones"), "{notes}");
    let profiles = store.profiles();
    let sizes = profiles.iter().filter(|profile| profile.name == "sizes");
    let tables: Vec<&ProfileTable> = sizes.filter_map(|profile| profile.table("")).collect();
    let is_whole = |table: &&ProfileTable| (table.lost, table.rows.len()) == (0, 1);
    let first_whole = tables.iter().position(is_whole).expect("some are whole");
    let (gone, whole) = tables.split_at(first_whole);
    assert!(!gone.is_empty() && gone.iter().all(|table| table.lost > 0), "what is gone is marked");
    assert!(whole.len() > 8 && whole.iter().all(is_whole), "{} are whole", whole.len());
    assert_eq!(tables.len(), 100);
}

/// In a child process: records into a file, and waits to be killed.
const CHILD: &str = "METASPY_TEST_TABLES";

#[test]
fn a_child_records_until_it_is_killed() {
    let Some(size) = std::env::var_os(CHILD) else { return };
    let path = std::env::var_os("METASPY_TEST_FILE").expect("it is set");
    Recording::file(path).start().expect("it starts");
    let _installed = crate::install(Sizes);
    let size: u64 = size.to_str().and_then(|size| size.parse().ok()).expect("it is a number");
    std::thread::scope(|scope| {
        (0..2).for_each(|_| _ = scope.spawn(|| (0..50).for_each(|_| read(size))));
    });
    println!("done");
    std::thread::sleep(Duration::from_secs(60));
}

/// A recording of a child that was killed with SIGKILL after it read 100 times.
fn killed(name: &str, size: u64) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    let mut child = Command::new(std::env::current_exe().expect("it runs"));
    child.args(["--exact", "tables::a_child_records_until_it_is_killed", "--nocapture"]);
    child.env(CHILD, size.to_string()).env("METASPY_TEST_FILE", &path).stdout(Stdio::null());
    let mut child = child.spawn().expect("it starts");
    let begun = Instant::now();
    let is_done = || {
        Store::open(&path)
            .is_ok_and(|store| store.profile("sizes").is_some() && bytes(&store) == 100 * size)
    };
    while !is_done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the child does not record");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    path
}

fn bytes(store: &Store) -> u64 {
    values(store)[0].number().unwrap_or(0)
}

#[test]
fn values_survive_a_kill_and_those_of_two_processes_are_merged() {
    let (first, second) = (killed("sizes-1.spy", 20), killed("sizes-2.spy", 7));
    let open = |path: &Path| Store::open(path).expect("it opens");
    assert_eq!(values(&open(&first)), numbers(2000, 20, 20, &["even"]));
    assert_eq!(values(&open(&second)), numbers(700, 7, 7, &["odd"]));
    let both = [first, second].map(|path| (path.display().to_string(), open(&path)));
    let merged = Store::merged(both.into()).expect("they are two");
    assert_eq!(values(&merged), numbers(2700, 20, 7, &["even", "odd"]));
    assert_eq!(merged.profiles().iter().filter(|profile| profile.name == "sizes").count(), 1);
}
