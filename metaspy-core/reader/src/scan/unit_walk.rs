//! The walk along a chain of causes to the unit of work of an event.

use crate::event::EventId;
use crate::ring::blocks::{Ring, Slot};
use crate::scan::resolved::UnitOfWork;
use metaspy_probe::SiteId;

/// Maximum number of causes between an event and its unit of work.
const DEPTH_MAX: usize = 1 << 16;
/// Number of units of work that a thread remembers.
const REMEMBERED: usize = 1 << 16;

/// Value of an event that belongs to no unit of work.
const NO_UNIT: (u64, u32) = (0, 0);
/// Value of an event whose chain of causes left the window.
const LEFT: (u64, u32) = (u64::MAX, 0);

/// Finds the units of work by the chains of causes.
pub(super) struct UnitWalk {
    /// Units of events, by the low bits of the id: the id, the unit and its site.
    known: Vec<(u64, (u64, u32))>,
    path: Vec<(u64, u32)>,
}

impl UnitWalk {
    pub(super) fn new(places: u64) -> Self {
        let size = places.saturating_mul(128).clamp(1, REMEMBERED as u64) as usize;
        UnitWalk { known: vec![(0, NO_UNIT); size.next_power_of_two()], path: Vec::new() }
    }

    pub(super) fn unit(
        &mut self,
        ring: Ring<'_>,
        id: EventId,
        slot: &Slot,
        unit_sites: &[bool],
        is_nearest: bool,
    ) -> Option<UnitOfWork> {
        let is_unit = |site: u32| unit_sites.get(site as usize).copied().unwrap_or(false);
        self.path.clear();
        let mut next = (id.raw(), slot.site, slot.cause);
        // The unit of the last cause that was visited.
        let mut unit = loop {
            let (raw, site, cause) = next;
            if let Some(known) = self.known(raw) {
                break known;
            }
            self.path.push((raw, site));
            let Some(reason) = EventId::from_raw(cause) else { break NO_UNIT };
            if self.path.len() >= DEPTH_MAX {
                break LEFT;
            }
            if let Some(known) = self.known(cause) {
                break known;
            }
            match ring.peek(reason) {
                Some((_, slot)) => next = (cause, slot.site, slot.cause),
                None if ring.remote(reason).is_some() => break NO_UNIT,
                None => break LEFT,
            }
        };
        while let Some((raw, site)) = self.path.pop() {
            if is_unit(site) && (is_nearest || unit == NO_UNIT) {
                unit = (raw, site);
            }
            let at = self.index(raw);
            self.known[at] = (raw, unit);
        }
        let id = EventId::from_raw(unit.0).filter(|_| unit != LEFT)?;
        Some(UnitOfWork { id, site: SiteId(unit.1) })
    }

    fn known(&self, raw: u64) -> Option<(u64, u32)> {
        let (id, unit) = self.known[self.index(raw)];
        (id == raw).then_some(unit)
    }

    /// Ids of a block are neighbours, and so are their entries.
    fn index(&self, raw: u64) -> usize {
        raw as usize % self.known.len()
    }
}
