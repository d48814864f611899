//! Orders to the running process: which sites and subjects it observes, and which events it keeps.

use metaspy_reader::control::{Change, ControlRequest, SiteState};
use metaspy_reader::event::Outcome;
use metaspy_reader::{Filter, Store};
use metaspy_report::text::counted;

use super::prompt::Prompt;
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
                let subject = subject
                    .map(|subject| format!(" {}", filter_edit::subject_term(&self.store, subject)));
                site + &subject.unwrap_or_default()
            }),
            None => None,
        };
        match term {
            Some(term) => self.control(change, &term),
            None => {
                self.message = Some(
                    "this row has neither site nor subject; write them: `:arm site:measure`".into(),
                )
            }
        }
    }

    /// Opens the prompt for rules, with one for the row under the cursor: a row of events stands
    /// for the slow events of its site, or for those that fail as it does.
    pub(super) fn open_rule(&mut self) {
        let slow = |term: String| format!("took:>p99.9 at {term}");
        let rule = match self.view.rows() {
            Some(rows) => rows.filter_term(&self.store).map(|term| match self.view.screen {
                Screen::Findings => term,
                _ => slow(term),
            }),
            None => self.view.list.selected.as_ref().map(|event| {
                let site = filter_edit::site_term(&self.store, event.site);
                match event.outcome {
                    Outcome::Failed => format!("outcome:failed {site}"),
                    Outcome::Panicked => format!("outcome:panicked {site}"),
                    _ => slow(site),
                }
            }),
        };
        self.prompt = Some(Prompt::rule(&rule.unwrap_or_default()));
    }

    /// Keeps the events that meet rules, in the running process.
    pub(super) fn rule(&mut self, rules: &str) {
        let rules = rules.trim().to_owned();
        if rules.is_empty() {
            return;
        }
        let read = move |store: &Store, _: &Progress| Some(keep(store, &rules));
        self.queue(Slot::Control, read, |crawler, sentence| crawler.message = Some(sentence));
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
        return "nothing is changed: `metaspy attach` to one of these processes to arm its sites"
            .into();
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

/// Requests that events are kept. Returns a sentence about it, or the reason why they are not.
fn keep(store: &Store, rules: &str) -> String {
    match store.control(&ControlRequest::keep(rules)) {
        Ok(states) if states.is_empty() => {
            format!(
                "what meets `{rules}` stays from now on; the filter `kept:yes` lists what left the window"
            )
        }
        Ok(_) => {
            "nothing is kept: the program's metaspy has no rules for that; build it again".into()
        }
        Err(error) => format!("nothing is kept: {error}"),
    }
}

fn sentence(store: &Store, states: &[SiteState]) -> String {
    let Some(first) = states.first() else { return "no site is changed".into() };
    let sites = match states.len() {
        1 => store.site_path(first.site()).to_owned(),
        more => counted(more as u64, "site"),
    };
    let is_same = states.iter().all(|state| state.observed == first.observed);
    let observed =
        if is_same { name::observed(first.observed) } else { "differs from site to site".into() };
    let kept = states.iter().filter(|state| state.kept).count();
    let kept = match kept {
        0 => String::new(),
        _ if states.len() == 1 => "; the program's own profilers observe it, too".into(),
        _ => format!("; the program's own profilers observe {kept} of them, too"),
    };
    format!("observed now: {observed}, at {sites}{kept}")
}
