//! Arrows from reasons to effects, for the formats of timelines.
//!
//! A call that is drawn inside its cause needs no arrow. All others have one: from the cause to its
//! effect on another track or at a later time, and from each linked reason.

use std::io;

use metaspy_reader::{Event, EventId};

use super::Selection;
use super::record::Names;
use super::tracks::Tracks;
use crate::text::grouped;

/// Arrows at most: 32 MiB of them, more than a viewer draws.
const ARROWS_MAX: usize = 1 << 21;

/// The arrows between the selected events, each with a number.
#[derive(Debug, Default)]
pub struct Arrows {
    /// Reason and effect, sorted.
    pairs: Vec<(EventId, EventId)>,
    /// Arrows that were left out.
    left_out: u64,
}

impl Arrows {
    /// Finds the arrows: one reading of the selected events.
    pub fn find(selection: &Selection<'_>, names: &Names<'_>) -> io::Result<Arrows> {
        let Selection { store, filter, .. } = *selection;
        let mut arrows = Arrows::default();
        let mut tracks = Tracks::new(store);
        let mut tester = filter.tester(store);
        selection.each(|event| {
            tracks.place(event);
            let cause = event.cause.filter(|cause| !tracks.is_inside(event, *cause));
            for reason in names.links(event.id).into_iter().chain(cause) {
                if store.event(reason).is_some_and(|reason| tester.matches(&reason)) {
                    arrows.add(reason, event.id);
                }
            }
            Ok(())
        })?;
        arrows.pairs.sort_unstable();
        arrows.pairs.dedup();
        Ok(arrows)
    }

    fn add(&mut self, reason: EventId, effect: EventId) {
        if self.pairs.len() < ARROWS_MAX {
            self.pairs.push((reason, effect));
        } else {
            self.left_out += 1;
        }
    }

    /// The numbers of the arrows that begin at an event.
    pub fn from(&self, event: &Event) -> impl Iterator<Item = u64> + '_ {
        let id = event.id;
        let first = self.pairs.partition_point(|(reason, _)| *reason < id);
        let own = self.pairs[first..].iter().take_while(move |(reason, _)| *reason == id);
        (first as u64 + 1..).zip(own).map(|(number, _)| number)
    }

    /// The numbers of the arrows that end at an event.
    pub fn to(&self, event: &Event, names: &Names<'_>) -> Vec<u64> {
        let mut reasons = names.links(event.id);
        reasons.extend(event.cause.filter(|cause| !reasons.contains(cause)));
        let number = |reason: EventId| self.pairs.binary_search(&(reason, event.id)).ok();
        reasons.into_iter().filter_map(number).map(|at| at as u64 + 1).collect()
    }

    /// Returns sentences about effects without an arrow.
    pub fn notes(&self) -> Vec<String> {
        let left_out = || {
            format!(
                "{} arrows are left out: a document has {} at most",
                grouped(self.left_out),
                grouped(ARROWS_MAX as u64)
            )
        };
        (self.left_out > 0).then(left_out).into_iter().collect()
    }
}
