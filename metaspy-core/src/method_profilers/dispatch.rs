//! From a hook to the method profilers.

use std::num::NonZeroU32;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use metaspy_probe::{ANY, Receiver, Seen, Value};

use crate::arm::{self, unsettle};
use crate::event::Outcome;
use crate::method_profilers::block;
use crate::method_profilers::call::CallEnd;
use crate::method_profilers::call_stack::{self, Activation, Entry, Kept, NO_TEST, Shown, Thread};
use crate::method_profilers::contexts;
use crate::method_profilers::observer::{Observer, Sight};
use crate::method_profilers::present::{self, Hold, Present};
use crate::method_profilers::site_facts::facts_of;
use crate::method_profilers::test_context::TestId;
use crate::platform::readers::Replaced;
use crate::recorder::{self, Busy, CachedObservers, Counter, Settled};
use crate::site::{self, Site};

/// The bit of a site that is a test.
const TEST: u32 = 1 << 31;

/// Uninstalls every profiler in a forked child. Threads that held a profiler's locks do not exist
/// there, and a count of the child cannot reach its parent.
pub(super) fn forget_profilers() {
    present::forget();
    contexts::publish(None, &[], true);
    unsettle();
}

/// Returns the profilers in the form that hooks read.
pub(super) fn present(observers: &[Arc<dyn Observer>]) -> Present {
    let entries = site::entries();
    // Numbers of sites begin at 1.
    let interests: Vec<u32> = std::iter::once(0)
        .chain(entries.iter().map(|entry| -> u32 {
            let site = entry.id.0 as usize;
            let interested =
                observers.iter().enumerate().filter(|(_, observer)| observer.is_interested(site));
            let bits = interested.fold(0, |bits, (at, _)| bits | 1 << at);
            if !observers.is_empty() && facts_of(entry).is_test { bits | TEST } else { bits }
        }))
        .collect();
    let timed = observers.iter().any(|observer| observer.is_timed());
    let bits = |is_of: &dyn Fn(&dyn Observer) -> bool| {
        let of = observers.iter().enumerate().filter(|(_, observer)| is_of(observer.as_ref()));
        of.fold(0, |bits, (at, _)| bits | 1 << at)
    };
    let blocks = bits(&|observer| observer.block().is_some());
    // Whether a call belongs to a block is decided when it begins.
    let before = TEST | blocks | bits(&|observer| !observer.sees_only_ends());
    let mut trees = observers
        .iter()
        .enumerate()
        .filter_map(|(at, observer)| Some((observer.context_tree()?, 1 << at)));
    let tree = trees.next();
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Relaxed);
    Present {
        number,
        observers: observers.to_vec(),
        interests,
        before,
        blocks,
        timed,
        tree,
        holds: AtomicUsize::new(0),
    }
}

/// Makes hooks call other profilers than before, and returns those.
pub(super) fn publish(present: Present) -> Option<Replaced<Present>> {
    let interests = present.interests.clone();
    let tree = present.tree;
    let is_alone = !present.timed && tree.is_none_or(|(_, bit)| present.blocks & bit == 0);
    let replaced = present.publish();
    contexts::publish(tree, &interests, is_alone);
    unsettle();
    let mut arms = arm::arms();
    for entry in site::entries() {
        arms.profile(entry.site, interests.get(entry.id.0 as usize).is_some_and(|&bits| bits != 0));
    }
    replaced
}

/// Begins a call for the profilers that observe its site.
#[inline]
pub(crate) fn enter(site: &'static Site, seen: &Seen<'_>) -> Option<Activation> {
    // Before the profilers, which are stored before this changes: whoever sees the new word sees
    // the new observers, too. Read behind them, the answer of an earlier observer would be settled
    // under the new word, and the new one be never called.
    let who = arm::settled();
    if call_stack::is_interrupted() {
        lose(site.id.load(Relaxed));
        return None;
    }
    call_stack::with(|thread| {
        let interest = begin(thread, site, seen.receiver, seen.arguments())?;
        if seen.arguments().is_empty() {
            settle(thread, site, interest, who, seen);
        }
        NonZeroU32::new(thread.stack.len() as u32).map(Activation)
    })?
}

/// Counts a call as lost in the tables of the profilers that observe its site.
#[cold]
#[inline(never)]
fn lose(number: u32) {
    let Some(present) = Hold::of_present() else { return };
    let interest = present.interests.get(number as usize).copied().unwrap_or_default();
    for observer in each(&present, interest) {
        observer.tables().iter().for_each(|table| table.lose_at(number));
    }
}

/// Lets hooks observe further calls by themselves, if the only profiler that is called before them
/// has no more interest in them.
fn settle(thread: &Thread, site: &'static Site, interest: u32, who: u64, seen: &Seen<'_>) {
    let Some((entry, around)) = thread.stack.split_last() else { return };
    let before = interest & entry.present.before;
    // A test is no such call.
    if !before.is_power_of_two() || before == TEST {
        return;
    }
    let Some(observer) = entry.present.observers.get(before.trailing_zeros() as usize) else {
        return;
    };
    let Some((count, is_of_all)) = observer.settled(entry, around, thread.test) else { return };
    // A key may be anything.
    if !is_of_all && seen.receiver.word == ANY {
        return;
    }
    let lane = recorder::own_lane();
    let Ok(row) = arm::recorded_row(site, lane) else { return };
    // The call that settles is counted elsewhere, also if it interrupts a hook.
    if let Some(_busy) = Busy::unless_busy(lane) {
        let receiver = if is_of_all { (ANY, 0) } else { (seen.receiver.word, seen.kind) };
        let at_ends = interest & !before;
        if at_ends == 0 {
            lane.cells.settle(seen.counters, site, who, Settled { count, row, receiver });
        } else if count.is_none() {
            let row = row.map_or(null_mut(), Counter::marked);
            let observers = CachedObservers { row, receiver, ..entry.present.cached_for(at_ends) };
            lane.cells.cache_observers(seen.counters, site, who, observers);
        }
    }
}

/// Begins a call that no profiler observes before its end. `None`: it must begin in another way.
#[inline]
pub(crate) fn enter_for_end(number: u32) -> Option<Activation> {
    call_stack::with(|thread| {
        let present = thread.hold()?;
        let interest = *present.interests.get(number as usize)?;
        if !present.see_only_ends(interest) || !thread.has_room(number) {
            return None;
        }
        let entry = push(thread, number, interest, present)?;
        entry.started = entry.now();
        NonZeroU32::new(thread.stack.len() as u32).map(Activation)
    })?
}

/// The observers of a site whose calls profilers observe at their ends only. `None` if there are no
/// such profilers, or others.
pub(crate) fn observers_at_end(number: u32) -> Option<CachedObservers> {
    call_stack::with(|thread| {
        let present = thread.hold()?;
        let interest = *present.interests.get(number as usize)?;
        present.see_only_ends(interest).then(|| present.cached_for(interest))
    })?
}

/// Puts a call on the stack of its thread, if a profiler observes its site. Returns the bits of
/// those that do.
pub(super) fn begin(
    thread: &mut Thread,
    site: &'static Site,
    receiver: Receiver,
    arguments: &[Value<'_>],
) -> Option<u32> {
    let number = site.id.load(Relaxed);
    let present = thread.hold()?;
    let interest = *present.interests.get(number as usize)?;
    if interest == 0 || is_meta() || !thread.has_room(number) {
        return None;
    }
    let outside =
        if interest & present.blocks == 0 { 0 } else { outside_of(thread, &present, number) };
    let before = interest & present.before & !outside;
    let test_before = if interest & TEST == 0 { NO_TEST } else { begin_test(thread, site) };
    let entry = push(thread, number, interest & !outside, present)?;
    entry.shown = Some(Shown { receiver, test_before, outside, kept: None });
    let mut kept = None;
    if before != 0
        && let Some((entry, around)) = thread.stack.split_last()
    {
        let seen = Sight { test: thread.test, arguments };
        for observer in each(&entry.present, before) {
            if let Some(one) = observer.before(entry, around, seen) {
                kept.get_or_insert_with(|| Kept(Vec::new())).0.push(one);
            }
        }
    }
    if let Some(entry) = thread.stack.last_mut() {
        if let Some(shown) = entry.shown.as_mut().filter(|_| kept.is_some()) {
            shown.kept = kept;
        }
        entry.started = entry.now();
    }
    Some(interest)
}

/// The observers around whose block a call is not that begins now.
#[cold]
fn outside_of(thread: &mut Thread, present: &Present, site: u32) -> u32 {
    let event = block::current_event();
    if let Some(outside) = thread.blocks.known(event, present) {
        return outside;
    }
    let mut outside = 0;
    for (at, observer) in present.observers.iter().enumerate() {
        let Some(block) = observer.block() else { continue };
        let is_in = block.has(event);
        if is_in != Some(true) {
            outside |= 1 << at;
        }
        if is_in.is_none() || !block.has_event() {
            observer.tables().iter().for_each(|table| table.lose_at(site));
        }
    }
    thread.blocks.remember(event, present, outside);
    outside
}

/// Puts a call on the stack of its thread, which has room for it.
#[inline]
fn push(thread: &mut Thread, site: u32, interest: u32, present: Hold) -> Option<&mut Entry> {
    let depths = thread.depth_of(site);
    let depth = *depths;
    *depths += 1;
    let context = match present.tree_for(interest) {
        Some(tree) => tree.enter(site),
        None => contexts::current_context(),
    };
    thread.stack.push_with(|| Entry::of_end(site, depth, present, context))
}

/// Begins a test, and returns the test that its thread ran before.
#[cold]
fn begin_test(thread: &mut Thread, site: &'static Site) -> u32 {
    let test = TestId::named(&site.path());
    thread.named = None;
    test.begins();
    std::mem::replace(&mut thread.test, test.0)
}

/// Ends a call with this outcome.
#[inline(never)]
pub(crate) fn finish(activation: Activation, outcome: Outcome) {
    end(activation, outcome, None);
}

/// Ends a call whose returned value is visible.
pub(crate) fn returned(activation: Activation, value: &Value<'_>, outcome: Outcome) {
    end(activation, outcome, Some(value));
}

#[inline]
fn end(Activation(place): Activation, outcome: Outcome, returned: Option<&Value<'_>>) {
    let place = place.get() as usize;
    call_stack::with(|thread| {
        // A call whose frame was left without an end, as `longjmp` does, ends with the one around
        // it.
        while thread.stack.len() > place {
            finish_innermost(thread, Outcome::Returned, None);
        }
        if thread.stack.len() == place {
            finish_last(thread, outcome, returned);
        }
    });
}

/// Ends the innermost call.
#[cold]
pub(super) fn finish_innermost(
    thread: &mut Thread,
    outcome: Outcome,
    returned: Option<&Value<'_>>,
) {
    finish_last(thread, outcome, returned);
}

#[inline(always)]
fn finish_last(thread: &mut Thread, outcome: Outcome, returned: Option<&Value<'_>>) {
    let Some((entry, around)) = thread.stack.split_last() else { return };
    let ticks = entry.now().saturating_sub(entry.started);
    if !present::is_there() {
        forget_all(thread);
        return;
    }
    let ended = CallEnd { ticks, inner: entry.inner, calls: entry.calls, outcome, returned };
    let interest = entry.present.interests.get(entry.site as usize).copied().unwrap_or_default();
    for observer in each_reversed(&entry.present, interest & !entry.outside()) {
        observer.after(entry, around, thread.test, &ended);
    }
    pop(thread, ticks);
}

/// Clears the stack in a forked child. Data of profilers is not dropped: it belongs to the parent.
#[cold]
#[inline(never)]
fn forget_all(thread: &mut Thread) {
    while let Some(entry) = thread.stack.pop() {
        std::mem::forget(entry);
    }
    thread.depths.fill(0);
}

/// Removes the innermost call from the stack of its thread.
#[inline]
fn pop(thread: &mut Thread, ticks: u64) {
    let Some(entry) = thread.stack.last_mut() else { return };
    if entry.shown.is_some() {
        forget_shown(entry, &mut thread.test);
    }
    contexts::go_to(entry.context);
    if let Some(depth) = thread.depths.get_mut(entry.site as usize) {
        *depth = depth.saturating_sub(1);
    }
    if entry.needs_drop() {
        drop_last(thread);
    } else {
        thread.stack.forget_last();
    }
    if let Some(around) = thread.stack.last_mut() {
        around.inner += ticks;
        around.calls += 1;
    }
}

#[cold]
#[inline(never)]
fn drop_last(thread: &mut Thread) {
    drop(thread.stack.pop());
}

/// Drops the data that profilers kept, last in, first out, and goes back to the test around.
#[cold]
#[inline(never)]
fn forget_shown(entry: &mut Entry, test: &mut u32) {
    let Some(shown) = &mut entry.shown else { return };
    while let Some(kept) = shown.kept.as_mut().and_then(|Kept(kept)| kept.pop()) {
        guarded(|| drop(kept));
    }
    if shown.test_before != NO_TEST {
        TestId(*test).ends();
        *test = shown.test_before;
    }
}

/// The interested profilers, in the order of their installation.
#[inline]
fn each(present: &Present, interest: u32) -> impl Iterator<Item = &dyn Observer> {
    let mut left = interest & !TEST;
    std::iter::from_fn(move || {
        let at = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        present.observers.get(at as usize).map(Arc::as_ref)
    })
}

/// The interested profilers, the last one first.
#[inline]
fn each_reversed(present: &Present, interest: u32) -> impl Iterator<Item = &dyn Observer> {
    let mut left = interest & !TEST;
    std::iter::from_fn(move || {
        let at = left.checked_ilog2()?;
        left &= !(1 << at);
        present.observers.get(at as usize).map(Arc::as_ref)
    })
}

/// True if this thread runs code on behalf of metaspy, such as a `Debug` impl for a recorded
/// argument.
#[inline]
fn is_meta() -> bool {
    recorder::lane_level() > 0
}

/// Runs the code of a profiler, or code of the program on its behalf. Its calls are not observed,
/// and a panic is caught and counted.
pub(super) fn guarded<R>(f: impl FnOnce() -> R) -> Option<R> {
    recorder::at_meta_level(f)
}
