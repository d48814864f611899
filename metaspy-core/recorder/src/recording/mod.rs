//! Recordings: everything that one run emitted, in memory or in a `.spy` file.

mod directory;
mod names;
mod requested;
mod rotation;
mod unrecorded;

pub use crate::identity::is_recording;
pub use crate::recorder::StartError;
pub use directory::{Cleaned, Listed, clean, directory, find, list, refusal, removed_from, run};

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use linkme::distributed_slice;
pub use metaspy_format::Policy;
use requested::Otherwise;
#[doc(hidden)]
pub use requested::refuse;
pub use unrecorded::UNRECORDED;
#[doc(hidden)]
pub use unrecorded::leave_name;

use crate::format::layout;
use crate::format::superblock as sb;
use crate::platform::truncation;
use crate::recorder::{self, Backing, Log, Spec};
use crate::store::Store;

/// The default budget of a recording: 256 MiB.
pub const DEFAULT_BUDGET: u64 = 256 << 20;
/// The default budget of a growing recording: 64 GiB.
pub const GROW_BUDGET: u64 = 64 << 30;
/// The smallest and the largest budget. A recording with a budget out of this range takes the
/// nearest and notes this.
pub const BUDGETS: std::ops::RangeInclusive<u64> = layout::SMALLEST..=layout::LARGEST;

/// A recording that this process writes.
///
/// It lasts until another one starts or the process ends. If the program starts one, this also ends
/// the one that the environment selected, and is reported. A program that starts none has one in
/// memory as soon as a profiler is installed.
///
/// With `METASPY_RECORD=live` or a path in the environment, a program is recorded from its start.
/// `METASPY_OBSERVE` then selects the sites, in addition to the program's own profilers: selectors
/// separated by commas. Unset, it selects everything; empty, nothing.
///
/// ```
/// use metaspy_recorder::recording::Recording;
///
/// let recording = Recording::memory().budget(4 << 20).start()?;
/// assert_eq!(recording.store().totals().emitted, 0);
/// # Ok::<(), metaspy_recorder::recording::StartError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Recording {
    log: &'static Log,
}

impl Recording {
    /// A recording in memory.
    pub fn memory() -> Builder {
        Builder::new(Storage::Memory)
    }

    /// A recording in a file.
    pub fn file(path: impl Into<PathBuf>) -> Builder {
        Builder::new(Storage::File(path.into()))
    }

    /// A recording in the directory of live recordings, where `metaspy attach` finds it.
    pub fn live() -> Builder {
        Builder::new(Storage::Live)
    }

    /// The current recording of this process. Starts the default one if there is none: in memory,
    /// also if the one that `METASPY_RECORD` selects cannot be made.
    pub fn current() -> Result<Recording, StartError> {
        names::register();
        Ok(Recording { log: requested::ensure_or_use_memory()? })
    }

    /// The recording that the environment selects; a live one if it selects none.
    #[doc(hidden)]
    pub fn selected() -> Result<Recording, StartError> {
        names::register();
        Ok(Recording { log: requested::ensure(Otherwise::Live)? })
    }

    /// The current recording of this process, if there is one.
    pub fn running() -> Option<Recording> {
        recorder::current().map(|log| Recording { log })
    }

    /// Starts a recording in a forked child, which records nothing before this: the one that the
    /// environment selects, in a file beside that of its parent, `run.4711.spy` beside `run.spy`.
    /// `None` if the parent had none of the environment's.
    ///
    /// It allocates and starts a thread, so the child of a program with several threads may call it
    /// only where it may do the same. Sites stay armed as they are in the parent; its method
    /// profilers do not run in the child.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn in_forked_child() -> Result<Option<Recording>, StartError> {
        names::register();
        Ok(requested::in_forked_child()?.map(|log| Recording { log }))
    }

    /// Its log.
    #[doc(hidden)]
    pub fn log(&self) -> &'static Log {
        self.log
    }

    /// Its file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.log.file.as_ref().map(|file| file.path())
    }

    /// A reader of its present content.
    ///
    /// # Panics
    /// If another process has truncated the file; see [`Recording::store_if_sound`].
    pub fn store(&self) -> Store {
        self.store_if_sound().expect("the recording's file is not truncated")
    }

    /// A reader of its present content; an error if another process has truncated the file.
    pub fn store_if_sound(&self) -> Result<Store, crate::store::OpenError> {
        // A closed recording stays as it is.
        if !self.log.is_closed() {
            recorder::sync_names(self.log);
            self.log.calibrate();
            self.log.word(sb::LAST_TICK).store(crate::clock::now(), Ordering::Release);
        }
        match (self.log.region(), self.path()) {
            (None, Some(path)) => Store::open(path),
            (region, _) => {
                Store::of_writer(region.unwrap_or_else(|| self.log.region.clone()), self.log.layout)
            }
        }
    }

    /// Closes the recording. Hooks continue to count, but no more events are stored.
    pub fn close(&self) {
        self.log.close();
    }

    /// Does a round of the collector's work, in a recording without its thread. True if there is
    /// more to do.
    pub fn collect(&self) -> bool {
        self.log.collect_once()
    }

    /// Writes the names that were registered since the collector last did. A process may end before
    /// it does so again.
    #[doc(hidden)]
    pub fn write_names(&self) {
        recorder::sync_names(self.log);
    }

    /// Keeps events from being folded while they are counted; see [`Log::lease`].
    #[doc(hidden)]
    pub fn lease(&self) -> recorder::Lease {
        self.log.lease()
    }

    #[doc(hidden)]
    pub fn append(&self, draft: recorder::Draft) {
        self.log.append(draft);
    }

    /// Writes a sentence for people into the recording.
    pub fn note(&self, text: &str) {
        self.log.note(text);
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording")
            .field("path", &self.path())
            .field("blocks", &self.log.layout.blocks)
            .finish()
    }
}

/// Storage of a recording to start.
#[derive(Clone, Debug)]
enum Storage {
    Memory,
    File(PathBuf),
    Live,
}

/// A recording to start.
#[derive(Clone, Debug)]
pub struct Builder {
    storage: Storage,
    budget: Option<u64>,
    policy: Policy,
    collector: bool,
    guarded: bool,
    linked_sites: bool,
    controlled: bool,
    keep: String,
}

impl Builder {
    fn new(storage: Storage) -> Self {
        Builder {
            storage,
            budget: None,
            policy: Policy::default(),
            collector: true,
            guarded: false,
            linked_sites: true,
            controlled: false,
            keep: String::new(),
        }
    }

    /// Its size in bytes, tables included, within [`BUDGETS`].
    pub fn budget(mut self, bytes: u64) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// The policy for a full recording.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Rules that say which events stay when they leave the window, separated by semicolons, as in
    /// `METASPY_KEEP`. An event that meets one is kept with its causes, its effects and its links,
    /// in a quarter of the budget at most. When there is no more room, the least surprising ones
    /// give way.
    ///
    /// A rule is a [`Filter`](crate::store::Filter) (`outcome:failed`, `site:request took:>10ms`),
    /// or asks for the longest events of each site: `took:>p99.9 at site:request`. `room:40%`
    /// allows another part of the budget.
    ///
    /// ```
    /// use metaspy_recorder::recording::Recording;
    ///
    /// let recording = Recording::memory().keep("took:>p99.9 at site:request; outcome:panicked").start()?;
    /// let kept = recording.store().kept().expect("there are rules");
    /// assert_eq!((kept.rules.len(), kept.units.len()), (2, 0));
    /// # Ok::<(), metaspy_recorder::recording::StartError>(())
    /// ```
    pub fn keep(mut self, rules: impl Into<String>) -> Self {
        self.keep = rules.into();
        self
    }

    /// False to start no collector thread. Call [`Recording::collect`] instead.
    pub fn collector(mut self, wanted: bool) -> Self {
        self.collector = wanted;
        self
    }

    /// False to leave out the sites that the linker collected from this program. Sites that are
    /// registered at run time, such as the productions of a grammar, are then the only ones in the
    /// recording.
    pub fn linked_sites(mut self, wanted: bool) -> Self {
        self.linked_sites = wanted;
        self
    }

    /// True to let the crawler arm and disarm sites and subjects while the program runs, for
    /// processes of the same user. It needs a file. A socket beside it, `run.spy.control`, takes
    /// the requests; the collector applies them.
    pub fn controlled(mut self, wanted: bool) -> Self {
        self.controlled = wanted;
        self
    }

    /// True to guard the process against a truncation of the file by another process: the process
    /// continues, and the cut part is lost. The guard is a signal handler (SIGBUS) that passes
    /// foreign signals on.
    pub fn guarded(mut self, wanted: bool) -> Self {
        self.guarded = wanted;
        self
    }

    /// Starts it. Hooks write into it from now on, and the recording before it is closed.
    pub fn start(self) -> Result<Recording, StartError> {
        let budget = self.budget.unwrap_or(match self.policy {
            Policy::Grow => GROW_BUDGET,
            _ => DEFAULT_BUDGET,
        });
        let backing = match self.storage {
            Storage::Memory => Backing::Memory,
            Storage::File(path) => Backing::File(path),
            Storage::Live => Backing::File(directory::new_live_file(budget)?),
        };
        let Builder { policy, collector, .. } = self;
        let linked_names = self.linked_sites.then(names::linked_bytes);
        let keep = self.keep.parse().map_err(StartError::Keep)?;
        let may_be_in_memory = true;
        let earlier_files = 0;
        let spec = Spec {
            backing,
            budget,
            policy,
            collector,
            may_be_in_memory,
            linked_names,
            earlier_files,
            keep,
        };
        names::register();
        let log = recorder::start(spec, requested::note_end)?;
        if self.controlled {
            allow_orders(log);
        }
        if self.guarded {
            guard(log);
        }
        Ok(Recording { log })
    }
}

/// Functions that serve the orders of a reader, in programs that have one.
#[doc(hidden)]
#[distributed_slice]
pub static ORDER_SERVERS: [fn(&'static Log)];

/// Lets a reader arm and disarm sites of this process.
fn allow_orders(log: &'static Log) {
    ORDER_SERVERS.iter().for_each(|serve| serve(log));
}

/// Guards the mapped file of a log.
fn guard(log: &Log) {
    guard_against_truncation();
    if let Some(map) = log.region.map() {
        truncation::guard(map.as_ptr(), map.len());
    }
}

/// Guards this process against truncation of mapped recordings: the cut part reads as zeros. Stores
/// that are opened later are guarded as well.
pub fn guard_against_truncation() {
    truncation::install();
}

/// Accesses to missing pages since the guard was installed.
pub fn truncated_pages() -> u64 {
    truncation::hits()
}
