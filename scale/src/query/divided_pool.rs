//! [`DividedPool`]: memory of a query. A half is for sorts and groups, which can go on in files.

use std::fmt;

use datafusion::common::resources_datafusion_err;
use datafusion::error::Result;
use datafusion::execution::memory_pool::{
    FairSpillPool, GreedyMemoryPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// Memory pool for one query. The engine's own fair pool gives all of its memory to sorts and
/// groups, and then the merge of the sorted rows finds none.
#[derive(Debug)]
pub struct DividedPool {
    bytes: usize,
    /// Pool for sorts and groups, which can go on in files. They share a half of the memory.
    spilling: FairSpillPool,
    /// Pool for all other consumers, which share the remaining memory.
    others: GreedyMemoryPool,
}

impl DividedPool {
    /// Creates a pool of this number of bytes.
    pub fn new(bytes: usize) -> Self {
        DividedPool {
            bytes,
            spilling: FairSpillPool::new(bytes / 2),
            others: GreedyMemoryPool::new(bytes),
        }
    }

    fn pool_of(&self, consumer: &MemoryConsumer) -> &dyn MemoryPool {
        if consumer.can_spill() { &self.spilling } else { &self.others }
    }
}

impl MemoryPool for DividedPool {
    fn name(&self) -> &str {
        "divided"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.pool_of(consumer).register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.pool_of(consumer).unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool_of(reservation.consumer()).grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool_of(reservation.consumer()).shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let free = self.bytes.saturating_sub(self.reserved());
        if additional > free {
            let name = reservation.consumer().name();
            return Err(resources_datafusion_err!(
                "{name} needs {additional} bytes more, and {free} of {} are free",
                self.bytes
            ));
        }
        self.pool_of(reservation.consumer()).try_grow(reservation, additional)
    }

    fn reserved(&self) -> usize {
        self.spilling.reserved() + self.others.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.bytes)
    }
}

impl fmt::Display for DividedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "divided pool of {} bytes", self.bytes)
    }
}
