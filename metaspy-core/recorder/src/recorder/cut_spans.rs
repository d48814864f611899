//! Folded events whose span did not fit into their slot. A later end mark has the rest of it.

use std::sync::Mutex;

use crate::platform::lock::lock;
use crate::recorder::folder::Inside;

/// Events that wait at most. The time of a further one is a lower bound.
const MOST: usize = 1 << 10;

/// Folded events that wait for the rest of their span.
pub(super) struct CutSpans(Mutex<Vec<CutSpan>>);

struct CutSpan {
    event: u64,
    /// Key and owner of its row.
    row: (u64, u64),
    inside: Inside,
}

impl CutSpans {
    /// No events. Nothing is allocated later.
    pub fn new() -> Self {
        CutSpans(Mutex::new(Vec::with_capacity(MOST)))
    }

    /// Notes the row of an event, and the calls around it. It never waits: without the lock the
    /// time of the event is a lower bound.
    #[cold]
    pub fn note(&self, event: u64, row: (u64, u64), inside: Inside) {
        if let Ok(mut spans) = self.0.try_lock()
            && spans.len() < spans.capacity().min(MOST)
        {
            spans.push(CutSpan { event, row, inside });
        }
    }

    /// Gives its memory back. Nothing is noted after this.
    pub fn give_back(&self) {
        *lock(&self.0) = Vec::new();
    }

    /// Returns and removes the noted row of an event, and the calls around it.
    #[cold]
    pub fn take(&self, event: u64) -> Option<((u64, u64), Inside)> {
        let mut spans = self.0.try_lock().ok()?;
        let at = spans.iter().position(|span| span.event == event)?;
        let CutSpan { row, inside, .. } = spans.swap_remove(at);
        Some((row, inside))
    }
}
