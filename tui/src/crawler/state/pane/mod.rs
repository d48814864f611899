//! Right pane: tabs about the selected event, its causes, its effects and its subject.
//!
//! Every tab is a list of [`PaneRow`]s. A row with an event or a subject leads to it.

pub(crate) mod causes;
pub(crate) mod detail;
pub(crate) mod effects;
pub(crate) mod facets;
pub(crate) mod graph;
pub(crate) mod object;
pub(crate) mod relations;
pub(crate) mod times;

use metaspy_probe::Subject;
use metaspy_reader::{Event, EventId, Store};
use metaspy_report::text::{width, wrap};

use crate::crawler::command::Step;
use crate::crawler::jobs::{Effects, Reasons};
use crate::crawler::layout::Focus;
use crate::crawler::state::cursor::Cursor;
use crate::crawler::state::marks::Marks;
use facets::{Facet, Facets};
use graph::Graph;
use object::Object;
use times::Times;

/// Tabs of the pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Facts and chain of causes of the event.
    #[default]
    Detail,
    /// Tree of causes and links, nearest first.
    Causes,
    /// The tree of effects.
    Effects,
    /// Events of the same subject.
    SameSubject,
    /// Subject of the event: numbers, owners, siblings and every relation.
    Object,
    /// Effects of the same cause.
    Siblings,
    /// Reasons, effects and relations as a drawing in layers.
    Graph,
    /// The most frequent sites, subjects and outcomes of the events that are listed.
    Facets,
    /// The durations of the events that are listed, and their number over time.
    Times,
}

impl Tab {
    /// All tabs, from left to right.
    pub const ALL: [Tab; 9] = [
        Tab::Detail,
        Tab::Causes,
        Tab::Effects,
        Tab::SameSubject,
        Tab::Object,
        Tab::Siblings,
        Tab::Graph,
        Tab::Facets,
        Tab::Times,
    ];

    /// Returns the name in the head of the pane.
    pub fn name(self) -> &'static str {
        match self {
            Tab::Detail => "Detail",
            Tab::Causes => "Causes",
            Tab::Effects => "Effects",
            Tab::SameSubject => "Same",
            Tab::Siblings => "Siblings",
            Tab::Object => "Object",
            Tab::Graph => "Graph",
            Tab::Facets => "Facets",
            Tab::Times => "Times",
        }
    }

    /// Returns true if the tab is about all listed events, and not about the selected event.
    pub fn is_about_the_list(self) -> bool {
        matches!(self, Tab::Facets | Tab::Times)
    }

    /// Returns the next tab. The last tab is followed by the first.
    pub fn next(self) -> Tab {
        Tab::ALL[(self as usize + 1) % Tab::ALL.len()]
    }

    /// Returns the previous tab. The first tab is preceded by the last.
    pub fn previous(self) -> Tab {
        Tab::ALL[(self as usize + Tab::ALL.len() - 1) % Tab::ALL.len()]
    }
}

/// Row of the pane.
#[derive(Clone, Debug, PartialEq)]
pub struct PaneRow {
    /// Lines of the tree before the row.
    pub indent: String,
    /// Content after the tree lines.
    pub content: Content,
}

/// Content of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A name and a value.
    Fact(&'static str, String),
    /// The continuation of the value above.
    Continuation(String),
    /// An event to go to.
    Event(Event),
    /// The selected event itself.
    Current(Event),
    /// A subject to go to.
    Subject(Subject),
    /// Numbers over time, as heights.
    Spark(String),
    /// A bar with a name and a number.
    Bar {
        /// Name before the bar.
        name: String,
        /// Length of the bar, in eighths of a column.
        eighths: usize,
        /// Number after the bar.
        number: String,
    },
    /// A line of the drawing.
    Drawing(String),
    /// Number of events, and the filter term that selects them.
    Facet(Facet),
    /// A title over the rows below.
    Title(String),
    /// A remark.
    Note(String),
    /// Empty row.
    Blank,
}

impl PaneRow {
    /// Creates a row without lines of a tree.
    pub fn plain(content: Content) -> Self {
        PaneRow { indent: String::new(), content }
    }

    /// Wraps a remark into as many rows as it takes; any other row stays as it is.
    fn wrapped(self, columns: usize) -> Vec<PaneRow> {
        match &self.content {
            Content::Note(text) if self.indent.is_empty() && width(text) >= columns => {
                let lines = wrap(text, columns.saturating_sub(1).max(8)).into_iter();
                lines.map(|line| PaneRow::plain(Content::Note(line))).collect()
            }
            Content::Title(text) if width(text) >= columns => {
                let lines = wrap(text, columns.saturating_sub(1).max(8)).into_iter();
                lines.map(|line| PaneRow::plain(Content::Title(line))).collect()
            }
            _ => vec![self],
        }
    }

    /// Returns true if the row leads to an event, a subject or a filter.
    pub fn is_target(&self) -> bool {
        matches!(self.content, Content::Event(_) | Content::Subject(_) | Content::Facet(_))
    }
}

/// Right pane.
#[derive(Clone, Debug, Default)]
pub struct Pane {
    /// Tab that is open.
    pub tab: Tab,
    /// Part that the keys move: the list, or this pane.
    pub focus: Focus,
    /// Rows of the open tab.
    pub rows: Vec<PaneRow>,
    /// Cursor over the rows.
    pub cursor: Cursor,
    /// Width of the pane, in columns.
    pub width: usize,
    /// Event that the pane shows.
    pub of: Option<EventId>,
    /// Effects of that event; `None` until a job has found them.
    pub effects: Option<Effects>,
    /// Reasons of that event; `None` until a job has found them.
    pub reasons: Option<Reasons>,
    /// Drawing of the event's neighbourhood.
    pub graph: Graph,
    /// Marked event from which the path is shown.
    pub path_from: Option<EventId>,
    /// Events of the same subject; `None` until a job has found them.
    pub same_subject: Option<Vec<Event>>,
    /// Facets of the listed events; `None` until a job has counted them.
    pub facets: Option<Facets>,
    /// Durations of the listed events; `None` until a job has read them.
    pub times: Option<Times>,
    /// Numbers of the subject; `None` until a job has read them.
    pub object: Option<Object>,
    /// Subject that others are compared with.
    pub base: Option<Object>,
}

impl Pane {
    /// Returns true if the keys move the cursor of the pane.
    pub fn has_focus(&self) -> bool {
        self.focus == Focus::Pane
    }

    /// Opens a tab, at its top.
    pub fn open(&mut self, tab: Tab) {
        self.tab = tab;
        self.cursor.reset();
    }

    /// Shows another event, and discards the results about the previous event.
    pub fn set_event(&mut self, of: Option<EventId>) {
        (self.of, self.effects, self.same_subject, self.reasons) = (of, None, None, None);
        self.object = None;
        self.cursor.reset();
    }

    /// Rebuilds the rows of the open tab.
    pub fn rebuild(&mut self, store: &Store, marks: &Marks, event: Option<&Event>) {
        self.rows = match (event, self.tab) {
            (_, Tab::Facets) => facets::rows(self.facets.as_ref()),
            (_, Tab::Times) => times::rows(store, self.times.as_ref(), self.width),
            (None, _) => Vec::new(),
            (Some(event), Tab::Detail) => detail::rows(store, event, self.effects.as_ref(), marks, self.width),
            (Some(event), Tab::Causes) => {
                let path = self.reasons.as_ref().and_then(|reasons| reasons.path.as_ref());
                causes::rows(store, event, self.reasons.as_ref(), path, marks)
            }
            (Some(event), Tab::Effects) => effects::rows(store, event, self.effects.as_ref(), self.width),
            (Some(event), Tab::SameSubject) => relations::same_subject(store, event, self.same_subject.as_deref()),
            (Some(event), Tab::Siblings) => relations::siblings(store, event),
            (Some(event), Tab::Object) => {
                let parts = [self.object.as_ref(), self.base.as_ref()];
                object::rows(store, event.subject, parts, self.width)
            }
            (Some(event), Tab::Graph) => self.graph_rows(store, event),
        };
        self.rows = std::mem::take(&mut self.rows).into_iter().flat_map(|row| row.wrapped(self.width)).collect();
        self.select(self.cursor.row);
    }

    fn graph_rows(&mut self, store: &Store, event: &Event) -> Vec<PaneRow> {
        if let Some(gone) = evicted_note(store, event) {
            return vec![PaneRow::plain(Content::Current(*event)), gone];
        }
        let (Some(reasons), Some(effects)) = (&self.reasons, &self.effects) else {
            return vec![PaneRow::plain(Content::Note("reading its neighbours …".into()))];
        };
        let at = self.graph.at;
        let graph = Graph::new(store, event, reasons, effects, self.width.saturating_sub(2));
        // The cursor stays on its node as long as the nodes are the same.
        let is_same = graph.nodes.len() == self.graph.nodes.len() && self.graph.of == Some(event.id);
        self.graph = Graph { at: if is_same { at } else { graph.at }, of: Some(event.id), ..graph };
        self.graph.lines.iter().map(|line| PaneRow::plain(Content::Drawing(line.clone()))).collect()
    }

    /// Moves the cursor to the next row with a destination, or by one row if none is near.
    pub fn step(&mut self, step: Step) {
        if self.tab == Tab::Graph {
            let line = self.graph.step(step);
            return self.select(line);
        }
        let mut at = step.apply(self.cursor.row, self.rows.len(), self.cursor.height);
        let next = match step {
            Step::Up => self.rows[..at.min(self.rows.len())].iter().rposition(PaneRow::is_target),
            Step::Down => self.rows.iter().skip(at).position(PaneRow::is_target).map(|by| at + by),
            _ => None,
        };
        if step == Step::Up && self.rows.get(at).is_some_and(|row| !row.is_target())
            || step == Step::Down && self.rows.get(at).is_some_and(|row| !row.is_target())
        {
            // Remarks in between are skipped as long as they stay visible.
            at = next.filter(|next| next.abs_diff(at) < self.cursor.height).unwrap_or(at);
        }
        self.select(at);
    }

    /// Puts the cursor on a row.
    pub fn select(&mut self, at: usize) {
        self.cursor.select(at, self.rows.len());
    }

    /// Returns the row under the cursor.
    pub fn current(&self) -> Option<&PaneRow> {
        self.rows.get(self.cursor.row)
    }
}

/// Returns a remark if the selected event has left the window.
pub(super) fn evicted_note(store: &Store, event: &Event) -> Option<PaneRow> {
    let text = "it left the window";
    store.event(event.id).is_none().then(|| PaneRow::plain(Content::Note(text.into())))
}

/// Draws the lines of a tree before a row at `depth`: `│ └ `. `following` holds the depths of the
/// rows below.
pub(super) fn indent(depth: usize, following: impl Iterator<Item = usize> + Clone) -> String {
    let mut text = String::new();
    for level in 1..=depth {
        // The line continues if the first row below that is not deeper is at this level.
        let goes_on = following.clone().find(|&next| next <= level) == Some(level);
        text.push_str(match (level == depth, goes_on) {
            (true, true) => "├ ",
            (true, false) => "└ ",
            (false, true) => "│ ",
            (false, false) => "  ",
        });
    }
    text
}
