//! Sites whose events are entered and left: futures, spans, and held resources. Their thread does
//! other things meanwhile, so they are not around everything that happens in their time.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::format::slot::FIRST_MARK;

/// By the number of a site. Pages of it that no site uses take no memory.
static ENTERED: [AtomicBool; FIRST_MARK as usize] =
    [const { AtomicBool::new(false) }; FIRST_MARK as usize];

/// Notes that the events of a site are entered and left.
pub fn note_entered(site: u32) {
    if let Some(entered) = ENTERED.get(site as usize) {
        entered.store(true, Relaxed);
    }
}

/// True if the events of a site are entered and left.
#[inline(always)]
pub fn is_entered(site: u32) -> bool {
    ENTERED.get(site as usize).is_some_and(|entered| entered.load(Relaxed))
}
