//! A damaged recording costs no more memory than a sound one of its size: each word of small
//! recordings becomes a huge number, and everything that reads recordings runs below a limit.

#[path = "../fixture/market.rs"]
mod market;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use metaspy_blueprints::evolution::{self, Version};
use metaspy_blueprints::{Graph, Kind as Picture, Options, emit, page, picture};
use metaspy_core::method_profilers::{
    self as profilers, Allocations, Calls, Contexts, TestCoverage,
};
use metaspy_core::model::{label, relate};
use metaspy_core::{Kind, Profiler, Recording, Store, Subject};
use metaspy_reader::Filter;
use metaspy_report::contexts;
use metaspy_report::diff::{self, Diff, Side};
use metaspy_report::export::{Exporter, Format, Selection};
use metaspy_report::findings::{self, text::Shown};
use metaspy_report::functions::{self, Functions};
use metaspy_report::rows::{self, Report};
use metaspy_report::table::Top;
use metaspy_report::types::{self, Types};
use metaspy_sampler::options::Output;
use metaspy_sampler::record::Appended;
use metaspy_sampler::{Options as Sampling, Profile as Samples, Target, record, sample};
use metaspy_tui::crawler::Crawler;
use metaspy_tui::crawler::draw::draw;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use market::{PACK, SELL, call};

/// Bytes that readers of a recording of one MiB may hold.
const LIMIT: usize = 192 << 20;
/// Damaged words of a recording with samples, whose tables have many rows with the same columns.
const SAMPLED_WORDS: usize = 400;
/// The damage of a word. Halves of words are numbers of their own.
const NUMBERS: [u64; 5] = [u64::MAX, u64::MAX >> 8, 1 << 40, 0x7fff_ffff, 0x7fff_ffff << 32];

/// The keys of the crawler's screens, and of what they show beside.
const SCREENS: &str = "1\t\t\t\t\t\t2p3p4+56+bnn7l8\tTC";
/// The variable that has the path of the sampled program's recording.
const SAMPLED: &str = "METASPY_TEST_SAMPLED";
/// The variable that has the path of the recording whose words a process damages.
const DAMAGED: &str = "METASPY_TEST_DAMAGED";
/// The recording that damaged ones are compared with.
const SOUND: &str = "beside.spy";
/// The recording with samples.
const SAMPLES: &str = "damaged-samples.spy";

/// Counts bytes, and ends the process above the limit.
struct Limited;

static HELD: AtomicUsize = AtomicUsize::new(0);
/// The damaged word, and the number in it.
static WORD: AtomicUsize = AtomicUsize::new(0);
static NUMBER: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it is.
#[allow(unsafe_code, reason = "an allocator")]
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if HELD.fetch_add(layout.size(), Relaxed) + layout.size() > LIMIT {
            HELD.store(0, Relaxed);
            let _ = writeln!(
                std::io::stderr(),
                "word {} with {:#x} takes {} bytes more than the limit\n{}",
                WORD.load(Relaxed),
                NUMBER.load(Relaxed),
                layout.size(),
                std::backtrace::Backtrace::force_capture(),
            );
            std::process::abort();
        }
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

static PARCEL: Kind = Kind::new("parcel");

fn parcel(key: u64) -> Subject {
    Subject::new(PARCEL.id(), key)
}

fn sell(parcel: u64) {
    let subject = self::parcel(parcel);
    call(&SELL, subject, || (0..2).for_each(|_| call(&PACK, subject, || drop(vec![0_u8; 100]))));
}

fn recorded(name: &str, profiler: Profiler) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    let recording =
        Recording::file(&path).budget(1 << 20).collector(false).start().expect("a small recording");
    let installed = profiler.install().expect("there is room");
    label(parcel(1), "a parcel");
    relate("within", parcel(2), parcel(1));
    (0..20).for_each(|parcel| sell(parcel % 3));
    drop(installed);
    recording.close();
    path
}

/// The program that is sampled: each of its calls works for a while.
#[test]
fn works() {
    let Some(path) = std::env::var_os(SAMPLED) else { return };
    let recording =
        Recording::file(path).budget(4 << 20).collector(false).start().expect("a small recording");
    let installed = Profiler::new("market").install().expect("there is room");
    let work = || (0..3_000_000_u64).fold(1, |sum, number| std::hint::black_box(sum + number));
    (0..20).for_each(|key| call(&SELL, parcel(key % 3), || _ = work()));
    drop(installed);
    recording.close();
}

/// A recording with the samples of its process.
fn sampled(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    let mut variable = OsString::from(format!("{SAMPLED}="));
    variable.push(&path);
    let program = std::env::current_exe().expect("it is known");
    let words = ["env".into(), variable, program.into(), "--exact".into(), "works".into()];
    // A few stacks, so that their tables are short.
    let options = Sampling { rate_hz: 100, output: Output::StandardError, ..Sampling::default() };
    let samples = sample(&Target::Command(words.into()), &options, &AtomicBool::new(false))
        .expect("it is sampled");
    let samples = Samples::new(samples);
    let appended: Vec<_> = record::append(&samples)
        .into_iter()
        .map(|(path, appended)| (path, appended.ok()))
        .collect();
    assert!(matches!(appended[..], [(at, Some(Appended::All))] if at == path), "{appended:?}");
    path
}

/// What commands make of a recording, and of it beside a sound one.
fn read_everything(path: &Path, sound: &Store) {
    let Ok(store) = Store::open(path) else { return };
    read_alone(&store);
    compare(&store, sound);
    crawl(store.clone());
    if let Ok(merged) =
        Store::merged(vec![("damaged".to_owned(), store), ("sound".to_owned(), sound.clone())])
    {
        let filter = Filter::all();
        let _ = (
            merged.verify(),
            merged.profiles(),
            contexts::Contexts::read(&merged),
            Graph::read(&merged, &filter),
        );
        let _ = Format::Csv.export(&Selection::new(&merged, &filter), &mut std::io::sink());
    }
}

fn compare(store: &Store, sound: &Store) {
    let filter = Filter::all();
    for by in [diff::By::Site, diff::By::Subject] {
        let [before, after] =
            [sound, store].map(|side| Side::read(&[(String::new(), side.clone())], by, &filter));
        if let Ok(diff) = Diff::new(by, &before, &after) {
            let _ = diff::json(&diff, 100, &[]);
        }
    }
    let [old, new] = [sound, store]
        .map(|store| Version { name: String::new(), runs: vec![Graph::read(store, &filter)] });
    let step = evolution::compare(&old, &new, evolution::By::Time);
    let _ = picture::draw(Picture::Evolution, &step.graph, &Options::default());
}

/// Opens the screens of the crawler, and waits for each of its jobs.
fn crawl(store: Store) {
    let mut crawler = Crawler::new(store, "damaged", (80, 24));
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a test screen");
    for key in SCREENS.chars() {
        crawler.press(KeyEvent::from(if key == '\t' { KeyCode::Tab } else { KeyCode::Char(key) }));
        loop {
            let jobs = crawler.take_jobs();
            if jobs.is_empty() {
                break;
            }
            for job in jobs {
                let reply = job.run(&crawler.store);
                crawler.accept(reply);
            }
        }
        terminal.draw(|frame| draw(frame, &crawler)).expect("a test screen");
    }
}

fn read_alone(store: &Store) {
    let filter = Filter::all();
    let graph = Graph::read(store, &filter);
    for kind in [Picture::Structural, Picture::Behavioural, Picture::Calls, Picture::Coverage] {
        let _ = page(kind, &graph, &Options::default());
        if let Ok(scene) = picture::draw(kind, &graph, &Options::default()) {
            let _ = (emit::text(&scene, &graph, 100, 30), emit::svg(&scene, &graph));
        }
    }
    if let Some(tree) = contexts::Contexts::read(store) {
        let _ = contexts::text(&tree, contexts::Shown::default(), 100);
    }
    for by in [rows::By::Site, rows::By::Subject, rows::By::Cause, rows::By::Type] {
        let report = Report::new(store, by, &filter, Top::default());
        let _ = rows::json::write(&mut Vec::new(), store, &report, 100, &[], &[]);
    }
    for format in Format::ALL {
        let _ = format.export(&Selection::new(store, &filter), &mut std::io::sink());
    }
    if let Ok(functions) = Functions::read(store) {
        let _ = functions::json(store, &functions, 100);
        let _ = functions::text(store, &functions, 100);
    }
    let findings = findings::find(store, &findings::Config::default());
    let _ = findings::json::write(&mut std::io::sink(), &findings, &[]);
    let _ = findings::text::write(&mut std::io::sink(), &findings, Shown::All, &[]);
    let _ = findings::sarif::write(&mut std::io::sink(), &findings);
    let _ = types::text(&Types::read(std::slice::from_ref(store)), Top::default());
    let _ = (store.verify(), store.profiles(), store.united_profiles());
}

#[test]
fn no_number_of_a_recording_sizes_memory_beyond_the_file() {
    if let Some(path) = std::env::var_os(DAMAGED) {
        return damage_each_word(Path::new(&path));
    }
    recorded(SOUND, Profiler::new("market").method_profiler(Calls::default()));
    let kinds: [(&str, Profiler); 5] = [
        ("damaged-calls.spy", Profiler::new("market").method_profiler(Calls::default())),
        ("damaged-contexts.spy", Profiler::new("market").method_profiler(Contexts::default())),
        ("damaged-objects.spy", Profiler::new("market").method_profiler(TestCoverage::default())),
        (
            "damaged-allocations.spy",
            Profiler::new("market").method_profiler(Allocations::default()),
        ),
        ("damaged-types.spy", Profiler::new("market").method_profiler(profilers::Types::default())),
    ];
    let paths = kinds.map(|(name, profiler)| recorded(name, profiler)).into_iter();
    let sampled = cfg!(target_os = "linux").then(|| sampled(SAMPLES));
    let paths = Mutex::new(paths.chain(sampled));
    let next = || paths.lock().expect("no holder panics").next();
    // A recording for each process, because the allocator counts for a whole one.
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(path) = next() {
                    let mut command = Command::new(std::env::current_exe().expect("it is known"));
                    command.args([
                        "--exact",
                        "no_number_of_a_recording_sizes_memory_beyond_the_file",
                        "--nocapture",
                    ]);
                    let output =
                        command.env(DAMAGED, &path).output().expect("it runs, as it runs now");
                    let error = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{}: {error}", path.display());
                }
            });
        }
    });
}

fn damage_each_word(path: &Path) {
    let sound = Store::open(&path.with_file_name(SOUND)).expect("it is whole");
    // Names and the like are made once.
    read_everything(path, &sound);
    let whole = fs::read(path).expect("it was written");
    let damaged = path.with_extension("damaged");
    let is_used = |at: &usize| whole[at * 8..at * 8 + 8].iter().any(|&byte| byte != 0);
    let used: Vec<usize> = (0..whole.len() / 8).filter(is_used).collect();
    let most = if path.ends_with(SAMPLES) { SAMPLED_WORDS } else { usize::MAX };
    for &at in used.iter().step_by(used.len().div_ceil(most)) {
        let number = NUMBERS[at % NUMBERS.len()];
        let mut bytes = whole.clone();
        bytes[at * 8..at * 8 + 8].copy_from_slice(&number.to_le_bytes());
        fs::write(&damaged, &bytes).expect("there is room");
        WORD.store(at, Relaxed);
        NUMBER.store(number as usize, Relaxed);
        read_everything(&damaged, &sound);
    }
}
