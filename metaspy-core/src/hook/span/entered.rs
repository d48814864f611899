//! The spans that a thread is in, in the order in which it entered them.
//!
//! Calls nest; spans need not: a thread may leave an outer span before an inner one. So it
//! remembers for each where it was before, and when one goes from the middle, the one above it goes
//! back to where the lower one would have gone.

use std::cell::RefCell;
use std::sync::atomic::Ordering::Relaxed;

use crate::clock;
use crate::recorder::{About, Lane};

/// A thread that is in more spans than this does not go into further ones: guards that are
/// forgotten must not take memory without bound.
const STAYS_MAX: usize = 4096;

/// A thread is in a span.
#[derive(Clone, Copy)]
struct Stay {
    event: u64,
    /// With the log of that event.
    about: About,
    /// The event that the thread was in before.
    before: u64,
    /// The cause that was named before.
    named_cause: u64,
    /// When it was entered; 0 = its time is not measured, or measured further out.
    from: u64,
    /// A panic was under way.
    panicking: bool,
}

impl Stay {
    /// True if it is in this span. Those of another recording may have the same event.
    fn is_in(&self, event: u64, about: About) -> bool {
        self.event == event && self.about.is_of_block(about)
    }
}

/// A thread was in a span.
pub(super) struct Stayed {
    /// For how many ticks.
    pub busy: u64,
    /// A panic that began meanwhile left it.
    pub unwound: bool,
}

thread_local! {
    static STAYS: RefCell<Vec<Stay>> = const { RefCell::new(Vec::new()) };
}

/// Goes into a span. A thread that ends, or is in too many, stays where it is.
#[inline]
pub(super) fn enter(lane: &Lane, event: u64, about: About) {
    let _ = STAYS.try_with(|stays| {
        // Held already: an allocator that uses spans itself is at work for this very list.
        let Ok(mut stays) = stays.try_borrow_mut() else { return };
        if stays.len() == STAYS_MAX {
            return;
        }
        // Time in a span that is entered within itself is measured once.
        let is_within = stays.iter().any(|stay| stay.is_in(event, about) && stay.from != 0);
        let is_written = lane.writes_log_of(about);
        let before = lane.current.load(Relaxed);
        let named_cause = lane.named_cause.load(Relaxed);
        let from = if about.timed() && !is_within { clock::now() } else { 0 };
        let panicking = std::thread::panicking();
        stays.push(Stay { event, about, before, named_cause, from, panicking });
        // Where its recording is not the current one any more, nothing may hang under it.
        if is_written {
            lane.current.store(event, Relaxed);
            // What begins now is inside this span, also where it was named as a cause.
            lane.named_cause.store(0, Relaxed);
        }
    });
}

/// Comes out of a span, if the thread went in.
#[inline]
pub(super) fn leave(lane: &Lane, event: u64, about: About) -> Option<Stayed> {
    let left = STAYS.try_with(|stays| {
        let mut stays = stays.try_borrow_mut().ok()?;
        let now = stays.last().map_or(0, |last| if last.from != 0 { clock::now() } else { 0 });
        let (stay, now) = match stays.last() {
            Some(last) if last.is_in(event, about) => (stays.pop()?, now),
            _ => (out_of_order(&mut stays, event, about)?, clock::now()),
        };
        if lane.current.load(Relaxed) == event && lane.is_in_log_of(about) {
            lane.current.store(stay.before, Relaxed);
            lane.named_cause.store(stay.named_cause, Relaxed);
        }
        let busy = if stay.from != 0 { now.saturating_sub(stay.from) } else { 0 };
        Some(Stayed { busy, unwound: std::thread::panicking() && !stay.panicking })
    });
    left.ok().flatten()
}

#[cold]
fn out_of_order(stays: &mut Vec<Stay>, event: u64, about: About) -> Option<Stay> {
    let at = stays.iter().rposition(|stay| stay.is_in(event, about))?;
    let left = stays.remove(at);
    if let Some(above) = stays[at..].iter_mut().find(|above| above.before == event) {
        above.before = left.before;
        above.named_cause = left.named_cause;
    }
    Some(left)
}
