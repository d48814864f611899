//! Marks of an event: details, links, gaps, polls.
//!
//! Marks of the start are in the slots after the event. Marks of the end are in the block that its
//! lane had when it ended.

mod all_marks;

use std::collections::{BTreeMap, BTreeSet};

use crate::Store;
use crate::event::{Event, EventId, LaneId, Outcome};
use crate::names::sanitise::sanitised;
use crate::ring::blocks::{Block, MarkSlot};
use crate::store::lanes::LaneBlocks;
use metaspy_format::detail::{self, Detail};
use metaspy_format::slot::{self, DETAIL_MAX, Mark, SPAN_MAX};
use metaspy_probe::{SiteId, SiteKind};

pub use all_marks::AllMarks;

/// Polls of an async call, or entries of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polls {
    /// Number of ticks inside polls or entries.
    pub busy_ticks: u64,
    /// Number of polls or entries.
    pub polls: u64,
    /// True for an async call that began outside of the polls of its cause, as a spawned task does.
    pub is_apart: bool,
}

/// Marks that were written about an event while it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventMarks {
    /// Further reasons, beside the cause.
    pub links: Vec<EventId>,
    /// Times at which the event was sent to other processes as a cause.
    pub sent: Vec<Sent>,
}

/// Maximum number of a lane's blocks that are searched for marks from the time in which an event
/// ran.
const BLOCKS_WITHIN: usize = 4096;
/// Maximum number of blocks that are searched around the end of an event.
const BLOCKS_AT_END: usize = 4;
/// Maximum number of units that are searched if an event ended on another thread.
const UNITS_AT_END: usize = 512;
/// Maximum number of details of an event.
const DETAILS_MAX: usize = 256;

/// Sending of an event to another process as a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of the span that stands for the event.
    pub span: u64,
    /// Tick of the sending.
    pub tick: u64,
}

impl Store {
    /// Returns the event with this id; `None` if it left the window or never existed.
    pub fn event(&self, id: EventId) -> Option<Event> {
        Some(self.completed(self.ring().find(id)?))
    }

    /// Returns the site of an event that is the cause or a link of another event. This takes a few
    /// loads, while [`Store::event`] copies a block. `None` if the event left the window.
    pub fn site_of_reason(&self, id: EventId) -> Option<SiteId> {
        self.ring().peek(id).map(|(_, slot)| SiteId(slot.site))
    }

    /// Returns arguments, return value and labels of an event, if they were recorded.
    pub fn details(&self, id: EventId) -> Vec<Detail> {
        let Some(event) = self.event(id) else { return Vec::new() };
        let mut details = Vec::new();
        self.marks_of(&event, |mark| add_details(&mut details, mark));
        details
    }

    /// Returns further reasons of an event, beside its cause.
    pub fn links(&self, id: EventId) -> Vec<EventId> {
        self.event_marks(id).links
    }

    /// Returns the marks that were written about an event while its lane was in it.
    pub fn event_marks(&self, id: EventId) -> EventMarks {
        let Some(event) = self.event(id) else { return EventMarks::default() };
        let EventMarks { mut links, mut sent } = EventMarks::default();
        self.marks_within(&event, |mark, base| match mark.mark {
            Mark::Link => links.extend(EventId::from_raw(mark.words[0])),
            Mark::Sent => {
                sent.push(Sent { span: mark.words[0], tick: base.saturating_add(mark.start) })
            }
            _ => {}
        });
        if event.has_details_at_end() {
            // The marks at the end repeat links that another thread added.
            self.marks_of(&event, |mark| {
                if mark.mark == Mark::Link {
                    links.extend(EventId::from_raw(mark.words[0]));
                }
            });
        }
        links.sort_unstable();
        links.dedup();
        EventMarks { links, sent }
    }

    /// Returns the number of announcements that were missed before this event.
    pub fn gap(&self, id: EventId) -> Option<u64> {
        let event = self.event(id)?;
        let mut gap = None;
        self.marks_within(&event, |mark, _| {
            if mark.mark == Mark::Gap {
                gap = Some(gap.unwrap_or(0_u64).saturating_add(mark.words[0]));
            }
        });
        gap
    }

    /// Returns the ticks between the sending and the receipt of a message. `id` is the receipt.
    /// `None` if the event is no receipt, or if the sending left the window.
    pub fn queued(&self, id: EventId) -> Option<u64> {
        let received = self.event(id)?;
        let sent = self.event(received.cause?)?;
        let is_announced = |event: &Event| {
            self.site(event.site).is_some_and(|site| site.kind == SiteKind::Announcement)
        };
        // A sending has an end. A receipt is an instant.
        let is_pair = received.outcome == Outcome::Instant && sent.outcome != Outcome::Instant;
        (is_pair && is_announced(&received) && is_announced(&sent))
            .then(|| received.start.saturating_sub(sent.start))
    }

    /// Returns polls and busy time of an async call that ended, or the entries of a span.
    pub fn polls(&self, id: EventId) -> Option<Polls> {
        let event = self.event(id)?;
        let mut polls = None;
        self.marks_of(&event, |mark| polls = polls_in(mark).or(polls));
        polls.or_else(|| self.entered_once(&event))
    }

    /// Returns the lanes in which async calls were polled, beside those in which they began. Reads
    /// all blocks once.
    pub fn polled_lanes(&self) -> BTreeMap<EventId, BTreeSet<LaneId>> {
        let mut lanes = BTreeMap::<EventId, BTreeSet<LaneId>>::new();
        let ring = self.ring();
        let mut block = Block::boxed();
        for place in ring.units().into_iter().flat_map(|unit| unit.places(ring)) {
            if !ring.load(place, &mut block) {
                continue;
            }
            let polled = block.marks().filter(|mark| mark.mark == Mark::Polled);
            for id in polled.filter_map(|mark| EventId::from_raw(mark.event)) {
                lanes.entry(id).or_default().insert(LaneId(block.head.lane));
            }
        }
        lanes
    }

    /// Returns a single entry for a span that ended without a mark: it was entered once, for all of
    /// its time.
    fn entered_once(&self, event: &Event) -> Option<Polls> {
        let is_over =
            !matches!(event.outcome, Outcome::Running | Outcome::Instant | Outcome::Moved);
        let is_span = self.site(event.site).is_some_and(|site| site.kind == SiteKind::Span);
        let busy_ticks = event.span.filter(|_| is_over && is_span && !event.has_details_at_end());
        busy_ticks.map(|busy_ticks| Polls { busy_ticks, polls: 1, is_apart: false })
    }

    /// Returns the times at which an event was sent to other processes while its lane was in it.
    pub fn sent(&self, id: EventId) -> Vec<Sent> {
        self.event_marks(id).sent
    }

    /// Returns the direct effects of an event in its own lane while it ran.
    ///
    /// Use an [`EffectsIndex`](crate::EffectsIndex) for effects in other lanes and later effects.
    pub fn effects(&self, id: EventId) -> Vec<EventId> {
        let Some(event) = self.event(id) else { return Vec::new() };
        let mut effects = Vec::new();
        self.blocks_within(&event, |block| {
            let caused = block.events().filter(|slot| slot.cause == id.raw());
            effects.extend(caused.map(|slot| block.head.id(slot.slot)));
        });
        effects
    }

    /// Replaces a span that was cut by the true span, if its end mark is near.
    #[inline]
    pub(crate) fn completed(&self, event: Event) -> Event {
        if event.span == Some(SPAN_MAX) { self.with_whole_span(event) } else { event }
    }

    #[cold]
    fn with_whole_span(&self, event: Event) -> Event {
        let mut span = SPAN_MAX;
        self.marks_at_end(&event, BLOCKS_WITHIN, |mark| {
            if mark.mark == Mark::End {
                span = span.max(mark.words[0]);
            }
        });
        Event { span: Some(span), ..event }
    }

    /// Passes the marks about an event near its start and near its end to `each`.
    fn marks_of(&self, event: &Event, mut each: impl FnMut(&MarkSlot<'_>)) {
        self.marks_in(event.id.sequence(), event.id, &mut each);
        let mut found = false;
        self.marks_at_end(event, BLOCKS_AT_END, |mark| {
            found = true;
            each(mark);
        });
        let is_async = self.site(event.site).is_some_and(|site| site.kind.is_entered());
        if !found && (is_async || event.has_details_at_end()) {
            self.marks_elsewhere(event, &mut each);
        }
    }

    /// Passes the marks about an event in the block with this sequence to `each`.
    fn marks_in(&self, sequence: u64, id: EventId, each: &mut impl FnMut(&MarkSlot<'_>)) {
        let mut block = Block::boxed();
        let place = metaspy_format::header::place(sequence, self.layout().blocks);
        if self.ring().load(place, &mut block) && block.head.sequence == sequence {
            about(&block, id, each);
        }
    }

    /// Passes the marks about an event that ended on another thread to `each`. Searches the blocks
    /// that other lanes had then.
    fn marks_elsewhere(&self, event: &Event, mut each: impl FnMut(&MarkSlot<'_>)) {
        let Some(end) = event.span.map(|span| event.start.saturating_add(span)) else { return };
        let ring = self.ring();
        let mut block = Block::boxed();
        let units = ring.units().into_iter().rev();
        for unit in
            units.filter(|unit| unit.first() <= end && unit.last() >= end).take(UNITS_AT_END)
        {
            for place in unit.places(ring) {
                let is_other = ring
                    .head(place)
                    .is_some_and(|head| head.lane != event.lane.0 && head.base <= end);
                if is_other && ring.load(place, &mut block) {
                    about(&block, event.id, &mut each);
                }
            }
        }
    }

    /// Passes marks about an event from the blocks that its lane had at the end, except the event's
    /// own block.
    fn marks_at_end(&self, event: &Event, blocks: usize, mut each: impl FnMut(&MarkSlot<'_>)) {
        let Some(span) = event.span else { return };
        let LaneId(lane) = event.lane;
        // The marks have the time of the end, and may be the first records of a block.
        let before = event.start.saturating_add(span).saturating_sub(1);
        let mut walk = LaneBlocks::from_tick(self.ring(), lane, before);
        for _ in 0..blocks {
            let Some(block) = walk.next() else { return };
            if block.head.sequence != event.id.sequence() {
                about(block, event.id, &mut each);
            }
        }
    }

    /// Passes marks about an event that were written while it ran to `each`, with the base tick of
    /// their block.
    pub(crate) fn marks_within(&self, event: &Event, mut each: impl FnMut(&MarkSlot<'_>, u64)) {
        self.blocks_within(event, |block| {
            about(block, event.id, &mut |mark| each(mark, block.head.base))
        });
    }

    /// Passes the blocks of an event's lane to `each`, from its own block to the block after its
    /// end.
    fn blocks_within(&self, event: &Event, mut each: impl FnMut(&Block)) {
        let end = match (event.outcome, event.span) {
            (Outcome::Running | Outcome::Moved, _) => u64::MAX,
            (_, Some(span)) => event.start.saturating_add(span),
            (_, None) => event.start,
        };
        let mut walk = LaneBlocks::from(self.ring(), event);
        for _ in 0..BLOCKS_WITHIN {
            let Some(block) = walk.next() else { return };
            each(block);
            if block.head.base > end {
                return;
            }
        }
    }
}

/// Passes the marks of a block about an event to `each`.
fn about(block: &Block, id: EventId, each: &mut impl FnMut(&MarkSlot<'_>)) {
    block.marks().filter(|mark| mark.event == id.raw()).for_each(|mark| each(&mark));
}

/// Returns the polls that a mark has.
fn polls_in(mark: &MarkSlot<'_>) -> Option<Polls> {
    (mark.mark == Mark::Polls).then(|| Polls::of(mark))
}

impl Polls {
    /// Returns the polls in a [`Mark::Polls`].
    pub(crate) fn of(mark: &MarkSlot<'_>) -> Self {
        let (polls, is_apart) = slot::polls_of(mark.words[1]);
        Polls { busy_ticks: mark.words[0], polls, is_apart }
    }
}

/// Adds the details in a mark, up to the maximum.
fn add_details(details: &mut Vec<Detail>, mark: &MarkSlot<'_>) {
    if mark.mark == Mark::Detail && details.len() < DETAILS_MAX {
        details.extend(details_in(mark));
    }
}

/// Returns the sanitised details in a mark.
fn details_in(mark: &MarkSlot<'_>) -> impl Iterator<Item = Detail> {
    let mut bytes: Vec<u8> = mark.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate((mark.start as usize).min(DETAIL_MAX));
    detail::read(&bytes).into_iter().map(|detail| Detail {
        name: sanitised(&detail.name),
        value: sanitised(&detail.value),
        ..detail
    })
}
