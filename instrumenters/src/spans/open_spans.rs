//! The spans that are live now, found by the ids that the registry gives them.
//!
//! The registry keeps extensions for a layer, in a map behind a lock behind a reference count: 60 ns for a span, and a
//! look at them 20 ns. Here a span is found in three instructions. An id is that of one span as long as this is live, so
//! it will do for as long; where two spans meet in one cell, the second one is kept in its extensions after all.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use metaspy_core::hook::SpanCall;
use tracing_core::span::Id;

use crate::lookup_cache;

/// Spans that are live at once and need nothing else, at most.
const CELLS: usize = 1 << CELL_BITS;
const CELL_BITS: u32 = 10;
/// Of a registry's id. Where they are fewer, or stand elsewhere, spans are found all the same.
const GENERATION_BITS: u32 = 13;

/// Room for the spans of one layer.
pub(super) struct OpenSpans(Box<[Cell]>);

/// Threads that work on spans beside each other do not share a line of the cache.
#[repr(align(64))]
struct Cell {
    /// The span's id; 0 = there is none.
    id: AtomicU64,
    /// Spans whose cell this would be, but it was taken.
    overflowed: AtomicU32,
    call: SpanCall,
}

/// Where a span is.
pub(super) enum Found<'l> {
    InCell(&'l SpanCall),
    /// In its extensions, or nowhere.
    InExtensions,
    /// It is not observed.
    NotObserved,
}

impl OpenSpans {
    pub fn new() -> Self {
        let cell = || Cell { id: AtomicU64::new(0), overflowed: AtomicU32::new(0), call: SpanCall::vacant() };
        OpenSpans((0..CELLS).map(|_| cell()).collect())
    }

    /// Looks for a span.
    #[inline]
    pub fn find(&self, id: &Id) -> Found<'_> {
        let cell = self.cell(id);
        if cell.id.load(Acquire) == id.into_u64() {
            Found::InCell(&cell.call)
        } else if cell.overflowed.load(Relaxed) != 0 {
            Found::InExtensions
        } else {
            Found::NotObserved
        }
    }

    /// Room for a new span. `None`: it has to be kept elsewhere.
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

    /// The span is closed, and its id may be another's.
    pub fn release(&self, id: &Id) {
        self.cell(id).id.store(0, Release);
    }

    /// Likewise of one that was kept elsewhere.
    pub fn release_overflow(&self, id: &Id) {
        self.cell(id).overflowed.fetch_sub(1, Relaxed);
    }

    fn cell(&self, id: &Id) -> &Cell {
        // Without the highest bits: in them the registry counts how often it used a place. A span that takes the place of
        // another one takes its cell, which is at hand.
        &self.0[lookup_cache::cell(id.into_u64() << GENERATION_BITS, CELL_BITS)]
    }
}
