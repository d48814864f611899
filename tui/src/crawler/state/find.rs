//! Search for a text: as it is typed, and from match to match in both directions.

use metaspy_reader::{Event, EventId, Filter, Position};

use super::Crawler;
use super::event_list::{self, Side};
use super::prompt::{Problem, Prompt, Purpose};
use crate::crawler::jobs::Slot;

impl Crawler {
    /// Opens the prompt of the search.
    pub(super) fn open_search(&mut self) {
        self.prompt = Some(Prompt::search(&self.view));
    }

    /// Searches for the typed text, starting where the search began.
    pub(super) fn search_as_typed(&mut self) {
        let Some(prompt) = self.prompt.as_ref().filter(|prompt| prompt.purpose == Purpose::Search)
        else {
            return;
        };
        let text = prompt.line.text().trim().to_owned();
        let Some(origin) = prompt.origin.clone() else { return };
        if text.is_empty() {
            self.stop(Slot::Search);
            self.view = *origin;
            return;
        }
        if let (Some(rows), Some(before)) = (self.view.rows_mut(), origin.rows()) {
            let count = rows.row_count();
            rows.cursor_mut().select(before.cursor().row, count);
            if let Some(found) = self.find_row(&text, Side::After) {
                self.report_match(found, &text);
            }
        } else if let Ok(filter) = text.parse::<Filter>() {
            self.find_event(origin.list.selected_id(), filter, Side::After);
        }
    }

    /// Shows the match of a search that is being typed, without leaving the view; otherwise goes to
    /// it.
    fn accept_match(&mut self, found: Option<Event>) {
        let typed = self.prompt.as_ref().map(|prompt| prompt.line.text().trim().to_owned());
        match (found, typed) {
            (Some(event), None) => self.go_to(event),
            (Some(event), Some(text)) => {
                self.view.list.load_around(&self.store, &self.view.filter, event);
                self.report_match(true, &text);
            }
            (None, None) => {
                self.message = Some(format!("no further event matches `{}`", self.searched))
            }
            (None, Some(text)) => self.report_match(false, &text),
        }
    }

    /// Finds the next event after `from`, or before it, that also passes `filter`.
    fn find_event(&mut self, from: Option<EventId>, filter: Filter, side: Side) {
        let from = from.map_or(Position::Start, Position::Event);
        let filter = self.view.filter.clone().and(filter);
        self.queue(
            Slot::Search,
            move |store, progress| Some(event_list::scan(store, side, from, &filter, 1, progress)),
            |crawler, page| crawler.accept_match(page.events.first().copied()),
        );
    }

    /// Goes to the next row that contains a text. Returns false if there is none, and `None` if a
    /// job searches a large table.
    fn find_row(&mut self, text: &str, side: Side) -> Option<bool> {
        let Some(table) = self.view.tally().filter(|table| table.is_large()).cloned() else {
            return Some(
                self.view.rows_mut().is_some_and(|rows| rows.find(&self.store, text, side)),
            );
        };
        self.searched = text.to_owned();
        let by = table.by;
        let text = text.to_owned();
        self.queue(
            Slot::Search,
            move |store, progress| Some(table.find_key(store, &text, side, progress)),
            move |crawler, found| {
                let is_found = crawler.view.tally_mut(by).select_key(found);
                crawler.accept_row(is_found);
            },
        );
        None
    }

    /// Reports whether a job has found a row.
    fn accept_row(&mut self, found: bool) {
        match self.prompt.as_ref().map(|prompt| prompt.line.text().trim().to_owned()) {
            Some(text) => self.report_match(found, &text),
            None if !found => self.message = Some(format!("no row contains `{}`", self.searched)),
            None => {}
        }
    }

    fn report_match(&mut self, found: bool, text: &str) {
        let Some(prompt) = &mut self.prompt else { return };
        let at = 0..prompt.line.text().len();
        prompt.problem =
            (!found).then(|| Problem { text: format!("nothing below matches `{text}`"), at });
        if let (Some(origin), false) = (&prompt.origin, found) {
            self.view = (**origin).clone();
        }
    }

    /// Ends the typing of a search: the match stays.
    pub(super) fn submit_search(&mut self) {
        let Some(prompt) = self.prompt.take() else { return };
        let text = prompt.line.text().trim().to_owned();
        let is_found = prompt.problem.is_none();
        if text.is_empty() {
            return self.search(Side::After);
        }
        self.searched = text;
        self.shows_matches = true;
        if let Err(error) = self.searched.parse::<Filter>() {
            self.message = Some(error.to_string());
        } else if !is_found {
            self.message = Some(match self.view.rows() {
                Some(_) => format!("no row contains `{}`", self.searched),
                None => format!("no further event matches `{}`", self.searched),
            });
        } else if let Some(origin) = prompt.origin
            && origin.list.selected_id() != self.view.list.selected_id()
        {
            self.history.leave(&origin);
        }
    }

    /// Cancels a search and restores the view before it.
    pub(super) fn cancel_search(&mut self) {
        self.stop(Slot::Search);
        if let Some(origin) = self.prompt.take().and_then(|prompt| prompt.origin) {
            self.view = *origin;
            self.view.resize(self.size.0, self.size.1);
        }
    }

    /// Searches for a text. An empty text repeats the last search.
    pub(super) fn search_for(&mut self, text: String) {
        if !text.is_empty() {
            self.searched = text;
        }
        self.search(Side::After);
    }

    /// Goes to the next or the previous match.
    pub(super) fn search(&mut self, side: Side) {
        let typed = self.prompt.as_ref().map(|prompt| prompt.line.text().trim().to_owned());
        let text = typed.unwrap_or_else(|| self.searched.clone());
        if text.is_empty() {
            return self.open_search();
        }
        self.shows_matches = true;
        if self.view.rows().is_some() {
            if self.find_row(&text, side) == Some(false) {
                self.message = Some(format!("no row contains `{text}`"));
            }
            return;
        }
        match text.parse::<Filter>() {
            Err(error) => self.message = Some(error.to_string()),
            Ok(filter) => self.find_event(self.view.list.selected_id(), filter, side),
        }
    }

    /// Returns the words to highlight: those of the search, without terms of a filter.
    pub(crate) fn highlighted(&self) -> Vec<String> {
        let typed = self.prompt.as_ref().filter(|prompt| prompt.purpose == Purpose::Search);
        let text = match typed {
            Some(prompt) => prompt.line.text(),
            None if self.shows_matches => &self.searched,
            None => return Vec::new(),
        };
        let words = text
            .split_whitespace()
            .filter(|word| !word.starts_with('-') && !word.contains([':', '"']));
        words.map(str::to_lowercase).collect()
    }

    /// Stops a job. Returns false if none was running.
    pub(super) fn stop(&mut self, slot: Slot) -> bool {
        let running = self.waiting.remove(&slot);
        running.inspect(|progress| progress.stop()).is_some()
    }
}
