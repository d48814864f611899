//! The causes of events, in the process that records them.

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::fence;

use crate::event::EventId;
use crate::format::slot::{FIRST_MARK, site};
use crate::format::{SLOT_WORDS, header};
use crate::recorder::Log;

/// Causes that are followed at most.
const FARTHEST: usize = 1 << 16;

/// True if an event is `root`, or an effect of it. `None`: a cause in between has left the window.
pub fn is_under(log: &Log, event: Option<EventId>, root: EventId) -> Option<bool> {
    let mut at = event;
    for _ in 0..FARTHEST {
        match at {
            None => return Some(false),
            Some(event) if event == root => return Some(true),
            Some(event) => at = EventId::from_raw(cause_of(log, event)?),
        }
    }
    None
}

/// The first event of a chain of causes. `None` if it is not in this log, or too far.
pub(super) fn first_cause(log: &Log, id: u64) -> Option<u64> {
    let mut at = EventId::from_raw(id)?;
    for _ in 0..FARTHEST {
        match EventId::from_raw(cause_of(log, at)?) {
            None => return Some(at.raw()),
            Some(cause) => at = cause,
        }
    }
    None
}

/// The cause of an event; 0 = it is a root. `None` if its block was used again.
fn cause_of(log: &Log, id: EventId) -> Option<u64> {
    let place = header::place(id.sequence(), log.layout.blocks);
    let cells = log.block(place);
    let is_its = |order| cells[header::SEQUENCE].load(order) == id.sequence();
    if !is_its(Acquire) || id.slot() == 0 {
        return None;
    }
    let at = id.slot() * SLOT_WORDS;
    // A cause in another process is noted in a slot that is no event.
    let is_remote = site(cells[at].load(Acquire)) >= FIRST_MARK;
    let cause = cells[at + 1].load(Relaxed);
    fence(Acquire);
    if !is_its(Relaxed) {
        return None;
    }
    Some(if is_remote { 0 } else { cause })
}
