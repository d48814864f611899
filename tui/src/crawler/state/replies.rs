//! Application of the results of jobs to the state.

use metaspy_reader::{By, Store};

use super::Crawler;
use super::event_list::Side;
use super::pane::Tab;
use super::productions::Source;
use super::tally::TallyView;
use crate::crawler::jobs::{Answer, Slot};
use crate::crawler::worker::Reply;

impl Crawler {
    /// Applies a reply, unless a newer job was queued.
    pub fn accept(&mut self, reply: Reply) {
        if self.waiting.get(&reply.slot).is_none_or(|&(number, _)| number != reply.number) {
            return;
        }
        self.waiting.remove(&reply.slot);
        if let Some(pace) = self.paces.get_mut(&reply.slot) {
            *pace = pace.answered_at(self.now_ns);
        }
        match reply.answer {
            Some(answer) => self.apply_answer(answer),
            None => self.failed(reply.slot),
        }
        self.view.list.trim();
        self.update_dependents();
    }

    fn apply_answer(&mut self, answer: Answer) {
        let selected = self.view.list.selected;
        let id = selected.map(|event| event.id);
        match answer {
            Answer::Rows(side, page) => {
                let view = &mut self.view;
                view.list.accept(side, &page);
                view.list.fill(&self.store, &view.filter);
                if side == Side::After && self.view.list.follow {
                    self.view.list.refresh(&self.store, &self.view.filter);
                }
            }
            Answer::Search(found) => self.accept_match(found),
            Answer::Effects(of, effects) if Some(of) == id => {
                let first = self.view.pane.effects.replace(effects).is_none();
                self.view.pane.rebuild(&self.store, &self.marks, selected.as_ref());
                if first {
                    self.select_first_target();
                }
            }
            Answer::SameSubject(of, events) if Some(of) == id => {
                let at = events.iter().position(|event| event.id == of);
                let first = self.view.pane.same_subject.is_none();
                self.view.pane.same_subject = Some(events);
                self.view.pane.rebuild(&self.store, &self.marks, selected.as_ref());
                if let (Some(at), true, Tab::SameSubject) = (at, first, self.view.pane.tab) {
                    // The title takes the first row.
                    self.view.pane.select(at + 1);
                }
            }
            Answer::Facets(facets) => {
                if facets.filter == self.view.filter.text() {
                    let first = self.view.pane.facets.replace(facets).is_none();
                    self.view.pane.rebuild(&self.store, &self.marks, selected.as_ref());
                    if first {
                        self.select_first_target();
                    }
                }
            }
            Answer::Reasons(of, reasons) if Some(of) == id => {
                let has_path = reasons.path.is_some();
                let first = self.view.pane.reasons.replace(reasons).is_none() && has_path;
                self.view.pane.rebuild(&self.store, &self.marks, selected.as_ref());
                if first {
                    self.select_first_target();
                }
            }
            Answer::Neighbours(of, reasons, effects) if Some(of) == id => {
                (self.view.pane.reasons, self.view.pane.effects) = (Some(reasons), Some(effects));
                self.view.pane.rebuild(&self.store, &self.marks, selected.as_ref());
            }
            Answer::Times(times) => {
                if times.filter == self.view.filter.text() {
                    self.view.pane.times = Some(times);
                    self.view.pane.rebuild(&self.store, &self.marks, selected.as_ref());
                }
            }
            Answer::Object(of, object) if Some(of) == id => {
                self.view.pane.object = Some(object);
                self.view.pane.rebuild(&self.store, &self.marks, selected.as_ref());
            }
            Answer::Object(..)
            | Answer::Neighbours(..)
            | Answer::Effects(..)
            | Answer::Reasons(..)
            | Answer::SameSubject(..) => {}
            Answer::Index(index) => {
                self.index = index.or(self.index.take());
                if matches!(self.view.pane.tab, Tab::Detail | Tab::Effects | Tab::Graph) {
                    self.queue_pane();
                }
            }
            Answer::Tally(table) => {
                let (store, now_ns) = (self.store.clone(), self.now_ns);
                self.tally_mut(table.by).accept(&store, table, now_ns);
            }
            Answer::Sorted(table) => self.tally_mut(table.by).rows = table.rows,
            Answer::FoundRow(by, found) => {
                let found = self.tally_mut(by).select_key(found);
                self.accept_row(found);
            }
            Answer::Trend(by, trends) => self.tally_mut(by).trends = trends,
            Answer::Lanes(lanes) => self.view.lanes.accept(lanes),
            Answer::Browsed(at, filter, rows) => self.view.browser.accept(at, &filter, rows),
            Answer::Merged(store) => self.continue_with(*store),
            Answer::Nothing => {}
            Answer::Productions(tree) => self.view.productions.accept(tree),
            Answer::Structure(structure) => self.view.structure.accept(&self.store, structure),
            Answer::Controlled(sentence) => {
                self.message = Some(sentence);
                self.queue_screen();
            }
            Answer::Blueprint(blueprint) => self.view.blueprint.accept(blueprint),
            Answer::Types(types) => self.view.types.accept(types),
            Answer::Functions(functions) => self.view.functions.accept(&self.store, functions),
            Answer::Findings(findings) => self.view.findings.accept(findings),
            Answer::Exported(sentence) => self.message = Some(sentence),
            Answer::Source(site, line) => self.view.productions.source = Source { production: Some(site), line },
            Answer::Count(count) => self.view.count = Some(count),
        }
    }

    /// Continues in a later reading of the same recordings. If event ids have changed their
    /// meaning, the selection is found by time.
    fn continue_with(&mut self, store: Store) {
        let has_numbers = self.store.has_numbers_of(&store);
        self.store = store;
        if !has_numbers {
            let selected = self.view.list.selected.take().filter(|_| !self.view.list.follow);
            self.index = None;
            self.view.pane.of = None;
            self.set_filter(self.view.filter.clone());
            if let Some(event) = selected {
                self.show_time(event.start);
            }
        }
    }

    fn tally_mut(&mut self, by: By) -> &mut TallyView {
        match by {
            By::Site => &mut self.view.sites,
            _ => &mut self.view.subjects,
        }
    }

    /// Reports a job without a result that was not stopped: its thread failed.
    fn failed(&mut self, slot: Slot) {
        let what = match slot {
            Slot::Rows | Slot::Search => "the search",
            Slot::Pane | Slot::Index => "the search for effects",
            Slot::Table | Slot::Trend => "the table",
            Slot::Count => "the count",
            Slot::Source => "reading the source",
            Slot::Export => "the export",
            Slot::Control => "arming",
            Slot::Findings => "the search for findings",
            Slot::Merge => "reading the processes again",
        };
        if slot == Slot::Rows {
            self.view.list.cancel_searches();
        }
        self.message = Some(format!("{what} failed; run `metaspy verify` to check the recording"));
    }
}
