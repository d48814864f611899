//! The two halves of the statements in memory of this process: locks, allocation, and when the next copy is due.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::recorder::stepped::Stepped;

/// The two halves of the statements.
pub(crate) struct StatementHalves {
    pub halves: [Stepped; 2],
    /// Serialises the writers.
    pub stating: Mutex<()>,
    /// Words of all statements, with those that found no room.
    pub stated: AtomicU64,
    /// The collector copies what is needed when so many words were stated.
    pub next_turn: AtomicU64,
}

impl StatementHalves {
    pub fn new(halves: [Stepped; 2]) -> Self {
        let next_turn = AtomicU64::new(halves[0].area.len as u64 / 2);
        StatementHalves { halves, stating: Mutex::new(()), stated: AtomicU64::new(0), next_turn }
    }

    /// True if the collector should copy what is needed.
    pub fn is_due(&self) -> bool {
        self.stated.load(Ordering::Relaxed) >= self.next_turn.load(Ordering::Relaxed)
    }
}
