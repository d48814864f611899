//! Objects on the heap, by the calling context that allocated them.
//!
//! An object remembers the context that allocated it, in 16 bytes in front of it. A table of
//! addresses would need a lock, or memory without bound, and each freed object would be searched
//! for.

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::format::profile::{Column, Merge};
use crate::method_profilers::contexts::{Tree, lifetime, live};
use crate::method_profilers::uncounted::IS_BUSY;
use crate::recorder;

/// The columns of objects, behind those of calls.
pub(super) mod column {
    pub const OBJECTS: usize = 5;
    pub const BYTES: usize = 6;
    pub const FREED: usize = 7;
    pub const FREED_BYTES: usize = 8;
    pub const LIFETIME: usize = 9;
    pub const PEAK: usize = 10;
    pub const TIMED: usize = 11;
}

/// The columns of objects.
pub(super) fn columns() -> [Column; 7] {
    let bytes = |name| Column::new(name).unit("B");
    [
        Column::new("objects"),
        bytes("bytes"),
        Column::new("freed"),
        bytes("freed bytes"),
        Column::ticks("lifetime"),
        bytes("peak").merged_by(Merge::Max),
        Column::new("timed"),
    ]
}

/// The tree that counts objects; null if none does, and in a forked child.
static COUNTING: AtomicPtr<Tree> = AtomicPtr::new(std::ptr::null_mut());

/// The record that an object keeps of its allocation. Zeroes if the allocation was not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Birth {
    /// The recording of the tree, as a number from 1 on.
    recording: u32,
    /// The row of the context.
    row: u32,
    /// When it was, if its lifetime is measured.
    at: lifetime::Start,
}

/// Lets objects be counted in this tree, or in none.
pub(super) fn publish(new: Option<&'static Tree>) {
    if let Some(before) = tree() {
        live::publish(before);
    }
    let new = new.map_or(std::ptr::null_mut(), |tree| std::ptr::from_ref(tree).cast_mut());
    if COUNTING.load(Relaxed) != new {
        live::forget();
        COUNTING.store(new, Release);
    }
}

/// Merges the counts of a thread that ends into the totals.
pub(super) fn end_thread() {
    if let Some(tree) = tree() {
        live::publish(tree);
    }
}

#[inline]
fn tree() -> Option<&'static Tree> {
    // SAFETY: it is null, or a box that is never freed.
    unsafe { COUNTING.load(Acquire).as_ref() }
}

/// Counts an object of the program. `runs_profiler` is true if a profiler runs on this thread: its
/// objects are metaspy's.
#[inline]
pub(crate) fn born(bytes: usize, runs_profiler: impl Fn() -> bool) -> Birth {
    match tree() {
        Some(tree) if !runs_profiler() => count_birth(tree, bytes as u64).unwrap_or_default(),
        _ => Birth::default(),
    }
}

#[inline(never)]
fn count_birth(tree: &'static Tree, bytes: u64) -> Option<Birth> {
    if IS_BUSY.replace(true) {
        return None;
    }
    // Allocations of the recorder and of handlers are not the program's.
    let is_own = recorder::lane_level() == 0;
    let birth = if is_own { tree.count_birth(bytes) } else { None };
    if let Some((recording, ..)) = birth {
        live::change(tree, recording, bytes as i64);
    }
    IS_BUSY.set(false);
    let (recording, row, earlier) = birth?;
    Some(Birth { recording, row, at: lifetime::Start::of_object(earlier) })
}

/// Counts the end of an object, on whatever thread.
#[inline]
pub(crate) fn died(birth: Birth, bytes: usize) {
    if birth.recording != 0
        && let Some(tree) = tree()
    {
        count_death(tree, birth, bytes as u64);
    }
}

#[inline(never)]
fn count_death(tree: &'static Tree, birth: Birth, bytes: u64) {
    if tree.count_death(birth.recording, birth.row, bytes, birth.at) {
        live::change(tree, birth.recording, -(bytes as i64));
    }
}
