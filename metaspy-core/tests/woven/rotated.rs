//! A rotation has no end: each call is in one of its files, and what the process keeps does not
//! grow with their number.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use metaspy_core::method_profilers::{
    Call, Column, Count, MethodProfiler, MethodSpy, SubjectTable, Tables,
};
use metaspy_core::store::{Conditions, EndState, Origin};
use metaspy_core::{Installed, Kind, Profiler, Recording, Store, Subject, recording};

use crate::domain::{Layout, Scene, a_long_test};
use crate::replaced::{PATHS, column, counted, is_long};

/// Files of a process. With `METASPY_LONG=1` they are many times more than a log has numbers.
const FILES: usize = 60;
const MANY_FILES: usize = 2_000;
/// Files that the process leaves alone, because a thread that has lost its processor may be at work
/// in one.
const LEFT_ALONE: usize = 40;
/// The directory of the process.
const DIRECTORY: &str = "METASPY_TEST_ROTATED";

/// What a process keeps.
#[derive(Debug)]
struct Kept {
    memory_kib: u64,
    mappings: u64,
    files: u64,
}

/// What later recordings may add to [`Kept::memory_kib`]: less than one of them has, and what a
/// process keeps of each file.
const MORE_KIB: u64 = 3 << 10;
const KIB_OF_A_FILE: u64 = 2;
/// The same for mappings and open files: threads come and go, and one that has lost its processor
/// keeps a file of some mappings.
const MORE: u64 = 64;

impl Kept {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").expect("the system has it");
        let resident =
            status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("it is there");
        Kept {
            memory_kib: resident.trim().trim_end_matches(" kB").parse().expect("it is a number"),
            mappings: fs::read_to_string("/proc/self/maps")
                .expect("the system has it")
                .lines()
                .count() as u64,
            files: fs::read_dir("/proc/self/fd").expect("the system has it").count() as u64,
        }
    }

    /// After so many further files it is about the same.
    fn assert_is_enough_for(&self, later: &Kept, files: usize) {
        // The plain build is for sanitizers, and these keep freed memory.
        let more_kib = MORE_KIB + KIB_OF_A_FILE * files as u64;
        let is_bounded = cfg!(metaspy_plain) || later.memory_kib <= self.memory_kib + more_kib;
        let is_enough = is_bounded
            && (cfg!(metaspy_plain) || later.mappings <= self.mappings + MORE)
            && later.files <= self.files + MORE;
        assert!(is_enough, "{self:?}, then {later:?}");
    }
}

fn recordings(directory: &Path) -> BTreeSet<PathBuf> {
    let entries =
        fs::read_dir(directory).expect("it is there").filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.extension().is_some_and(|it| it == "spy")).collect()
}

/// Adds what the files counted, and removes them. Returns the states of those that were not closed.
fn take(files: impl IntoIterator<Item = PathBuf>, sums: &mut [Vec<u64>]) -> Vec<EndState> {
    let mut ends = Vec::new();
    for file in files {
        let store = Store::open(&file).expect("it was recorded");
        assert!(store.missing().is_empty(), "{}: {:?}", file.display(), store.missing());
        ends.extend(Some(store.end_state()).filter(|end| *end != EndState::Closed));
        for (sums, path) in sums.iter_mut().zip(PATHS) {
            sums.iter_mut().zip(counted(&store, path)).for_each(|(sum, count)| *sum += count);
        }
        fs::remove_file(file).expect("it is ours");
    }
    ends
}

/// False for a file that its process was about to begin when it ended. No call is in it.
fn is_begun(file: &Path) -> bool {
    fs::read(file).is_ok_and(|bytes| bytes.iter().take(8).any(|byte| *byte != 0))
}

/// Ends the threads of a process, also when what it found is wrong.
struct Ends<'e>(&'e AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// What else happens in the process while its recording rotates.
const MEANWHILE: &str = "METASPY_TEST_MEANWHILE";

/// What happens each time when the process has looked for files.
#[derive(Clone, Copy)]
enum Meanwhile {
    Nothing,
    /// Forked children call, and end.
    Forks,
    /// The current recording is read.
    Reads,
    /// Now and then there is no room for another file.
    FillsTheDisk,
}

impl Meanwhile {
    fn of_environment() -> Self {
        match std::env::var(MEANWHILE).as_deref() {
            Ok("forks") => Meanwhile::Forks,
            Ok("reads") => Meanwhile::Reads,
            Ok("fills") => Meanwhile::FillsTheDisk,
            _ => Meanwhile::Nothing,
        }
    }

    fn happens(self, round: usize, scene: &Scene, installed: &Installed) {
        match self {
            Meanwhile::Nothing => {}
            Meanwhile::Forks => {
                // SAFETY: the child only calls, and ends.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    scene.twice();
                    // SAFETY: it ends the child.
                    unsafe { libc::_exit(0) };
                }
                let mut status = -1;
                // SAFETY: it is a child, and there is room for its status.
                assert_eq!((unsafe { libc::waitpid(child, &mut status, 0) }, status), (child, 0));
            }
            Meanwhile::Reads => {
                let recording = Recording::current().expect("it records");
                // While this is read, no event is folded.
                black_box(installed.so_far().counts().by_site().rows.len());
                black_box(counted(&recording.store(), PATHS[0]));
            }
            Meanwhile::FillsTheDisk if round.is_multiple_of(200) => {
                limit_files(1 << 20);
                thread::sleep(Duration::from_millis(100));
                limit_files(libc::RLIM_INFINITY);
            }
            Meanwhile::FillsTheDisk => {}
        }
    }
}

/// How the process ends. Otherwise it closes its last recording.
const ENDS: &str = "METASPY_TEST_ENDS";

/// A scene whose measure has no hook, and never returns.
struct Stuck(Sender<()>);

impl Layout for Stuck {
    fn measure(&self) -> u32 {
        self.0.send(()).expect("the main thread waits");
        loop {
            thread::park();
        }
    }
}

/// Ends the process as the environment says, with a call of [`PATHS`]`[0]` that does not return.
fn end_within_a_call() {
    let Some(how) = std::env::var_os(ENDS) else { return };
    let (begins, has_begun) = channel();
    thread::spawn(move || Stuck(begins).twice());
    has_begun.recv().expect("it begins");
    match how.to_str() {
        Some("exits") => std::process::exit(0),
        // SAFETY: nothing that ends the process is needed.
        _ => unsafe { libc::_exit(0) },
    }
}

/// Limits the size of files of this process: a file that would be longer meets a full disk.
fn limit_files(bytes: libc::rlim_t) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the signal is ignored from now on, and the limit is a whole one.
    let is_set = unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        libc::setrlimit(libc::RLIMIT_FSIZE, &limit)
    };
    assert_eq!(is_set, 0);
}

/// What the process does: threads call a method until there were many files. It adds them up and
/// removes them meanwhile.
#[test]
fn rotates() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let files = if is_long() { MANY_FILES } else { FILES };
    let meanwhile = Meanwhile::of_environment();
    let installed = Profiler::new("meanwhile").install().expect("it is installed");
    let mut sums = vec![vec![0; 5]; PATHS.len()];
    let has_ended = AtomicBool::new(false);
    let calls = thread::scope(|scope| {
        let rests = thread::Builder::new().name("rests".into());
        // It is in the first recording until it calls again, in the last one.
        let rests = rests.spawn_scoped(scope, || {
            let scene = Scene::new(&[1]);
            scene.twice();
            while !has_ended.load(Relaxed) {
                thread::park_timeout(Duration::from_millis(50));
            }
            scene.twice();
            2
        });
        let rests = rests.expect("there is room");
        let works = || {
            let scene = Scene::new(&[1]);
            let mut calls = 0;
            while !has_ended.load(Relaxed) {
                (0..50).for_each(|_| _ = scene.twice());
                // A thread that ends.
                let ended = thread::scope(|scope| scope.spawn(|| scene.twice()).join());
                ended.expect("it only calls");
                calls += 51;
                thread::sleep(Duration::from_micros(200));
            }
            calls
        };
        let workers = [(); 2].map(|()| scope.spawn(works));
        let ends = Ends(&has_ended);
        let (mut seen, mut half, mut round) = (BTreeSet::new(), None, 0);
        let scene = Scene { nodes: vec![1] };
        while seen.len() < files {
            round += 1;
            meanwhile.happens(round, &scene, &installed);
            thread::sleep(Duration::from_millis(10));
            let found = recordings(&directory);
            seen.extend(found.iter().cloned());
            if seen.len() > files / 2 && half.is_none() {
                half = Some(Kept::now());
            }
            let later = found.len().saturating_sub(LEFT_ALONE);
            let earlier = found.into_iter().filter(|file| !file.ends_with("run.spy")).take(later);
            assert_eq!(take(earlier, &mut sums), []);
        }
        half.expect("half of the files were seen")
            .assert_is_enough_for(&Kept::now(), files - files / 2);
        drop(ends);
        let calls: u64 =
            workers.into_iter().map(|worker| worker.join().expect("it only calls")).sum();
        calls + rests.join().expect("it only calls")
    });
    println!("calls={calls} sums={}", serde_json::to_string(&sums).expect("they are numbers"));
    end_within_a_call();
}

/// Runs such a process in this directory. Returns the calls that it made and what its files counted
/// that it has removed.
fn run_process(test: &str, directory: &Path, variables: &[(&str, &str)]) -> (u64, Vec<Vec<u64>>) {
    fs::create_dir_all(directory).expect("there is room");
    let mut command = Command::new(std::env::current_exe().expect("it is known"));
    command.args(["--exact", test, "--nocapture"]).env(DIRECTORY, directory);
    command.env("METASPY_RECORD", directory.join("run.spy"));
    let output = command.envs(variables.iter().copied()).output().expect("it runs");
    let (text, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let is_expected = |line: &str| line.contains("There is no room for the next file");
    assert!(output.status.success() && error.lines().all(is_expected), "{text}{error}");
    let said = text
        .lines()
        .find_map(|line| line.split_once("calls=")?.1.split_once(" sums="))
        .expect("it prints them");
    let sums = serde_json::from_str(said.1).expect("they are numbers");
    (said.0.parse().expect("it is a number"), sums)
}

/// Runs [`rotates`]: its files have all calls, in these columns of [`counted`].
fn run(name: &str, variables: &[(&str, &str)], columns: usize) {
    if !is_long() {
        println!(
            "SKIPPED: rotations-in-full: a process has {FILES} files; METASPY_LONG=1 makes {MANY_FILES}"
        );
    }
    let directory =
        std::env::temp_dir().join(format!("metaspy-rotated-{}-{name}", std::process::id()));
    let (calls, mut sums) = run_process("rotated::rotates", &directory, variables);
    let begun = recordings(&directory).into_iter().filter(|file| is_begun(file));
    let ends = take(begun, &mut sums);
    let is_set = |value: &str| variables.contains(&(ENDS, value));
    // A process that dies may be closing an earlier file, and leaves a part of a shorter one beside
    // it.
    let removed =
        if is_set("dies") { fs::remove_dir_all(&directory) } else { fs::remove_dir(&directory) };
    removed.expect("no other file is there");
    let killed = if is_set("dies") { 1..=2 } else { 0..=0 };
    assert!(
        killed.contains(&ends.len()) && ends.iter().all(|end| *end == EndState::Killed),
        "{name}: {ends:?}"
    );
    let open = u64::from(is_set("dies") || is_set("exits"));
    // The profiler of calls, whose column is the third, adds a call with its time: when it ends.
    let begun = [open, open, 0, open, open];
    let expected = |open: [u64; 5]| {
        (0..5).map(|at| if at < columns { calls + open[at] } else { 0 }).collect::<Vec<_>>()
    };
    assert_eq!(sums, [expected(begun), expected([0; 5])], "{name}");
}

#[test]
fn a_rotation_has_no_end_and_its_files_have_all_events_and_tables() {
    run("full", &[("METASPY_ROTATE", "4MiB,1ms"), ("METASPY_PROFILE", "contexts,calls,+")], 5);
}

#[test]
fn a_rotation_has_no_end_and_its_files_have_all_that_is_only_counted() {
    run("tally", &[("METASPY_ROTATE", "1MiB,1ms"), ("METASPY_MODE", "tally")], 1);
}

#[test]
fn a_rotation_keeps_all_calls_while_the_process_forks_reads_and_fills_the_disk() {
    let full: &[(&str, &str)] =
        &[("METASPY_ROTATE", "4MiB,1ms"), ("METASPY_PROFILE", "contexts,calls,+")];
    let tally: &[(&str, &str)] = &[("METASPY_ROTATE", "1MiB,1ms"), ("METASPY_MODE", "tally")];
    for (name, variables, columns) in
        [("forks", full, 5), ("reads", full, 5), ("forks", tally, 1), ("fills", tally, 1)]
    {
        run(name, &[variables, &[(MEANWHILE, name)]].concat(), columns);
    }
}

#[test]
fn a_rotation_has_all_calls_if_the_process_ends_within_one_or_closes_nothing() {
    let full: &[(&str, &str)] =
        &[("METASPY_ROTATE", "4MiB,1ms"), ("METASPY_PROFILE", "contexts,calls,+")];
    let tally: &[(&str, &str)] = &[("METASPY_ROTATE", "1MiB,1ms"), ("METASPY_MODE", "tally")];
    for (name, variables, columns) in
        [("exits", full, 5), ("dies", full, 5), ("exits", tally, 1), ("dies", tally, 1)]
    {
        run(name, &[variables, &[(ENDS, name)]].concat(), columns);
    }
}

/// Counts calls by method, and by a subject of its own. In the first call of a thread that pauses,
/// recordings follow each other between the row and its value.
struct Pauses {
    by_subject: SubjectTable,
    directory: PathBuf,
}

static PAUSED: Kind = Kind::new("paused");

thread_local! {
    /// Whether this thread pauses, and then, whether it has counted in the recording before.
    static PAUSE: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Recordings that follow each other meanwhile: the first one is let go.
const FOLLOWING: usize = 4;

impl MethodProfiler for Pauses {
    const NAME: &'static str = "pauses";
    type Package = ();
    type Type = ();
    type Method = Count;
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.by_subject = tables.by_subject("subjects", [Column::new("seen")]);
    }

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        let pause = PAUSE.take();
        if pause != Some(false) {
            spy.data.add(1);
        }
        let row = self.by_subject.row(spy.site, Subject::new(PAUSED.id(), 0));
        let wanted = recordings(&self.directory).len() + FOLLOWING;
        while pause.is_some() && recordings(&self.directory).len() < wanted {
            thread::sleep(Duration::from_millis(1));
        }
        row.put(0, 1);
        if pause == Some(false) {
            spy.data.add(1);
        }
    }
}

/// What that process does.
#[test]
fn pauses() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let profiler = Pauses { by_subject: SubjectTable::default(), directory };
    let installed =
        Profiler::new("pauses").method_profiler(profiler).install().expect("it is installed");
    let has_ended = AtomicBool::new(false);
    let calls = thread::scope(|scope| {
        let ends = Ends(&has_ended);
        let works = scope.spawn(|| {
            let scene = Scene::new(&[1]);
            let mut calls = 0;
            while !has_ended.load(Relaxed) {
                scene.twice();
                calls += 1;
                thread::sleep(Duration::from_millis(1));
            }
            calls
        });
        for has_counted in [false, true] {
            let paused = scope.spawn(move || {
                PAUSE.set(Some(has_counted));
                Scene { nodes: vec![1] }.twice();
            });
            paused.join().expect("it only calls");
        }
        drop(ends);
        works.join().expect("it only calls") + 2
    });
    drop(installed);
    println!("calls={calls} sums=[]");
}

#[test]
fn a_value_that_comes_after_the_file_of_its_row_was_closed_is_in_a_later_file() {
    let directory =
        std::env::temp_dir().join(format!("metaspy-rotated-{}-pauses", std::process::id()));
    let (calls, _) = run_process("rotated::pauses", &directory, &[("METASPY_ROTATE", "4MiB,1ms")]);
    let mut sums = [[0; 2]; PATHS.len()];
    for file in recordings(&directory) {
        let store = Store::open(&file).expect("it was recorded");
        assert_eq!(store.lost_profile_values(), 0, "{}", file.display());
        for (sums, path) in sums.iter_mut().zip(PATHS) {
            sums[0] += column(&store, path, "pauses", "", "count");
            sums[1] += column(&store, path, "pauses", "subjects", "seen");
        }
    }
    fs::remove_dir_all(directory).expect("it is ours");
    assert_eq!(sums, [[calls; 2]; PATHS.len()]);
}

/// What a process does whose recording rotates within a call.
#[test]
fn is_in_a_call() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let (scene, calls) = (Scene::new(&[1]), Cell::new(1));
    a_long_test(&|| {
        while recordings(&directory).len() < 4 {
            scene.twice();
            calls.set(calls.get() + 1);
            thread::sleep(Duration::from_millis(1));
        }
    });
    scene.twice();
    println!("calls={} sums=[]", calls.get());
}

#[test]
fn a_call_that_began_within_one_of_an_earlier_file_is_no_root_and_one_behind_it_is() {
    let directory =
        std::env::temp_dir().join(format!("metaspy-rotated-{}-within", std::process::id()));
    let (calls, _) =
        run_process("rotated::is_in_a_call", &directory, &[("METASPY_ROTATE", "4MiB,1ms")]);
    let (mut found, mut roots, mut effects) = (0, 0, 0);
    for file in recordings(&directory) {
        let store = Store::open(&file).expect("it was recorded");
        let scan = store.scan(Conditions::default());
        let mut events = Vec::new();
        (0..scan.parts()).for_each(|part| scan.read(part, &mut events));
        for event in
            events.iter().filter(|event| store.site_path(event.site).ends_with("Layout::twice"))
        {
            let mut causes = store.causes(event.id);
            found += 1;
            match (causes.next(), causes.origin()) {
                (None, Origin::Root) => roots += 1,
                (None, Origin::Evicted(_)) => effects += 1,
                (Some(cause), Origin::Root) => {
                    assert!(store.site_path(cause.site).ends_with("a_long_test"))
                }
                other => panic!("{other:?}"),
            }
        }
    }
    fs::remove_dir_all(directory).expect("it is ours");
    assert_eq!((found, roots), (calls, 1));
    assert!(
        effects > 0 && effects < calls,
        "{effects} of {calls} are in later files than their cause"
    );
}

/// What a process does that records in the directory of live recordings: it makes some files, and
/// cleans up.
#[test]
fn cleans() {
    let Some(directory) = std::env::var_os("METASPY_TEST_CLEANS").map(PathBuf::from) else {
        return;
    };
    let scene = Scene::new(&[1]);
    while std::env::var_os("METASPY_RECORD").is_some() && recordings(&directory).len() < 4 {
        scene.twice();
        thread::sleep(Duration::from_millis(1));
    }
    let cleaned = recording::clean().expect("it is the user's");
    println!("removed={} kept={}", cleaned.removed.len(), cleaned.kept.len());
}

fn clean(directory: &Path, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("it is known"));
    command
        .args(["--exact", "rotated::cleans", "--nocapture"])
        .env("METASPY_TEST_CLEANS", directory);
    command.env("METASPY_DIR", directory).envs(variables.iter().copied());
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.lines().find_map(|line| line.find("removed=").map(|at| line[at..].to_owned()));
    said.expect("it prints what it did")
}

/// What is said of the absent files of a rotation.
fn absent(stores: &[&Store]) -> Option<String> {
    let named =
        stores.iter().zip(0..).map(|(store, number)| (format!("{number}"), Store::clone(store)));
    let whole = Store::merged(named.collect()).expect("they are of one process");
    assert_eq!(
        whole.totals().emitted,
        stores.iter().map(|store| store.totals().emitted).sum::<u64>()
    );
    whole.absent_files().map(|absent| absent.to_string())
}

#[test]
fn each_file_of_a_rotation_knows_which_are_absent_and_stays_while_the_process_runs() {
    let directory =
        std::env::temp_dir().join(format!("metaspy-rotated-{}-cleans", std::process::id()));
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700)
        .create(&directory)
        .expect("there is room");
    let said = clean(&directory, &[("METASPY_RECORD", "live"), ("METASPY_ROTATE", "1MiB,1ms")]);
    let files: Vec<PathBuf> = recordings(&directory).into_iter().collect();
    let kept = said.strip_prefix("removed=0 kept=").and_then(|kept| kept.parse::<usize>().ok());
    assert!(kept.is_some_and(|kept| kept >= 2 && kept < files.len()), "{said} of {files:?}");
    let mut stores: Vec<Store> =
        files.iter().map(|file| Store::open(file).expect("it was recorded")).collect();
    stores.sort_by_key(|store| store.header().first_tick);
    let numbers: Vec<u64> = stores.iter().map(|store| store.header().earlier_files).collect();
    assert_eq!(numbers, (0..stores.len() as u64).collect::<Vec<_>>());
    let all: Vec<&Store> = stores.iter().collect();
    let last = all.len() - 1;
    let is_not = "is not among the inputs";
    assert_eq!(absent(&all), None);
    assert_eq!(absent(&all[1..]), Some(format!("parts of a rotation: 1 earlier file {is_not}")));
    assert_eq!(
        absent(&[all[0], all[last]]).map(|it| it.contains(&format!("{} earlier", last - 1))),
        Some(true)
    );
    let later = "later files are not among the inputs";
    assert_eq!(absent(&all[..1]), Some(format!("part 1 of a rotation: {later}")));
    assert_eq!(absent(&all[..2]), Some(format!("parts of a rotation: {later}")));
    assert_eq!(
        absent(&all[last..]),
        Some(format!(
            "part {} of a rotation: {last} earlier files are not among the inputs",
            last + 1
        ))
    );
    assert_eq!(
        clean(&directory, &[]),
        format!("removed={} kept=0", files.len()),
        "its process has ended"
    );
    fs::remove_dir_all(&directory).expect("it is ours");
}
