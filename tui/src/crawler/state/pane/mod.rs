//! The right pane: the selected event, and in tabs why it happened and to whom.
//!
//! Every tab is a list of [`PaneRow`]s; a row that stands for an event or a subject can be walked to.

pub mod causes;
pub mod detail;
pub mod effects;
pub mod relations;

use metaspy_core::{Event, EventId, Store, Subject};

use crate::crawler::command::Step;
use crate::crawler::jobs::Effects;

/// The tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// All about the event.
    Detail,
    /// The chain of causes, nearest first.
    Causes,
    /// The tree of effects.
    Effects,
    /// Events of the same subject.
    SameSubject,
    /// Its sisters: effects of the same cause, subjects of the same owner.
    Siblings,
    /// What the domain said of its subject: owner, dependencies.
    Parents,
}

impl Tab {
    /// All of them, from left to right.
    pub const ALL: [Tab; 6] = [Tab::Detail, Tab::Causes, Tab::Effects, Tab::SameSubject, Tab::Siblings, Tab::Parents];

    /// Its name, and the one for narrow panes.
    pub fn name(self, filter_edit: bool) -> &'static str {
        match (self, filter_edit) {
            (Tab::Detail, _) => "Detail",
            (Tab::Causes, _) => "Causes",
            (Tab::Effects, _) => "Effects",
            (Tab::SameSubject, _) => "Same",
            (Tab::Siblings, true) => "Sib",
            (Tab::Siblings, false) => "Siblings",
            (Tab::Parents, true) => "Par",
            (Tab::Parents, false) => "Parents",
        }
    }

    /// The tab `by` places further round.
    pub fn turned(self, by: usize) -> Tab {
        Tab::ALL[(self as usize + by) % Tab::ALL.len()]
    }
}

/// A row of the pane.
#[derive(Clone, Debug, PartialEq)]
pub struct PaneRow {
    /// What stands before it: the lines of a tree.
    pub indent: String,
    /// What it says.
    pub content: Content,
}

/// What a row says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A name and a value.
    Fact(&'static str, String),
    /// The value above goes on.
    Continuation(String),
    /// An event, to walk to.
    Event(Event),
    /// The selected event itself.
    Current(Event),
    /// A subject, to walk to.
    Subject(Subject),
    /// A title over the rows below.
    Title(String),
    /// A remark.
    Note(String),
    /// Nothing.
    Blank,
}

impl PaneRow {
    /// A row without lines before it.
    pub fn plain(content: Content) -> Self {
        PaneRow { indent: String::new(), content }
    }

    /// Whether it can be walked to.
    pub fn is_target(&self) -> bool {
        matches!(self.content, Content::Event(_) | Content::Subject(_))
    }
}

/// The pane as it is seen.
#[derive(Clone, Debug)]
pub struct Pane {
    /// The open tab.
    pub tab: Tab,
    /// Whether the keys go to it.
    pub focused: bool,
    /// Its rows.
    pub rows: Vec<PaneRow>,
    /// The row under the cursor.
    pub cursor: usize,
    /// The first row that is seen.
    pub top: usize,
    /// Columns that it has.
    pub width: usize,
    /// Rows that are seen at once.
    pub height: usize,
    /// The event that it is about.
    pub of: Option<EventId>,
    /// What a job has found about that event: its effects.
    pub effects: Option<Effects>,
    /// What a job has found about that event: events of the same subject.
    pub same_subject: Option<Vec<Event>>,
}

impl Pane {
    /// An empty pane.
    pub fn new(width: usize, height: usize) -> Self {
        Pane {
            tab: Tab::Detail,
            focused: false,
            rows: Vec::new(),
            cursor: 0,
            top: 0,
            width,
            height,
            of: None,
            effects: None,
            same_subject: None,
        }
    }

    /// Opens a tab, at its top.
    pub fn open(&mut self, tab: Tab) {
        (self.tab, self.cursor, self.top) = (tab, 0, 0);
    }

    /// Turns to another event. What was found about the one before is forgotten.
    pub fn set_event(&mut self, of: Option<EventId>) {
        (self.of, self.effects, self.same_subject, self.cursor, self.top) = (of, None, None, 0, 0);
    }

    /// Writes the rows of the open tab anew.
    pub fn rebuild(&mut self, store: &Store, event: Option<&Event>) {
        self.rows = match (event, self.tab) {
            (None, _) => Vec::new(),
            (Some(event), Tab::Detail) => detail::rows(store, event, self.effects.as_ref(), self.width),
            (Some(event), Tab::Causes) => causes::rows(store, event),
            (Some(event), Tab::Effects) => effects::rows(store, event, self.effects.as_ref(), self.width),
            (Some(event), Tab::SameSubject) => relations::same_subject(store, event, self.same_subject.as_deref()),
            (Some(event), Tab::Siblings) => relations::siblings(store, event),
            (Some(event), Tab::Parents) => relations::parents(store, event),
        };
        self.select(self.cursor);
    }

    /// Moves the cursor: to the next row that can be walked to, else by one row.
    pub fn step(&mut self, step: Step) {
        let mut at = step.apply(self.cursor, self.rows.len(), self.height);
        let next = match step {
            Step::Up => self.rows[..at.min(self.rows.len())].iter().rposition(PaneRow::is_target),
            Step::Down => self.rows.iter().skip(at).position(PaneRow::is_target).map(|by| at + by),
            _ => None,
        };
        if step == Step::Up && self.rows.get(at).is_some_and(|row| !row.is_target())
            || step == Step::Down && self.rows.get(at).is_some_and(|row| !row.is_target())
        {
            // Remarks in between are stepped over as long as they stay in sight.
            at = next.filter(|next| next.abs_diff(at) < self.height).unwrap_or(at);
        }
        self.select(at);
    }

    /// Puts the cursor on a row.
    pub fn select(&mut self, at: usize) {
        self.cursor = at.min(self.rows.len().saturating_sub(1));
        self.top = self.top.clamp((self.cursor + 1).saturating_sub(self.height.max(1)), self.cursor);
    }

    /// The row under the cursor.
    pub fn current(&self) -> Option<&PaneRow> {
        self.rows.get(self.cursor)
    }
}

/// What to say of an event that is looked at still and cannot be looked up any more.
pub(super) fn gone(store: &Store, event: &Event) -> Option<PaneRow> {
    let text = "it left the window";
    store.event(event.id).is_none().then(|| PaneRow::plain(Content::Note(text.into())))
}

/// The lines of a tree before a row at `depth`, of rows whose depths follow: `│ └ `.
pub(super) fn indent(depth: usize, following: impl Iterator<Item = usize> + Clone) -> String {
    let mut text = String::new();
    for level in 1..=depth {
        // The first row below that is not deeper than this level says whether its line goes on.
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
