//! Values that events inherit from their reasons, such as the site of the root cause. The reasons
//! of an event are its cause and its links.
//!
//! Each event is visited once. A cache of fixed size stores its value, so the next effect of the
//! same cause takes one lookup.

use std::sync::Arc;

use crate::event::EventId;
use crate::ring::blocks::{Ring, Slot};
use crate::ring::links::Links;

/// Marker for the absence of a value.
pub(crate) const NOTHING: u32 = u32::MAX;
/// Value of a reason that left the window.
pub(crate) const GONE: u32 = NOTHING - 1;
/// Value of a reason in another process.
const REMOTE: u32 = GONE - 1;
/// Marker of an event whose reasons are being visited.
const OPEN: u32 = REMOTE - 1;
/// Limit of the values that a rule may use itself.
pub(crate) const FIRST_SPECIAL: u32 = OPEN;
/// Maximum number of reasons in a chain.
const DEPTH_MAX: usize = 1 << 16;
/// Maximum number of entries in the cache: 1 MiB, which fits the cache of a core.
const CACHE_MAX: usize = 1 << 16;

/// Rule by which a value passes from reasons to effects.
pub(crate) trait Inheritance {
    /// Returns the value of an event whose reasons do not matter.
    fn own(&self, id: EventId, slot: &Slot) -> Option<u32>;

    /// Returns the value that an effect takes over from a reason with this value.
    fn passed(&self, _effect: &Slot, value: u32) -> u32 {
        value
    }

    /// Returns the value of an event without a reason in this recording.
    fn of_root(&self, _slot: &Slot) -> u32 {
        NOTHING
    }

    /// Returns the value of an event with reasons of both values.
    fn join(&self, one: u32, other: u32) -> u32;

    /// Returns true if no further reason can change the value.
    fn is_final(&self, _value: u32) -> bool {
        false
    }
}

/// Rule that gives 1 to all events with a selected event among their direct and indirect reasons.
pub(crate) struct Reached<F>(pub F);

impl<F: Fn(EventId, &Slot) -> bool> Inheritance for Reached<F> {
    #[inline(always)]
    fn own(&self, id: EventId, slot: &Slot) -> Option<u32> {
        self.0(id, slot).then_some(1)
    }

    fn join(&self, one: u32, other: u32) -> u32 {
        if one == 1 { one } else { other }
    }

    fn is_final(&self, value: u32) -> bool {
        value == 1
    }
}

/// Walk from events to their reasons, with a cache of their values.
pub(crate) struct Reasons {
    links: Arc<Links>,
    has_links: bool,
    cache: Vec<(u64, u32)>,
    /// Remaining steps, which bound the time that any recording takes.
    steps: u64,
    gave_up: bool,
    /// True if a chain led out of the window.
    left_window: bool,
    /// Events from the start of the walk to the event that is being visited.
    path: Vec<Visited>,
    /// Reasons of the events on the path that remain to be visited.
    ahead: Vec<EventId>,
}

/// Event on the path.
struct Visited {
    id: EventId,
    slot: Slot,
    value: u32,
    /// Index at which its part of [`Reasons::ahead`] begins.
    ahead: usize,
}

impl Reasons {
    /// Creates a walk in a recording with this many places.
    pub fn new(places: u64, links: &Arc<Links>) -> Self {
        let slots = places.saturating_mul(128);
        let size = (slots.min(CACHE_MAX as u64) as usize).next_power_of_two();
        Reasons {
            links: links.clone(),
            has_links: !links.is_empty(),
            cache: vec![(0, NOTHING); size],
            steps: slots.saturating_mul(16).saturating_add(1 << 20),
            gave_up: false,
            left_window: false,
            path: Vec::new(),
            ahead: Vec::new(),
        }
    }

    /// Returns the value that an event inherits from its reasons. Its own value does not count.
    #[inline]
    pub fn inherited(
        &mut self,
        ring: Ring<'_>,
        id: EventId,
        slot: &Slot,
        rule: &impl Inheritance,
    ) -> u32 {
        let own = rule.own(id, slot);
        let value = match EventId::from_raw(slot.cause) {
            // An effect of this event was visited earlier.
            _ if self.has_links && own.is_none() && self.cached(id).is_some() => {
                self.cached(id).unwrap_or(NOTHING)
            }
            _ if self.has_links => self.visit(ring, id, slot, rule),
            None => rule.of_root(slot),
            Some(cause) => match self.cached(cause) {
                Some(value) => rule.passed(slot, value),
                None => self.visit(ring, id, slot, rule),
            },
        };
        // Effects of this event are likely to follow soon.
        self.remember(id, own.unwrap_or(value));
        value
    }

    /// Returns true if the walk gave up on reasons, because a chain was too long.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.gave_up
    }

    /// Returns true if a chain of reasons led to an event that has left the window.
    pub fn left_window(&self) -> bool {
        self.left_window
    }

    fn visit(&mut self, ring: Ring<'_>, id: EventId, slot: &Slot, rule: &impl Inheritance) -> u32 {
        self.enter(id, *slot, rule);
        // This is the first event on the path that is its own reason. The values of later events on
        // the path are not complete.
        let mut loops_at = usize::MAX;
        loop {
            let depth = self.path.len() - 1;
            let Visited { ahead, value, .. } = self.path[depth];
            let next = if self.ahead.len() > ahead && !rule.is_final(value) {
                self.ahead.pop()
            } else {
                None
            };
            let value = match next {
                Some(reason) => match self.value_of(ring, reason, rule) {
                    Some(OPEN) => {
                        let first = self.path.iter().rposition(|visited| visited.id == reason);
                        loops_at = loops_at.min(first.unwrap_or(0));
                        NOTHING
                    }
                    Some(value) => value,
                    None => continue,
                },
                None => {
                    self.ahead.truncate(ahead);
                    let Some(Visited { id, value, .. }) = self.path.pop() else { return NOTHING };
                    self.leave(id, value, loops_at >= depth || rule.is_final(value));
                    loops_at = if loops_at >= depth { usize::MAX } else { loops_at };
                    value
                }
            };
            match self.path.last_mut() {
                Some(effect) => {
                    let value = if value == REMOTE {
                        rule.of_root(&effect.slot)
                    } else {
                        rule.passed(&effect.slot, value)
                    };
                    effect.value = rule.join(effect.value, value);
                }
                None => return value,
            }
        }
    }

    /// Returns the value of a reason. `None` if it depends on its own reasons, which are then
    /// visited next.
    fn value_of(&mut self, ring: Ring<'_>, id: EventId, rule: &impl Inheritance) -> Option<u32> {
        if let Some(value) = self.cached(id) {
            return Some(value);
        }
        if self.path.len() >= DEPTH_MAX || self.steps == 0 {
            self.gave_up = true;
            return Some(GONE);
        }
        self.steps -= 1;
        let Some((_, slot)) = ring.peek(id) else {
            if ring.remote(id).is_some() {
                return Some(REMOTE);
            }
            self.left_window = true;
            return Some(GONE);
        };
        let own = rule.own(id, &slot);
        match own {
            Some(value) => self.remember(id, value),
            None => self.enter(id, slot, rule),
        }
        own
    }

    fn enter(&mut self, id: EventId, slot: Slot, rule: &impl Inheritance) {
        let ahead = self.ahead.len();
        if self.has_links {
            self.links.reasons(id, &mut self.ahead);
        }
        // The cause comes first.
        self.ahead.extend(EventId::from_raw(slot.cause));
        let value = if self.ahead.len() == ahead { rule.of_root(&slot) } else { NOTHING };
        self.remember(id, OPEN);
        self.path.push(Visited { id, slot, value, ahead });
    }

    fn leave(&mut self, id: EventId, value: u32, is_complete: bool) {
        if is_complete {
            self.remember(id, value);
        } else if self.cached(id).is_some() {
            let at = self.index(id);
            self.cache[at] = (0, NOTHING);
        }
    }

    #[inline(always)]
    fn remember(&mut self, id: EventId, value: u32) {
        let at = self.index(id);
        self.cache[at] = (id.raw(), value);
    }

    #[inline(always)]
    fn cached(&self, id: EventId) -> Option<u32> {
        let (raw, value) = self.cache[self.index(id)];
        (raw == id.raw()).then_some(value)
    }

    /// Returns the entry of an id. Ids are not hashed, because the ids of a block are neighbours,
    /// and so are their entries.
    #[inline(always)]
    fn index(&self, id: EventId) -> usize {
        id.raw() as usize & (self.cache.len() - 1)
    }
}
