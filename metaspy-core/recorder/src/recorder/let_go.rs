//! Letting go of logs: a rotation has no end, so it keeps no memory of files that are complete.
//!
//! The addresses of a log stay. A guard on some stack may still count an outcome in one of its
//! rows, at any time, and such a store is lost from then on.

use std::sync::Mutex;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::fence;

use crate::format::{Region, superblock as sb};
use crate::platform::lock::{lock, lock_for_long};
use crate::platform::{map, truncation};
use crate::recorder::collector_state::CollectorState;
use crate::recorder::log::{LaneRows, Log};
use crate::recorder::protocol::{is_unused, let_go};
use crate::recorder::{folders, listener};

// A log stays for ever, without its memory: its address is known to calls that may still end.
const _: () = assert!(size_of::<Log>() <= 1 << 10);

/// Logs that a rotation has closed, and that were in use when it tried to let go of them.
static CLOSED: Mutex<Vec<&'static Log>> = Mutex::new(Vec::new());

/// A rotation goes on in another log than this one. Lets go of those before it. This one stays for
/// the calls that still run in it, until the next one follows.
pub(crate) fn let_go_before(closed: &'static Log) {
    let mut logs = lock(&CLOSED);
    logs.retain(|log| !log.let_go());
    logs.push(closed);
}

impl Log {
    /// Gives its memory back, if no thread and no reader uses it. False: it is used, as by a thread
    /// that called its last hook long ago. Then only its pages leave the memory.
    fn let_go(&'static self) -> bool {
        if !self.is_closed() {
            return false;
        }
        lock_for_long(&self.collecting).feed = None;
        if !let_go(&self.is_gone, || self.is_used()) {
            self.page_out();
            return false;
        }
        self.hand_over();
        if let Some(map) = self.region.map() {
            truncation::unguard(map.as_ptr());
            // SAFETY: nothing reads the mapping: the log is closed, no lane or directory of pages
            // has it, and no store does.
            unsafe { map::cover(map.as_mut_ptr(), map.len()) };
        }
        self.own_words.give_back();
        self.cut_spans.give_back();
        folders::give_back(self.folders);
        *lock_for_long(&self.collecting) = CollectorState::new();
        *lock(&self.lanes) = LaneRows::default();
        *lock(&self.statements.waiting) = Vec::new();
        self.file.iter().for_each(|file| file.close());
        true
    }

    /// True if a thread has called a hook that writes it.
    pub(crate) fn was_written(&self) -> bool {
        self.word(sb::LANES_USED).load(Relaxed) > 0 || !is_unused(&self.users)
    }

    fn is_used(&self) -> bool {
        !is_unused(&self.users) || self.region.is_shared()
    }

    /// Lets the system have its pages until they are needed; they are in its file.
    fn page_out(&self) {
        if self.file.is_some()
            && !self.is_paged_out.swap(true, SeqCst)
            && let Some(map) = self.region.map()
        {
            map::page_out(map);
        }
    }

    /// Hands on the values that others still need of a log that no lane can reach any more.
    pub(super) fn hand_over(&'static self) {
        if !self.is_handed_over() {
            listener::hand_over(self);
        }
    }

    /// Its memory, for a reader. `None` if it was let go: its file has it.
    pub fn region(&self) -> Option<Region> {
        let region = self.region.clone();
        fence(SeqCst);
        (!self.is_gone()).then_some(region)
    }
}
