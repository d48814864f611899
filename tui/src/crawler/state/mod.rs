//! State of the crawler. Commands change it, the drawing reads it. It holds no drawing types.
//!
//! The time is a parameter, and long work leaves as a queued job and returns as a reply. So a test
//! steps through a journey without a clock, a thread or a terminal.

pub(crate) mod accuracy;
pub(crate) mod arming;
pub(crate) mod blueprint;
pub(crate) mod browser;
mod commands;
pub(crate) mod completion;
pub(crate) mod cursor;
pub(crate) mod event_list;
pub(crate) mod export;
mod filter_edit;
mod find;
pub(crate) mod findings;
pub(crate) mod functions;
pub mod guide;
mod help;
pub(crate) mod history;
pub(crate) mod indent;
pub(crate) mod lanes;
pub mod line;
mod marks;
mod mouse;
pub(crate) mod name;
mod navigation;
mod pace;
pub(crate) mod palette;
pub(crate) mod pane;
pub(crate) mod productions;
pub(crate) mod profiles;
pub(crate) mod prompt;
mod queue;
mod saved_filters;
pub(crate) mod status;
pub(crate) mod structure;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod types;
pub(crate) mod view;

use std::collections::HashMap;
use std::sync::Arc;

use metaspy_probe::SiteKind;
use metaspy_reader::{By, DetailLevel, EffectsIndex, EndState, Scope, Store};
use metaspy_report::program::Program;
use metaspy_report::source_line;
use metaspy_report::text::clean;

use super::command::{Screen, Screens, Tab};
use super::config::{Browser, Filters, shipped_browsers};
use super::effects::Reach;
use super::jobs::{Job, Progress, Slot};
use super::keys::{Keys, Mode};
use super::marks::Marks;
use super::theme::Theme;
use guide::Guide;
use history::History;
use pace::Pace;
use palette::Palette;
use productions::Source;
use prompt::Prompt;
use status::Status;
use view::View;

/// Requests that the event loop fulfils, because they need the terminal, an editor or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// End the crawler.
    Quit,
    /// Return to the shell, until the process continues.
    Suspend,
    /// Draw the whole screen again.
    Redraw,
    /// Open a line of source in the editor.
    Edit {
        /// The file, as the recording names it.
        file: String,
        /// Line number, counted from 1.
        line: u32,
    },
    /// Copy a text to the clipboard.
    Copy(String),
    /// Save the marks beside the recording.
    SaveMarks(Marks),
    /// Save the filters that have names.
    SaveFilters(Filters),
}

/// Crawler on a recording.
pub struct Crawler {
    /// Recording that is shown.
    pub store: Store,
    /// Name of the recording: a file, or a process.
    pub source: String,
    /// Columns and rows of the screen.
    pub size: (u16, u16),
    /// View that is open.
    pub view: View,
    /// Views before and after the open view.
    pub history: History,
    /// Contents of the first line.
    pub status: Status,
    /// Marked events.
    pub marks: Marks,
    /// Prompt, while it is open.
    pub prompt: Option<Prompt>,
    /// Palette of commands, while it is open.
    pub palette: Option<Palette>,
    /// Guide through the recording, while it is open.
    pub guide: Option<Guide>,
    /// Colours of the screen.
    pub theme: Theme,
    /// Keys, with the user's changes.
    pub keys: Keys,
    /// Browsers from files.
    pub browsers: Vec<Arc<Browser>>,
    /// Filters that the user saved under a name.
    pub saved_filters: Filters,
    /// Message to the user, until the next key.
    pub message: Option<String>,
    /// First visible line of the help, while it is open.
    pub help: Option<usize>,
    /// True if the user has stopped the updates of a live recording.
    pub paused: bool,
    /// Text of the last search.
    pub searched: String,
    /// True while the matches of the search are highlighted.
    pub shows_matches: bool,
    /// Number of events emitted when the newest row was last visible.
    pub seen_emitted: u64,
    now_ns: u64,
    notes_shown: usize,
    index: Option<Arc<EffectsIndex>>,
    /// Number of events emitted when the index was last queued.
    index_emitted: u64,
    queued: Vec<Job<Crawler>>,
    /// Progress of the latest job of each slot.
    waiting: HashMap<Slot, Arc<Progress>>,
    paces: HashMap<Slot, Pace>,
}

impl Crawler {
    /// Opens a recording on a screen of this size: a live recording at its end, any other at its
    /// start.
    pub fn new(store: Store, source: impl Into<String>, size: (u16, u16)) -> Self {
        let mut crawler = Crawler {
            source: source.into(),
            size,
            view: View::new(size.0, size.1),
            history: History::default(),
            status: Status::new(&store),
            marks: Marks::default(),
            prompt: None,
            palette: None,
            guide: None,
            theme: Theme::default(),
            keys: Keys::default(),
            browsers: shipped_browsers().into_iter().map(Arc::new).collect(),
            saved_filters: Filters::new(),
            message: None,
            help: None,
            paused: false,
            searched: String::new(),
            shows_matches: false,
            seen_emitted: 0,
            now_ns: 0,
            notes_shown: 0,
            index: None,
            index_emitted: 0,
            queued: Vec::new(),
            waiting: HashMap::new(),
            paces: HashMap::new(),
            store,
        };
        let view = &mut crawler.view;
        if crawler.store.grows() {
            view.list.follow = true;
            view.list.load_end(&crawler.store, &view.filter);
        } else {
            view.list.load_start(&crawler.store, &view.filter);
        }
        let first = crawler.first_screen();
        crawler.show(first);
        crawler.update_dependents();
        crawler.show_notes();
        crawler
    }

    /// Returns the screen to open first: the events, or the table of the last profiler with rows if
    /// calls were only counted.
    fn first_screen(&self) -> Screen {
        if self.status.totals.stored > 0 || self.status.totals.emitted == 0 {
            return Screen::Events;
        }
        let counts = Scope { detail: DetailLevel::Counts, ..Scope::default() };
        match self.store.views().last().map(|view| view.view.group_by.as_str()) {
            Some("site" | "cause") => Screen::Sites,
            _ if self
                .store
                .tally(By::Subject, &counts)
                .rows
                .iter()
                .any(|it| it.subject.is_some() && !it.is_others()) =>
            {
                Screen::Subjects
            }
            _ if Program::is_known(&self.store) => Screen::Structure,
            _ => Screen::Sites,
        }
    }

    /// Shows the newest note of the recorder, or the newest gap in the recording, once.
    fn show_notes(&mut self) {
        let notes = self.store.notes();
        let missing = self.store.missing();
        let count = notes.len() + missing.len();
        if count > self.notes_shown {
            let sentence = missing.last().or(notes.last()).map(|text| clean(text).into_owned());
            self.message = sentence.map(|text| format!("{text} (`metaspy report` lists all)"));
        }
        self.notes_shown = count;
    }

    /// Returns the mode that decides the meaning of keys.
    pub fn mode(&self) -> Mode {
        match (&self.prompt, &self.palette, self.help) {
            (Some(_), _, _) => Mode::Prompt,
            (None, Some(_), _) => Mode::Palette,
            (None, None, Some(_)) => Mode::Help,
            (None, None, None) => self.screen_mode(),
        }
    }

    /// Returns the mode if neither prompt, palette nor help is open.
    fn screen_mode(&self) -> Mode {
        Mode::Screen(self.view.screen, self.screens())
    }

    /// Returns the screens of this recording. Productions and structure are included if the
    /// recording contains them.
    pub fn screens(&self) -> Screens {
        // The line of names lists the blueprint only while it is open.
        const ALL: Screens = &[
            Screen::Events,
            Screen::Subjects,
            Screen::Sites,
            Screen::Lanes,
            Screen::Findings,
            Screen::Structure,
            Screen::Browser,
            Screen::Productions,
        ];
        const NO_PRODUCTIONS: Screens = ALL.split_at(7).0;
        const NO_STRUCTURE: Screens = &[
            Screen::Events,
            Screen::Subjects,
            Screen::Sites,
            Screen::Lanes,
            Screen::Findings,
            Screen::Browser,
            Screen::Productions,
        ];
        const NEITHER: Screens = NO_STRUCTURE.split_at(6).0;
        let productions = self.store.sites().iter().any(|site| site.kind == SiteKind::Production);
        match (productions, Program::is_known(&self.store)) {
            (true, true) => ALL,
            (true, false) => NO_STRUCTURE,
            (false, true) => NO_PRODUCTIONS,
            (false, false) => NEITHER,
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
        if self.view.screen == Screen::Lanes {
            // The number of columns of the time has changed.
            self.queue_screen();
        }
        self.update_dependents();
    }

    /// Reads the recording again, ten times a second. `now_ns` counts from the start of the
    /// crawler.
    pub fn tick(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        if self.paused || self.status.ended != EndState::Live {
            return;
        }
        if !self.store.processes().is_empty() {
            if self.is_due(Slot::Merge) {
                self.queue(
                    Slot::Merge,
                    |store, _| store.merged_again()?.ok(),
                    |crawler, store| crawler.continue_with(store),
                );
            }
        } else if let Err(error) = self.store.refresh() {
            self.message = Some(format!("{error}; the part that was read stays open"));
        }
        self.show_notes();
        let before = self.status.ended;
        self.status.read(&self.store, now_ns);
        if before == EndState::Live && self.status.ended != EndState::Live {
            self.report_end();
        }
        if !self.waiting.contains_key(&Slot::Rows) {
            self.view.list.refresh(&self.store, &self.view.filter);
        }
        if self.pane_changes() && self.is_due(Slot::Pane) {
            self.queue_pane();
        }
        self.rebuild_pane();
        if self.is_due(self.screen_slot()) {
            self.queue_screen();
        }
        if self.is_due(Slot::Count) {
            self.queue_count();
        }
        self.update_dependents();
    }

    /// Returns true if the contents of the open tab change when the recording grows.
    fn pane_changes(&self) -> bool {
        let pane = &self.view.pane;
        pane.tab.is_about_the_list()
            || matches!(pane.tab, Tab::SameSubject | Tab::Siblings)
            || self.view.list.selected.is_some_and(|event| event.is_running())
            || pane.effects.as_ref().is_none_or(|effects| effects.reach != Reach::Whole)
    }

    fn report_end(&mut self) {
        self.message = Some(match self.status.ended {
            EndState::Closed => "the recording was closed; it stays open here".into(),
            EndState::Unknown => {
                "whether the process still records is unknown; its recording stays open here".into()
            }
            _ => "the process is gone; its recording stays open here".into(),
        });
        // Read the events between the last reading and the end.
        self.view.list.refresh(&self.store, &self.view.filter);
        self.view.list.follow = false;
        self.queue_count();
        self.queue_screen();
        self.queue_pane();
    }

    /// Updates everything that depends on the selection: the pane, the line of source, and
    /// searches.
    fn update_dependents(&mut self) {
        let selected = self.view.list.selected;
        let id = selected.map(|event| event.id);
        if self.view.pane.of != id {
            self.view.pane.set_event(id);
            self.queue_pane();
            self.rebuild_pane();
        }
        if let Some((side, from)) = self.view.list.pending_search()
            && !self.waiting.contains_key(&Slot::Rows)
        {
            self.queue_rows(side, from);
        }
        if self.view.screen == Screen::Browser {
            self.queue_column();
        }
        if self.view.screen != Screen::Findings {
            self.stop(Slot::Findings);
        }
        self.queue_trend();
        if let Some(site) = self.view.unread_source() {
            self.view.productions.source = Source { production: Some(site), line: None };
            self.queue(
                Slot::Source,
                move |store, _| Some(store.site(site).and_then(source_line::line)),
                move |crawler, line| {
                    crawler.view.productions.source = Source { production: Some(site), line }
                },
            );
        }
        if self.view.list.shows_end() {
            self.seen_emitted = self.status.totals.emitted;
        }
    }
}
