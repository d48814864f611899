//! The block that a method profiler is installed around.

use std::ptr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

use crate::causality::Carried;
use crate::event::EventId;
use crate::recorder::{self, Lane};

/// The block that a profiler is installed around, on one thread. The events of the block, and their
/// effects on any thread, belong to it.
pub(crate) struct Block {
    /// The event of the block, as a [`Carried`]; [`NOT_BEGUN`] or [`WITHOUT_EVENT`].
    root: AtomicU64,
    /// The thread of the block. It is only compared.
    lane: *const Lane,
}

/// The event that this thread is in.
pub(super) fn current_event() -> Carried {
    let event =
        recorder::current().and_then(|log| EventId::from_raw(recorder::current_event_in(log)));
    Carried::new(event)
}

const NOT_BEGUN: u64 = 0;
/// The event found no room in the log: then everything belongs to the block, and nothing is exact.
const WITHOUT_EVENT: u64 = u64::MAX;

// SAFETY: the address of a lane is only compared.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// A block of this thread that has not begun yet: nothing belongs to it.
    pub fn of_this_thread() -> Block {
        Block { root: AtomicU64::new(NOT_BEGUN), lane: ptr::from_ref(recorder::own_lane()) }
    }

    /// The block begins with its event.
    pub fn begin(&self, event: Option<EventId>) {
        let root = event.map_or(WITHOUT_EVENT, |event| Carried::new(Some(event)).to_bits());
        self.root.store(root, Release);
    }

    /// Returns false if the events of the block cannot be distinguished, because the event of the
    /// block found no room.
    pub fn has_event(&self) -> bool {
        self.root.load(Acquire) != WITHOUT_EVENT
    }

    /// True if an event of this thread belongs to the block. `None`: one of its causes has left the
    /// window.
    #[cold]
    pub fn has(&self, event: Carried) -> Option<bool> {
        let root = match self.root.load(Acquire) {
            NOT_BEGUN => return Some(false),
            WITHOUT_EVENT => return Some(true),
            root => Carried::from_bits(root).event_here(),
        };
        // Of a recording that has ended, nothing belongs to another one.
        let Some((root, log)) = root.zip(recorder::current()) else { return Some(false) };
        let is_under = recorder::is_under(log, event.event(), root);
        // Every call of this thread while it is in the block belongs to the block.
        is_under.or_else(|| ptr::eq(self.lane, recorder::own_lane()).then_some(true))
    }
}
