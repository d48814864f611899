//! What tables cost: a query beside the report, over a recording and over its sealed set; sealing;
//! bytes of an event beside other formats.
//!
//! `--events N` (100,000,000), `--rounds N` (3), `--processes N` (1,000): how time and bytes grow
//! with the recordings of so many processes, each with its own nodes and a number of events of its
//! own, `--of-process N` on average (1,000,000), and what a query for one of them reads. Further
//! arguments are recordings whose events are sealed and exported: of the layout story, of a server.
//! `METASPY` names the program `metaspy`; without it, the one on the `PATH` runs.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use metaspy::prelude::*;
use metaspy::recording::Policy;

/// Counts by site, in SQL.
const BY_SITE: &str =
    "SELECT site, count(*) AS calls FROM events GROUP BY site ORDER BY calls DESC";
/// Formats that the events are compared with, as `metaspy export` has them.
const FORMATS: [&str; 2] = ["chrome", "perfetto"];

/// Recordings of a fleet that are on the disk at once.
const SPOOLED: usize = 100;
/// The number of the first process.
const FIRST_PID: u64 = 1_000_000;
/// The byte of a recording at which the number of its process is.
const PROCESS: u64 = metaspy_core::format::superblock::PID as u64 * 8;

/// A node of a tree, by number.
#[derive(Clone, Copy, Identify)]
struct Node(u64);

#[observe]
impl Node {
    /// Lays out the nodes below this one: ten calls.
    fn frame(&self) {
        for below in 1..4 {
            Node(self.0 + below).layout();
        }
    }

    fn layout(&self) {
        self.measure();
        self.paint();
    }

    fn measure(&self) {}

    fn paint(&self) {}
}

/// Calls of a frame.
const OF_FRAME: u64 = 10;
/// Nodes.
const NODES: u64 = 10_000;

/// Records about this many events of these nodes into a file.
fn record(events: u64, nodes: Range<u64>, path: &Path) {
    let budget = events * 33 + (64 << 20);
    let recording =
        Recording::file(path).budget(budget).policy(Policy::Grow).start().expect("there is room");
    let profiler = Profiler::new("tree")
        .observe(methods("Node::*"))
        .install()
        .expect("the methods are observed");
    for frame in 0..events / OF_FRAME {
        Node(nodes.start + frame * 4 % (nodes.end - nodes.start)).frame();
    }
    drop(profiler);
    recording.close();
}

/// What a command took.
struct Run {
    time: Duration,
    /// The time of processors, in s: it does not depend on what else the machine does.
    busy: f64,
    /// The most memory of its own, without the pages of files, in bytes.
    memory: u64,
    /// Bytes that it read, of files and from memory.
    read: u64,
}

/// Runs a command, which must succeed.
fn run(program: &Path, arguments: &[&OsStr]) -> Run {
    let (start, busy, read) = (Instant::now(), busy_of_children(), read_with_children());
    let mut command = Command::new(program);
    let mut child =
        command.args(arguments).stdout(Stdio::null()).spawn().expect("the command starts");
    let mut memory = 0;
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is a child") {
            break status;
        }
        memory = memory.max(own_memory(child.id()));
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{} {arguments:?} fails: {status}", program.display());
    Run {
        time: start.elapsed(),
        busy: busy_of_children() - busy,
        memory,
        read: read_with_children() - read,
    }
}

/// Bytes that this process and its ended children read.
fn read_with_children() -> u64 {
    let own = fs::read_to_string("/proc/self/io").expect("Linux has it");
    let read = own.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.and_then(|bytes| bytes.parse().ok()).expect("Linux counts them")
}

/// The time of processors that ended children took, in s.
fn busy_of_children() -> f64 {
    let own = fs::read_to_string("/proc/self/stat").expect("Linux has it");
    let (_, fields) = own.rsplit_once(')').expect("the name is in parentheses");
    // Fields 16 and 17, in hundredths of a second.
    fields
        .split_whitespace()
        .skip(13)
        .take(2)
        .map(|ticks| ticks.parse::<f64>().expect("a number") / 100.0)
        .sum()
}

/// The memory of a process without the pages of files.
fn own_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) << 10
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The bytes of all files below a directory.
fn bytes_below(path: &Path) -> u64 {
    let entries = fs::read_dir(path)
        .expect("it was written")
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    entries.map(|path| if path.is_dir() { bytes_below(&path) } else { bytes_of(&path) }).sum()
}

fn bytes_of(path: &Path) -> u64 {
    fs::metadata(path).expect("it was written").len()
}

/// A figure beside its budget.
fn print_figure(what: &str, is: f64, unit: &str, budget: f64, at_most: bool) {
    let met = if at_most { is <= budget } else { is >= budget };
    let (bound, verdict) =
        (if at_most { "at most" } else { "at least" }, if met { "met" } else { "MISSED" });
    println!("{what:<58} {is:>8.2} {unit:<10} budget {bound} {budget}: {verdict}");
}

/// A scheduler and executors.
struct Cluster {
    process: Child,
    url: String,
}

impl Cluster {
    fn start(scale: &Path, executors: &str) -> Self {
        let mut command = Command::new(scale);
        command.args(["cluster", "--executors", executors, "--listen", "127.0.0.1:0"]);
        let mut process =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let lines = BufReader::new(process.stdout.take().expect("it is a pipe")).lines();
        // The scheduler and the executors have a line each.
        let lines: Vec<String> = lines.take(2).collect::<Result<_, _>>().expect("they are text");
        let url = lines[0]
            .strip_prefix("scheduler: ")
            .expect("the first line has the address")
            .to_owned();
        Cluster { process, url }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The executors end with it.
        self.process.kill().and_then(|()| self.process.wait()).expect("it is a child");
    }
}

struct Bench {
    metaspy: PathBuf,
    scale: PathBuf,
    directory: PathBuf,
    rounds: usize,
}

impl Bench {
    /// A query and the report, over a recording of many events, and over its sealed set.
    fn speed(&self, events: u64) {
        let (spy, set) = (self.directory.join("many.spy"), self.directory.join("many"));
        record(events, 0..NODES, &spy);
        let bytes = bytes_of(&spy);
        println!(
            "{events} events, {:.1} bytes each in the recording",
            bytes as f64 / events as f64
        );
        let sealed =
            run(&self.scale, &["seal".as_ref(), spy.as_ref(), "--to".as_ref(), set.as_ref()]);
        let rounds: Vec<[Run; 3]> = (0..self.rounds)
            .map(|_| {
                let query = |of: &PathBuf| {
                    run(&self.scale, &["query".as_ref(), BY_SITE.as_ref(), of.as_ref()])
                };
                [run(&self.metaspy, &["report".as_ref(), spy.as_ref()]), query(&spy), query(&set)]
            })
            .collect();
        let names = ["metaspy report", "query of counts by site", "the same over sealed Parquet"];
        for (at, name) in names.into_iter().enumerate() {
            let all = |value: fn(&Run) -> f64| {
                median(rounds.iter().map(|round| value(&round[at])).collect())
            };
            println!(
                "{name:<58} {:>8.2} s, {:.2} s of processors",
                all(|run| run.time.as_secs_f64()),
                all(|it| it.busy)
            );
            let ratio = |value: fn(&Run) -> f64| {
                median(rounds.iter().map(|round| value(&round[at]) / value(&round[0])).collect())
            };
            if at > 0 {
                print_figure(
                    "  times the report",
                    ratio(|run| run.time.as_secs_f64()),
                    "",
                    1.5,
                    true,
                );
                print_figure("  times its processors", ratio(|run| run.busy), "", 1.5, true);
            }
        }
        self.on_a_cluster(&set);
        let rate = |seconds: f64| events as f64 / seconds / 1e6;
        print_figure("seal", rate(sealed.time.as_secs_f64()), "M events/s", 10.0, false);
        print_figure(
            "  with two processors of its own",
            rate(sealed.busy / 2.0),
            "M events/s",
            10.0,
            false,
        );
        print_figure("  its memory", sealed.memory as f64 / 1e6, "MB", 200.0, true);
    }

    /// The query over a sealed set on one and on two executors.
    fn on_a_cluster(&self, set: &Path) {
        if !cfg!(feature = "cluster") {
            return println!("on executors: not measured; cargo bench --features cluster does it");
        }
        for executors in ["1", "2"] {
            let cluster = Cluster::start(&self.scale, executors);
            let arguments = ["query", "--cluster", &cluster.url, BY_SITE].map(OsStr::new);
            let query =
                || run(&self.scale, &[&arguments[..], &[set.as_ref()]].concat()).time.as_secs_f64();
            // The first one waits for the executors.
            query();
            let time = median((0..self.rounds).map(|_| query()).collect());
            println!("{:<58} {time:>8.2} s", format!("the same, executors: {executors}"));
        }
    }

    /// How time and bytes grow with the number of processes: each line has ten times as many as the
    /// one before.
    fn fleet(&self, most: u64, of_process: u64) {
        println!(
            "processes of {of_process} events    seal s    M events/s    bytes an event    query s"
        );
        let mut processes = (most / 100).max(1);
        while processes <= most {
            let set = self.directory.join(format!("fleet-{processes}"));
            let numbers: Vec<u64> = (0..processes).collect();
            let time: f64 =
                numbers.chunks(SPOOLED).map(|some| self.seal_each(some, of_process, &set)).sum();
            let query = run(&self.scale, &["query".as_ref(), BY_SITE.as_ref(), set.as_ref()]);
            let events = (processes * of_process) as f64;
            let bytes = bytes_below(&set) as f64;
            let (rate, each, query) =
                (events / time / 1e6, bytes / events, query.time.as_secs_f64());
            println!("{processes:>26} {time:>9.2} {rate:>13.2} {each:>17.2} {query:>10.2}");
            let of_one = format!(
                "SELECT site, count(*) FROM events WHERE process = '{}' GROUP BY site",
                a_process(&set.join("events"))
            );
            let query = run(&self.scale, &["query".as_ref(), of_one.as_ref(), set.as_ref()]);
            print_figure(
                "  read by a query for one process",
                query.read as f64 / bytes * 100.0,
                "%",
                1.0,
                true,
            );
            fs::remove_dir_all(set).expect("it is ours");
            processes *= 10;
        }
    }

    /// Records the events of some processes, and seals them. Returns the time of the seal, in s.
    fn seal_each(&self, processes: &[u64], of_process: u64, set: &Path) -> f64 {
        let spool = self.directory.join("spool");
        fs::create_dir_all(&spool).expect("there is room");
        for process in processes {
            let path = spool.join(format!("{process}.spy"));
            // From half of the average to one and a half.
            let events = of_process / 2 + of_process * (process * 7 % 10) / 9;
            let first = process * NODES;
            record(events, first..first + NODES / 2 + process % NODES, &path);
            let file = fs::File::options().write(true).open(&path).expect("it was recorded");
            let pid = FIRST_PID + process;
            file.write_all_at(&pid.to_le_bytes(), PROCESS).expect("there is room");
        }
        let sealed =
            run(&self.scale, &["seal".as_ref(), spool.as_ref(), "--to".as_ref(), set.as_ref()]);
        fs::remove_dir_all(spool).expect("it is ours");
        sealed.time.as_secs_f64()
    }

    /// Bytes of an event of a recording, sealed and exported.
    fn bytes(&self, spy: &Path) {
        let name = spy.file_stem().expect("a recording is a file").to_string_lossy().into_owned();
        let set = self.directory.join(&name);
        run(&self.scale, &["seal".as_ref(), spy.as_ref(), "--to".as_ref(), set.as_ref()]);
        let (events, parquet) = sealed_events(&set);
        let each = |bytes: u64| bytes as f64 / events as f64;
        println!("{name}: {events} events, bytes of each");
        print_figure("  sealed", each(parquet), "", 8.0, true);
        println!("  sealed, with all other tables {:>37.2}", each(bytes_below(&set)));
        println!("  the recording {:>53.2}", each(bytes_of(spy)));
        for format in FORMATS {
            let out = self.directory.join(format!("{name}.{format}"));
            let arguments = [
                "export".as_ref(),
                "--to".as_ref(),
                format.as_ref(),
                "-o".as_ref(),
                out.as_os_str(),
            ];
            run(&self.metaspy, &[&arguments[..], &[spy.as_ref()]].concat());
            println!("  {format:<10} {:>56.2}", each(bytes_of(&out)));
        }
    }
}

/// The name of a process, of which a table has a partition.
fn a_process(table: &Path) -> String {
    let mut path = table.to_owned();
    loop {
        let mut entries = fs::read_dir(&path).expect("it was sealed").filter_map(Result::ok);
        path = entries.next().expect("there is a partition").path();
        let name = path.file_name().expect("it is in a directory").to_string_lossy();
        if let Some(process) = name.strip_prefix("process=") {
            return process.to_owned();
        }
    }
}

/// The events and the bytes of their table, in the only partition of a sealed set.
fn sealed_events(set: &Path) -> (u64, u64) {
    let mut path = set.to_owned();
    while !path.join("sealed.json").exists() {
        let entries = fs::read_dir(&path)
            .expect("it was sealed")
            .filter_map(|entry| Some(entry.ok()?.path()));
        let is_part = |path: &PathBuf| path.is_dir() && path.to_string_lossy().contains("/run=");
        path = entries.into_iter().find(is_part).expect("there is a partition");
    }
    let manifest = fs::read(path.join("sealed.json")).expect("it was written");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("it is JSON");
    let number = |name: &str| manifest[name].as_u64().expect("it is a number");
    (number("events"), number("bytes"))
}

fn main() {
    let (mut events, mut rounds, mut processes, mut of_process) =
        (100_000_000, 3, 1_000, 1_000_000);
    let mut recordings = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number =
            || arguments.next().and_then(|it| it.parse::<u64>().ok()).expect("a number follows");
        match argument.as_str() {
            "--events" => events = number(),
            "--rounds" => rounds = number().max(1) as usize,
            "--processes" => processes = number(),
            "--of-process" => of_process = number(),
            "--bench" => {}
            _ => recordings.push(PathBuf::from(argument)),
        }
    }
    let directory =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("the target directory is writable");
    let metaspy = std::env::var_os("METASPY").unwrap_or("metaspy".into()).into();
    let scale = env!("CARGO_BIN_EXE_metaspy-scale").into();
    let bench = Bench { metaspy, scale, directory, rounds };
    if events > 0 {
        bench.speed(events);
    }
    if processes > 0 {
        bench.fleet(processes, of_process);
    }
    recordings.iter().for_each(|spy| bench.bytes(spy));
    fs::remove_dir_all(&bench.directory).expect("it is ours");
}
