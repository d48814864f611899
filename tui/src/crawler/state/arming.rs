//! Arming from the crawler: it selects the sites and subjects that the running process observes.

use metaspy_reader::control::{Change, ControlRequest, SiteState};
use metaspy_reader::{Filter, Store};
use metaspy_report::text::counted;

use super::{Crawler, filter_edit, name};
use crate::crawler::command::Screen;
use crate::crawler::jobs::{Progress, Slot};

impl Crawler {
    /// Arms or disarms the row under the cursor. A row of events stands for its site, and for its
    /// subject if no others are to be observed.
    pub(super) fn control_row(&mut self, change: Change) {
        let term = match self.view.rows() {
            Some(rows) => rows.filter_term(&self.store),
            None if self.view.screen == Screen::Events => self.view.list.selected.map(|event| {
                let site = filter_edit::site_term(&self.store, event.site);
                let subject = event.subject.filter(|_| change == Change::Only);
                let subject = subject.map(|subject| format!(" {}", filter_edit::subject_term(&self.store, subject)));
                site + &subject.unwrap_or_default()
            }),
            None => None,
        };
        match term {
            Some(term) => self.control(change, &term),
            None => {
                self.message = Some("this row has neither site nor subject; write them: `:arm site:measure`".into())
            }
        }
    }

    /// Changes the observed sites and subjects, given in the filter language.
    pub(super) fn control(&mut self, change: Change, text: &str) {
        match text.parse::<Filter>() {
            Ok(filter) => {
                let read = move |store: &Store, _: &Progress| Some(request(store, change, &filter));
                self.queue(Slot::Control, read, |crawler, sentence| {
                    crawler.message = Some(sentence);
                    crawler.queue_screen();
                });
            }
            Err(error) => self.message = Some(error.to_string()),
        }
    }
}

/// Requests a change of the running process. Returns a sentence about its observed sites, or the
/// reason why nothing was changed.
pub fn request(store: &Store, change: Change, filter: &Filter) -> String {
    if !store.processes().is_empty() {
        return "nothing is changed: `metaspy attach` to one of these processes to arm its sites".into();
    }
    let request = match store.targets(filter) {
        Ok(targets) => ControlRequest::new(change, &targets),
        Err(error) => return error.to_string(),
    };
    match store.control(&request) {
        Ok(states) => sentence(store, &states),
        Err(error) => format!("nothing is changed: {error}"),
    }
}

fn sentence(store: &Store, states: &[SiteState]) -> String {
    let Some(first) = states.first() else { return "no site is changed".into() };
    let sites = match states.len() {
        1 => store.site_path(first.site()).to_owned(),
        more => counted(more as u64, "site"),
    };
    let is_same = states.iter().all(|state| state.observed == first.observed);
    let observed = if is_same { name::observed(first.observed) } else { "differs from site to site".into() };
    let kept = states.iter().filter(|state| state.kept).count();
    let kept = match kept {
        0 => String::new(),
        _ if states.len() == 1 => "; the program's own profilers observe it, too".into(),
        _ => format!("; the program's own profilers observe {kept} of them, too"),
    };
    format!("observed now: {observed}, at {sites}{kept}")
}
