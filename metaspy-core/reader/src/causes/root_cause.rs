//! Values that events inherit along their causes, such as the site of the root cause.
//!
//! A chain is walked once. A cache of fixed size keeps the result, so the next effect of the same cause takes one
//! lookup. Chains that are too long, loop, or leave the window inherit nothing.

use crate::event::EventId;
use crate::scan::blocks::{Ring, Slot};

/// The value of a chain that cannot be followed.
pub(crate) const GONE: u32 = u32::MAX;
/// Causes in one chain at most.
const DEPTH_MAX: usize = 1 << 16;
/// Entries of the cache at most: 1 MiB, which fits the cache of a core.
const CACHE_MAX: usize = 1 << 16;

/// A value that passes from causes to effects, and its cache.
pub(crate) struct CauseChains {
    cache: Vec<(u64, u32)>,
    /// Steps left, after which all further chains count as gone. It bounds the time that any recording takes.
    steps: u64,
    path: Vec<EventId>,
}

impl CauseChains {
    /// A cache for a recording with this many places.
    pub fn new(places: u64) -> Self {
        let slots = places.saturating_mul(128);
        let size = (slots.min(CACHE_MAX as u64) as usize).next_power_of_two();
        CauseChains {
            cache: vec![(0, GONE); size],
            steps: slots.saturating_mul(16).saturating_add(1 << 20),
            path: Vec::new(),
        }
    }

    /// The inherited value of `id`: the first value that `own` has for it or for a cause in its chain.
    #[inline]
    pub fn value(&mut self, ring: Ring<'_>, id: EventId, own: impl Fn(EventId, &Slot) -> Option<u32>) -> u32 {
        match self.cached(id) {
            Some(value) => value,
            None => self.follow(ring, id, own),
        }
    }

    fn follow(&mut self, ring: Ring<'_>, id: EventId, own: impl Fn(EventId, &Slot) -> Option<u32>) -> u32 {
        self.path.clear();
        let mut at = id;
        let mut before: Option<(EventId, Slot)> = None;
        let value = loop {
            if let Some(value) = self.cached(at) {
                break value;
            }
            if self.path.len() >= DEPTH_MAX || self.steps == 0 {
                break GONE;
            }
            self.steps -= 1;
            self.path.push(at);
            let Some((_, slot)) = ring.peek(at) else {
                if ring.remote(at).is_none() {
                    break GONE;
                }
                // A cause in another process: each of its effects is a root here.
                self.path.pop();
                break before.and_then(|(id, slot)| own(id, &Slot { cause: 0, ..slot })).unwrap_or(GONE);
            };
            if let Some(value) = own(at, &slot) {
                break value;
            }
            before = Some((at, slot));
            match EventId::from_raw(slot.cause) {
                Some(cause) => at = cause,
                None => break GONE,
            }
        };
        while let Some(id) = self.path.pop() {
            self.remember(id, value);
        }
        value
    }

    /// Stores the value of an event, because its effects come soon.
    #[inline]
    pub fn remember(&mut self, id: EventId, value: u32) {
        let at = self.index(id);
        self.cache[at] = (id.raw(), value);
    }

    /// True if it gave up on a chain that took too long.
    pub fn is_exhausted(&self) -> bool {
        self.steps == 0
    }

    #[inline(always)]
    fn cached(&self, id: EventId) -> Option<u32> {
        let (raw, value) = self.cache[self.index(id)];
        (raw == id.raw()).then_some(value)
    }

    /// Not hashed: the ids of a block are neighbours, so their entries are neighbours too.
    #[inline(always)]
    fn index(&self, id: EventId) -> usize {
        id.raw() as usize & (self.cache.len() - 1)
    }
}
