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
mod row;
pub(crate) mod times;

use metaspy_reader::{Event, EventId, Store};

use crate::crawler::command::{Step, Tab};
use crate::crawler::effects::Effects;
use crate::crawler::layout::Focus;
use crate::crawler::marks::Marks;
use crate::crawler::reasons::Reasons;
use crate::crawler::state::cursor::Cursor;
use facets::Facets;
use graph::Graph;
use object::Object;
use row::evicted_note;
pub use row::{Content, PaneRow};
use times::Times;

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
    pub(crate) same_subject: Option<Vec<Event>>,
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
    pub(crate) fn set_event(&mut self, of: Option<EventId>) {
        (self.of, self.effects, self.same_subject, self.reasons) = (of, None, None, None);
        self.object = None;
        self.cursor.reset();
    }

    /// Rebuilds the rows of the open tab.
    pub(crate) fn rebuild(&mut self, store: &Store, marks: &Marks, event: Option<&Event>) {
        self.rows = match (event, self.tab) {
            (_, Tab::Facets) => facets::rows(self.facets.as_ref()),
            (_, Tab::Times) => times::rows(store, self.times.as_ref(), self.width),
            (None, _) => Vec::new(),
            (Some(event), Tab::Detail) => {
                detail::rows(store, event, self.effects.as_ref(), marks, self.width)
            }
            (Some(event), Tab::Causes) => {
                let path = self.reasons.as_ref().and_then(|reasons| reasons.path.as_ref());
                causes::rows(store, event, self.reasons.as_ref(), path, marks)
            }
            (Some(event), Tab::Effects) => {
                effects::rows(store, event, self.effects.as_ref(), self.width)
            }
            (Some(event), Tab::SameSubject) => {
                relations::same_subject(store, event, self.same_subject.as_deref())
            }
            (Some(event), Tab::Siblings) => relations::siblings(store, event),
            (Some(event), Tab::Object) => {
                let parts = [self.object.as_ref(), self.base.as_ref()];
                object::rows(store, event.subject, parts, self.width)
            }
            (Some(event), Tab::Graph) => self.graph_rows(store, event),
        };
        self.rows = std::mem::take(&mut self.rows)
            .into_iter()
            .flat_map(|row| row.wrapped(self.width))
            .collect();
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
        let is_same =
            graph.nodes.len() == self.graph.nodes.len() && self.graph.of == Some(event.id);
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
