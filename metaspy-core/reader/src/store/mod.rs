//! Recordings as they are read. Events, names, times and tallies are methods of [`Store`]; their
//! code lies in the other modules.

pub(crate) mod derived;
pub(crate) mod lanes;
pub(crate) mod merged;
pub(crate) mod stream_state;
pub(crate) mod subject;

use std::path::Path;
use std::sync::Arc;

use metaspy_format::layout::Layout;
use metaspy_format::{Region, Words, superblock as sb};
use metaspy_probe::{KindId, SiteId, Subject};

use crate::event::time::Time;
use crate::names::Names;
use crate::open::Mapped;
use crate::platform::process;
use crate::ring::blocks::{BLOCK_WORDS, Ring};
use crate::ring::links::KnownLinks;
use crate::{
    AbsentFiles, EndState, Event, Header, OpenError, Outcome, Program, RecordedEpoch, RecordedKind,
    RecordedSite, RecordedView, Relation, open,
};
use derived::Derived;
use merged::Merged;
use stream_state::StreamState;

/// Recording as it is read. Clones are cheap, and share the names that had been read when they were
/// made.
///
/// ```no_run
/// use metaspy_reader::{Filter, Position, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut store = Store::open("run.spy".as_ref())?;
/// store.missing().iter().for_each(|sentence| eprintln!("{sentence}"));
/// let page = store.forward(Position::Start, &Filter::all(), 100, usize::MAX);
/// for event in &page.events {
///     let subject = event.subject.map_or(String::new(), |subject| store.subject_text(subject));
///     println!("{} ns {} {subject}", store.time_ns(event.start), store.site_path(event.site));
/// }
/// // A live recording grows: read the additions, and continue where the page ended.
/// store.refresh()?;
/// let next = page.more.map(|from| store.forward(from, &Filter::all(), 100, usize::MAX));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store {
    pub(crate) mapped: Arc<Mapped>,
    pub(crate) medium: Medium,
    pub(crate) layout: Layout,
    pub(crate) names: Arc<Names>,
    pub(crate) time: Arc<Time>,
    pub(crate) missing: Arc<Vec<String>>,
    /// Filters that were compiled with the current names.
    pub(crate) compiled: Arc<Derived>,
    pub(crate) links: Arc<KnownLinks>,
}

/// Place that a recording is read from.
#[derive(Clone)]
pub(crate) enum Medium {
    /// Memory of this process.
    Memory,
    File(Arc<Path>),
    /// Several recordings, merged into a single recording.
    Merged(Arc<Merged>),
    /// A pipe.
    Stream(Arc<StreamState>),
}

impl Store {
    /// Opens a recording in a file. The recording may be complete, or a process may still be
    /// writing it.
    pub fn open(path: &Path) -> Result<Store, OpenError> {
        Self::mapped(Mapped::file(path)?, Medium::File(path.into()))
    }

    /// Reads a recording in the memory of this process.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn from_region(region: Region) -> Result<Store, OpenError> {
        Self::mapped(Mapped::memory(region), Medium::Memory)
    }

    /// Reads a recording that this process writes. Its areas stay at their initial places, even if
    /// the areas in its file are moved.
    #[doc(hidden)]
    pub fn of_writer(region: Region, layout: Layout) -> Result<Store, OpenError> {
        open::check(&region)?;
        Ok(Self::with_layout(Mapped::memory(region), Medium::Memory, layout))
    }

    /// Reads a recording that arrives through a pipe.
    pub(crate) fn from_stream(region: Region, feed: Arc<StreamState>) -> Result<Store, OpenError> {
        Self::mapped(Mapped::guarded(region), Medium::Stream(feed))
    }

    pub(crate) fn mapped(mapped: Mapped, medium: Medium) -> Result<Store, OpenError> {
        let layout = open::check(&mapped.region)?;
        Ok(Self::with_layout(mapped, medium, layout))
    }

    fn with_layout(mapped: Mapped, medium: Medium, layout: Layout) -> Store {
        let words = mapped.region.words();
        let mut names = Names::default();
        names.read_on(words, &layout);
        let mut store = Store {
            medium,
            layout,
            names: Arc::new(names),
            time: Arc::new(Time::read(words, &layout)),
            missing: Arc::default(),
            compiled: Arc::default(),
            links: Arc::default(),
            mapped: Arc::new(mapped),
        };
        store.missing = Arc::new(store.what_is_missing());
        store
    }

    /// Reads the additions to a live recording: names, labels, calibration, and new blocks if the
    /// file grew.
    ///
    /// An error means that the file cannot be opened again. The mapped part stays readable.
    pub fn refresh(&mut self) -> Result<(), OpenError> {
        let grown = self.follow_growth();
        let words = self.mapped.region.words();
        // Clones share the names until an addition is read.
        if self.names.is_behind(words, &self.layout)
            && Arc::make_mut(&mut self.names).read_on(words, &self.layout)
        {
            self.compiled = Arc::default();
        }
        self.time = Arc::new(Time::read(words, &self.layout));
        self.missing = Arc::new(self.what_is_missing());
        grown
    }

    pub(crate) fn follow_growth(&mut self) -> Result<(), OpenError> {
        let Medium::File(path) = &self.medium else { return Ok(()) };
        if self.layout.chunks.len >= self.wanted_chunk_words() {
            return Ok(());
        }
        let mapped = Mapped::file(path)?;
        let layout = open::check(&mapped.region)?;
        // Another recording may have this path by now.
        let born = |words: Words<'_>| {
            [sb::PID, sb::STARTED_NS, sb::BLOCKS, sb::CHUNKS].map(|at| words.get(at))
        };
        if mapped.region.len() > self.mapped.region.len()
            && born(mapped.region.words()) == born(self.words())
        {
            (self.mapped, self.layout) = (Arc::new(mapped), layout);
        }
        Ok(())
    }

    /// Returns the number of words of the blocks that the recording has allocated.
    pub(crate) fn wanted_chunk_words(&self) -> usize {
        let grown = self.words().get(sb::GROWN).min(self.layout.blocks);
        (grown as usize).saturating_mul(BLOCK_WORDS)
    }

    /// Returns true while the process of the recording is still writing it.
    pub fn is_live(&self) -> bool {
        self.end_state() == EndState::Live
    }

    /// Returns the end state of the recording, or [`EndState::Live`].
    pub fn end_state(&self) -> EndState {
        match &self.medium {
            Medium::Merged(merged) => merged.end_state(),
            Medium::Stream(feed) => feed.end_state(),
            Medium::Memory if self.header().state != sb::STATE_CLOSED => EndState::Live,
            Medium::Memory | Medium::File(_) => self.end_state_as_written(),
        }
    }

    /// Returns the end state of a `.spy` file that was read from a pipe. It is never `Live`,
    /// because the copy does not grow.
    pub(crate) fn end_state_of_copy(&self) -> EndState {
        match self.end_state_as_written() {
            EndState::Live => EndState::Snapshot,
            ended => ended,
        }
    }

    pub(crate) fn end_state_as_written(&self) -> EndState {
        let header = self.header();
        if header.state == sb::STATE_CLOSED {
            return EndState::Closed;
        }
        let lives = || match process::start_of(header.pid) {
            // Some systems have no start times, so the process number decides alone.
            Some(start) => start == 0 || header.process_start == 0 || start == header.process_start,
            None => false,
        };
        // The process number decides only if the file system has no locks, because a process has
        // different numbers in different PID namespaces.
        match self.mapped.is_being_written() {
            Some(true) => EndState::Live,
            _ if lives() => EndState::Live,
            Some(false) => EndState::Killed,
            None if matches!(self.medium, Medium::File(_)) => EndState::Unknown,
            None => EndState::Killed,
        }
    }

    /// Reads the first page of the recording.
    pub fn header(&self) -> Header {
        Header::read(self.words())
    }

    /// Returns sentences about the parts that the recording should hold and does not, because the
    /// file was cut or damaged.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    pub(crate) fn what_is_missing(&self) -> Vec<String> {
        let mut missing = open::missing::missing(&self.layout, self.words());
        missing.extend(self.names.damage.clone());
        match &self.medium {
            Medium::Merged(merged) => missing.extend(merged.missing()),
            Medium::Stream(feed) => missing.extend(feed.notes()),
            Medium::Memory | Medium::File(_) => {}
        }
        missing.extend(self.mapped.cut_at_holes.map(|start| {
            format!("nothing from byte {start} on is read: the file has more than 512 MiB of holes, as after an incomplete copy")
        }));
        missing
    }

    /// Returns the files of a rotation that are not read. This recording then counts only a part of
    /// its process's calls.
    pub fn absent_files(&self) -> Option<AbsentFiles> {
        let part = AbsentFiles::read(self.words())?;
        Some(if self.processes().is_empty() { part } else { AbsentFiles { part: None, ..part } })
    }

    /// Returns true if a rotation went on in another file. How the calls ended that ran then is in
    /// no file.
    pub(crate) fn goes_on_elsewhere(&self) -> bool {
        self.words().get(sb::FOLLOWED) != 0
    }

    /// Returns the program that was recorded.
    pub fn program(&self) -> &Program {
        &self.names.program
    }

    /// Returns all sites of the program, observed or not.
    pub fn sites(&self) -> &[RecordedSite] {
        &self.names.sites
    }

    /// Returns a flag for each site by number, true if its events are entered and left.
    pub(crate) fn asyncs(&self) -> Vec<bool> {
        let mut asyncs = Vec::new();
        for site in self.sites().iter().filter(|site| site.kind.is_entered()) {
            let at = site.id.0 as usize;
            asyncs.resize(asyncs.len().max(at + 1), false);
            asyncs[at] = true;
        }
        asyncs
    }

    /// Returns the site with this number.
    pub fn site(&self, id: SiteId) -> Option<&RecordedSite> {
        self.names.site(id)
    }

    /// Returns the path of a site; `site ?` if the recording does not name it.
    pub fn site_path(&self, id: SiteId) -> &str {
        self.site(id).map_or("site ?", |site| &site.path)
    }

    /// Describes the outcome of an event in a word: `none` or `err` for a failed call whose return
    /// type is known.
    pub fn outcome_word(&self, event: &Event) -> &'static str {
        match (event.outcome, self.site(event.site)) {
            (Outcome::Failed, Some(site)) => site.failure(),
            (outcome, _) => outcome.name(),
        }
    }

    /// Returns the kind with this number.
    pub fn kind(&self, id: KindId) -> Option<&RecordedKind> {
        self.names.kinds.get(&id)
    }

    /// Iterates over the kinds of subjects that the recording names, in no particular order.
    pub fn kinds(&self) -> impl Iterator<Item = &RecordedKind> {
        self.names.kinds.values()
    }

    /// Returns the label of a subject, if the domain set a label.
    pub fn label(&self, subject: Subject) -> Option<&str> {
        // A blank label is ignored, and kind and key are shown instead.
        self.names.labels.get(&subject).map(String::as_str).filter(|label| !label.trim().is_empty())
    }

    /// Iterates over the subjects with a label, including subjects without any event.
    pub fn labelled(&self) -> impl Iterator<Item = (Subject, &str)> {
        self.names.labels.iter().map(|(&subject, label)| (subject, label.as_str()))
    }

    /// Returns the edges of the model that begin or end at a subject.
    pub fn relations_of(&self, subject: Subject) -> Vec<Relation> {
        self.names.relations.of(subject)
    }

    /// Iterates over all edges of the model.
    pub fn relations(&self) -> impl Iterator<Item = Relation> {
        self.names.relations.all().map(|(name, from, to)| Relation {
            name: name.to_owned(),
            from,
            to,
        })
    }

    /// Returns the names of the model's relations.
    pub fn relation_names(&self) -> Vec<&str> {
        self.names.relations.names().collect()
    }

    /// Returns the tick at which a subject ended, if it has ended.
    pub fn ended_at(&self, subject: Subject) -> Option<u64> {
        self.names.ended.get(&subject).copied()
    }

    /// Returns true if the ends of some subjects are recorded.
    pub fn has_ends(&self) -> bool {
        !self.names.ended.is_empty()
    }

    /// Returns sentences from the recorder about tasks that failed, with the reasons.
    pub fn notes(&self) -> &[String] {
        &self.names.notes
    }

    /// Returns the views of the profilers: name, sites, grouping, columns, relations.
    pub fn views(&self) -> &[RecordedView] {
        &self.names.views
    }

    /// Returns the epochs, each with the installation that began it.
    pub fn epochs(&self) -> &[RecordedEpoch] {
        &self.names.epochs
    }

    /// Returns the nanoseconds from the beginning of the recording to a tick.
    pub fn time_ns(&self, tick: u64) -> u64 {
        self.time.since_start_ns(tick)
    }

    /// Returns the tick about `ns` nanoseconds after the beginning of the recording.
    pub fn tick_at_ns(&self, ns: u64) -> u64 {
        self.time.tick_at_ns(ns)
    }

    /// Returns the wall clock at a tick, in nanoseconds since 1970.
    pub fn real_ns(&self, tick: u64) -> u64 {
        self.time.real_ns(tick)
    }

    /// Returns the length of `ticks` ticks in nanoseconds.
    pub fn span_ns(&self, ticks: u64) -> u64 {
        self.time.span_ns(ticks)
    }

    /// Returns the file of the recording, if it is read from a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.medium {
            Medium::File(path) => Some(path),
            _ => None,
        }
    }

    /// Returns false if a merged or streamed recording may mix the states of different moments.
    pub(crate) fn is_settled(&self) -> bool {
        match &self.medium {
            Medium::Merged(merged) => merged.exact,
            Medium::Stream(feed) => feed.is_settled(),
            Medium::Memory | Medium::File(_) => true,
        }
    }

    pub(crate) fn words(&self) -> Words<'_> {
        self.mapped.region.words()
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the ring of blocks, for the writer.
    #[doc(hidden)]
    pub fn ring(&self) -> Ring<'_> {
        Ring { words: self.words(), layout: &self.layout }
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn time(&self) -> &Time {
        &self.time
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("path", &self.path())
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}
