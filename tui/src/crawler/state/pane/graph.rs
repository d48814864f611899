//! Tab that draws the neighbourhood of the event in layers: reasons above, the event, effects
//! below.
//!
//! ```text
//!     key #17            timer #3
//!        │                  ╎
//!        └────────┬┄┄┄┄┄┄┄┄┄┘
//!                 ▼
//!         ▐ layout #852 <div> ▌
//!        ┌────────┴────────┐
//!        ▼                 ▼
//!   measure #854      layout #853
//! ```
//!
//! A dashed edge is a link. Below, dotted lines are the relations of the domain. Each layer has the
//! nodes that fit, and a line with the number of the others. The layers follow Sugiyama et al.,
//! "Methods for Visual Understanding of Hierarchical System Structures" (1981), section III; with a
//! single event in the middle no edges cross.

use metaspy_probe::Subject;
use metaspy_reader::{Event, EventId, Store};
use metaspy_report::text::{clean, counted, pad_right, width};

use super::relations;
use crate::crawler::command::Step;
use crate::crawler::effects::Effects;
use crate::crawler::reasons::Reasons;
use crate::crawler::state::name;

/// Minimum width of a node, in columns.
const NODE: usize = 14;
/// Maximum number of relations that are listed.
const RELATIONS: usize = 6;

/// Drawing of nodes and edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Edges and remarks, line by line.
    pub lines: Vec<String>,
    /// Nodes, from top to bottom and from left to right.
    pub nodes: Vec<Node>,
    /// Index of the node under the cursor.
    pub at: usize,
    /// Event in the middle.
    pub of: Option<EventId>,
}

/// Node at its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Line of the drawing.
    pub line: usize,
    /// First column of the text.
    pub column: usize,
    /// Text of the node.
    pub text: String,
    /// Destination of the node.
    pub target: Target,
}

/// Destination of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Another event.
    Event(Event),
    /// The selected event itself.
    Here,
    /// Subject related to the subject of the event.
    Subject(Subject),
}

/// Event beside the selected event.
struct Neighbour {
    event: Event,
    is_link: bool,
}

impl Graph {
    /// Draws the neighbourhood of an event in this many columns.
    pub fn new(
        store: &Store,
        event: &Event,
        reasons: &Reasons,
        effects: &Effects,
        columns: usize,
    ) -> Self {
        let mut graph = Graph::default();
        let columns = columns.max(NODE);
        let above: Vec<Neighbour> = (reasons.tree.iter().filter(|it| it.depth == 0))
            .map(|it| Neighbour { event: it.event, is_link: it.is_link })
            .collect();
        let further: Vec<Option<Event>> = (reasons.tree.iter().enumerate())
            .filter(|(_, it)| it.depth == 0)
            .map(|(at, _)| {
                reasons.tree.get(at + 1).filter(|next| next.depth == 1).map(|next| next.event)
            })
            .collect();
        let below: Vec<Neighbour> = (effects.tree.iter().filter(|it| it.depth == 0))
            .map(|it| Neighbour { event: it.event, is_link: it.is_link })
            .collect();
        graph.reasons(store, &above, &further, columns);
        graph.selected(store, event, columns);
        graph.effects(store, &below, effects, columns);
        if let Some(subject) = event.subject {
            graph.relations(store, subject, columns);
        }
        graph.at = graph.nodes.iter().position(|node| node.target == Target::Here).unwrap_or(0);
        graph
    }

    /// Draws the layers above: the reasons of the event, and over each of them a reason of its own.
    fn reasons(
        &mut self,
        store: &Store,
        above: &[Neighbour],
        further: &[Option<Event>],
        columns: usize,
    ) {
        if above.is_empty() {
            self.lines.push(centred("a root: no recorded cause", columns));
            return;
        }
        let slots = Slots::new(above.len(), columns);
        self.rest(above.len() - slots.count, "more reason", "");
        if further.iter().take(slots.count).any(Option::is_some) {
            let mut edges = Line::new(columns);
            for (slot, event) in further.iter().take(slots.count).enumerate() {
                if let Some(event) = event {
                    self.node(store, *event, &slots, slot);
                    edges.set(slots.centre(slot), '│');
                }
            }
            self.lines.extend([String::new(), edges.text()]);
        }
        for (slot, reason) in above.iter().take(slots.count).enumerate() {
            self.node(store, reason.event, &slots, slot);
        }
        self.lines.push(String::new());
        let shown: Vec<(usize, bool)> = above
            .iter()
            .take(slots.count)
            .enumerate()
            .map(|(slot, it)| (slots.centre(slot), it.is_link))
            .collect();
        let centre = columns / 2;
        let mut ends = Line::new(columns);
        shown.iter().for_each(|&(at, is_link)| ends.set(at, if is_link { '╎' } else { '│' }));
        self.lines.push(ends.text());
        self.channel(&shown, centre, columns, ['└', '┘', '┴', '┬']);
        let mut arrow = Line::new(columns);
        arrow.set(centre, '▼');
        self.lines.push(arrow.text());
    }

    fn selected(&mut self, store: &Store, event: &Event, columns: usize) {
        let text = format!("▐ {} ▌", name::fit_event(store, event, columns.saturating_sub(4)));
        let column = columns.saturating_sub(width(&text)) / 2;
        self.nodes.push(Node { line: self.lines.len(), column, text, target: Target::Here });
        self.lines.push(String::new());
    }

    fn effects(&mut self, store: &Store, below: &[Neighbour], effects: &Effects, columns: usize) {
        if below.is_empty() {
            self.lines.push(centred("no recorded effect", columns));
            return;
        }
        let slots = Slots::new(below.len(), columns);
        let shown: Vec<(usize, bool)> = below
            .iter()
            .take(slots.count)
            .enumerate()
            .map(|(slot, it)| (slots.centre(slot), it.is_link))
            .collect();
        self.channel(&shown, columns / 2, columns, ['┌', '┐', '┬', '┴']);
        let mut arrows = Line::new(columns);
        shown.iter().for_each(|&(at, _)| arrows.set(at, '▼'));
        self.lines.push(arrows.text());
        for (slot, effect) in below.iter().take(slots.count).enumerate() {
            self.node(store, effect.event, &slots, slot);
        }
        self.lines.push(String::new());
        let rest = effects.direct.saturating_sub(slots.count);
        self.rest(rest, "more effect", ": → lists them");
    }

    /// Draws the relations of the subject as dotted lines.
    fn relations(&mut self, store: &Store, subject: Subject, columns: usize) {
        let related = relations::named(store, subject);
        if related.is_empty() {
            return;
        }
        self.lines.push(String::new());
        let (shown, rest) = related.split_at(related.len().min(RELATIONS));
        let longest = shown.iter().map(|(relation, _)| width(relation)).max().unwrap_or(0);
        for (relation, other) in shown {
            let edge = format!(" ┈ {} ┈ ", pad_right(&clean(relation), longest));
            let column = width(&edge);
            let text = name::fit_subject(store, *other, columns.saturating_sub(column));
            self.nodes.push(Node {
                line: self.lines.len(),
                column,
                text,
                target: Target::Subject(*other),
            });
            self.lines.push(edge);
        }
        self.rest(rest.len(), "more relation", ": see Object");
    }

    /// Adds a node to the last layer.
    fn node(&mut self, store: &Store, event: Event, slots: &Slots, slot: usize) {
        let text = name::fit_event(store, &event, slots.width.saturating_sub(2));
        let column = slots.centre(slot).saturating_sub(width(&text) / 2);
        self.nodes.push(Node {
            line: self.lines.len(),
            column,
            text,
            target: Target::Event(event),
        });
    }

    /// Draws the line that joins the edges of a layer with the edge of the selected event.
    fn channel(
        &mut self,
        ends: &[(usize, bool)],
        centre: usize,
        columns: usize,
        corners: [char; 4],
    ) {
        let [left, right, inner, own] = corners;
        let Some((first, last)) =
            ends.iter().map(|(at, _)| *at).min().zip(ends.iter().map(|(at, _)| *at).max())
        else {
            return;
        };
        let mut line = Line::new(columns);
        if first == centre && last == centre {
            line.set(centre, if ends.iter().all(|(_, is_link)| *is_link) { '╎' } else { '│' });
        } else {
            let from = first.min(centre);
            let to = last.max(centre);
            for at in from..=to {
                // An edge is dashed if it leads to a link only.
                let mut passing =
                    ends.iter().filter(|(end, _)| (at <= centre) == (*end <= at) || *end == at);
                line.set(at, if passing.all(|(_, is_link)| *is_link) { '┄' } else { '─' });
            }
            for &(at, _) in ends {
                line.set(
                    at,
                    if at == from {
                        left
                    } else if at == to {
                        right
                    } else {
                        inner
                    },
                );
            }
            let is_end = ends.iter().any(|(at, _)| *at == centre);
            let joined = if is_end { '┼' } else { own };
            line.set(
                centre,
                if from == centre && !is_end { own_corner(corners, true) } else { joined },
            );
            if to == centre && !is_end {
                line.set(centre, own_corner(corners, false));
            }
        }
        self.lines.push(line.text());
    }

    fn rest(&mut self, count: usize, what: &str, where_else: &str) {
        if count > 0 {
            self.lines.push(format!(" … {}{where_else}", counted(count as u64, what)));
        }
    }

    /// Moves the cursor from node to node. Returns the line of the node.
    pub fn step(&mut self, step: Step) -> usize {
        self.at = match step {
            Step::PageUp => 0,
            Step::PageDown => self.nodes.len().saturating_sub(1),
            step => step.apply(self.at, self.nodes.len(), 1),
        };
        self.nodes.get(self.at).map_or(0, |node| node.line)
    }

    /// Moves the cursor to the first node in or after a line.
    pub(crate) fn select_line(&mut self, line: usize) {
        let found = self.nodes.iter().position(|node| node.line >= line);
        self.at = found.unwrap_or(self.nodes.len().saturating_sub(1));
    }
}

/// Returns the corner of the selected event's edge, if all others are on one side of it.
fn own_corner(corners: [char; 4], others_are_right: bool) -> char {
    match (corners[0] == '└', others_are_right) {
        (true, true) => '┌',
        (true, false) => '┐',
        (false, true) => '└',
        (false, false) => '┘',
    }
}

/// Places of the nodes of a layer.
struct Slots {
    count: usize,
    width: usize,
    /// First column, chosen so that the layer is centred.
    begin: usize,
}

impl Slots {
    fn new(nodes: usize, columns: usize) -> Self {
        let count = nodes.min((columns / NODE).max(1));
        let width = columns / count.max(1);
        Slots { count, width, begin: (columns - count * width) / 2 }
    }

    fn centre(&self, slot: usize) -> usize {
        self.begin + slot * self.width + self.width / 2
    }
}

/// Line of characters.
struct Line(Vec<char>);

impl Line {
    fn new(columns: usize) -> Self {
        Line(vec![' '; columns + 1])
    }

    fn set(&mut self, at: usize, c: char) {
        if let Some(cell) = self.0.get_mut(at) {
            *cell = c;
        }
    }

    fn text(self) -> String {
        self.0.into_iter().collect::<String>().trim_end().to_owned()
    }
}

fn centred(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text)) / 2))
}
