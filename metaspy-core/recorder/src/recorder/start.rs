//! Starts a log in memory or in a file, with a layout for its budget.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::Duration;

use metaspy_reader::platform::writer_lock;

use crate::clock;
use crate::format::Policy;
use crate::format::arena::Entry;
use crate::format::layout::{Area, LARGEST, Layout, SMALLEST};
use crate::format::{CHUNK_BLOCKS, Region, span, superblock as sb};
use crate::identity::{self, BUSY};
use crate::platform::lock::lock;
use crate::platform::{self, map, uncounted_thread, warn};
use crate::recorder::arena::Draft;
use crate::recorder::collector_state::CollectorState;
use crate::recorder::cut_spans::CutSpans;
use crate::recorder::epoch::{EPOCH, epoch};
use crate::recorder::folders;
use crate::recorder::growing_area::GrowingArea;
use crate::recorder::keep::places::KeptPlaces;
use crate::recorder::keep::{self, Rules};
use crate::recorder::lane_rows::retire_lane;
use crate::recorder::listener::{self, sync_names};
use crate::recorder::log::{CURRENT, LOGS, LaneRows, Log, NUMBERS, Named, current, has_file};
use crate::recorder::next_epoch::next_epoch;
use crate::recorder::own_file::OwnFile;
use crate::recorder::own_words::OwnWords;
use crate::recorder::protocol::ReadyRing;
use crate::recorder::stale_summaries::StaleSummaries;
use crate::recorder::start_error::StartError;
use crate::recorder::statement_halves::StatementHalves;
use crate::recorder::tally_page::Page;

/// The place of a log.
#[derive(Clone, Debug)]
pub(crate) enum Backing {
    Memory,
    File(PathBuf),
}

/// The requested log.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub backing: Backing,
    pub budget: u64,
    pub policy: Policy,
    /// Bytes of the names of the sites that the linker collected; `None` to leave these sites out.
    pub linked_names: Option<usize>,
    /// True to start the collector's thread. Without it, tests call [`Log::round`].
    pub collector: bool,
    /// Files before it in its rotation.
    pub earlier_files: u64,
    /// Rules that say which events are kept when they leave the window.
    pub keep: Rules,
    /// True if it is better in memory than not at all, where the disk is full.
    pub may_be_in_memory: bool,
}

static STARTING: Mutex<()> = Mutex::new(());
/// Bytes of the program's arguments that are recorded.
const ARGUMENTS_MAX: usize = 32 << 10;

/// The current log. Starts one with `default` if there is none.
pub(crate) fn ensure(
    default: impl FnOnce() -> Result<Spec, StartError>,
) -> Result<&'static Log, StartError> {
    if let Some(log) = current() {
        return Ok(log);
    }
    let _starting = lock(&STARTING);
    match current() {
        Some(log) => Ok(log),
        None => begin(default()?, |_, _| ()),
    }
}

/// Starts a log; hooks write it from now on. `ends` is called with the one that it replaces, before
/// that is closed, and with the new one.
pub fn start(spec: Spec, ends: fn(&Log, &Log)) -> Result<&'static Log, StartError> {
    let _starting = lock(&STARTING);
    begin(spec, ends)
}

/// Starts the log that follows another one. `None` if that one is not the current log any more, or
/// is being closed.
pub fn follow(
    before: &Log,
    spec: impl FnOnce() -> Result<Spec, StartError>,
) -> Result<Option<&'static Log>, StartError> {
    let _starting = lock(&STARTING);
    match current() {
        Some(log) if std::ptr::eq(log, before) && !log.is_closing() => {
            begin(spec()?, |before, _| before.word(sb::FOLLOWED).store(1, Ordering::Relaxed))
                .map(Some)
        }
        _ => Ok(None),
    }
}

fn begin(spec: Spec, ends: fn(&Log, &Log)) -> Result<&'static Log, StartError> {
    if platform::process::is_privileged() {
        return Err(StartError::Privileged);
    }
    clock::choose();
    static SERIAL: AtomicU64 = AtomicU64::new(1);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    // Callbacks that are registered with the system from here on are code of this library.
    platform::library::stay_loaded();
    platform::thread_end::watch_threads(|| {
        listener::thread_ended();
        retire_lane();
    });
    close_at_exit();
    let (log, note) = match &spec.backing {
        Backing::Memory => (in_memory(&spec, serial)?, None),
        Backing::File(path) => match in_file(&spec, path, serial) {
            Ok(log) => (log, None),
            Err(StartError::File { path, source }) if spec.may_be_in_memory && is_full(&source) => {
                let note = format!(
                    "There is no room for {}: {source}. This recording is in memory instead.",
                    path.display()
                );
                (in_memory(&spec, serial)?, Some(note))
            }
            Err(error) => return Err(error),
        },
    };
    let log: &'static Log = Box::leak(Box::new(log));
    log.describe_program();
    sync_names(log);
    listener::started(log);
    if let Some(note) = note {
        log.note(&note);
        warn(&note);
    }
    if let Some(note) = other_budget(spec.budget) {
        log.note(&note);
    }
    log.calibrate();
    log.round();
    log.word(sb::MAGIC).store(sb::MAGIC_WORD, Ordering::Release);
    take_number(log);
    let before = keep::begin(log, &spec.keep, || {
        CURRENT.swap(std::ptr::from_ref(log).cast_mut(), Ordering::SeqCst)
    });
    listener::replaced(log);
    // A lane continues in the new log as soon as it meets the new epoch.
    next_epoch("a recording begins");
    // SAFETY: logs are leaked boxes.
    if let Some(before) = unsafe { before.as_ref() } {
        before.replaced_in.store(epoch(), Ordering::Release);
        ends(before, log);
        before.close();
    }
    watch_forks();
    if spec.collector {
        spawn_collector(log);
    }
    Ok(log)
}

/// Gives a log its number, which an earlier one had. That one was closed long before: nothing is
/// written into it any more.
fn take_number(log: &'static Log) {
    let earlier =
        LOGS[log.number as usize].swap(std::ptr::from_ref(log).cast_mut(), Ordering::AcqRel);
    // SAFETY: logs are leaked boxes.
    if let Some(earlier) = unsafe { earlier.as_ref() } {
        earlier.hand_over();
    }
}

/// A note for a budget that is out of range.
fn other_budget(wanted: u64) -> Option<String> {
    match wanted {
        ..SMALLEST => Some(format!(
            "The budget of {wanted} bytes is below the minimum; this recording takes 1 MiB."
        )),
        SMALLEST..=LARGEST => None,
        _ => Some(format!(
            "The budget of {wanted} bytes is above the maximum; this recording takes 1 TiB."
        )),
    }
}

/// True if there is no room on the disk or in the user's quota.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

pub(super) fn in_memory(spec: &Spec, serial: u64) -> Result<Log, StartError> {
    // A log in memory does not grow without bound. It keeps the newest events.
    let policy = if spec.policy == Policy::Grow { Policy::KeepNewest } else { spec.policy };
    let layout = Layout::with_room(spec.budget, policy, spec.linked_names.unwrap_or(0));
    let map = map::anonymous(layout.total_bytes()).map_err(StartError::Memory)?;
    let own_words = OwnWords::for_blocks(layout.blocks).map_err(StartError::Memory)?;
    let stepped = in_steps(&layout).map(GrowingArea::in_memory);
    let log = Log::new(
        Spec { policy, ..spec.clone() },
        layout,
        stepped,
        Region::writable(map),
        None,
        serial,
        own_words,
    );
    log.word(sb::GROWN).store(layout.blocks, Ordering::Release);
    Ok(log)
}

fn in_file(spec: &Spec, path: &Path, serial: u64) -> Result<Log, StartError> {
    let failed = |source| StartError::File { path: path.to_owned(), source };
    let layout = Layout::with_room(spec.budget, spec.policy, spec.linked_names.unwrap_or(0));
    let own_words = OwnWords::for_blocks(layout.blocks).map_err(StartError::Memory)?;
    // Before the file exists, so that it is empty for no longer than it must.
    let first_bytes = identity::first_bytes();
    if layout.total_bytes() as u64 > platform::process::largest_file() {
        return Err(failed(io::ErrorKind::FileTooLarge.into()));
    }
    let own = Arc::new(new_file(path).map_err(failed)?);
    let made = own.get().and_then(|mut file| {
        writer_lock::take(file);
        file.write_all(&first_bytes)?;
        file.set_len(layout.total_bytes() as u64)?;
        allocate_tables(file, &layout)?;
        let [arena, first, second, profiles] =
            in_steps(&layout).map(|area| GrowingArea::in_file(area, &own));
        Ok((map::file(file, layout.total_bytes())?, [arena?, first?, second?, profiles?]))
    });
    let (map, stepped) = made.inspect_err(|_| drop(std::fs::remove_file(path))).map_err(failed)?;
    Ok(Log::new(spec.clone(), layout, stepped, Region::writable(map), Some(own), serial, own_words))
}

/// The areas that a file allocates in steps.
fn in_steps(layout: &Layout) -> [Area; 4] {
    [layout.arena, layout.half(0), layout.half(1), layout.profiles]
}

/// Allocates the first page and all areas, except those that are allocated in steps. The tallies
/// need their room when the disk is full, because then many events leave the window.
fn allocate_tables(file: &File, layout: &Layout) -> io::Result<()> {
    map::allocate(file, 0, sb::BYTES as u64)?;
    let in_steps = [sb::ARENA, sb::STATEMENTS, sb::PROFILES, sb::CHUNKS];
    let mut at_once = layout.areas().filter(|(word, ..)| !in_steps.contains(word));
    at_once
        .try_for_each(|(_, _, area)| map::allocate(file, area.offset() as u64, area.bytes() as u64))
}

/// Creates the file of a recording in the place of that of an ended process.
fn new_file(path: &Path) -> io::Result<OwnFile> {
    // Another process may still read the old recording, so it is unlinked and not overwritten.
    identity::remove_dead(path, has_file)?;
    OwnFile::create(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::Error::new(io::ErrorKind::ResourceBusy, BUSY),
        _ => error,
    })
}

impl Log {
    fn new(
        spec: Spec,
        layout: Layout,
        [arena, first, second, profiles]: [GrowingArea; 4],
        region: Region,
        file: Option<Arc<OwnFile>>,
        serial: u64,
        own_words: OwnWords,
    ) -> Log {
        let kept_places = Box::new(KeptPlaces::new(own_words.searched()));
        let log = Log {
            region,
            layout,
            number: (serial % NUMBERS) as u8 + 1,
            serial,
            began_in: epoch(),
            users: AtomicU64::new(0),
            is_handed_over: AtomicBool::new(false),
            is_gone: AtomicU8::new(0),
            is_paged_out: AtomicBool::new(false),
            policy: spec.policy,
            file,
            ready: ReadyRing::new(own_words.ready, AtomicU64::new(0), AtomicU64::new(0)),
            own_words,
            arena,
            statements: StatementHalves::new([first, second]),
            appending: Mutex::new(()),
            profiles,
            names: Mutex::new(Named {
                leaves_out_linked: spec.linked_names.is_none(),
                ..Named::default()
            }),
            hand: AtomicU64::new(0),
            folders: folders::take(&layout),
            cut_spans: CutSpans::new(),
            kept_places,
            leases: AtomicU64::new(0),
            is_watched: AtomicBool::new(false),
            summarising: AtomicU64::new(0),
            stale_summaries: StaleSummaries::new(layout.blocks / CHUNK_BLOCKS as u64),
            pages_room: AtomicUsize::new(layout.pages.bytes()),
            lanes_room: AtomicU64::new((layout.lanes.len / sb::lane::WORDS) as u64),
            collecting: Mutex::new(CollectorState::new()),
            collector: OnceLock::new(),
            scarce: AtomicU64::new(0),
            present: AtomicU64::new(0),
            short: AtomicBool::new(false),
            dry: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            replaced_in: AtomicU32::new(u32::MAX),
            late: Mutex::new(Page::none()),
            lanes: Mutex::new(LaneRows::default()),
            delivering: Mutex::new(()),
        };
        log.describe_layout(&spec);
        log.reserve_late_page();
        log
    }

    fn describe_layout(&self, spec: &Spec) {
        let words = [
            (sb::VERSION, sb::version(sb::MAJOR, sb::MINOR)),
            (sb::STATE, sb::STATE_LIVE),
            (sb::TOTAL_BYTES, self.layout.total_bytes() as u64),
            (sb::BLOCKS, self.layout.blocks),
            (sb::POLICY, spec.policy as u64),
            (sb::BUDGET, spec.budget.clamp(SMALLEST, LARGEST)),
            (sb::PID, u64::from(std::process::id())),
            (sb::STARTED_NS, platform::clock::real_ns()),
            (sb::CLOCK, clock::current() as u64),
            (sb::TICKS_PER_S, clock::rough_ticks_per_s()),
            (sb::FIRST_TICK, clock::now()),
            (sb::PROCESS_START, platform::process::start_of(std::process::id()).unwrap_or(0)),
            (sb::EARLIER_FILES, spec.earlier_files),
            (sb::EPOCH, u64::from(EPOCH.load(Ordering::Relaxed))),
            (sb::SPAN_WORD, span::recording_word(platform::random())),
            (sb::TRACE_WORD, platform::random() | 1),
        ];
        let areas = self.layout.areas();
        let places = areas.flat_map(|(word, _, area)| {
            [(word, area.offset() as u64), (word + 1, area.bytes() as u64)]
        });
        for (word, value) in words.into_iter().chain(places) {
            self.word(word).store(value, Ordering::Relaxed);
        }
    }

    fn describe_program(&self) {
        let path = platform::process::program();
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let program = serde_json::json!({
            "name": name,
            "path": path.to_string_lossy(),
            "arguments": arguments(),
            "build_id": identity::build_id(&path),
            "boot": platform::process::boot_id(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        self.append(Draft::new(Entry::Program, 0).text(&program.to_string()));
    }
}

/// The arguments of the program, as many as there is room for beside other names.
fn arguments() -> Vec<String> {
    let mut left = ARGUMENTS_MAX;
    let mut shown = Vec::new();
    for argument in std::env::args_os() {
        let text = argument.to_string_lossy();
        let Some(rest) = left.checked_sub(text.len()) else {
            shown.push("…".to_owned());
            break;
        };
        left = rest;
        shown.push(text.into_owned());
    }
    shown
}

/// Starts the collector's thread. Without it the log still works: lanes count the calls that find
/// no block.
fn spawn_collector(log: &'static Log) {
    if let Err(error) = uncounted_thread::spawn(c"metaspy-collector", || log.collect()) {
        log.note(&format!(
            "The collector's thread did not start: {error}. Events are lost when the ring is full."
        ));
    }
}

/// Keeps forked children from writing into their parent's log.
pub fn watch_forks() {
    platform::fork::on_fork(in_forked_child);
}

/// Runs in a forked child. The log belongs to the parent, so the child maps private pages over it
/// and records nothing.
extern "C" fn in_forked_child() {
    listener::forked();
    for log in &LOGS {
        // SAFETY: logs are leaked boxes.
        let Some(log) = (unsafe { log.load(Ordering::Acquire).as_ref() }) else { continue };
        log.stop();
        // It is the parent's to close, and to pack.
        log.closing.store(true, Ordering::Release);
        log.closed.store(true, Ordering::Release);
        if let Some(file) = &log.file {
            file.close();
        }
        if let Some(map) = log.region.map() {
            // SAFETY: the mapping is this process's own view of the recording. Later writes reach
            // private pages only.
            unsafe {
                metaspy_reader::platform::map::cover(map.as_mut_ptr(), log.layout.total_bytes())
            };
        }
    }
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
    EPOCH.fetch_add(1, Ordering::AcqRel);
}

fn close_at_exit() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        platform::exit::at_exit(|status| {
            retire_lane();
            let _starting = await_starting();
            if let Some(log) = current() {
                log.close_with(status);
            }
        });
    });
}

/// Waits until no log is being replaced, so that the one before is closed as well; for a second at
/// most.
fn await_starting() -> Option<MutexGuard<'static, ()>> {
    for _ in 0..1_000 {
        match STARTING.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}
