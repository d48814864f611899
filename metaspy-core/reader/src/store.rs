//! A recording, as it is read: the door to events, names, times and tallies.

use std::path::Path;
use std::sync::Arc;

use metaspy_format::{Region, Words, superblock as sb};
use metaspy_probe::{KindId, SiteId, Subject};

use crate::event::time::Time;
use crate::names::Names;
use crate::open::Mapped;
use crate::platform::process;
use crate::stream::StreamState;
use crate::*;

/// A recording, as it is read. Cheap to clone; clones see the names that were read when they were made.
#[derive(Clone)]
pub struct Store {
    pub(crate) mapped: Arc<Mapped>,
    pub(crate) medium: Medium,
    pub(crate) layout: Layout,
    pub(crate) names: Arc<Names>,
    pub(crate) time: Arc<Time>,
    pub(crate) missing: Arc<Vec<String>>,
    /// Filters that were compiled for the names at hand.
    pub(crate) compiled: Arc<matcher::Compiled>,
}

/// Where a recording comes from.
#[derive(Clone)]
pub(crate) enum Medium {
    /// Memory of this process.
    Memory,
    File(Arc<Path>),
    /// Several recordings, read as one.
    Merged(Arc<merge::Merged>),
    /// A pipe.
    Stream(Arc<StreamState>),
}

impl Store {
    /// Opens a recording in a file, whether it is still written or not.
    pub fn open(path: &Path) -> Result<Store, OpenError> {
        Self::mapped(Mapped::file(path)?, Medium::File(path.into()))
    }

    /// Reads a recording in memory of this process.
    pub fn from_region(region: Region) -> Result<Store, OpenError> {
        Self::mapped(Mapped::memory(region), Medium::Memory)
    }

    /// Reads a recording that comes through a pipe.
    pub(crate) fn from_stream(region: Region, feed: Arc<StreamState>) -> Result<Store, OpenError> {
        Self::mapped(Mapped::guarded(region), Medium::Stream(feed))
    }

    pub(crate) fn mapped(mapped: Mapped, medium: Medium) -> Result<Store, OpenError> {
        let layout = open::check(&mapped.region)?;
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
            mapped: Arc::new(mapped),
        };
        store.missing = Arc::new(store.what_is_missing());
        Ok(store)
    }

    /// Reads what a live recording gained: names, labels, calibration, and more of the file if it grew.
    ///
    /// Where the file cannot be opened any more this is an error, and what is mapped stays as readable as it was.
    pub fn refresh(&mut self) -> Result<(), OpenError> {
        let grown = self.follow_growth();
        let words = self.mapped.region.words();
        // Clones share the names until there are new ones.
        if self.names.is_behind(words) && Arc::make_mut(&mut self.names).read_on(words, &self.layout) {
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
        // Another recording may have taken its name.
        let born = |words: Words<'_>| [sb::PID, sb::STARTED_NS, sb::BLOCKS, sb::CHUNKS].map(|at| words.get(at));
        if mapped.region.len() > self.mapped.region.len() && born(mapped.region.words()) == born(self.words()) {
            (self.mapped, self.layout) = (Arc::new(mapped), layout);
        }
        Ok(())
    }

    /// Words of blocks that the recording has allocated.
    pub(crate) fn wanted_chunk_words(&self) -> usize {
        let grown = self.words().get(sb::GROWN).min(self.layout.blocks);
        (grown as usize).saturating_mul(blocks::BLOCK_WORDS)
    }

    /// Whether its process still records.
    pub fn is_live(&self) -> bool {
        self.end_state() == EndState::Live
    }

    /// How it ended, if it did.
    pub fn end_state(&self) -> EndState {
        match &self.medium {
            Medium::Merged(merged) => merged.end_state(),
            Medium::Stream(feed) => feed.end_state(),
            Medium::Memory if self.header().state != sb::STATE_CLOSED => EndState::Live,
            Medium::Memory | Medium::File(_) => self.end_state_as_written(),
        }
    }

    /// How a recording ended that came through a pipe as it stands in a file: whatever it is, it does not go on here.
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
            // Where the system does not tell start times, the number alone has to do.
            Some(start) => start == 0 || header.process_start == 0 || start == header.process_start,
            None => false,
        };
        match lives() {
            true => EndState::Live,
            false => EndState::Killed,
        }
    }

    /// The recording's first page, as it is now.
    pub fn header(&self) -> Header {
        Header::read(self.words())
    }

    /// Sentences about what the recording promises and does not hold: it was cut, or damaged.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    pub(crate) fn what_is_missing(&self) -> Vec<String> {
        let mut missing = self.layout.missing(self.words());
        missing.extend(self.names.damage.clone());
        match &self.medium {
            Medium::Merged(merged) => missing.extend(merged.missing()),
            Medium::Stream(feed) => missing.extend(feed.notes()),
            Medium::Memory | Medium::File(_) => {}
        }
        missing
    }

    /// The program that was recorded.
    pub fn program(&self) -> &Program {
        &self.names.program
    }

    /// All sites of the program, observed or not.
    pub fn sites(&self) -> &[RecordedSite] {
        &self.names.sites
    }

    /// The site with this number.
    pub fn site(&self, id: SiteId) -> Option<&RecordedSite> {
        self.names.site(id)
    }

    /// The path of a site; `site ?` if the recording does not name it.
    pub fn site_path(&self, id: SiteId) -> &str {
        self.site(id).map_or("site ?", |site| &site.path)
    }

    /// The kind with this number.
    pub fn kind(&self, id: KindId) -> Option<&RecordedKind> {
        self.names.kinds.get(&id)
    }

    /// The kinds of subjects that the recording names, in no order.
    pub fn kinds(&self) -> impl Iterator<Item = &RecordedKind> {
        self.names.kinds.values()
    }

    /// The label of a subject, if the domain gave it one.
    pub fn label(&self, subject: Subject) -> Option<&str> {
        self.names.labels.get(&subject).map(String::as_str)
    }

    /// Every subject that the domain labelled, also those that no event is about.
    pub fn labelled(&self) -> impl Iterator<Item = (Subject, &str)> {
        self.names.labels.iter().map(|(&subject, label)| (subject, label.as_str()))
    }

    /// The edges of the model that begin or end at a subject.
    pub fn relations_of(&self, subject: Subject) -> Vec<Relation> {
        self.names.relations.of(subject)
    }

    /// The names of the model's relations.
    pub fn relation_names(&self) -> Vec<&str> {
        self.names.relations.names().collect()
    }

    /// When a subject ended, if it did, in ticks.
    pub fn ended_at(&self, subject: Subject) -> Option<u64> {
        self.names.ended.get(&subject).copied()
    }

    /// What the recorder could not do, and why.
    pub fn notes(&self) -> &[String] {
        &self.names.notes
    }

    /// How the profilers want their events to be shown.
    pub fn views(&self) -> &[RecordedView] {
        &self.names.views
    }

    /// The epochs, and what began each.
    pub fn epochs(&self) -> &[RecordedEpoch] {
        &self.names.epochs
    }

    /// Marks that users set.
    pub fn user_marks(&self) -> &[UserMark] {
        &self.names.marks
    }

    /// ns from the beginning of the recording to a tick.
    pub fn time_ns(&self, tick: u64) -> u64 {
        self.time.since_start_ns(tick)
    }

    /// The tick `ns` after the beginning of the recording, closely.
    pub fn tick_at_ns(&self, ns: u64) -> u64 {
        self.time.tick_at_ns(ns)
    }

    /// ns since 1970 of a tick.
    pub fn real_ns(&self, tick: u64) -> u64 {
        self.time.real_ns(tick)
    }

    /// How long `ticks` ticks take, in ns.
    pub fn span_ns(&self, ticks: u64) -> u64 {
        self.time.span_ns(ticks)
    }

    /// The file, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.medium {
            Medium::File(path) => Some(path),
            _ => None,
        }
    }

    /// Whether all that is read is of one moment, as far as where it comes from can tell.
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

    /// The blocks, for the writer's own reading.
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
        f.debug_struct("Store").field("path", &self.path()).field("layout", &self.layout).finish_non_exhaustive()
    }
}
