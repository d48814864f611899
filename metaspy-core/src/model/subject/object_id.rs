//! An identity to embed in an object.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::subject::{Identify, Kind, Subject};

/// An identity of its own, as a field of an object: it survives moves, and no two objects share one.
///
/// A clone is another object, so it gets a new identity; two ids are equal only if they are the same object's.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(u64);

impl ObjectId {
    /// An identity that nothing else has.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        ObjectId(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The number.
    pub fn number(&self) -> u64 {
        self.0
    }
}

impl Default for ObjectId {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for ObjectId {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Identify for ObjectId {
    #[inline(always)]
    fn identify(&self) -> Subject {
        static KIND: Kind = Kind::new("object");
        Subject::new(KIND.id(), self.0)
    }
}
