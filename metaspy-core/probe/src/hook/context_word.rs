//! The words that hooks read to count calls in their calling contexts.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The part of a calling context that a hook reads: the first words of the core's context.
///
/// It belongs to one thread, and stays.
#[repr(C)]
pub struct ContextHead {
    /// The word of the site of its calls, `Site::tally`, as long as hooks may count here; 0 = they
    /// may not.
    pub who: AtomicU64,
    /// The word in which calls are counted, which no other thread writes.
    pub counted: AtomicPtr<AtomicU64>,
    /// The contexts entered from here.
    pub table: AtomicPtr<ContextTable>,
    /// The next context in its place of the table around; null = none.
    pub next: AtomicPtr<ContextHead>,
}

/// The head of a table of contexts. Its places follow it, a power of two: each has the first of its
/// contexts, or null.
#[repr(C)]
pub struct ContextTable {
    /// The bits of 8 times the number of a site that find its place.
    pub mask: usize,
}

/// Where hooks of a thread find its context: the address of the core's word for it; null before the
/// first call.
///
/// Each program that contains such hooks has such a word for each thread.
#[repr(transparent)]
pub struct ContextWord(AtomicPtr<AtomicPtr<()>>);

impl ContextWord {
    /// No word.
    pub const fn none() -> Self {
        ContextWord(AtomicPtr::new(null_mut()))
    }

    /// Lets hooks find the context of the thread in this word. Only their thread may call this.
    pub fn point(&self, context: &'static AtomicPtr<()>) {
        self.0.store(core::ptr::from_ref(context).cast_mut(), Ordering::Relaxed);
    }

    /// The address.
    #[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "assembly reads it"))]
    #[inline(always)]
    pub(crate) fn address(&self) -> *const AtomicPtr<()> {
        self.0.load(Ordering::Relaxed)
    }
}
