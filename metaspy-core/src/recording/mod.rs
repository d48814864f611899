//! Recordings: everything that one run emitted, in memory or in a `.spy` file.

pub(crate) mod directory;
mod identity;
mod names;

pub use crate::recorder::StartError;
pub use directory::{Listed, clean, directory, find, list, removed_from, run};
pub(crate) use identity::build_id;
pub use identity::is_recording;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

pub use metaspy_format::Policy;

use crate::format::superblock as sb;
use crate::platform::truncation;
use crate::recorder::{self, Backing, Log, Spec, layout};
use crate::store::Store;

/// The budget of a recording that does not name one: 256 MiB.
pub const DEFAULT_BUDGET: u64 = 256 << 20;
/// The budget of a growing recording that does not name one: 64 GiB.
pub const GROW_BUDGET: u64 = 64 << 30;
/// The smallest and the largest budget; a recording that is asked to take less or more says so and takes these.
pub const BUDGETS: std::ops::RangeInclusive<u64> = layout::SMALLEST..=layout::LARGEST;

/// A recording that this process writes.
///
/// It goes on until another one is started or the process ends. A program that never starts one has one in memory as
/// soon as a profiler is installed.
///
/// With `METASPY_RECORD=live`, or a path, in its environment a program is recorded from its start; `METASPY_OBSERVE` has
/// selectors, separated by commas, of what is observed then, whatever profilers it installs itself. Without it that is
/// everything; if it is empty, nothing.
#[derive(Clone, Copy)]
pub struct Recording {
    log: &'static Log,
}

impl Recording {
    /// A recording in memory.
    pub fn memory() -> Builder {
        Builder::new(Place::Memory)
    }

    /// A recording in a file.
    pub fn file(path: impl Into<PathBuf>) -> Builder {
        Builder::new(Place::File(path.into()))
    }

    /// A recording in the directory of live recordings, where `metaspy attach` finds it.
    pub fn live() -> Builder {
        Builder::new(Place::Live)
    }

    /// The recording that this process writes now; starts the default one if there is none.
    pub fn current() -> Result<Recording, StartError> {
        names::register();
        Ok(Recording { log: recorder::ensure(default_spec)? })
    }

    /// As [`Recording::current`], but the default is a live recording.
    pub(crate) fn live_by_default() -> Result<Recording, StartError> {
        let live = || {
            let spec = default_spec()?;
            Ok(Spec { backing: Backing::File(directory::new_live_file(spec.budget)?), ..spec })
        };
        Ok(Recording { log: recorder::ensure(live)? })
    }

    /// The log that it is.
    pub(crate) fn log(&self) -> &'static Log {
        self.log
    }

    /// Its file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.log.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// The read side, as of now.
    ///
    /// # Panics
    /// If the recording's file was truncated by somebody, so that it is no recording any more; see
    /// [`Recording::store_if_sound`].
    pub fn store(&self) -> Store {
        self.store_if_sound().expect("nobody truncated the recording's file")
    }

    /// The read side, as of now; an error if the recording's file was truncated by somebody.
    pub fn store_if_sound(&self) -> Result<Store, crate::store::OpenError> {
        recorder::sync_names(self.log);
        self.log.calibrate();
        self.log.word(sb::LAST_TICK).store(crate::clock::now(), Ordering::Release);
        Store::from_region(self.log.region.clone())
    }

    /// Ends the recording in good order. Hooks go on counting; no event is stored any more.
    pub fn close(&self) {
        self.log.close();
    }

    /// Lets the collector do its work now, in a recording that has no thread for it. True if there is more to do.
    pub fn collect(&self) -> bool {
        self.log.collect_once()
    }

    /// Keeps old events from being folded while they are counted; see [`Log::lease`].
    pub(crate) fn lease(&self) -> impl Drop + use<> {
        self.log.lease()
    }

    pub(crate) fn append(&self, draft: recorder::Draft) {
        self.log.append(draft);
    }

    /// Writes a sentence for people into the recording.
    pub fn note(&self, text: &str) {
        self.log.note(text);
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("path", &self.path()).field("blocks", &self.log.layout.blocks).finish()
    }
}

#[derive(Clone, Debug)]
enum Place {
    Memory,
    File(PathBuf),
    Live,
}

/// A recording to be started.
#[derive(Clone, Debug)]
pub struct Builder {
    place: Place,
    budget: Option<u64>,
    policy: Policy,
    collector: bool,
    guarded: bool,
}

impl Builder {
    fn new(place: Place) -> Self {
        Builder { place, budget: None, policy: Policy::default(), collector: true, guarded: false }
    }

    /// How many bytes it may take, tables included: within [`BUDGETS`].
    pub fn budget(mut self, bytes: u64) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// What happens when they are spent.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Whether a thread keeps blocks ready. Without one, call [`Recording::collect`].
    pub fn collector(mut self, wanted: bool) -> Self {
        self.collector = wanted;
        self
    }

    /// Whether the process is guarded against a file that is truncated while it records: it then goes on, and what
    /// was cut is gone. The guard is a signal handler (SIGBUS) that hands on what is not its own.
    pub fn guarded(mut self, wanted: bool) -> Self {
        self.guarded = wanted;
        self
    }

    /// Starts it. Hooks write it from now on, and a recording that was there before is closed.
    pub fn start(self) -> Result<Recording, StartError> {
        let budget = self.budget.unwrap_or(match self.policy {
            Policy::Grow => GROW_BUDGET,
            _ => DEFAULT_BUDGET,
        });
        let backing = match self.place {
            Place::Memory => Backing::Memory,
            Place::File(path) => Backing::File(path),
            Place::Live => Backing::File(directory::new_live_file(budget)?),
        };
        let spec = Spec { backing, budget, policy: self.policy, collector: self.collector };
        names::register();
        let log = recorder::start(spec)?;
        crate::arm::renew();
        if self.guarded {
            guard_against_truncation();
            if let Some(map) = log.region.map() {
                truncation::guard(map.as_ptr(), map.len());
            }
        }
        Ok(Recording { log })
    }
}

/// What `METASPY_RECORD` asks for, else memory. `METASPY_BUDGET` is a number of bytes.
pub(crate) fn default_spec() -> Result<Spec, StartError> {
    let budget = match std::env::var("METASPY_BUDGET") {
        Ok(text) => text.trim().parse().unwrap_or_else(|_| {
            eprintln!("metaspy: METASPY_BUDGET={text} is no number of bytes; {DEFAULT_BUDGET} is taken");
            DEFAULT_BUDGET
        }),
        Err(_) => DEFAULT_BUDGET,
    };
    let backing = match std::env::var_os("METASPY_RECORD") {
        None => Backing::Memory,
        Some(value) if value.is_empty() || value == "memory" => Backing::Memory,
        Some(value) if value == "live" => Backing::File(directory::new_live_file(budget)?),
        Some(path) => Backing::File(path.into()),
    };
    Ok(Spec { backing, budget, policy: Policy::default(), collector: true })
}

/// Guards this process against recordings that are truncated while it has them mapped: what was cut reads as zeros.
/// Stores that are opened afterwards are guarded as well.
pub fn guard_against_truncation() {
    truncation::install();
}

/// Pages that were missing when somebody touched them, since the guard was installed.
pub fn truncated_pages() -> u64 {
    truncation::hits()
}
