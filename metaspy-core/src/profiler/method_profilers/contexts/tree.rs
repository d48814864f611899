//! The tree of calling contexts, and the place of this thread in it.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::sync::{Arc, Mutex};

use metaspy_probe::hash::scatter;

use crate::format::profile::Column;
use crate::method_profilers::Tables;
use crate::method_profilers::contexts::{births, lifetime};
use crate::method_profilers::table::{ContextRow, Table, Written};
use crate::platform::lock::lock;
use crate::site;

/// Calls above each other that have contexts of their own. Deeper ones are cut.
const DEEPEST: u32 = 1 << 10;
/// The depth of a context that stands for all calls below a full tree.
const CUT: u32 = u32::MAX;

/// The columns of the tree, behind that of the ids.
pub(in super::super) mod column {
    pub const CALLS: usize = 1;
    pub const CUT: usize = 2;
    pub const TOTAL: usize = 3;
    pub const OWN: usize = 4;
}

/// The tree of a profiler, in the current recording. Threads share the index of its nodes, and each counts in words of its
/// own. It stays in memory until the process ends, because a hook may refer to it; [`Tree::end`] gives back what is large.
pub(crate) struct Tree {
    table: Arc<Table>,
    /// By the number of a site, a hash of its path and place: the same in every process.
    names: Box<[u64]>,
    /// By the number of a site, true if nothing else observes its calls.
    alone: Box<[AtomicBool]>,
    pub(super) counts_objects: bool,
}

/// A context.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    /// The recording that it is of.
    written: Written,
    /// A hash of the sites from the root to it; 0 = the root.
    id: u64,
    row: ContextRow,
    depth: u32,
}

impl Node {
    /// In no tree. Calls from here are below the root.
    pub const NOWHERE: Self = Node { written: Written::NOWHERE, id: 0, row: ContextRow::NONE, depth: 0 };
}

thread_local! {
    // Constant and without a destructor: the first hook of a thread may be in a signal handler.
    static HERE: Cell<Node> = const { Cell::new(Node::NOWHERE) };
}

/// Every tree: it stays, because a hook may refer to it.
static KEPT: Mutex<Vec<&Tree>> = Mutex::new(Vec::new());

/// The trees that ended last, the oldest first: a hook that is at work may still count in one of them. Earlier ones gave back
/// what later ones need.
static ENDED: Mutex<VecDeque<&Tree>> = Mutex::new(VecDeque::new());
/// The most of these. Each has an eighth of the pages that threads have of their own.
const ENDED_MAX: usize = 4;

/// False until the first tree: all threads are nowhere.
static IS_USED: AtomicBool = AtomicBool::new(false);

/// The tree of an installed profiler, if no profiler needs the time of calls.
static ALONE: AtomicPtr<Tree> = AtomicPtr::new(std::ptr::null_mut());

/// Publishes which calls are counted in a tree alone: the bit of its profiler is the only one of their site, and no profiler
/// needs their time.
pub(in super::super) fn publish(tree: Option<(&'static Tree, u32)>, interests: &[u32], is_timed: bool) {
    births::publish(tree.map(|(tree, _)| tree).filter(|tree| tree.counts_objects));
    if let Some((tree, bit)) = tree.filter(|_| !is_timed) {
        for (alone, &interest) in tree.alone.iter().zip(interests) {
            alone.store(interest == bit, Relaxed);
        }
    }
    let alone = tree.filter(|_| !is_timed);
    let tree = alone.map_or(std::ptr::null_mut(), |(tree, _)| std::ptr::from_ref(tree).cast_mut());
    ALONE.store(tree, Release);
}

/// The tree of calling contexts, if nothing else observes the calls of this site.
#[inline]
pub(crate) fn alone_at(site: u32) -> Option<&'static Tree> {
    // SAFETY: it is null, or a box that is never freed.
    let tree = unsafe { ALONE.load(Acquire).as_ref() }?;
    tree.alone.get(site as usize)?.load(Relaxed).then_some(tree)
}

/// The context of this thread.
#[inline]
pub(in super::super) fn here() -> Node {
    if IS_USED.load(Relaxed) { HERE.get() } else { Node::NOWHERE }
}

/// Moves this thread back to the context around a call.
#[inline]
pub(in super::super) fn go_back(to: Node) {
    if IS_USED.load(Relaxed) {
        HERE.set(to);
    }
}

/// Moves this thread to another context, and returns the one before.
#[inline]
pub(crate) fn go_to(node: Node) -> Node {
    HERE.replace(node)
}

impl Tree {
    /// Makes a tree in the recording of these tables.
    pub fn install(tables: &mut Tables<'_>, counts_objects: bool) -> &'static Tree {
        let calls = [Column::new("calls"), Column::new("cut"), Column::ticks("total"), Column::ticks("self")];
        let objects = counts_objects.then(births::columns).into_iter().flatten();
        let columns = calls.into_iter().chain(objects);
        let entries = site::entries();
        let mut names = vec![0; entries.len() + 1];
        for entry in entries {
            let def = entry.site.def();
            let line = def.lines.0.to_le_bytes();
            let parts = [def.module.as_bytes(), b"::", def.name.as_bytes(), b" ", def.file.as_bytes(), &line];
            names[entry.id.0 as usize] = parts.concat().into_iter().fold(0, |hash, byte| mixed(hash, byte.into()));
        }
        let table = tables.by_context("tree", columns);
        let alone = names.iter().map(|_| AtomicBool::new(false)).collect();
        let tree: &Tree = Box::leak(Box::new(Tree { table, names: names.into(), alone, counts_objects }));
        lock(&KEPT).push(tree);
        IS_USED.store(true, Relaxed);
        tree
    }

    /// Its profiler is uninstalled.
    pub fn end(&'static self) {
        let mut ended = lock(&ENDED);
        ended.push_back(self);
        if ended.len() > ENDED_MAX
            && let Some(oldest) = ended.pop_front()
        {
            oldest.table.retire();
        }
    }

    /// Counts a call of this site, and moves this thread into its context. Returns the context around it, which this thread
    /// goes back to when the call has ended.
    #[inline]
    pub fn enter(&'static self, site: u32) -> Node {
        let around = here();
        let written = self.table.written();
        // What a call around began in another recording has no context in this one.
        let parent = if around.written == written { around } else { Node { written, ..Node::NOWHERE } };
        go_to(self.child(parent, site));
        around
    }

    /// Moves this thread into a context that was entered before, maybe by another thread. Returns the one around.
    pub fn resume(&'static self, node: Node) -> Node {
        let is_current = node.written == self.table.written();
        let row = if is_current { self.table.of_this_thread(node.row) } else { node.row };
        go_to(Node { row, ..node })
    }

    #[inline]
    fn child(&'static self, parent: Node, site: u32) -> Node {
        if parent.depth >= DEEPEST {
            return self.cut(parent);
        }
        let name = self.names.get(site as usize).copied().unwrap_or_default();
        let id = mixed(parent.id, name);
        let row = self.table.context_row(parent.written, id, site, parent.id);
        if row.is_none() {
            return self.cut(parent);
        }
        self.table.add_to(row, column::CALLS, 1);
        Node { written: parent.written, id, row, depth: parent.depth + 1 }
    }

    /// Counts a call without a context of its own: it is one of the calls below the last context that has room.
    #[cold]
    #[inline(never)]
    fn cut(&'static self, parent: Node) -> Node {
        let row = if parent.row.is_none() { self.root(parent.written) } else { parent.row };
        self.table.add_to(row, column::CUT, 1);
        Node { row, depth: CUT, ..parent }
    }

    /// The row of code without hooks.
    fn root(&'static self, written: Written) -> ContextRow {
        self.table.context_row(written, 0, 0, 0)
    }

    /// Counts an object in the context of this thread. Returns the number of the recording, the row, and how many objects this
    /// thread counted there before; `None` if there is no room, which is counted as lost.
    #[inline]
    pub(super) fn count_birth(&'static self, bytes: u64) -> Option<(u32, u32, u64)> {
        let (here, written) = (here(), self.table.written());
        let is_known = here.written == written && !here.row.is_none();
        let row = if is_known { here.row } else { self.root(written) };
        let earlier = self.table.add_to(row, births::column::OBJECTS, 1);
        self.table.add_to(row, births::column::BYTES, bytes);
        Some((self.recording()?, row.number()?, earlier))
    }

    /// The number of the recording that it is written into.
    #[inline]
    pub(super) fn recording(&self) -> Option<u32> {
        self.table.recording()
    }

    /// Counts the end of an object. False if it was counted in another recording.
    #[inline]
    pub(super) fn count_death(&'static self, recording: u32, row: u32, bytes: u64, start: lifetime::Start) -> bool {
        if self.recording() != Some(recording) {
            return false;
        }
        let here = here();
        let is_here = here.written == self.table.written() && here.row.number() == Some(row);
        let row = if is_here { here.row } else { self.table.row_of_this_thread(row) };
        self.table.add_to(row, births::column::FREED, 1);
        self.table.add_to(row, births::column::FREED_BYTES, bytes);
        if let Some((objects, ticks)) = start.until_now() {
            self.table.add_to(row, births::column::TIMED, objects);
            self.table.add_to(row, births::column::LIFETIME, ticks);
        }
        true
    }

    /// Stores the most bytes that were alive at once.
    pub(super) fn raise_peak(&'static self, live: u64) {
        self.table.merge_into(self.root(self.table.written()), births::column::PEAK, live);
    }

    /// Adds the time of the call that this thread is in. The time of a cut call is not known.
    #[inline]
    pub fn add_time(&'static self, total: u64, own: u64) {
        let here = here();
        if here.depth != CUT && here.written == self.table.written() {
            self.table.add_to(here.row, column::TOTAL, total);
            self.table.add_to(here.row, column::OWN, own);
        }
    }
}

#[inline]
fn mixed(hash: u64, more: u64) -> u64 {
    scatter(hash.rotate_left(23) ^ more)
}
