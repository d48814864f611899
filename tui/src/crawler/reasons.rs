//! Reasons of events, that is, causes and links: the tree above an event, and the path between two
//! events.

use std::collections::{HashMap, HashSet, VecDeque};

use metaspy_reader::{Event, EventId, Store};

use super::effects::Effect;
use super::jobs::Progress;

/// Maximum number of rows and of levels of a tree of reasons.
const TREE: usize = 200;
/// Maximum number of events that a search for a path visits.
const VISITED: usize = 50_000;

/// Reasons of an event.
#[derive(Clone, Debug, Default)]
pub struct Reasons {
    /// Causes and links as a tree, depth first.
    pub tree: Vec<Effect>,
    /// True if there are more reasons than the tree shows.
    pub cut: bool,
    /// Path from another event, if it was requested.
    pub path: Option<Path>,
}

/// Reads the reasons of an event, and the path from another event to it.
pub fn read(store: &Store, id: EventId, from: Option<EventId>, progress: &Progress) -> Reasons {
    let (tree, cut) = tree(store, id, progress);
    Reasons { tree, cut, path: from.map(|from| path(store, from, id, progress)) }
}

/// Reason of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reason {
    id: EventId,
    is_link: bool,
}

/// Returns the direct reasons of an event: its links, then its cause.
fn reasons(store: &Store, event: &Event) -> Vec<Reason> {
    let links = store.links(event.id).into_iter().map(|id| Reason { id, is_link: true });
    links.chain(event.cause.map(|id| Reason { id, is_link: false })).collect()
}

/// Builds the tree of reasons above an event, depth first, links before the cause. The flag is true
/// if there are more.
fn tree(store: &Store, id: EventId, progress: &Progress) -> (Vec<Effect>, bool) {
    let mut rows = Vec::new();
    let mut seen = HashSet::from([id]);
    let Some(event) = store.event(id) else { return (rows, false) };
    let mut next: Vec<(usize, Reason)> =
        reasons(store, &event).into_iter().rev().map(|it| (0, it)).collect();
    while let Some((depth, reason)) = next.pop() {
        if rows.len() == TREE || progress.is_stopped() {
            return (rows, true);
        }
        let Some(event) = store.event(reason.id) else { continue };
        // Links may form a cycle.
        if seen.insert(reason.id) {
            rows.push(Effect { depth, event, is_link: reason.is_link, further: 0 });
            next.extend(reasons(store, &event).into_iter().rev().map(|it| (depth + 1, it)));
        }
    }
    (rows, false)
}

/// Connection between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// The first event is a reason of the second.
    Down,
    /// The second event is a reason of the first.
    Up,
    /// Both events share a reason.
    Common,
}

/// Step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Event that the path visits.
    pub event: Event,
    /// True if a link connects the event with the step above or, on the way up, with the step
    /// below.
    pub is_link: bool,
    /// True if the path goes up from here, so that the next step is a reason of this event.
    pub goes_up: bool,
}

/// Shortest path between two events over causes and links.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Event at which the path begins.
    pub from: EventId,
    /// Event at which the path ends.
    pub to: EventId,
    /// Connection of the two events; `None` if the window shows none.
    pub connection: Option<Connection>,
    /// Events on the way, both ends included.
    pub steps: Vec<Step>,
    /// True if the search reached its limit.
    pub cut: bool,
}

/// Finds the shortest path between two events.
fn path(store: &Store, from: EventId, to: EventId, progress: &Progress) -> Path {
    let none = Path { from, to, connection: None, steps: Vec::new(), cut: false };
    let up_from = Search::new(store, from, Some(to), progress);
    if up_from.reached.contains_key(&to) {
        return Path {
            connection: Some(Connection::Up),
            steps: up_from.steps_up(store, to),
            ..none
        };
    }
    let up_to = Search::new(store, to, Some(from), progress);
    if up_to.reached.contains_key(&from) {
        return Path {
            connection: Some(Connection::Down),
            steps: up_to.steps_down(store, from),
            ..none
        };
    }
    let shared = up_to.order.iter().filter(|id| up_from.reached.contains_key(id));
    let nearest = shared.min_by_key(|id| up_from.reached[id].0 + up_to.reached[id].0);
    let Some(&common) = nearest else { return Path { cut: up_from.cut || up_to.cut, ..none } };
    let mut steps = up_from.steps_up(store, common);
    steps.extend(up_to.steps_down(store, common).into_iter().skip(1));
    Path { connection: Some(Connection::Common), steps, ..none }
}

/// Breadth-first search through all reasons above an event.
struct Search {
    /// Distance of an event, and the effect over which it was reached.
    reached: HashMap<EventId, (usize, Option<(EventId, bool)>)>,
    order: Vec<EventId>,
    cut: bool,
}

impl Search {
    fn new(store: &Store, from: EventId, until: Option<EventId>, progress: &Progress) -> Self {
        let mut search =
            Search { reached: HashMap::from([(from, (0, None))]), order: vec![from], cut: false };
        let mut next = VecDeque::from([from]);
        while let Some(id) = next.pop_front() {
            if search.order.len() > VISITED || progress.is_stopped() {
                search.cut = true;
                break;
            }
            let (Some(event), (distance, _)) = (store.event(id), search.reached[&id]) else {
                continue;
            };
            for reason in reasons(store, &event) {
                if store.event(reason.id).is_some() && !search.reached.contains_key(&reason.id) {
                    search.reached.insert(reason.id, (distance + 1, Some((id, reason.is_link))));
                    search.order.push(reason.id);
                    next.push_back(reason.id);
                    if Some(reason.id) == until {
                        return search;
                    }
                }
            }
        }
        search
    }

    /// Returns the steps from a reason down to the event at which the search began.
    fn steps_down(&self, store: &Store, reason: EventId) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = reason;
        let mut is_link = false;
        while let Some(event) = store.event(at) {
            steps.push(Step { event, is_link, goes_up: false });
            let Some(&(_, Some((effect, by_link)))) = self.reached.get(&at) else { break };
            (at, is_link) = (effect, by_link);
        }
        steps
    }

    /// Returns the steps from the event at which the search began up to a reason.
    fn steps_up(&self, store: &Store, reason: EventId) -> Vec<Step> {
        let mut steps = self.steps_down(store, reason);
        // Each link is stored at its lower end.
        steps.reverse();
        let last = steps.len().saturating_sub(1);
        for (at, step) in steps.iter_mut().enumerate() {
            step.goes_up = at < last;
        }
        steps
    }
}
