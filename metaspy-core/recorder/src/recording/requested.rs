//! The recording that the environment selects, with `METASPY_RECORD` and `METASPY_BUDGET`. With
//! `METASPY_CONTROL=1`, the crawler may arm and disarm sites while the program runs.
//!
//! It never makes the program fail: a recording that cannot be made is reported once, and the
//! program's own profilers use memory.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use metaspy_format::Policy;
use metaspy_reader::platform::writer_lock;
use metaspy_reader::units::parse_size;

use crate::format::superblock as sb;
use crate::platform::{switch, warn};
use crate::recorder::{self, Backing, Log, Rules, Spec};
use crate::recording::rotation::Rotation;
use crate::recording::{DEFAULT_BUDGET, StartError, directory, names};

/// The place of the recording where `METASPY_RECORD` selects none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Otherwise {
    Memory,
    Live,
}

/// The recording cannot be made.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);
/// The serial number of its log; 0 = none.
static SELECTED: AtomicU64 = AtomicU64::new(0);

/// The current log. Starts the selected one if there is none.
pub(super) fn ensure(otherwise: Otherwise) -> Result<&'static Log, StartError> {
    match ensure_in(otherwise, Path::to_owned) {
        // The process that started this one records there, or another one of the same environment.
        Err(error) if is_busy(&error) => match ensure_in(otherwise, of_this_process) {
            // Before it became another program, this process recorded there.
            Err(error) if is_busy(&error) => ensure_in(otherwise, next_of_this_process),
            started => started,
        },
        started => started,
    }
}

fn is_busy(error: &StartError) -> bool {
    matches!(error, StartError::File { source, .. } if source.kind() == ErrorKind::ResourceBusy)
}

/// As [`ensure`], in memory if the file cannot be made.
pub(super) fn ensure_or_use_memory() -> Result<&'static Log, StartError> {
    match ensure(Otherwise::Memory) {
        Err(error @ (StartError::File { .. } | StartError::Directory { .. })) => {
            refuse(&error);
            ensure(Otherwise::Memory)
        }
        started => started,
    }
}

/// Reports, once, that the recording cannot be made. The process has none in a file from now on,
/// unless it starts one.
pub fn refuse(error: &StartError) {
    if !IS_REFUSED.swap(true, Ordering::Relaxed) {
        warn(&format!("nothing is recorded: {error}"));
    }
}

/// Starts the selected recording in a forked child of a process that had it. `None` if that process
/// had none.
pub(super) fn in_forked_child() -> Result<Option<&'static Log>, StartError> {
    let has_none = SELECTED.load(Ordering::Relaxed) == 0 || recorder::current().is_some();
    if has_none { Ok(None) } else { ensure(Otherwise::Live).map(Some) }
}

/// Reports that the program starts a recording of its own, if that ends the selected one.
pub(super) fn note_end(log: &Log, next: &Log) {
    if SELECTED.compare_exchange(log.serial, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        && let Some(file) = &log.file
    {
        let place = match &next.file {
            Some(next) => format!("`metaspy report {}` has what follows", next.path().display()),
            None => "What follows is in its memory only".to_owned(),
        };
        let ended = file.path().display();
        let note = format!(
            "The program starts a recording of its own: METASPY_RECORD={ended} ends here. {place}."
        );
        log.note(&note);
        warn(&note);
    }
}

fn ensure_in(
    otherwise: Otherwise,
    place: fn(&Path) -> PathBuf,
) -> Result<&'static Log, StartError> {
    let mut is_new = false;
    let log = recorder::ensure(|| {
        is_new = true;
        spec(otherwise, place)
    })?;
    if is_new {
        select(log);
        if let Some(rotation) = Rotation::of_environment().filter(|_| log.file.is_some()) {
            rotation.watch(log);
        }
    }
    Ok(log)
}

fn select(log: &'static Log) {
    SELECTED.store(log.serial, Ordering::Relaxed);
    if switch("METASPY_CONTROL", "the crawler may not arm sites") {
        super::allow_orders(log);
    }
    if switch("METASPY_GUARD", "a truncated recording ends the program") {
        super::guard(log);
    }
}

/// Starts the recording that follows a selected one in the rotation. `None` if the program ends, or
/// has started one of its own. On a full disk it is an error: recordings in memory would add up.
pub(super) fn follow(log: &'static Log) -> Result<Option<&'static Log>, StartError> {
    let earlier_files = log.word(sb::EARLIER_FILES).load(Ordering::Relaxed) + 1;
    let next = || {
        Ok(Spec {
            earlier_files,
            may_be_in_memory: false,
            ..spec(Otherwise::Live, next_of_this_process)?
        })
    };
    let Some(next) = recorder::follow(log, next)? else { return Ok(None) };
    select(next);
    if let Some(Ok(file)) = log.file.as_ref().map(|file| file.get()) {
        writer_lock::release(file);
    }
    recorder::let_go_before(log);
    Ok(Some(next))
}

fn spec(otherwise: Otherwise, place: fn(&Path) -> PathBuf) -> Result<Spec, StartError> {
    let budget = match std::env::var("METASPY_BUDGET") {
        Ok(text) if text.is_empty() => DEFAULT_BUDGET,
        Ok(text) => parse_size(&text).unwrap_or_else(|error| {
            warn(&format!("METASPY_BUDGET: {error}; the default of 256MiB is used"));
            DEFAULT_BUDGET
        }),
        Err(_) => DEFAULT_BUDGET,
    };
    let budget = Rotation::of_environment().and_then(|rotation| rotation.bytes).unwrap_or(budget);
    let selected = std::env::var_os("METASPY_RECORD").filter(|value| !value.is_empty());
    let backing = match selected {
        _ if IS_REFUSED.load(Ordering::Relaxed) => Backing::Memory,
        None if otherwise == Otherwise::Memory => Backing::Memory,
        Some(value) if value == "memory" => Backing::Memory,
        Some(path) if path != "live" => {
            report_word(&path);
            Backing::File(place(Path::new(&path)))
        }
        None | Some(_) => Backing::File(directory::new_live_file(budget)?),
    };
    Ok(Spec {
        backing,
        budget,
        policy: Policy::default(),
        collector: true,
        earlier_files: 0,
        may_be_in_memory: true,
        linked_names: Some(names::linked_bytes()),
        keep: keep(),
    })
}

/// The rules that say which events are kept. Those with an error are reported, and nothing is kept.
fn keep() -> Rules {
    let text = std::env::var("METASPY_KEEP").unwrap_or_default();
    text.parse().unwrap_or_else(|error| {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            warn(&format!("METASPY_KEEP: {error}; nothing is kept beyond the window"))
        });
        Rules::default()
    })
}

/// Reports a path that looks like a switch or a misspelt word.
fn report_word(path: &OsStr) {
    let word = path.to_string_lossy().trim().to_lowercase();
    if ["live", "memory", "0", "1", "on", "off", "yes", "no", "true", "false"]
        .contains(&word.as_str())
    {
        warn(&format!(
            "METASPY_RECORD={} is a path: the recording is a file of this name here. Write `live`, `memory`, or a name that \
             ends with `.spy`",
            path.display()
        ));
    }
}

/// The file of this process beside that of another one: `run.4711.spy` beside `run.spy`.
fn of_this_process(path: &Path) -> PathBuf {
    beside(path, std::process::id().to_string())
}

/// The next file of this process in the rotation: `run.4711.000002.spy` after `run.spy`.
fn next_of_this_process(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(2);
    directory::next_free(&NEXT, |number| {
        beside(path, format!("{}.{number:06}", std::process::id()))
    })
}

fn beside(path: &Path, middle: String) -> PathBuf {
    let mut extension = OsString::from(middle);
    if let Some(last) = path.extension() {
        extension.push(".");
        extension.push(last);
    }
    path.with_extension(extension)
}
