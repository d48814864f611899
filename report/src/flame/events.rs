//! Stored events: the calls of each thread as they nest, in the order of time, and chains of
//! causes.

use std::collections::HashMap;

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{ChainFrame, Event, Filter, Position, Store};

use super::in_time::{Call, Longest};
use super::{FlamePage, Lane, MEASURES, Measure, Stacks, Tree, Unit, package_of};
use crate::text::counted;

/// Events that are read at once.
const PAGE: usize = 1 << 16;
/// Most paths of calls. Calls on further paths are counted at their caller.
const PATHS_MAX: usize = 1 << 20;

/// Adds the stored events that pass.
pub fn add(page: &mut FlamePage, store: &Store, filter: &Filter) {
    if store.totals().stored == 0 {
        let why = "not recorded: METASPY_RECORD=run.spy without METASPY_MODE=tally stores events";
        page.lacks("events", why);
        return page.lacks("causes", why);
    }
    let mut functions: HashMap<SiteId, usize> = HashMap::new();
    let events = by_thread(page, store, filter, &mut functions);
    if events.lanes.is_empty() {
        page.lacks(
            "events",
            "no stored event is a call that is timed, ended and within the calls around it",
        );
    } else {
        page.stacks.push(events);
    }
    let causes = causes(page, store, filter, &mut functions);
    if causes.lanes[0].tree.frames.len() > 1 {
        page.stacks.push(causes);
    } else {
        page.lacks("causes", "no stored event passes");
    }
}

fn function(
    page: &mut FlamePage,
    store: &Store,
    site: SiteId,
    functions: &mut HashMap<SiteId, usize>,
) -> usize {
    *functions.entry(site).or_insert_with(|| {
        let path = store.site_path(site).to_owned();
        let file = store.site(site).filter(|site| !site.file.is_empty());
        let place = file.map_or(String::new(), |site| format!("{}:{}", site.file, site.lines.0));
        page.function(&path, &place, package_of(&path))
    })
}

/// Calls of a thread while they are read.
#[derive(Default)]
struct Reading {
    tree: Tree,
    /// Open calls: end in ns and place in the tree, the innermost last.
    open: Vec<(u64, usize)>,
}

impl Reading {
    /// Places a call below the calls that are open at its start.
    fn place(&mut self, function: usize, start_ns: u64, end_ns: u64) {
        while self
            .open
            .last()
            .is_some_and(|&(end, _)| end <= start_ns && end < end_ns.max(start_ns + 1))
        {
            self.open.pop();
        }
        let around = self.open.last().map_or(0, |&(_, place)| place);
        let ns = end_ns - start_ns;
        let at = if self.tree.frames.len() < PATHS_MAX {
            self.tree.child(around, function)
        } else {
            around
        };
        let frame = &mut self.tree.frames[at];
        frame.own[0] = frame.own[0].saturating_add(ns);
        frame.own[1] += 1;
        // The time of a call is no part of its caller's own time.
        if around != 0 && at != around {
            let caller = &mut self.tree.frames[around].own[0];
            *caller = caller.saturating_sub(ns);
        }
        self.open.push((end_ns, at));
    }
}

/// Reads the calls of each thread as they nest. Async calls and spans are left and entered again,
/// so they have no place in a stack.
fn by_thread(
    page: &mut FlamePage,
    store: &Store,
    filter: &Filter,
    functions: &mut HashMap<SiteId, usize>,
) -> Stacks {
    let mut lanes: HashMap<u32, (usize, Reading)> = HashMap::new();
    let mut longest = Longest::default();
    let mut others = 0_u64;
    let mut untimed = 0_u64;
    let mut position = Some(Position::Start);
    while let Some(from) = position {
        let read = store.forward(from, filter, PAGE, PAGE);
        for event in &read.events {
            let is_entered =
                store.site(event.site).is_some_and(|site| SiteKind::is_entered(site.kind));
            let Some(span) = event.span.filter(|_| event.timed) else {
                untimed += 1;
                continue;
            };
            let start_ns = store.time_ns(event.start);
            // Not the start and a rounded span: an inner call would end after the outer one.
            let end_ns = store.time_ns(event.start.saturating_add(span));
            let number = lanes.len();
            let (lane, reading) =
                lanes.entry(event.lane.0).or_insert_with(|| (number, Reading::default()));
            if is_entered || !nests(reading, event, start_ns, end_ns) {
                others += 1;
                continue;
            }
            let function = function(page, store, event.site, functions);
            reading.place(function, start_ns, end_ns);
            longest.add(*lane, Call { start_ns, end_ns: std::cmp::Reverse(end_ns), function });
        }
        position = read.more;
    }
    let names: HashMap<u32, String> =
        store.lanes().into_iter().map(|lane| (lane.id.0, lane.name)).collect();
    let mut notes = Vec::new();
    if others > 0 {
        let others = counted(others, "event");
        notes.push(format!(
            "{others} of async calls, spans and calls that overlap have no place in a stack: see `causes`"
        ));
    }
    if untimed > 0 {
        notes.push(format!(
            "{} without a time or without an end left out",
            counted(untimed, "event")
        ));
    }
    let totals = store.totals();
    let gone = totals.folded + totals.counted;
    if gone > 0 {
        notes.push(format!(
            "{} no longer stored, or only counted: they are in no stack",
            counted(gone, "call")
        ));
    }
    if longest.shorter > 0 {
        notes.push(format!(
            "in the order of time: without the {} that are shortest",
            counted(longest.shorter, "call")
        ));
    }
    let in_time = longest.by_lane(lanes.len());
    let mut lanes: Vec<(u32, (usize, Reading))> = lanes.into_iter().collect();
    lanes.sort_by_key(|&(_, (number, _))| number);
    let lane = |((lane, (_, reading)), in_time): ((u32, (usize, Reading)), _)| {
        let mut tree = reading.tree;
        tree.add_up();
        calls_alone(&mut tree);
        let name = names.get(&lane).filter(|name| !name.is_empty());
        let name = name.map_or(format!("thread {lane}"), |name| format!("{name} ({lane})"));
        Lane { name, tree, in_time: Some(in_time) }
    };
    let lanes = lanes
        .into_iter()
        .zip(in_time)
        .map(lane)
        .filter(|lane| lane.tree.frames.len() > 1)
        .collect();
    let calls = Measure { is_width: false, ..Measure::new("calls", Unit::Count) };
    let mut stacks = Stacks {
        name: "events".into(),
        about: "stored calls of each thread as they nest, and in the order of time".into(),
        measures: vec![Measure::new("wall time", Unit::Ns), calls],
        lanes,
        notes,
        ..Stacks::default()
    };
    stacks.add_up();
    stacks
}

/// True if a call ends within the call around it.
fn nests(reading: &Reading, event: &Event, start_ns: u64, end_ns: u64) -> bool {
    let around = reading
        .open
        .iter()
        .rev()
        .find(|&&(end, _)| end > start_ns || start_ns == end_ns && end == start_ns);
    event.level == 0 && around.is_none_or(|&(end, _)| end >= end_ns)
}

/// Calls are those of the frame alone: the calls of a method are no part of its caller's.
fn calls_alone(tree: &mut Tree) {
    tree.frames.iter_mut().for_each(|frame| frame.total[1] = frame.own[1]);
}

/// Reads the chains of causes.
fn causes(
    page: &mut FlamePage,
    store: &Store,
    filter: &Filter,
    functions: &mut HashMap<SiteId, usize>,
) -> Stacks {
    let chains = store.chains(filter, |_, _| true).unwrap_or_default();
    let mut tree = Tree::default();
    let mut places = Vec::with_capacity(chains.chains.len());
    for chain in &chains.chains {
        let function = match chain.frame {
            ChainFrame::Site(site) => function(page, store, site, functions),
            ChainFrame::Left => page.function("(causes left the window)", "", ""),
            ChainFrame::Deeper => page.function("(longer chains)", "", ""),
        };
        let around = chain.parent.map_or(0, |parent| places[parent as usize]);
        let at = tree.child(around, function);
        places.push(at);
        let own = &mut tree.frames[at].own;
        *own = super::tree::sum(*own, [store.span_ns(chain.self_ticks), chain.count, 0]);
    }
    tree.add_up();
    let mut measures =
        vec![Measure::new("self time", Unit::Ns), Measure::new("calls", Unit::Count)];
    if !chains.timed {
        measures.remove(0);
        tree.frames.iter_mut().for_each(|frame| {
            (frame.own, frame.total) = ([frame.own[1], 0, 0], [frame.total[1], 0, 0]);
        });
    }
    let mut stacks = Stacks {
        name: "causes".into(),
        about: "stored events by chain of causes, across threads: below an event is what it led to"
            .into(),
        measures,
        lanes: vec![Lane { tree, ..Lane::default() }],
        notes: crate::export::chain_notes(&chains),
        ..Stacks::default()
    };
    stacks.add_up();
    debug_assert!(stacks.measures.len() <= MEASURES);
    stacks
}
