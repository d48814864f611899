//! Application of commands to the state.

use std::sync::Arc;

use metaspy_reader::Filter;

use super::event_list::Side;
use super::prompt::{Problem, Prompt, Purpose};
use super::table::SortChange;
use super::{Crawler, Request};
use crate::crawler::command::{Command, Screen, Step, Tab};
use crate::crawler::config::Browser;
use crate::crawler::config::browser::declared;
use crate::crawler::jobs::Slot;
use crate::crawler::layout::Focus;

/// Message for users who look for unobserved elements under a filter, which hides them.
const FILTERED: &str = "unknown under a filter: press Esc to remove it";

impl Crawler {
    /// Applies a command. Returns requests that need the terminal or a file.
    pub fn apply(&mut self, command: Command) -> Option<Request> {
        self.message = None;
        let request = match (&self.prompt, &self.palette) {
            (Some(_), _) => self.apply_to_prompt(command),
            (None, Some(_)) => self.apply_to_palette(command),
            (None, None) => self.apply_to_screen(command),
        };
        self.update_dependents();
        request
    }

    fn apply_to_prompt(&mut self, command: Command) -> Option<Request> {
        let prompt = self.prompt.as_mut()?;
        let is_search = prompt.purpose == Purpose::Search;
        match command {
            Command::Erase if prompt.line.text().is_empty() => self.cancel_search(),
            Command::Leave => self.cancel_search(),
            Command::Enter if is_search => self.submit_search(),
            // Without a choice, nothing is exported.
            Command::Enter
                if prompt.purpose == Purpose::Export && prompt.line.text().trim().is_empty() =>
            {
                self.prompt = None;
            }
            Command::Enter if prompt.purpose == Purpose::Export => {
                let line = prompt.line.text().to_owned();
                match self.export(&line) {
                    Ok(()) => self.prompt = None,
                    Err(text) => {
                        let problem = Problem { text, at: 0..line.len() };
                        self.prompt
                            .iter_mut()
                            .for_each(|prompt| prompt.problem = Some(problem.clone()));
                    }
                }
            }
            Command::Enter if prompt.purpose == Purpose::Mark => {
                let name = prompt.line.text().trim().to_owned();
                self.prompt = None;
                return self.mark_as(&name);
            }
            Command::Enter if prompt.purpose == Purpose::Rule => {
                let rules = prompt.line.text().to_owned();
                self.prompt = None;
                self.rule(&rules);
            }
            Command::Enter => self.submit_filter(),
            Command::Move(Step::Down) if is_search => self.search(Side::After),
            Command::Move(Step::Up) if is_search => self.search(Side::Before),
            Command::Quit => return Some(Request::Quit),
            command => {
                if prompt.edit(&self.store, command) {
                    self.search_as_typed();
                }
            }
        }
        None
    }

    pub(super) fn apply_to_screen(&mut self, command: Command) -> Option<Request> {
        match command {
            Command::Quit => return Some(Request::Quit),
            Command::Suspend => return Some(Request::Suspend),
            Command::Redraw => return Some(Request::Redraw),
            Command::OpenSource => return self.open_source(),
            Command::Help => self.help = Some(0),
            Command::Palette => self.open_palette(),
            Command::SetTheme(theme) => self.theme = theme,
            Command::Leave => self.leave(),
            Command::NextCard => self.turn_card(1),
            Command::PreviousCard => self.turn_card(-1),
            Command::LeaveGuide => self.guide = None,
            Command::Show(screen) => self.show(screen),
            Command::Move(step) => self.step(step),
            Command::Click { column, row } => self.click(column, row),
            Command::Wheel { column, row, by } => self.wheel(column, row, by),
            Command::Enter => self.enter(),
            Command::NextTab | Command::PreviousTab if self.view.screen == Screen::Browser => {
                let by = if command == Command::NextTab { 1 } else { -1 };
                if !self.view.browser.move_tab(by) {
                    self.message = Some("this column has one tab".into());
                }
            }
            Command::NextTab => self.open_tab(self.view.pane.tab.next()),
            Command::PreviousTab => self.open_tab(self.view.pane.tab.previous()),
            Command::GoToCause if self.view.pane.has_focus() => self.view.pane.focus = Focus::List,
            Command::GoToCause => self.go_to_cause(),
            Command::GoToEffects => self.go_to_effects(),
            Command::GoToSubject => self.go_to_subject(),
            Command::Back => self.go_back(),
            Command::Forward => self.go_forward(),
            Command::EditFilter => {
                self.prompt = Some(Prompt::filter(&self.store, self.view.filter.text()))
            }
            Command::Search => self.open_search(),
            Command::NextMatch => self.search(Side::After),
            Command::PreviousMatch => self.search(Side::Before),
            Command::Exclude => self.exclude(),
            Command::Column(by) => self.view.browser.move_focus(by),
            Command::Export => self.open_export(),
            Command::Keep => self.keep(),
            Command::Copy => return self.copy(false),
            Command::CopyChain => return self.copy(true),
            Command::Zoom(zoom) => {
                if self.view.lanes.zoom(zoom, self.view.list.selected.as_ref()) {
                    self.queue_screen();
                }
            }
            Command::Times => self.open_times(),
            Command::Object => self.open_object(),
            Command::Compare => self.compare(),
            Command::SaveFilter | Command::ForgetFilter => {
                self.message = Some("type a name behind it".into())
            }
            Command::Mark => return self.toggle_mark(),
            Command::NameMark => self.open_mark_prompt(),
            Command::Path => self.open_path(),
            Command::NextMark => self.next_mark(),
            Command::Pause => self.pause(),
            Command::Follow => self.follow(),
            Command::Control(change) => self.control_row(change),
            Command::Rule => self.open_rule(),
            Command::SortNext => self.sort(SortChange::Next),
            Command::SortPrevious => self.sort(SortChange::Previous),
            Command::SortReverse => self.sort(SortChange::Reverse),
            Command::NextProfile => self.show_next_profile(),
            Command::NeverObserved => self.toggle_unobserved(),
            Command::NextUncovered => self.next_uncovered(),
            Command::NextPicture => self.view.blueprint.show_next(),
            Command::FocusMethod => self.focus_method(),
            Command::Unfold if self.view.screen == Screen::Functions => {
                self.view.functions.unfold(&self.store)
            }
            Command::Fold if self.view.screen == Screen::Functions => {
                self.view.functions.fold(&self.store)
            }
            Command::Unfold => self.view.structure.unfold(),
            Command::Fold => self.view.structure.fold(),
            Command::UnfoldAll => self.view.structure.unfold_all(),
            Command::FoldAll => self.view.structure.fold_methods(),
            Command::Type(_)
            | Command::Erase
            | Command::EraseWord
            | Command::ClearPrompt
            | Command::MoveCaret(_)
            | Command::Complete => {}
        }
        None
    }

    /// Gives the keys to the pane. It shows one event, so follow mode ends.
    pub(super) fn focus_pane(&mut self) {
        self.view.pane.focus = Focus::Pane;
        self.view.list.follow = false;
    }

    /// Opens a tab and queues the job that it needs.
    pub(super) fn open_tab(&mut self, tab: Tab) {
        self.view.pane.open(tab);
        self.queue_pane();
        self.rebuild_pane();
        self.select_first_target();
    }

    /// Rebuilds the rows of the pane.
    pub(super) fn rebuild_pane(&mut self) {
        self.view.pane.rebuild(&self.store, &self.marks, self.view.list.selected.as_ref());
    }

    /// Moves the cursor of the pane to the first row that leads to another event. A tree begins
    /// with the event itself.
    pub(super) fn select_first_target(&mut self) {
        let pane = &mut self.view.pane;
        if pane.tab != Tab::Detail
            && let Some(first) = pane.rows.iter().position(|row| row.is_target())
        {
            pane.select(first);
        }
    }

    /// Adds a browser, or lays out the screen that it describes.
    pub fn add_browser(&mut self, browser: Browser) {
        match browser.screen {
            Some(_) => self.view.lay_out(browser),
            None => self.browsers.push(Arc::new(browser)),
        }
    }

    /// Returns the browsers that can be opened: the views of the recording's profilers, then the
    /// browsers from files.
    pub(super) fn all_browsers(&self) -> Vec<Arc<Browser>> {
        declared(&self.store)
            .into_iter()
            .map(Arc::new)
            .chain(self.browsers.iter().cloned())
            .collect()
    }

    /// Opens a browser on its screen.
    pub(super) fn open_browser(&mut self, browser: Arc<Browser>) {
        self.history.leave(&self.view);
        self.view.browser.open(browser);
        self.view.screen = Screen::Browser;
    }

    pub(super) fn show(&mut self, screen: Screen) {
        if screen == Screen::Browser && self.view.browser.browser.is_none() {
            return self
                .all_browsers()
                .into_iter()
                .next()
                .into_iter()
                .for_each(|first| self.open_browser(first));
        }
        if screen != self.view.screen {
            self.view.screen = screen;
            self.queue_screen();
        }
    }

    fn leave(&mut self) {
        self.shows_matches = false;
        if self.help.take().is_some() {
        } else if self.stop(Slot::Search) {
            self.message = Some("search stopped".into());
        } else if self.stop(Slot::Export) {
            self.message = Some("the export is stopped, nothing is written".into());
        } else if self.view.screen == Screen::Findings && self.view.findings.read.is_none() {
            self.show(Screen::Events);
            self.message = Some("the search for findings is stopped; 5 begins it again".into());
        } else if self.view.screen == Screen::Events && self.view.pane.has_focus() {
            self.view.pane.focus = Focus::List;
        } else if self.view.screen == Screen::Subjects && self.view.subjects.lists_unobserved {
            self.toggle_unobserved();
        } else if !self.view.filter.is_all() {
            self.history.leave(&self.view);
            self.set_filter(Filter::all());
            self.message = Some("filter removed; Backspace restores it".into());
        }
    }

    fn step(&mut self, step: Step) {
        if let Some(at) = self.help {
            return self.step_help(at, step);
        }
        let store = &self.store;
        let view = &mut self.view;
        if let Some(rows) = view.rows_mut() {
            let count = rows.row_count();
            rows.cursor_mut().step(step, count);
        } else if view.pane.has_focus() {
            view.pane.step(step);
        } else {
            view.list.step(store, &view.filter, step);
        }
    }

    fn enter(&mut self) {
        if let Some(event) =
            self.view.browser.event().filter(|_| self.view.screen == Screen::Browser)
        {
            return self.go_to(event);
        }
        if self.view.screen == Screen::Functions && self.follow_function() {
            return;
        }
        if self.view.screen == Screen::Findings {
            return self.show_finding();
        }
        let Some(rows) = self.view.rows() else {
            if self.view.pane.has_focus() {
                self.enter_pane_row();
            } else if self.view.list.selected.is_some() {
                self.focus_pane();
            }
            return;
        };
        match rows.filter_term(&self.store) {
            Some(term) => {
                let tick = self.view.lanes.tick().filter(|_| self.view.screen == Screen::Lanes);
                self.add_filter_term(&self.view.filter.clone(), &term);
                if let Some(tick) = tick {
                    self.show_time(tick);
                }
            }
            None if rows.row_count() == 0 => {}
            None => self.message = Some("no filter selects exactly these events".into()),
        }
    }

    pub(super) fn submit_filter(&mut self) {
        let store = &self.store;
        let Some(filter) = self.prompt.as_mut().and_then(|prompt| prompt.parse(store)) else {
            return;
        };
        self.prompt = None;
        self.history.leave(&self.view);
        self.set_filter(filter);
    }

    fn pause(&mut self) {
        if self.store.grows() {
            self.paused = !self.paused;
        } else {
            self.message = Some("nothing to pause: the recording has ended".into());
        }
    }

    fn follow(&mut self) {
        if !self.store.grows() {
            self.message = Some("nothing to follow: the recording has ended".into());
            return;
        }
        self.view.list.follow = !self.view.list.follow;
        if self.view.list.follow {
            self.paused = false;
            self.view.list.refresh(&self.store, &self.view.filter);
        }
    }

    fn sort(&mut self, change: SortChange) {
        let Some(rows) = self.view.rows_mut() else { return };
        rows.change_sort(&self.store, change);
        if let Some(table) =
            self.view.tally().filter(|table| table.is_large() && !table.lists_unobserved).cloned()
        {
            let by = table.by;
            self.queue(
                Slot::Table,
                move |store, _| Some(table.sorted(store)),
                move |crawler, table| crawler.view.tally_mut(by).rows = table.rows,
            );
        }
    }

    fn show_next_profile(&mut self) {
        let Some(rows) = self.view.rows_mut() else { return };
        if rows.profile().or(rows.next_profile()).is_none() {
            self.message = Some("no method profiler has values for this screen".into());
            return;
        }
        rows.show_next_profile(&self.store);
        self.queue_screen();
    }

    fn toggle_unobserved(&mut self) {
        let table = &mut self.view.subjects;
        if table.unobserved.is_empty() && !table.lists_unobserved {
            let text = if self.view.filter.is_all() {
                "every labelled subject was observed"
            } else {
                FILTERED
            };
            self.message = Some(text.into());
            return;
        }
        table.lists_unobserved = !table.lists_unobserved;
        table.cursor.reset();
    }

    fn focus_method(&mut self) {
        let before = self.view.clone();
        if self.view.blueprint.focus() {
            self.history.leave(&before)
        } else {
            self.message = Some("this line is no method".into())
        }
    }

    fn next_uncovered(&mut self) {
        if !self.view.filter.is_all() {
            self.message = Some(FILTERED.into());
            return;
        }
        if self.view.screen == Screen::Structure {
            if !self.view.structure.next_that_never_ran() {
                self.message = Some("every method ran".into());
            }
            return;
        }
        if !self.view.productions.find_uncovered(&self.store) {
            self.message = Some("every production that can match did".into());
        }
    }
}
