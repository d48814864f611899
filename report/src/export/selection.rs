//! The events that are exported: those of a recording that pass a filter.

use std::fmt;
use std::io;

use metaspy_reader::{Event, Filter, Position, Store};

/// Events that are read at once.
const PAGE: usize = 1 << 14;
/// Events that are tested at most between two reports of progress.
const BUDGET: usize = 1 << 20;

/// The events of a recording that pass a filter, as an export reads them: one after the other, in
/// order of time.
///
/// Of a live recording, those that began before the export.
#[derive(Clone, Copy)]
pub struct Selection<'s> {
    /// The recording.
    pub store: &'s Store,
    /// The filter.
    pub filter: &'s Filter,
    watch: Option<&'s dyn Fn(Progress) -> bool>,
}

/// How far an export is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The part that is done, from 0 to 1. A format that reads the recording more than once begins
    /// again at 0.
    pub part: f64,
    /// Events that were found in this reading.
    pub events: u64,
}

impl<'s> Selection<'s> {
    /// The events that pass.
    pub fn new(store: &'s Store, filter: &'s Filter) -> Self {
        Selection { store, filter, watch: None }
    }

    /// Reports progress to `watch`, some times in a second. The export stops if it returns false.
    pub fn watched(self, watch: &'s dyn Fn(Progress) -> bool) -> Self {
        Selection { watch: Some(watch), ..self }
    }

    /// Reports progress.
    pub(super) fn report(&self, part: f64, events: u64) -> io::Result<()> {
        if self.watch.is_none_or(|watch| watch(Progress { part, events })) {
            Ok(())
        } else {
            Err(stopped())
        }
    }

    /// The tick of the newest event, and of the oldest.
    pub(super) fn range(&self) -> (u64, u64) {
        let all = Filter::all();
        let first = |page: Vec<Event>| page.first().map_or(0, |event| event.start);
        let oldest = first(self.store.forward(Position::Start, &all, 1, usize::MAX).events);
        (oldest, first(self.store.backward(Position::End, &all, 1, usize::MAX).events))
    }

    /// Calls `visit` with each event, in order of time. Returns their number.
    pub(super) fn each(&self, mut visit: impl FnMut(&Event) -> io::Result<()>) -> io::Result<u64> {
        let (oldest, newest) = self.range();
        let mut from = Some(Position::Start);
        let mut events = 0;
        let mut at = oldest;
        while let Some(position) = from {
            self.report((at - oldest) as f64 / (newest - oldest).max(1) as f64, events)?;
            let page = self.store.forward(position, self.filter, PAGE, BUDGET);
            for event in &page.events {
                if event.start > newest {
                    return Ok(events);
                }
                visit(event)?;
                events += 1;
            }
            let end = page.events.last().map(|event| event.start);
            at = end.or(tick(page.more)).unwrap_or(at).clamp(at, newest.max(at));
            from = page.more.filter(|more| tick(Some(*more)).is_none_or(|tick| tick <= newest));
        }
        self.report(1.0, events)?;
        Ok(events)
    }
}

fn tick(position: Option<Position>) -> Option<u64> {
    match position {
        Some(Position::At { tick }) => Some(tick),
        _ => None,
    }
}

impl fmt::Debug for Selection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("store", self.store)
            .field("filter", self.filter)
            .finish_non_exhaustive()
    }
}

/// The watcher of an export stopped it.
#[derive(Debug)]
struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the export was stopped")
    }
}

impl std::error::Error for Stopped {}

/// The error of an export that its watcher stopped.
pub(super) fn stopped() -> io::Error {
    io::Error::other(Stopped)
}

/// True if an export ended with this error because its watcher stopped it.
pub fn is_stopped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<Stopped>())
}
