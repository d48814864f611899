//! Queue of the jobs that the state needs. They run on other threads, and `replies.rs` handles
//! their answers.

use std::sync::Arc;

use super::Crawler;
use super::pace::Pace;
use super::pane::Tab;
use super::table::{TableList, fitting};
use crate::crawler::command::Screen;
use crate::crawler::jobs::{Job, Progress, Reach, Slot};
use crate::crawler::layout::{Focus, Layout};
use crate::crawler::worker::QueuedJob;

/// Time between two readings of the index of effects, or two searches for findings, as a multiple of the
/// time that one takes.
const INDEX_FACTOR: u64 = 20;
/// Maximum number of stored events of a recording that is indexed as soon as an event is selected.
/// The index of a larger recording is read when the tree of effects is opened.
const INDEXED_AT_ONCE: u64 = 20_000_000;

impl Crawler {
    /// Queues the job that the open tab needs.
    pub(super) fn queue_pane(&mut self) {
        if self.view.pane.tab.is_about_the_list() {
            let filter = self.view.filter.clone();
            return self.queue(match self.view.pane.tab {
                Tab::Times => Job::Times { filter },
                _ => Job::Facets { filter },
            });
        }
        let Some(event) = self.view.list.selected else { return };
        match (self.view.pane.tab, event.subject) {
            (Tab::SameSubject, Some(subject)) => self.queue(Job::SameSubject { id: event.id, subject }),
            (Tab::Graph, _) => {
                let reach = self.reach();
                self.queue(Job::Neighbours { id: event.id, index: self.index.clone(), reach });
                self.queue_index();
            }
            (Tab::Causes, _) => {
                let from = self.view.pane.path_from.filter(|&from| from != event.id);
                self.queue(Job::Reasons { id: event.id, from });
            }
            (Tab::Object, Some(subject)) => self.queue(Job::Object { id: event.id, subject }),
            (Tab::SameSubject | Tab::Siblings | Tab::Object | Tab::Facets | Tab::Times, _) => {}
            (Tab::Detail | Tab::Effects, _) => {
                let reach = self.reach();
                self.queue(Job::Effects { id: event.id, index: self.index.clone(), reach });
                self.queue_index();
            }
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

    /// Queues the index of effects if it is not complete. Reading it takes processor time from the application, so a live
    /// recording is read again after some time.
    pub(super) fn queue_index(&mut self) {
        let factor = if self.view.pane.tab == Tab::Effects { Pace::FACTOR } else { INDEX_FACTOR };
        let is_due = match self.index {
            None => self.view.pane.tab == Tab::Effects || self.status.totals.stored <= INDEXED_AT_ONCE,
            Some(_) => self.pace(Slot::Index).is_due(self.now_ns, factor),
        };
        if is_due && self.reach() != Reach::Whole && !self.waiting.contains_key(&Slot::Index) {
            self.index_emitted = self.status.totals.emitted;
            self.queue(Job::Index);
        }
    }

    /// Fits the open screen, or a tab of the pane, to a panel of this size, and queues the jobs
    /// that the panel needs.
    pub(crate) fn fit_panel(&mut self, tab: Option<Tab>, (width, height): (u16, u16)) {
        let (lines, view) = (height.saturating_sub(2).into(), &mut self.view);
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
                let has_effects = read.is_some_and(|reach| reach == Reach::Whole || reach == self.reach());
                let is_read = if tab == Tab::Causes { has_reasons } else { has_effects };
                if !is_read && !self.waiting.contains_key(&Slot::Pane) {
                    self.queue_pane();
                }
                self.view.pane.rebuild(&self.store, &self.marks, self.view.list.selected.as_ref());
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
        if self.view.screen == Screen::Findings {
            return self.queue_findings();
        }
        self.view.lanes.around = self.view.list.selected_id().filter(|_| !self.view.list.follow);
        let job = self.view.rows().map(|rows| rows.job(self.view.filter.clone()));
        if let Some(job) = job.filter(|job| !matches!(job, Job::Nothing)) {
            self.queue(job);
        }
    }

    /// Queues the search for findings if the last one is not true any more. It reads all events on all processors, so
    /// a live recording is searched again after some time.
    fn queue_findings(&mut self) {
        let is_due = match &self.view.findings.read {
            None => true,
            Some(read) => {
                read.totals.emitted != self.status.totals.emitted
                    && self.pace(Slot::Findings).is_due(self.now_ns, INDEX_FACTOR)
            }
        };
        if is_due && !self.waiting.contains_key(&Slot::Findings) {
            self.queue(Job::Findings(self.view.findings.config.clone()));
        }
    }

    /// Returns the slot of the job that the open screen needs.
    pub(super) fn screen_slot(&self) -> Slot {
        if self.view.screen == Screen::Findings { Slot::Findings } else { Slot::Table }
    }

    /// Queues the reading of the visible rows over time, if the screen is wide enough to show it.
    /// For a live recording it is repeated as often as the table, and less often if it takes long.
    pub(super) fn queue_trend(&mut self) {
        let table = match self.view.screen {
            Screen::Sites => &self.view.sites,
            Screen::Subjects => &self.view.subjects,
            _ => return,
        };
        let columns = table.columns(&self.store);
        let shown = fitting(&columns, Some(&table.sort), Layout::new(self.size.0, self.size.1, Focus::List).body.width);
        if self.waiting.contains_key(&Slot::Trend) || shown.iter().all(|(column, _)| column.name != "trend") {
            return;
        }
        let is_due = self.is_due(Slot::Trend);
        if let Some(job) = table.trend_job(&self.view.filter).filter(|_| is_due || !table.trends.is_old) {
            self.queue(job);
        }
    }

    /// Queues the count of the events that pass the filter.
    pub(super) fn queue_count(&mut self) {
        if !self.view.filter.is_all() {
            self.queue(Job::Count { filter: self.view.filter.clone() });
        }
    }

    /// Queues the next column of a browser that must be read.
    pub(super) fn queue_column(&mut self) {
        let is_free = !self.waiting.contains_key(&Slot::Table);
        let (browser, filter) = (&mut self.view.browser, &self.view.filter);
        let job = browser.next_job(filter).or_else(|| is_free.then(|| browser.next_reread(filter))?);
        job.into_iter().for_each(|job| self.queue(job));
    }

    fn pace(&self, slot: Slot) -> Pace {
        self.paces.get(&slot).copied().unwrap_or_default()
    }

    /// Returns true if the job of a slot may be repeated, because the recording grows.
    pub(super) fn is_due(&self, slot: Slot) -> bool {
        !self.waiting.contains_key(&slot) && self.pace(slot).is_due(self.now_ns, Pace::FACTOR)
    }

    pub(super) fn queue(&mut self, job: Job) {
        self.paces.insert(job.slot(), self.pace(job.slot()).queued_at(self.now_ns));
        self.next_number += 1;
        let (number, progress) = (self.next_number, Arc::new(Progress::default()));
        if let Some((_, before)) = self.waiting.insert(job.slot(), (number, Arc::clone(&progress))) {
            before.stop();
        }
        self.queued.push(QueuedJob { number, job, progress });
    }

    /// Takes all jobs out of the queue.
    pub fn take_jobs(&mut self) -> Vec<QueuedJob> {
        std::mem::take(&mut self.queued)
    }

    /// Returns true while a job runs.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns the progress of the job in a slot: events scanned, and the number of all events.
    pub fn progress(&self, slot: Slot) -> Option<(u64, u64)> {
        self.waiting.get(&slot).map(|(_, progress)| progress.read())
    }
}
