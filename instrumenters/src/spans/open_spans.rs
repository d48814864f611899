//! Table of the open spans, by the registry's ids.
//!
//! The layer must not cost more than the registry. The registry's extensions are a map behind a
//! lock behind a reference count: they cost 60 ns for each span, and 20 ns for each entry. Here are
//! 1,024 cells by the registry's id, and a lookup takes three instructions. An id belongs to one
//! span while that is open. If two spans have the same cell, the second one is kept in the
//! extensions.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use metaspy_core::hook::SpanCall;
use tracing_core::span::Id;

use crate::lookup_cache;

/// Maximum number of spans that are open at once without use of the extensions.
const CELLS: usize = 1 << CELL_BITS;
const CELL_BITS: u32 = 10;
/// Number of bits of a registry's id that count the reuse of its place. A wrong number only costs
/// speed.
const GENERATION_BITS: u32 = 13;

/// Open spans of a layer.
pub(super) struct OpenSpans(Box<[Cell]>);

/// Cell of a span. It is aligned, so that threads with different spans do not share a cache line.
#[repr(align(64))]
struct Cell {
    /// Id of the span; 0 for none.
    id: AtomicU64,
    /// Number of spans with this cell in the extensions.
    overflowed: AtomicU32,
    call: SpanCall,
}

/// Result of the search for a span.
pub(super) enum SpanLookup<'l> {
    InCell(&'l SpanCall),
    /// The span is in the extensions, or not observed.
    InExtensions,
    /// The span is not observed.
    NotObserved,
}

impl OpenSpans {
    pub fn new() -> Self {
        let cell = || Cell {
            id: AtomicU64::new(0),
            overflowed: AtomicU32::new(0),
            call: SpanCall::vacant(),
        };
        OpenSpans((0..CELLS).map(|_| cell()).collect())
    }

    /// Finds a span.
    #[inline]
    pub fn find(&self, id: &Id) -> SpanLookup<'_> {
        let cell = self.cell(id);
        if cell.id.load(Acquire) == id.into_u64() {
            SpanLookup::InCell(&cell.call)
        } else if cell.overflowed.load(Relaxed) != 0 {
            SpanLookup::InExtensions
        } else {
            SpanLookup::NotObserved
        }
    }

    /// Claims the cell of a new span. Returns `None` if the cell is taken, so the extensions must
    /// keep the span.
    pub fn claim(&self, id: &Id) -> Option<&SpanCall> {
        let cell = self.cell(id);
        match cell.id.compare_exchange(0, id.into_u64(), Acquire, Relaxed) {
            Ok(_) => Some(&cell.call),
            Err(_) => {
                cell.overflowed.fetch_add(1, Relaxed);
                None
            }
        }
    }

    /// Frees the cell of a closed span.
    pub fn release(&self, id: &Id) {
        self.cell(id).id.store(0, Release);
    }

    /// Releases a span that is kept in the extensions.
    pub fn release_overflow(&self, id: &Id) {
        self.cell(id).overflowed.fetch_sub(1, Relaxed);
    }

    fn cell(&self, id: &Id) -> &Cell {
        // The highest bits, which count the reuse of a place, are left out. So a new span in an old
        // place gets the same cell, which is in the cache.
        &self.0[lookup_cache::cell(id.into_u64() << GENERATION_BITS, CELL_BITS)]
    }
}
