//! The tree of calling contexts.
//!
//! Each thread counts contexts in the recording itself. Senseo merges a tree of each thread every
//! *n* calls (section 4.2). Here threads neither wait nor copy, a kill loses nothing, and live
//! counts are whole. Threads only meet where a path of calls is new.
//!
//! A tree that has ended is not freed. It gives its index, slots and pages to later trees, four
//! trees later. So hooks find the tree without a count of who reads it, which would cost each call
//! two locked instructions.

use std::collections::VecDeque;
use std::mem::offset_of;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::sync::{Arc, Mutex};

use metaspy_probe::ContextWord;
use metaspy_probe::hash::scatter;

use crate::format::profile::Column;
use crate::method_profilers::Tables;
use crate::method_profilers::contexts::node::{CUT, Name, Node};
use crate::method_profilers::contexts::nodes::{
    self, Nodes, context_in, current_context, go_in, go_to,
};
use crate::method_profilers::contexts::{births, lifetime};
use crate::method_profilers::table::{ContextRow, Table, Written, count};
use crate::platform::lock::lock;
use crate::recorder::{self, ProfilerState};
use crate::site;

/// Calls above each other that have contexts of their own. Deeper ones are cut.
const DEEPEST: u32 = 1 << 10;
/// Mixed into the id of a context, the id of the one that stands for all calls below it.
const ID_OF_CUT: u64 = u64::MAX;

/// The columns of the tree, behind that of the ids.
pub(in super::super) mod column {
    pub const CALLS: usize = 1;
    pub const CUT: usize = 2;
    pub const TOTAL: usize = 3;
    pub const OWN: usize = 4;
}

/// The tree of a profiler, in the current recording. Threads share the index of its nodes, and each
/// counts in words of its own. It stays in memory until the process ends, because a hook may refer
/// to it; [`Tree::end`] gives back its large parts.
pub(crate) struct Tree {
    table: Arc<Table>,
    /// By the number of a site, a hash of its path and place: the same in every process.
    names: Box<[u64]>,
    /// By the number of a site, true if nothing else observes its calls.
    alone: Box<[AtomicBool]>,
    pub(super) counts_objects: bool,
    /// The address of the word that names the recording of the table, for hooks in assembly.
    written: AtomicPtr<()>,
}

/// The context of a call that has left its thread.
#[derive(Clone, Copy)]
pub(crate) struct Paused {
    name: Name,
    written: Written,
    row: u32,
}

// SAFETY: the address of a recording is only compared.
unsafe impl Send for Paused {}

/// Every tree: it stays, because a hook may refer to it.
static KEPT: Mutex<Vec<&Tree>> = Mutex::new(Vec::new());

/// The trees that ended last, the oldest first: a hook that is at work may still count in one of
/// them. Earlier trees have given back their memory to later ones.
static ENDED: Mutex<VecDeque<&Tree>> = Mutex::new(VecDeque::new());
/// The most of these. Each has an eighth of the pages that threads have of their own.
const ENDED_MAX: usize = 4;

/// The tree of an installed profiler, if no profiler needs the time of calls.
static ALONE: AtomicPtr<Tree> = AtomicPtr::new(std::ptr::null_mut());

/// Publishes which calls are counted in a tree alone: the bit of its profiler is the only one of
/// their site. Without `may_be_alone` there are none, because a profiler needs their time, or only
/// those of a block are counted.
pub(in super::super) fn publish(
    tree: Option<(&'static Tree, u32)>,
    interests: &[u32],
    may_be_alone: bool,
) {
    births::publish(tree.map(|(tree, _)| tree).filter(|tree| tree.counts_objects));
    let alone = tree.filter(|_| may_be_alone);
    if let Some((tree, bit)) = alone {
        for (alone, &interest) in tree.alone.iter().zip(interests) {
            alone.store(interest == bit, Relaxed);
        }
    }
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

impl Tree {
    /// Where that address is.
    pub const WRITTEN: usize = offset_of!(Tree, written);

    /// Makes a tree in the recording of these tables.
    pub fn install(tables: &mut Tables<'_>, counts_objects: bool) -> &'static Tree {
        let calls = [
            Column::new("calls"),
            Column::new("cut"),
            Column::ticks("total"),
            Column::ticks("self"),
        ];
        let objects = counts_objects.then(births::columns).into_iter().flatten();
        let columns = calls.into_iter().chain(objects);
        let entries = site::entries();
        let mut names = vec![0; entries.len() + 1];
        for entry in entries {
            let def = entry.site.def();
            let line = def.lines.0.to_le_bytes();
            let parts = [
                def.module.as_bytes(),
                b"::",
                def.name.as_bytes(),
                b" ",
                def.file.as_bytes(),
                &line,
            ];
            names[entry.id.0 as usize] =
                parts.concat().into_iter().fold(0, |hash, byte| mixed(hash, byte.into()));
        }
        let table = tables.by_context("tree", columns);
        let alone = names.iter().map(|_| AtomicBool::new(false)).collect();
        let written = AtomicPtr::new(table.written_at().cast_mut());
        let tree: &Tree = Box::leak(Box::new(Tree {
            table,
            names: names.into(),
            alone,
            counts_objects,
            written,
        }));
        lock(&KEPT).push(tree);
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

    /// Counts a call of this site, and moves this thread into its context. Returns the context
    /// around it, which this thread goes back to when the call has ended.
    #[inline]
    pub fn enter(&'static self, site: u32) -> Option<&'static Node> {
        let written = self.table.written();
        let around = current_context();
        // The context of a call around this one, if it began in another recording, has no node in
        // this recording.
        let parent = around.filter(|node| node.is_of(written));
        let known =
            parent.and_then(|parent| parent.child(site)).filter(|child| child.is_of(written));
        let child = match known {
            Some(child) => Some(child),
            None => self.find(parent, site, written),
        };
        match child.and_then(Node::counted) {
            Some(word) => count(word, 1),
            None => self.count_shared(child, site, written),
        }
        go_to(child);
        // From now on the root is a node like the others.
        around.or_else(|| nodes::of_this_thread().map(Nodes::root))
    }

    /// As [`Tree::enter`], at a hook that counts further calls from the same context by itself, as
    /// long as its site has this word. It finds the context of its thread by `word`.
    pub fn enter_at_hook(
        &'static self,
        site: u32,
        who: u64,
        word: &ContextWord,
    ) -> Option<&'static Node> {
        let around = self.enter(site);
        let here = current_context().filter(|here| here.site == site);
        here.into_iter().for_each(|here| here.count_at_hooks(who));
        word.point(&recorder::own_lane().profilers.context);
        around
    }

    /// As [`Tree::enter`], of a call that the context around remembers. `None`: nothing is counted.
    #[inline(always)]
    pub fn enter_known(
        &'static self,
        observed: &ProfilerState,
        site: u32,
    ) -> Option<&'static Node> {
        let around = context_in(observed)?;
        // It was remembered while the context around was of the same recording, which is not
        // compared again.
        let child = around.child(site).filter(|child| child.is_of(self.table.written()))?;
        count(child.counted()?, 1);
        go_in(observed, Some(child));
        Some(around)
    }

    /// The context of a call of this site from `parent`, or from the root.
    #[cold]
    #[inline(never)]
    fn find(
        &'static self,
        parent: Option<&'static Node>,
        site: u32,
        written: Written,
    ) -> Option<&'static Node> {
        let nodes = nodes::of_this_thread()?;
        let parent = parent.unwrap_or(nodes.root());
        if parent.depth == CUT {
            return Some(parent);
        }
        if parent.depth >= DEEPEST {
            return Some(self.cut(nodes, parent, written));
        }
        let name = Name { id: mixed(parent.id, self.name_of(site)), site, depth: parent.depth + 1 };
        let Some(child) = self.child(nodes, parent, name, written) else {
            return match self.after(written) {
                Some(now) => self.find(None, site, now),
                None => Some(self.cut(nodes, parent, written)),
            };
        };
        nodes.remember(parent, child);
        Some(child)
    }

    fn child(
        &'static self,
        nodes: &'static Nodes,
        parent: &Node,
        name: Name,
        written: Written,
    ) -> Option<&'static Node> {
        if let Some(known) = nodes.find(name.id).filter(|node| node.is_of(written)) {
            return Some(known);
        }
        let row = self.table.find_context(written, name.id, name.site, parent.id);
        let child = if row.is_none() { None } else { nodes.find_or_make(name) }?;
        child.put(row, column::CALLS);
        Some(child)
    }

    /// The context of calls without contexts of their own: those below the last context that has
    /// room.
    fn cut(&'static self, nodes: &'static Nodes, parent: &Node, written: Written) -> &'static Node {
        let name = Name { id: mixed(parent.id, ID_OF_CUT), site: u32::MAX, depth: CUT };
        let Some(cut) = nodes.find_or_make(name) else { return nodes.lost(written) };
        let row = if parent.id == 0 { self.root(written) } else { parent.row() };
        cut.put(row, column::CUT);
        cut
    }

    /// Counts a call where this thread has no word for itself. A thread that ends has no nodes: its
    /// calls are below the root.
    #[cold]
    #[inline(never)]
    fn count_shared(&'static self, of: Option<&Node>, site: u32, written: Written) {
        let (row, column) = match of {
            None => (self.below_root(written, mixed(0, self.name_of(site)), site), column::CALLS),
            Some(node) if node.depth == CUT => (node.row(), column::CUT),
            Some(node) => (node.row(), column::CALLS),
        };
        self.table.add_to(row, column, 1);
    }

    /// Returns the recording that is written now, if it is another one: a closed recording has no
    /// room for new rows.
    fn after(&self, written: Written) -> Option<Written> {
        Some(self.table.written()).filter(|now| *now != written)
    }

    /// The row of a context without one around it, also where the recording is replaced meanwhile.
    fn below_root(&self, written: Written, id: u64, site: u32) -> ContextRow {
        let row = self.table.find_context(written, id, site, 0);
        match self.after(written).filter(|_| row.is_none()) {
            Some(now) => self.below_root(now, id, site),
            None => row,
        }
    }

    fn name_of(&self, site: u32) -> u64 {
        self.names.get(site as usize).copied().unwrap_or_default()
    }

    /// The row of code without hooks.
    fn root(&'static self, written: Written) -> ContextRow {
        let root = nodes::of_this_thread().map(Nodes::root);
        if let Some(known) = root.filter(|root| root.is_of(written)) {
            return known.row();
        }
        let row = self.below_root(written, 0, 0);
        if let Some(root) = root.filter(|_| !row.is_none()) {
            root.put(row, column::CUT);
        }
        row
    }

    /// The context of this thread as other threads can continue in it; `None` at the root.
    pub fn pause(&'static self) -> Option<Paused> {
        let written = self.table.written();
        let here = current_context().filter(|node| node.is_of(written))?;
        Some(Paused { name: here.name(), written, row: here.row().number()? })
    }

    /// Moves this thread into a context in which a call was paused, maybe on another thread.
    /// Returns the one around.
    pub fn resume(&'static self, paused: Option<Paused>) -> Option<&'static Node> {
        go_to(paused.and_then(|paused| self.continued(paused)))
    }

    fn continued(&'static self, Paused { name, written, row }: Paused) -> Option<&'static Node> {
        if written != self.table.written() {
            return None;
        }
        let node = nodes::of_this_thread()?.find_or_make(name)?;
        if !node.is_of(written) {
            let column = if name.depth == CUT { column::CUT } else { column::CALLS };
            node.put(self.table.of_this_thread(written, row), column);
        }
        Some(node)
    }

    /// Counts an object in the context of this thread. Returns the number of the recording, the
    /// row, and how many objects this thread counted there before; `None` if there is no room,
    /// which is counted as lost.
    #[inline]
    pub(super) fn count_birth(&'static self, bytes: u64) -> Option<(u32, u32, u64)> {
        let row = self.row_here();
        let earlier = self.table.add_to(row, births::column::OBJECTS, 1);
        self.table.add_to(row, births::column::BYTES, bytes);
        Some((row.written.recording()?, row.number()?, earlier))
    }

    /// The row of the context of this thread.
    #[inline]
    fn row_here(&'static self) -> ContextRow {
        let written = self.table.written();
        match current_context()
            .filter(|node| node.is_of(written))
            .map(Node::row)
            .filter(|row| !row.is_none())
        {
            Some(row) => row,
            None => self.root(written),
        }
    }

    /// The number of the recording that it is written into.
    #[inline]
    pub(super) fn recording(&self) -> Option<u32> {
        self.table.recording()
    }

    /// Counts the end of an object. False if it was counted in another recording.
    #[inline]
    pub(super) fn count_death(
        &'static self,
        recording: u32,
        row: u32,
        bytes: u64,
        start: lifetime::Start,
    ) -> bool {
        let here = self.row_here();
        if here.written.recording() != Some(recording) {
            return false;
        }
        let row = if here.number() == Some(row) {
            here
        } else {
            self.table.of_this_thread(here.written, row)
        };
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

    /// As [`Tree::add_time`], in words that only this thread writes. `None`: nothing is added.
    #[inline(always)]
    pub fn add_known_time(
        &'static self,
        observed: &ProfilerState,
        total: u64,
        own: u64,
    ) -> Option<()> {
        let here = context_in(observed)?;
        if here.depth == CUT || !here.is_of(self.table.written()) {
            return None;
        }
        let [of_total, of_own] = here.words([column::TOTAL, column::OWN])?;
        count(of_total, total);
        count(of_own, own);
        Some(())
    }

    /// Adds the time of the call that this thread is in. The time of a cut call is not known.
    #[inline]
    pub fn add_time(&'static self, total: u64, own: u64) {
        if let Some(here) =
            current_context().filter(|node| node.depth != CUT && node.is_of(self.table.written()))
        {
            self.table.add_to(here.row(), column::TOTAL, total);
            self.table.add_to(here.row(), column::OWN, own);
        }
    }
}

#[inline]
fn mixed(hash: u64, more: u64) -> u64 {
    scatter(hash.rotate_left(23) ^ more)
}
