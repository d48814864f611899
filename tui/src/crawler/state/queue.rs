//! Queue of the jobs that the state needs, and the changes that their results make. The jobs run on
//! other threads.

use std::sync::Arc;

use metaspy_reader::{EffectsIndex, Event, EventId, Position, Store};
use metaspy_report::findings;
use metaspy_report::functions::Functions;

use super::Crawler;
use super::browser::{self, UnreadColumn};
use super::event_list::{self, Side};
use super::lanes;
use super::pace::Pace;
use super::pane::{facets, object, times};
use super::productions::Tree;
use super::table::{TableList, fitting};
use super::tally::trend;
use super::types;
use super::view::Count;
use crate::crawler::command::{Screen, Tab};
use crate::crawler::effects::{self, Reach};
use crate::crawler::jobs::{Job, Progress, Reply, Slot};
use crate::crawler::layout::{Focus, Layout};
use crate::crawler::reasons;

/// Time between two readings of the index of effects, or two searches for findings, as a multiple
/// of the time that one takes.
const INDEX_FACTOR: u64 = 20;
/// Maximum number of stored events of a recording that is indexed as soon as an event is selected.
/// The index of a larger recording is read when the tree of effects is opened.
const INDEXED_AT_ONCE: u64 = 20_000_000;

impl Crawler {
    /// Queues the job that the open tab needs.
    pub(super) fn queue_pane(&mut self) {
        let filter = self.view.filter.clone();
        match self.view.pane.tab {
            Tab::Times => self.queue(
                Slot::Pane,
                move |store, progress| times::read(store, filter, progress),
                |crawler, times| {
                    if times.filter == crawler.view.filter.text() {
                        crawler.view.pane.times = Some(times);
                        crawler.rebuild_pane();
                    }
                },
            ),
            Tab::Facets => self.queue(
                Slot::Pane,
                move |store, _| Some(facets::read(store, filter)),
                |crawler, facets| {
                    if facets.filter == crawler.view.filter.text() {
                        let is_first = crawler.view.pane.facets.replace(facets).is_none();
                        crawler.rebuild_pane_at(is_first);
                    }
                },
            ),
            _ => {
                if let Some(event) = self.view.list.selected {
                    self.queue_pane_of(event);
                }
            }
        }
    }

    /// Queues the job that a tab about an event needs.
    fn queue_pane_of(&mut self, event: Event) {
        let id = event.id;
        let index = self.index.clone();
        let reach = self.reach();
        match (self.view.pane.tab, event.subject) {
            (Tab::SameSubject, Some(subject)) => self.queue_about(
                id,
                move |store, progress| Some(event_list::same_subject(store, id, subject, progress)),
                move |crawler, events| {
                    let at = events.iter().position(|event| event.id == id);
                    let is_first = crawler.view.pane.same_subject.replace(events).is_none();
                    crawler.rebuild_pane();
                    if let (Some(at), true, Tab::SameSubject) =
                        (at, is_first, crawler.view.pane.tab)
                    {
                        // The title takes the first row.
                        crawler.view.pane.select(at + 1);
                    }
                },
            ),
            (Tab::Graph, _) => {
                self.queue_about(
                    id,
                    move |store, progress| {
                        let reasons = reasons::read(store, id, None, progress);
                        Some((reasons, effects::read(store, id, index.as_deref(), reach, progress)))
                    },
                    |crawler, (reasons, effects)| {
                        (crawler.view.pane.reasons, crawler.view.pane.effects) =
                            (Some(reasons), Some(effects));
                        crawler.rebuild_pane();
                    },
                );
                self.queue_index();
            }
            (Tab::Causes, _) => {
                let from = self.view.pane.path_from.filter(|&from| from != id);
                self.queue_about(
                    id,
                    move |store, progress| Some(reasons::read(store, id, from, progress)),
                    move |crawler, reasons| {
                        let is_first = crawler.view.pane.reasons.replace(reasons).is_none();
                        crawler.rebuild_pane_at(is_first && from.is_some());
                    },
                );
            }
            (Tab::Object, Some(subject)) => self.queue_about(
                id,
                move |store, progress| object::read(store, subject, progress),
                |crawler, object| {
                    crawler.view.pane.object = Some(object);
                    crawler.rebuild_pane();
                },
            ),
            (Tab::Detail | Tab::Effects, _) => {
                self.queue_about(
                    id,
                    move |store, progress| {
                        Some(effects::read(store, id, index.as_deref(), reach, progress))
                    },
                    |crawler, effects| {
                        let is_first = crawler.view.pane.effects.replace(effects).is_none();
                        crawler.rebuild_pane_at(is_first);
                    },
                );
                self.queue_index();
            }
            (Tab::SameSubject | Tab::Siblings | Tab::Object | Tab::Facets | Tab::Times, _) => {}
        }
    }

    /// Queues a job about an event. Its result is discarded if another event is selected meanwhile.
    fn queue_about<T: Send + 'static>(
        &mut self,
        id: EventId,
        read: impl FnOnce(&Store, &Progress) -> Option<T> + Send + 'static,
        accept: impl FnOnce(&mut Crawler, T) + Send + 'static,
    ) {
        self.queue(Slot::Pane, read, move |crawler, value| {
            if crawler.view.list.selected_id() == Some(id) {
                accept(crawler, value);
            }
        });
    }

    /// Rebuilds the rows of the pane, and optionally selects the first row that leads elsewhere.
    fn rebuild_pane_at(&mut self, is_first: bool) {
        self.rebuild_pane();
        if is_first {
            self.select_first_target();
        }
    }

    /// Returns the part of the recording that the index of effects holds.
    pub(super) fn reach(&self) -> Reach {
        let waits = self.waiting.contains_key(&Slot::Index);
        match &self.index {
            None => Reach::OwnLane,
            Some(_) if self.index_emitted == self.status.totals.emitted && !waits => Reach::Whole,
            Some(_) => Reach::LastReading,
        }
    }

    /// Queues the index of effects if it is not complete. Reading it takes processor time from the
    /// application, so a live recording is read again after some time.
    pub(super) fn queue_index(&mut self) {
        let factor = if self.view.pane.tab == Tab::Effects { Pace::FACTOR } else { INDEX_FACTOR };
        let is_due = match self.index {
            None => {
                self.view.pane.tab == Tab::Effects || self.status.totals.stored <= INDEXED_AT_ONCE
            }
            Some(_) => self.pace(Slot::Index).is_due(self.now_ns, factor),
        };
        if is_due && self.reach() != Reach::Whole && !self.waiting.contains_key(&Slot::Index) {
            self.index_emitted = self.status.totals.emitted;
            self.queue(
                Slot::Index,
                |store, progress| {
                    let index = EffectsIndex::build(store, |done, of| {
                        progress.set(done, of);
                        !progress.is_stopped()
                    })?;
                    Some(Arc::new(index))
                },
                |crawler, index| {
                    crawler.index = Some(index);
                    if matches!(crawler.view.pane.tab, Tab::Detail | Tab::Effects | Tab::Graph) {
                        crawler.queue_pane();
                    }
                },
            );
        }
    }

    /// Fits the open screen, or a tab of the pane, to a panel of this size, and queues the jobs
    /// that the panel needs.
    pub(crate) fn fit_panel(&mut self, tab: Option<Tab>, (width, height): (u16, u16)) {
        let lines = height.saturating_sub(2).into();
        let view = &mut self.view;
        // The header, the screens and the footer are no part of a panel.
        self.size = (width, height + 3);
        match (tab, view.screen) {
            (Some(tab), _) => {
                if view.pane.tab != tab {
                    view.pane.open(tab);
                }
                view.pane.width = width.saturating_sub(2).into();
                view.pane.cursor.height = lines - 1;
                let read = view.pane.effects.as_ref().map(|effects| effects.reach);
                let has_reasons = view.pane.reasons.is_some();
                // The index may have been read while another panel was shown.
                let has_effects =
                    read.is_some_and(|reach| reach == Reach::Whole || reach == self.reach());
                let is_read = if tab == Tab::Causes { has_reasons } else { has_effects };
                if !is_read && !self.waiting.contains_key(&Slot::Pane) {
                    self.queue_pane();
                }
                self.rebuild_pane();
            }
            (None, Screen::Events) => {
                view.list.height = lines;
                view.list.fill(&self.store, &view.filter);
            }
            (None, screen) => {
                if let Some(rows) = view.rows_mut() {
                    rows.resize(lines);
                }
                let table = if screen == Screen::Sites { &view.sites } else { &view.subjects };
                if !table.is_read() && !self.waiting.contains_key(&Slot::Table) {
                    self.queue_screen();
                }
                self.queue_trend();
            }
        }
    }

    /// Queues the job that the open screen needs.
    pub(super) fn queue_screen(&mut self) {
        if self.store.grows() {
            self.view.browser.grow();
        }
        let view = &mut self.view;
        let filter = view.filter.clone();
        view.lanes.around = view.list.selected_id().filter(|_| !view.list.follow);
        match view.screen {
            // The columns of a browser are read in sequence: see `queue_column`.
            Screen::Events | Screen::Browser => {}
            Screen::Findings => self.queue_findings(),
            Screen::Subjects | Screen::Sites => {
                let Some(table) = view.tally().cloned() else { return };
                let by = table.by;
                self.queue(
                    Slot::Table,
                    move |store, _| Some(table.read(store, filter)),
                    move |crawler, table| {
                        crawler.view.tally_mut(by).accept(&crawler.store, table, crawler.now_ns);
                    },
                );
            }
            Screen::Lanes => {
                let part = view.lanes.part();
                let columns = view.lanes.columns;
                self.queue(
                    Slot::Table,
                    move |store, progress| lanes::read(store, part, columns, &filter, progress),
                    |crawler, lanes| crawler.view.lanes.accept(lanes),
                );
            }
            Screen::Structure => {
                let structure = view.structure.clone();
                self.queue(
                    Slot::Table,
                    move |store, _| Some(structure.read(store, &filter)),
                    |crawler, structure| crawler.view.structure.accept(&crawler.store, structure),
                );
            }
            Screen::Productions => self.queue(
                Slot::Table,
                |store, _| Some(Tree::read(store, filter)),
                |crawler, tree| crawler.view.productions.accept(tree),
            ),
            Screen::Blueprint => {
                let blueprint = view.blueprint.clone();
                self.queue(
                    Slot::Table,
                    move |store, _| Some(blueprint.read(store, &filter)),
                    |crawler, blueprint| crawler.view.blueprint.accept(blueprint),
                );
            }
            Screen::Types => self.queue(
                Slot::Table,
                |store, _| Some(types::read(store)),
                |crawler, types| crawler.view.types.accept(types),
            ),
            Screen::Functions => self.queue(
                Slot::Table,
                |store, _| Some(Functions::read(store)),
                |crawler, functions| crawler.view.functions.accept(&crawler.store, functions),
            ),
        }
    }

    /// Queues the search for findings if the last one is not true any more. It reads all events on
    /// all processors, so a live recording is searched again after some time.
    fn queue_findings(&mut self) {
        let is_due = match &self.view.findings.read {
            None => true,
            Some(read) => {
                read.totals.emitted != self.status.totals.emitted
                    && self.pace(Slot::Findings).is_due(self.now_ns, INDEX_FACTOR)
            }
        };
        if is_due && !self.waiting.contains_key(&Slot::Findings) {
            let config = self.view.findings.config.clone();
            self.queue(
                Slot::Findings,
                move |store, progress| {
                    findings::find_watched(store, &config, &|read| progress.goes_on(read))
                },
                |crawler, findings| crawler.view.findings.accept(findings),
            );
        }
    }

    /// Returns the slot of the job that the open screen needs.
    pub(super) fn screen_slot(&self) -> Slot {
        if self.view.screen == Screen::Findings { Slot::Findings } else { Slot::Table }
    }

    /// Queues the reading of the visible rows over time, if the screen is wide enough to show it.
    /// For a live recording it is repeated as often as the table, and less often if it takes long.
    pub(super) fn queue_trend(&mut self) {
        let Some(table) = self.view.tally() else { return };
        let columns = table.columns(&self.store);
        let shown = fitting(
            &columns,
            Some(&table.sort),
            Layout::new(self.size.0, self.size.1, Focus::List).body.width,
        );
        if self.waiting.contains_key(&Slot::Trend)
            || shown.iter().all(|(column, _)| column.name != "trend")
        {
            return;
        }
        let is_due = self.is_due(Slot::Trend);
        if let Some(rows) = table.rows_without_trend().filter(|_| is_due || !table.trends.is_old) {
            let by = table.by;
            let filter = self.view.filter.clone();
            self.queue(
                Slot::Trend,
                move |store, progress| trend::read(store, by, &rows, &filter, progress),
                move |crawler, trends| crawler.view.tally_mut(by).trends = trends,
            );
        }
    }

    /// Queues the count of the events that pass the filter.
    pub(super) fn queue_count(&mut self) {
        if !self.view.filter.is_all() {
            let filter = self.view.filter.clone();
            self.queue(
                Slot::Count,
                |store, _| Some(Count::read(store, filter)),
                |crawler, count| crawler.view.count = Some(count),
            );
        }
    }

    /// Queues the next column of a browser that must be read.
    pub(super) fn queue_column(&mut self) {
        let is_free = !self.waiting.contains_key(&Slot::Table);
        let browser = &mut self.view.browser;
        let filter = &self.view.filter;
        let next = browser
            .next_unread(filter)
            .or_else(|| is_free.then(|| browser.next_outdated(filter))?);
        let Some(UnreadColumn { at, tab, filter }) = next else { return };
        let text = filter.text().to_owned();
        self.queue(
            Slot::Table,
            move |store, _| Some(browser::read(store, &tab, filter)),
            move |crawler, rows| crawler.view.browser.accept(at, &text, rows),
        );
    }

    fn pace(&self, slot: Slot) -> Pace {
        self.paces.get(&slot).copied().unwrap_or_default()
    }

    /// Returns true if the job of a slot may be repeated, because the recording grows.
    pub(super) fn is_due(&self, slot: Slot) -> bool {
        !self.waiting.contains_key(&slot) && self.pace(slot).is_due(self.now_ns, Pace::FACTOR)
    }

    /// Queues the search for rows at an end of the list.
    pub(super) fn queue_rows(&mut self, side: Side, from: Position) {
        let filter = self.view.filter.clone();
        let want = self.view.list.height.max(1);
        self.queue(
            Slot::Rows,
            move |store, progress| {
                Some(event_list::scan(store, side, from, &filter, want, progress))
            },
            move |crawler, page| {
                let store = &crawler.store;
                let view = &mut crawler.view;
                view.list.accept(side, &page);
                view.list.fill(store, &view.filter);
                if side == Side::After && view.list.follow {
                    view.list.refresh(store, &view.filter);
                }
            },
        );
    }

    /// Queues a job: it reads a value, and gives it to the crawler. It replaces the job in its
    /// slot.
    pub(super) fn queue<T: Send + 'static>(
        &mut self,
        slot: Slot,
        read: impl FnOnce(&Store, &Progress) -> Option<T> + Send + 'static,
        accept: impl FnOnce(&mut Crawler, T) + Send + 'static,
    ) {
        self.paces.insert(slot, self.pace(slot).queued_at(self.now_ns));
        let job = Job::new(slot, read, accept);
        if let Some(before) = self.waiting.insert(slot, Arc::clone(job.progress())) {
            before.stop();
        }
        self.queued.push(job);
    }

    /// Applies a reply, unless a newer job was queued.
    pub fn accept(&mut self, reply: Reply<Crawler>) {
        if self.waiting.get(&reply.slot).is_none_or(|latest| !Arc::ptr_eq(latest, &reply.progress))
        {
            return;
        }
        self.waiting.remove(&reply.slot);
        if let Some(pace) = self.paces.get_mut(&reply.slot) {
            *pace = pace.answered_at(self.now_ns);
        }
        match reply.change {
            Some(change) => change(self),
            None => self.failed(reply.slot),
        }
        self.view.list.trim();
        self.update_dependents();
    }

    /// Continues in a later reading of the same recordings. If event ids have changed their
    /// meaning, the selection is found by time.
    pub(super) fn continue_with(&mut self, store: Store) {
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

    /// Takes all jobs out of the queue.
    pub fn take_jobs(&mut self) -> Vec<Job<Crawler>> {
        std::mem::take(&mut self.queued)
    }

    /// Returns true while a job runs.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns the progress of the job in a slot: events scanned, and the number of all events.
    pub fn progress(&self, slot: Slot) -> Option<(u64, u64)> {
        self.waiting.get(&slot).map(|progress| progress.read())
    }
}
