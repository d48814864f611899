//! What the crawler knows. Commands change it, the drawing reads it; it holds no drawing types.
//!
//! Time is given from request, and work that takes long leaves as an order and comes back as a reply: so a test
//! steps through a journey without a clock, a thread or a terminal.

pub mod accuracy;
mod commands;
pub mod cursor;
pub mod event_list;
mod filter_edit;
pub mod history;
pub mod indent;
pub mod lanes;
mod mouse;
pub mod name;
mod navigation;
pub mod pane;
pub mod productions;
pub mod prompt;
mod replies;
pub mod status;
pub mod structure;
pub mod table;
pub mod tally;
pub mod view;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use metaspy_core::store::{EffectsIndex, Ended};
use metaspy_core::{EventId, SiteKind, Store};

use super::command::{Screen, Screens};
use super::jobs::{Job, Progress, Slot};
use super::keys::Mode;
use super::worker::QueuedJob;
use crate::structure::Structure;
use crate::text::clean;
use history::History;
use pane::Tab;
use productions::Source;
use prompt::Prompt;
use status::Status;
use table::Rows;
use view::View;

/// How often tables and panes of a live recording are read again.
const REREAD_NS: u64 = 1_000_000_000;
/// How many times longer a live recording is left alone than it took to read its table.
const SPARED: u64 = 4;

/// What the crawler asks of the world around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// End.
    Quit,
    /// Show a place in the source.
    Edit {
        /// The file, as the recording names it.
        file: String,
        /// The line.
        line: u32,
    },
}

/// A crawler on one recording.
pub struct Crawler {
    /// The recording.
    pub store: Store,
    /// What it is called: a file, or a process.
    pub source: String,
    /// Columns and rows of the screen.
    pub size: (u16, u16),
    /// What is looked at.
    pub view: View,
    /// What was looked at before.
    pub history: History,
    /// Where we are, and what to distrust.
    pub status: Status,
    /// Marked events.
    pub marks: BTreeSet<EventId>,
    /// The line being written.
    pub prompt: Option<Prompt>,
    /// A word to the reader, until the next key.
    pub message: Option<String>,
    /// The first line of the help that is seen, while it is open.
    pub help: Option<usize>,
    /// Whether a live recording is looked at again and again.
    pub paused: bool,
    /// What was searched for last.
    pub searched: String,
    /// Events emitted when the newest row was last seen.
    pub seen_emitted: u64,
    now_ns: u64,
    notes_shown: usize,
    pane_read_ns: u64,
    table_queued_ns: u64,
    table_took_ns: u64,
    count_queued_ns: u64,
    count_took_ns: u64,
    counted_ns: u64,
    index: Option<Arc<EffectsIndex>>,
    index_emitted: u64,
    queued: Vec<QueuedJob>,
    waiting: HashMap<Slot, (u64, Arc<Progress>)>,
    next_number: u64,
}

impl Crawler {
    /// A crawler on a recording, for a screen of this size. Of a live recording it shows the end, else the start.
    pub fn new(store: Store, source: impl Into<String>, size: (u16, u16)) -> Self {
        let mut crawler = Crawler {
            source: source.into(),
            size,
            view: View::new(size.0, size.1),
            history: History::default(),
            status: Status::new(&store),
            marks: BTreeSet::new(),
            prompt: None,
            message: None,
            help: None,
            paused: false,
            searched: String::new(),
            seen_emitted: 0,
            now_ns: 0,
            notes_shown: 0,
            pane_read_ns: 0,
            table_queued_ns: 0,
            table_took_ns: 0,
            count_queued_ns: 0,
            count_took_ns: 0,
            counted_ns: 0,
            index: None,
            index_emitted: 0,
            queued: Vec::new(),
            waiting: HashMap::new(),
            next_number: 0,
            store,
        };
        let view = &mut crawler.view;
        if crawler.store.is_live() {
            view.list.follow = true;
            view.list.load_end(&crawler.store, &view.filter);
        } else {
            view.list.load_start(&crawler.store, &view.filter);
        }
        crawler.update_dependents();
        crawler.show_notes();
        crawler
    }

    /// Says what the recorder noted, and what is missing: once, when it is first seen.
    fn show_notes(&mut self) {
        let (notes, missing) = (self.store.notes(), self.store.missing());
        let told = notes.len() + missing.len();
        if told > self.notes_shown {
            let sentence = missing.last().or(notes.last()).map(|text| clean(text).into_owned());
            self.message = sentence.map(|text| format!("{text} (`metaspy report` tells all)"));
        }
        self.notes_shown = told;
    }

    /// Which keys hold at the moment.
    pub fn mode(&self) -> Mode {
        match (&self.prompt, self.help) {
            (Some(_), _) => Mode::Prompt,
            (None, Some(_)) => Mode::Help,
            (None, None) => Mode::Screen(self.view.screen, self.screens()),
        }
    }

    /// The screens that there are: those for productions and for methods only where some are known.
    pub fn screens(&self) -> Screens {
        const ALL: Screens = &Screen::ALL;
        const NO_PRODUCTIONS: Screens =
            &[Screen::Events, Screen::Subjects, Screen::Sites, Screen::Lanes, Screen::Structure];
        let productions = self.store.sites().iter().any(|site| site.kind == SiteKind::Production);
        match (productions, Structure::is_known(&self.store)) {
            (true, true) => ALL,
            (true, false) => &ALL[..5],
            (false, true) => NO_PRODUCTIONS,
            (false, false) => &ALL[..4],
        }
    }

    /// Fits everything to another size of the screen.
    pub fn resize(&mut self, width: u16, height: u16) {
        self.size = (width, height);
        self.view.resize(width, height);
        if let Some(cursor) = self.view.list.cursor() {
            let list = &mut self.view.list;
            list.top = list.top.clamp((cursor + 1).saturating_sub(list.height.max(1)), cursor);
        }
        self.view.list.fill(&self.store, &self.view.filter);
        self.view.pane.of = None;
        self.update_dependents();
    }

    /// Looks at the recording again: ten times a second, `now_ns` after the crawler began.
    pub fn tick(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        if self.paused || self.status.ended != Ended::Live {
            return;
        }
        if let Err(error) = self.store.refresh() {
            self.message = Some(format!("{error}; what was read stays open"));
        }
        self.show_notes();
        let before = self.status.ended;
        self.status.read(&self.store, now_ns);
        if before == Ended::Live && self.status.ended != Ended::Live {
            self.report_end();
        }
        if !self.waiting.contains_key(&Slot::Rows) {
            self.view.list.refresh(&self.store, &self.view.filter);
        }
        let running = self.view.list.selected.is_some_and(|event| event.is_running());
        if now_ns.saturating_sub(self.pane_read_ns) >= REREAD_NS
            && (running || matches!(self.view.pane.tab, Tab::SameSubject | Tab::Siblings))
        {
            self.queue_pane();
        }
        self.view.pane.rebuild(&self.store, self.view.list.selected.as_ref());
        if !self.waiting.contains_key(&Slot::Table) {
            let read_ns = self.view.rows().map_or(now_ns, Rows::read_ns);
            // Reading a large recording takes its time, which the application needs more.
            if now_ns.saturating_sub(read_ns) >= REREAD_NS.max(self.table_took_ns * SPARED) {
                self.queue_screen();
            }
        }
        let spared_ns = REREAD_NS.max(self.count_took_ns * SPARED);
        if !self.waiting.contains_key(&Slot::Count) && now_ns.saturating_sub(self.counted_ns) >= spared_ns {
            self.queue_count();
        }
        self.update_dependents();
    }

    fn report_end(&mut self) {
        self.message = Some(match self.status.ended {
            Ended::Closed => "the recording was closed; it stays open here".into(),
            _ => "the process is gone; its recording stays open here".into(),
        });
        // A last look: what came between the look before and the end.
        self.view.list.refresh(&self.store, &self.view.filter);
        self.view.list.follow = false;
        self.queue_count();
        self.queue_screen();
        self.queue_pane();
    }

    /// What has to follow every change: the pane shows what is selected, the source its line, and searches go on.
    fn update_dependents(&mut self) {
        let selected = self.view.list.selected;
        let id = selected.map(|event| event.id);
        if self.view.pane.of != id {
            self.view.pane.set_event(id);
            self.queue_pane();
            self.view.pane.rebuild(&self.store, selected.as_ref());
        }
        if let Some((side, from)) = self.view.list.pending_search()
            && !self.waiting.contains_key(&Slot::Rows)
        {
            let want = self.view.list.height.max(1);
            self.queue(Job::Rows { side, from, filter: self.view.filter.clone(), want });
        }
        if let Some(site) = self.view.unread_source() {
            self.view.productions.source = Source { production: Some(site), line: None };
            self.queue(Job::Source { site });
        }
        if self.view.list.shows_end() {
            self.seen_emitted = self.status.totals.emitted;
        }
    }

    /// Orders what the open tab needs.
    fn queue_pane(&mut self) {
        let Some(event) = self.view.list.selected else { return };
        self.pane_read_ns = self.now_ns;
        match (self.view.pane.tab, event.subject) {
            (Tab::SameSubject, Some(subject)) => self.queue(Job::SameSubject { id: event.id, subject }),
            (Tab::SameSubject | Tab::Causes | Tab::Siblings | Tab::Parents, _) => {}
            (Tab::Detail | Tab::Effects, _) => {
                self.queue(Job::Effects { id: event.id, index: self.index.clone() });
                let emitted = self.status.totals.emitted;
                let known = self.index.is_some() && emitted == self.index_emitted;
                if self.view.pane.tab == Tab::Effects && !known && !self.waiting.contains_key(&Slot::Index) {
                    self.index_emitted = emitted;
                    self.queue(Job::Index);
                }
            }
        }
    }

    /// Orders what the open screen needs.
    fn queue_screen(&mut self) {
        self.table_queued_ns = self.now_ns;
        self.view.lanes.around = self.view.list.selected_id().filter(|_| !self.view.list.follow);
        if let Some(job) = self.view.rows().map(|rows| rows.job(self.view.filter.clone())) {
            self.queue(job);
        }
    }

    /// Orders how many events pass the filter.
    fn queue_count(&mut self) {
        if !self.view.filter.is_all() {
            self.count_queued_ns = self.now_ns;
            self.queue(Job::Count { filter: self.view.filter.clone() });
        }
    }

    fn queue(&mut self, job: Job) {
        self.next_number += 1;
        let (number, progress) = (self.next_number, Arc::new(Progress::default()));
        if let Some((_, before)) = self.waiting.insert(job.slot(), (number, Arc::clone(&progress))) {
            before.stop();
        }
        self.queued.push(QueuedJob { number, job, progress });
    }

    /// The queued that nobody has taken yet.
    pub fn take_jobs(&mut self) -> Vec<QueuedJob> {
        std::mem::take(&mut self.queued)
    }

    /// Whether anything is being worked on.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How far the work of this kind is, if it goes on: events looked at, and of how many.
    pub fn progress(&self, slot: Slot) -> Option<(u64, u64)> {
        self.waiting.get(&slot).map(|(_, progress)| progress.read())
    }
}
