//! The two halves of the statements in memory of this process: locks, allocation, and when the next
//! copy is due.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::recorder::growing_area::GrowingArea;

/// The two halves of the statements.
pub(crate) struct StatementHalves {
    pub halves: [GrowingArea; 2],
    /// Words of the statements that wait for room. The lock serialises the writers.
    pub waiting: Mutex<Vec<u64>>,
    /// True if the recording states that statements are missing.
    pub has_noted: AtomicBool,
    /// Words of all statements, with those that found no room.
    pub stated: AtomicU64,
    /// Words of statements after which the collector copies the needed ones. It begins early,
    /// because other threads go on stating.
    pub next_turn: AtomicU64,
}

impl StatementHalves {
    pub fn new(halves: [GrowingArea; 2]) -> Self {
        let next_turn = AtomicU64::new(halves[0].area.len as u64 / 4);
        StatementHalves {
            halves,
            waiting: Mutex::default(),
            has_noted: AtomicBool::new(false),
            stated: AtomicU64::new(0),
            next_turn,
        }
    }

    /// Returns true if the collector should copy the needed statements.
    pub fn is_due(&self) -> bool {
        self.stated.load(Ordering::Relaxed) >= self.next_turn.load(Ordering::Relaxed)
    }
}
