//! Calls by chain of causes: the sites from the root cause down to the call, as a tree, with counts
//! and times. A flame graph draws such a tree.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::Store;
use crate::causes::reasons::{FIRST_SPECIAL, GONE, Inheritance, NOTHING, Reasons};
use crate::details::Polls;
use crate::event::EventId;
use crate::filter::Filter;
use crate::ring::blocks::{Block, Head, Record, Slot};
use crate::tally::self_time::{NO_ROW, Polled, SelfTimes};
use metaspy_format::slot::{self, Mark, SPAN_MAX};
use metaspy_probe::SiteId;

/// Maximum number of chains. Further chains are in [`ChainFrame::Deeper`] of the chain that they
/// continue.
const CHAINS_MAX: usize = 1 << 20;
/// Maximum number of sites in a chain. A chain that continues has [`ChainFrame::Deeper`] as its
/// last frame.
const DEPTH_MAX: u16 = 256;
/// Number of events between two reports of progress.
const EVENTS_PER_REPORT: u64 = 65_536;

/// Frame of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainFrame {
    /// The site of a cause, or of the call itself.
    Site(SiteId),
    /// The causes above left the window.
    Left,
    /// The calls below have longer chains, or chains beyond the limit of the tree.
    Deeper,
}

/// Chain of causes, and the calls at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Last frame of the chain, which is the site of the calls.
    pub frame: ChainFrame,
    /// Chain without its last frame, as an index into [`Chains::chains`]; `None` for a root. The
    /// index is less than the index of this chain.
    pub parent: Option<u32>,
    /// Number of selected calls with this chain.
    pub count: u64,
    /// Self time of the selected calls in ticks, without the timed events inside them on their
    /// lane. That of an async call is the time of its polls, without what is inside them in any
    /// lane.
    pub self_ticks: u64,
}

/// Chains of causes of the events in the window.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    /// All chains, each after its parent.
    pub chains: Vec<Chain>,
    /// False if a chain of causes was too long to follow.
    pub exact: bool,
    /// True if some calls were timed.
    pub timed: bool,
}

impl Chains {
    /// Returns the frames of a chain, the root first.
    pub fn frames(&self, chain: usize) -> Vec<ChainFrame> {
        let parent = |at: &usize| self.chains[*at].parent.map(|parent| parent as usize);
        let mut frames: Vec<_> =
            std::iter::successors(Some(chain), parent).map(|at| self.chains[at].frame).collect();
        frames.reverse();
        frames
    }
}

impl Store {
    /// Adds up the events that pass the filter by their chain of causes. An event with links counts
    /// once, below its cause.
    ///
    /// Calls `progress` with the number of tested events and the number of all events; stops with
    /// `None` if it returns false. Memory is bounded by the number of chains, which has a limit.
    pub fn chains(
        &self,
        filter: &Filter,
        mut progress: impl FnMut(u64, u64) -> bool,
    ) -> Option<Chains> {
        let ring = self.ring();
        let folds = ring.folds();
        let matcher = self.compile(filter, 0..=0);
        let mut memory = matcher.memory(self);
        let tree = Tree::default();
        let mut reasons = Reasons::new(ring.places(), &self.all_links());
        let asyncs = self.asyncs();
        let mut self_times = SelfTimes::new(&asyncs);
        // The sums are indexed by chain. `own` is a two's complement while inner events come before
        // outer events.
        let mut sums: Vec<(u64, u64)> = Vec::new();
        let add_self = |sums: &mut Vec<(u64, u64)>, row: u32, around: u32, ticks: u64| {
            if let Some((_, own)) = sums.get_mut(row as usize) {
                *own = own.wrapping_add(ticks);
            }
            // An async call may be scanned after those inside its polls.
            if around != NO_ROW {
                sums.resize(sums.len().max(around as usize + 1), (0, 0));
                let (_, own) = &mut sums[around as usize];
                *own = own.wrapping_sub(ticks);
            }
        };
        let add_polls = |sums: &mut Vec<(u64, u64)>, call: Polled, polls: Polls| {
            add_self(sums, call.row, call.around(polls), polls.busy_ticks);
        };
        let mut row_of = |head: &Head, slot: &Slot| {
            if !matcher.matches(ring, head, slot, &mut memory) {
                return NO_ROW;
            }
            match reasons.inherited(ring, head.id(slot.slot), slot, &tree) {
                // The event is its own cause, so the recording is damaged.
                FIRST_SPECIAL.. => tree.passed(slot, GONE),
                chain => chain,
            }
        };
        let mut tested = 0;
        let all = self.totals().stored;
        let mut next_report = 0;
        let mut timed = false;
        let mut block = Block::boxed();
        for place in ring.units().into_iter().flat_map(|unit| unit.places(ring)) {
            if tested >= next_report {
                next_report = tested + EVENTS_PER_REPORT;
                progress(tested, all).then_some(())?;
            }
            // Kept events are a choice, and their neighbours are folded: they say nothing about
            // shares.
            if !ring.load_stored(place, &folds, &mut block) || block.head.is_kept {
                continue;
            }
            let head = block.head;
            self_times.turn_to(head.lane);
            for record in block.records() {
                let slot = match record {
                    Record::Event(slot) => slot,
                    Record::Mark(mark) => {
                        match mark.mark {
                            Mark::Polls => match self_times.polled(mark.event) {
                                Some(call) => add_polls(&mut sums, call, Polls::of(&mark)),
                                None => self_times.keep_polls(mark.event, Polls::of(&mark)),
                            },
                            Mark::Polled => {
                                let id = EventId::from_raw(mark.event);
                                let call = id.and_then(|id| ring.polled(&folds, id));
                                if let (Some(id), Some((of, slot, end))) = (id, call) {
                                    let now = head.base.saturating_add(mark.start);
                                    self_times.poll_here(id, now, end, row_of(&of, &slot));
                                }
                            }
                            _ => {}
                        }
                        continue;
                    }
                };
                tested += 1;
                let id = head.id(slot.slot);
                let span = match slot.span() {
                    Some(SPAN_MAX) => self.event(id).and_then(|event| event.span),
                    span => span,
                };
                let row = row_of(&head, &slot);
                if row != NO_ROW {
                    sums.resize(sums.len().max(row as usize + 1), (0, 0));
                    sums[row as usize].0 += 1;
                    timed |= span.is_some();
                }
                let start = head.base.saturating_add(slot.start);
                // The time of an async call comes with its polls.
                let is_polled = self_times.is_async(slot.site)
                    && slot::has_details_at_end(slot::details(slot.end));
                let around = self_times.enter(id, start, &slot, span, row, true);
                if !is_polled {
                    add_self(&mut sums, row, around, span.unwrap_or(0));
                } else if let Some((call, polls)) = self_times.polled_early(id) {
                    add_polls(&mut sums, call, polls);
                }
            }
        }
        progress(tested, all).then_some(())?;
        let mut chains = tree.0.into_inner().chains;
        for (chain, (count, own)) in chains.iter_mut().zip(sums) {
            (chain.count, chain.self_ticks) = (count, (own as i64).max(0) as u64);
        }
        Some(Chains { chains, timed, exact: !reasons.is_exhausted() && !memory.is_incomplete() })
    }
}

/// Tree of chains. The value of an event is the index of its chain.
#[derive(Default)]
struct Tree(RefCell<Nodes>);

#[derive(Default)]
struct Nodes {
    chains: Vec<Chain>,
    depths: Vec<u16>,
    children: HashMap<(Option<u32>, ChainFrame), u32>,
}

impl Tree {
    fn child(&self, parent: Option<u32>, frame: ChainFrame) -> u32 {
        self.0.borrow_mut().child(parent, frame)
    }
}

impl Nodes {
    fn child(&mut self, parent: Option<u32>, frame: ChainFrame) -> u32 {
        let last = parent.map(|parent| self.chains[parent as usize].frame);
        if let (Some(parent), Some(ChainFrame::Deeper)) = (parent, last) {
            return parent;
        }
        if let Some(&known) = self.children.get(&(parent, frame)) {
            return known;
        }
        let depth = parent.map_or(0, |parent| self.depths[parent as usize] + 1);
        if frame != ChainFrame::Deeper && (depth >= DEPTH_MAX || self.chains.len() >= CHAINS_MAX) {
            return self.child(parent, ChainFrame::Deeper);
        }
        let number = self.chains.len() as u32;
        self.chains.push(Chain { frame, parent, count: 0, self_ticks: 0 });
        self.depths.push(depth);
        self.children.insert((parent, frame), number);
        number
    }
}

impl Inheritance for Tree {
    fn own(&self, _: EventId, _: &Slot) -> Option<u32> {
        None
    }

    fn passed(&self, effect: &Slot, value: u32) -> u32 {
        let site = ChainFrame::Site(SiteId(effect.site));
        match value {
            NOTHING => NOTHING,
            GONE => {
                let left = self.child(None, ChainFrame::Left);
                self.child(Some(left), site)
            }
            value => self.child(Some(value), site),
        }
    }

    fn of_root(&self, slot: &Slot) -> u32 {
        self.child(None, ChainFrame::Site(SiteId(slot.site)))
    }

    fn join(&self, one: u32, other: u32) -> u32 {
        if one == NOTHING { other } else { one }
    }

    // The cause is the first reason, and links do not change the chain.
    fn is_final(&self, value: u32) -> bool {
        value != NOTHING
    }
}
