//! Session of the sampler: it starts or joins a process, and collects samples to the end.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant, SystemTime};

use metaspy_reader::Store;

use crate::RING_VARIABLE;
use crate::error::SampleError;
use crate::linux::back_end::BackEnd;
use crate::linux::code_dumps::CodeDumps;
use crate::linux::collect::Collector;
use crate::linux::collect::process::threads;
use crate::linux::perf::record::Record;
use crate::linux::perf::{Begin, Perf};
use crate::linux::priority::Priority;
use crate::linux::timer::Timer;
use crate::linux::timer::threads::OWN_THREAD;
use crate::linux::watch::{self, Watched};
use crate::options::{Choice, Clock, Options, Output, Target};
use crate::run::{Ended, Run};
use crate::samples::Samples;
use crate::statistics::Statistics;

/// The longest time between two readings of the rings.
const ROUND_MAX: Duration = Duration::from_millis(50);
/// The shortest time between two readings of the rings.
const ROUND_MIN: Duration = Duration::from_millis(1);
/// Maximum number of listings of a process's threads. Some threads begin during a listing.
const LISTINGS: usize = 10;

/// Samples, with the recordings that the processes wrote.
type Collected = (Samples, Vec<(PathBuf, Store)>);

/// Samples a target until it ends.
///
/// A running process is also left at the limit of the options, and when `stop` becomes true. A
/// started program is waited for: it has the standard streams of this process, and a terminal's
/// Ctrl-C ends it.
///
/// # Errors
///
/// If the system does not permit it, if there is no such target, or if the program does not start.
/// Where perf events are not permitted, a program that contains metaspy's feature `sample` is
/// sampled by timers; others are an error, after their end.
pub fn sample(target: &Target, options: &Options, stop: &AtomicBool) -> Result<Run, SampleError> {
    sample_watched(target, options, stop, &Watched::default())
}

/// Samples a target, and shares recent samples through `watched`.
pub(crate) fn sample_watched(
    target: &Target,
    options: &Options,
    stop: &AtomicBool,
    watched: &Watched,
) -> Result<Run, SampleError> {
    match target {
        Target::Command(words) => sample_command(words, options, watched),
        Target::Process(pid) => sample_process(*pid, options, stop, watched, || ()),
    }
}

/// Selected back end, with the reason if perf was refused.
struct Chosen {
    back_end: Box<dyn BackEnd + Send>,
    refused: Option<SampleError>,
}

impl Chosen {
    /// Selects perf where it is permitted and can measure the clock, otherwise timers.
    fn new<P: BackEnd + Send + 'static>(
        options: &Options,
        perf: impl FnOnce() -> Result<P, SampleError>,
        timer: impl FnOnce() -> Result<Timer, SampleError>,
    ) -> Result<Chosen, SampleError> {
        let refused = match (options.back_end, options.clock) {
            (Choice::Best, Clock::Processor) => match perf() {
                Ok(perf) => return Ok(Chosen { back_end: Box::new(perf), refused: None }),
                Err(error @ (SampleError::NotPermitted(_) | SampleError::NotSupported)) => {
                    Some(error)
                }
                Err(error) => return Err(error),
            },
            _ => None,
        };
        match (timer(), refused) {
            (Ok(timer), refused) => Ok(Chosen { back_end: Box::new(timer), refused }),
            // Timers are not possible either, so the refusal of perf is the error to show.
            (Err(SampleError::NotInProgram), Some(refused)) => Err(refused),
            (Err(error), _) => Err(error),
        }
    }

    /// Builds the run from its result.
    fn run(&self, of: &Begun, ended: Ended, statistics: Statistics, collected: Collected) -> Run {
        let (samples, recordings) = collected;
        let back_end = &self.back_end;
        let started = &of.started;
        Run {
            target: of.target.clone(),
            pid: of.pid,
            started_at: started.at,
            elapsed: started.instant.elapsed(),
            processor_ns: back_end.processor_ns().unwrap_or(statistics.processor_ns()),
            back_end: back_end.name(),
            refused: self.refused.as_ref().map(SampleError::to_string),
            untimed: back_end.untimed(),
            with_kernel: back_end.with_kernel(),
            options: back_end.options().clone(),
            ended,
            statistics,
            samples,
            recordings,
        }
    }
}

/// Running target.
struct Begun {
    target: Vec<String>,
    pid: u32,
    started: Started,
}

/// Start of a run, by both clocks.
#[derive(Clone, Copy)]
struct Started {
    at: SystemTime,
    instant: Instant,
}

impl Started {
    fn now() -> Started {
        Started { at: SystemTime::now(), instant: Instant::now() }
    }
}

fn sample_command(
    words: &[OsString],
    options: &Options,
    watched: &Watched,
) -> Result<Run, SampleError> {
    let (sender, opened) = channel();
    let started = Started::now();
    let dumps = CodeDumps::new();
    std::thread::scope(|scope| {
        let child = scope.spawn(|| start(words, options, dumps.as_ref(), sender));
        // If no back end arrives, the thread has ended, and its result is the error.
        let collected = opened.recv().ok().map(|(mut chosen, pid): (Chosen, u32)| {
            let target = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            let begun = Begun { target, pid, started };
            let collected =
                collect(&mut chosen, Collector::default(), &begun, watched, || child.is_finished());
            (chosen, collected, begun)
        });
        let (status, statistics) =
            child.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let (chosen, collected, begun) = collected.ok_or_else(|| {
            SampleError::System(io::Error::other("the program ended before it was sampled"))
        })?;
        if chosen.back_end.attached() == 0 {
            return Err(chosen.refused.unwrap_or(SampleError::NotInProgram));
        }
        Ok(chosen.run(&begun, Ended::Exited(status), statistics, collected))
    })
}

/// Opens the events, starts the program, and waits for its end.
///
/// Events belong to the thread that opens them. A child inherits them before it runs, so nothing is
/// missed. They begin when the child executes its program, so no code of the sampler is sampled.
fn start(
    words: &[OsString],
    options: &Options,
    dumps: Option<&CodeDumps>,
    opened: Sender<(Chosen, u32)>,
) -> Result<(ExitStatus, Statistics), SampleError> {
    let program = words.first().cloned().unwrap_or_default();
    let mut command = Command::new(&program);
    let timer = || {
        let timer = Timer::new(options)?;
        command.env(RING_VARIABLE, timer.path());
        Ok(timer)
    };
    let chosen = Chosen::new(options, || Perf::open_for_children(options), timer)?;
    command.args(words.get(1..).unwrap_or_default());
    command.envs(dumps.map(|dumps| ("METASPY_CODE_MAP", dumps.path())));
    if options.output == Output::StandardError {
        command.stdout(io::stderr());
    }
    let child = command
        .spawn()
        .map_err(|error| SampleError::Start(program.to_string_lossy().into_owned(), error))?;
    // The receiver stays open until this thread ends.
    let _ = opened.send((chosen, child.id()));
    Statistics::of_ended(&child).map_err(SampleError::System)
}

/// Samples a running process. It calls `opened` when the threads are sampled.
pub(crate) fn sample_process(
    pid: u32,
    options: &Options,
    stop: &AtomicBool,
    watched: &Watched,
    opened: impl FnOnce(),
) -> Result<Run, SampleError> {
    let exists = |pid: u32| Path::new(&format!("/proc/{pid}/task")).exists();
    if !exists(pid) {
        return Err(SampleError::NoProcess(pid));
    }
    let is_own = pid == std::process::id();
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = arguments.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    let mut collector = Collector::default();
    let timer =
        || if is_own { Timer::of_this_process(options) } else { Err(SampleError::NotInProgram) };
    let mut chosen = Chosen::new(options, || join(pid, options, &mut collector), timer)?;
    let before = Statistics::of_process(pid);
    let started = Started::now();
    let target = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let begun = Begun { target, pid, started };
    opened();
    let collected = collect(&mut chosen, collector, &begun, watched, || {
        let is_late = options.limit.is_some_and(|limit| started.instant.elapsed() >= limit);
        is_late || stop.load(Ordering::Relaxed) || !exists(pid) || is_zombie(pid)
    });
    let ended = if exists(pid) && !is_zombie(pid) { Ended::Runs } else { Ended::Unknown };
    let statistics = Statistics::of_process(pid).since(&before);
    Ok(chosen.run(&begun, ended, statistics, collected))
}

/// Opens the events of all threads of a process.
fn join(pid: u32, options: &Options, collector: &mut Collector) -> Result<Perf, SampleError> {
    let mut perf = Perf::open(options, pid, Begin::Now).map_err(|error| match error {
        SampleError::NotPermitted(_) => SampleError::of_process(pid).unwrap_or(error),
        error => error,
    })?;
    // New mappings arrive as records from now on.
    collector.add_running(pid);
    let mut seen = HashSet::from([pid]);
    let mut records = Vec::new();
    // Threads that begin meanwhile are found by a new listing. The children of sampled threads have
    // inherited their events.
    for _ in 0..LISTINGS {
        let listed: Vec<u32> =
            threads(pid).into_iter().filter(|thread| !seen.contains(thread)).collect();
        if listed.is_empty() {
            break;
        }
        perf.drain(&mut records);
        seen.extend(records.iter().filter_map(Record::new_thread));
        collector.round(&mut records);
        for thread in listed {
            if seen.insert(thread) && !is_ours(pid, thread) {
                perf.add(thread)?;
            }
        }
    }
    Ok(perf)
}

/// Returns true for a sampler's own thread in this process.
fn is_ours(pid: u32, thread: u32) -> bool {
    let name = || fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm"));
    pid == std::process::id() && name().is_ok_and(|name| name.trim_end() == OWN_THREAD)
}

/// Returns true if a process has ended, but its parent has not yet waited for it.
fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

/// Reads the rings until `is_over` returns true, and then a last time.
fn collect(
    chosen: &mut Chosen,
    mut collector: Collector,
    begun: &Begun,
    watched: &Watched,
    is_over: impl Fn() -> bool,
) -> Collected {
    // The pauses are short enough to read a ring before it is a quarter full.
    let back_end = &mut chosen.back_end;
    let quarter = back_end.samples_that_fit() * back_end.options().period_ns() / 4;
    let pause = Duration::from_nanos(quarter).clamp(ROUND_MIN, ROUND_MAX);
    let mut records = Vec::new();
    // Among a thousand busy threads, this thread would not read in time. Without the right to raise
    // its priority, samples may be lost.
    let _first = Priority::raise();
    while !is_over() {
        chosen.back_end.drain(&mut records);
        collector.round(&mut records);
        watched.leave(|| {
            let recent = (collector.recent(watch::WINDOW), Vec::new());
            chosen.run(begun, Ended::Runs, Statistics::default(), recent)
        });
        std::thread::sleep(pause);
    }
    let back_end = &mut chosen.back_end;
    back_end.disable();
    back_end.drain(&mut records);
    collector.round(&mut records);
    collector.finish()
}
