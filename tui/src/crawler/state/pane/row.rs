//! Row of the pane: its content, after the lines of a tree.

use metaspy_probe::Subject;
use metaspy_reader::{Event, Store};
use metaspy_report::text::{width, wrap};

use super::facets::Facet;

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
    pub(super) fn wrapped(self, columns: usize) -> Vec<PaneRow> {
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
