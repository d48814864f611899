//! A calling context as one thread knows it.

use std::mem::offset_of;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, compiler_fence};

use crate::method_profilers::table::{ContextRow, Written};

/// The depth of a context that stands for all calls below one that has no room.
pub(super) const CUT: u32 = u32::MAX;
/// Contexts below it that a node remembers. A power of two.
pub(super) const CHILDREN: usize = 8;

/// A calling context as its thread knows it: two lines of the cache.
///
/// Only its thread writes it. Its words are atomics because signal handlers run on the same thread.
#[repr(align(64))]
pub(crate) struct Node {
    /// A hash of the sites from the root to it; 0 = the root.
    pub id: u64,
    pub site: u32,
    pub depth: u32,
    /// The recording that the row is of.
    written: AtomicPtr<()>,
    row: AtomicU32,
    /// The words of this thread in the row; null if it shares them.
    words: AtomicPtr<AtomicU64>,
    /// The one that counts calls.
    counted: AtomicPtr<AtomicU64>,
    /// The contexts that were entered from here last, by the lowest bits of their sites.
    children: [AtomicPtr<Node>; CHILDREN],
}

/// What a context is called in all threads.
#[derive(Clone, Copy)]
pub(crate) struct Name {
    pub id: u64,
    pub site: u32,
    pub depth: u32,
}

impl Name {
    pub(super) const ROOT: Self = Name { id: 0, site: 0, depth: 0 };
}

impl Node {
    /// Where its words are, for hooks in assembly.
    pub const SITE: usize = offset_of!(Node, site);
    pub const WRITTEN: usize = offset_of!(Node, written);
    pub const COUNTED: usize = offset_of!(Node, counted);
    pub const CHILDREN: usize = offset_of!(Node, children);
    /// The bits of a site that find its place among the children.
    pub const CHILD_MASK: usize = CHILDREN - 1;

    pub(super) fn new(name: Name) -> Self {
        Node {
            id: name.id,
            site: name.site,
            depth: name.depth,
            written: AtomicPtr::new(null_mut()),
            row: AtomicU32::new(0),
            words: AtomicPtr::new(null_mut()),
            counted: AtomicPtr::new(null_mut()),
            children: [const { AtomicPtr::new(null_mut()) }; CHILDREN],
        }
    }

    /// What it is called in all threads.
    pub fn name(&self) -> Name {
        Name { id: self.id, site: self.site, depth: self.depth }
    }

    /// True if its row is of this recording.
    #[inline]
    pub fn is_of(&self, written: Written) -> bool {
        std::ptr::eq(self.written.load(Relaxed), written.address())
    }

    /// Its row in the recording that it is of.
    #[inline]
    pub fn row(&self) -> ContextRow {
        let written = Written::at(self.written.load(Relaxed));
        ContextRow { written, row: self.row.load(Relaxed), words: self.words.load(Relaxed) }
    }

    /// The word that its calls are counted in; `None` if this thread has none for itself.
    #[inline]
    pub fn counted(&self) -> Option<&'static AtomicU64> {
        // SAFETY: it is null, or a word of a page, and pages are never unmapped.
        unsafe { self.counted.load(Relaxed).as_ref() }
    }

    /// Words of its row; `None` if this thread has none for itself.
    #[inline(always)]
    pub fn words<const N: usize>(&self, columns: [usize; N]) -> Option<[&'static AtomicU64; N]> {
        let words = self.words.load(Relaxed).cast_const();
        // SAFETY: a row has a word for each column, and pages are never unmapped.
        (!words.is_null()).then(|| columns.map(|column| unsafe { &*words.add(column) }))
    }

    /// Gives it a row of a recording, whose calls are counted in this column. A signal handler of this thread finds a whole
    /// row or none.
    pub fn put(&self, row: ContextRow, column: usize) {
        self.written.store(null_mut(), Relaxed);
        compiler_fence(Release);
        self.row.store(row.row, Relaxed);
        self.words.store(row.words.cast_mut(), Relaxed);
        let counted = if row.words.is_null() { null() } else { row.words.wrapping_add(column) };
        self.counted.store(counted.cast_mut(), Relaxed);
        compiler_fence(Release);
        self.written.store(row.written.address().cast_mut(), Relaxed);
    }

    /// Forgets its row and what it remembers: another thread has it from now on, with words of its own.
    pub fn forget(&self) {
        self.written.store(null_mut(), Relaxed);
        self.children.iter().for_each(|child| child.store(null_mut(), Relaxed));
    }

    /// The context of a call of this site from here, if the node remembers it.
    #[inline(always)]
    pub fn child(&self, site: u32) -> Option<&'static Node> {
        // SAFETY: it is null, or a node, and nodes stay.
        let child = unsafe { self.children[site as usize % CHILDREN].load(Relaxed).as_ref() }?;
        (child.site == site).then_some(child)
    }

    /// Remembers a context that was entered from here.
    pub fn remember(&self, child: &'static Node) {
        let place = &self.children[child.site as usize % CHILDREN];
        place.store(std::ptr::from_ref(child).cast_mut(), Relaxed);
    }
}
