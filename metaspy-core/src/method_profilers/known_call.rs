//! Calls whose words this thread knows: they begin and end without a search and without a call of
//! another function, so their hooks save no registers.

use std::num::NonZeroU32;

use crate::clock;
use crate::method_profilers::call_stack::{self, Activation, Entry, Thread};
use crate::method_profilers::contexts::{self, Tree};
use crate::method_profilers::present;
use crate::method_profilers::table::{CallTimes, known_pair};
use crate::recorder::{CachedObservers, ProfilerState};

/// Begins a call on the stack of its thread, at a site with these observers. `None`: nothing has
/// changed, and it must begin in another way.
#[inline(always)]
pub(crate) fn begin(
    observed: &ProfilerState,
    observers: CachedObservers,
    site: u32,
) -> Option<Activation> {
    // No closure, because the compiler would not inline one of this size.
    let (thread, _idle) = call_stack::known(observed)?;
    let present = thread.known_hold()?;
    if present.address() != observers.profilers || !thread.has_known_room(site) {
        return None;
    }
    let is_timed = present.is_timed();
    if is_timed && clock::current() != clock::Clock::Counter {
        return None;
    }
    let context = match tree(observers.tree) {
        Some(tree) => Some(tree.enter_known(observed, site)?),
        None => contexts::context_in(observed),
    };
    let depths = thread.depths.get_mut(site as usize)?;
    let depth = *depths;
    *depths += 1;
    let entry = thread.stack.push_known(|| Entry::of_end(site, depth, present, context))?;
    entry.started = if is_timed { clock::counter().unwrap_or_default() } else { 0 };
    NonZeroU32::new(thread.stack.len() as u32).map(Activation)
}

/// Ends such a call, which did not fail. `None`: nothing has changed, and it must end in another
/// way.
#[inline(always)]
pub(crate) fn end(
    observed: &ProfilerState,
    Activation(place): Activation,
    observers: CachedObservers,
) -> Option<()> {
    call_stack::with_known(observed, |thread| {
        let (entry, around) = thread.stack.split_last()?;
        if around.len() + 1 != place.get() as usize || !present::is_there() {
            return None;
        }
        let now = if entry.present.is_timed() { clock::counter()? } else { 0 };
        if entry.present.address() != observers.profilers
            || entry.shown.is_some()
            || entry.present.is_counted()
        {
            return None;
        }
        let table = u32::try_from(observers.callers).ok()?;
        let pair =
            known_pair(observed, table, entry.site, around.last().map_or(0, |around| around.site))?;
        let ticks = now.saturating_sub(entry.started);
        let own = ticks.saturating_sub(entry.inner);
        if let Some(tree) = tree(observers.tree) {
            tree.add_known_time(observed, ticks, own)?;
        }
        // Time within another call of the method is a part of the outer call's time.
        CallTimes { total: if entry.depth == 0 { ticks } else { 0 }, own }.add_to(pair);
        contexts::go_in(observed, entry.context);
        leave(thread, ticks);
        Some(())
    })
}

/// Removes the innermost call from the stack.
#[inline(always)]
fn leave(thread: &mut Thread, ticks: u64) {
    if let Some(entry) = thread.stack.last()
        && let Some(depth) = thread.depths.get_mut(entry.site as usize)
    {
        *depth = depth.saturating_sub(1);
    }
    thread.stack.forget_last();
    if let Some(around) = thread.stack.last_mut() {
        around.inner += ticks;
        around.calls += 1;
    }
}

#[inline(always)]
fn tree(at: *const ()) -> Option<&'static Tree> {
    // SAFETY: it is null, or a tree, which is never freed.
    unsafe { at.cast::<Tree>().as_ref() }
}
