//! The word that settled counts depend on.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

use metaspy_probe::NO_CELL;

/// The word that cells are compared with at sites that method profilers are interested in: what settled is valid until it
/// changes. Never a word of a row, which has its highest bit set, nor [`NO_CELL`].
pub(super) static SETTLED: AtomicU64 = AtomicU64::new(NO_CELL + 1);

/// The word as it is now.
pub(crate) fn settled() -> u64 {
    SETTLED.load(Acquire)
}

/// Invalidates all that settled. Called when what has changed is stored.
pub(crate) fn unsettle() {
    SETTLED.fetch_add(1, Release);
}
