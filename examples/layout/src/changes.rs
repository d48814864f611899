//! The changes of the page.

use taffy::NodeId;

/// A change of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// A letter is typed at the end of a text.
    Type {
        /// The text.
        node: NodeId,
        /// The letter.
        letter: char,
    },
    /// The last letter of a text is erased.
    Erase {
        /// The text.
        node: NodeId,
    },
    /// A section is hidden, or shown again.
    Toggle {
        /// The section.
        node: NodeId,
    },
    /// A row is appended to a table or list.
    Append {
        /// The table or list.
        node: NodeId,
    },
    /// The rows appended to a table or list are taken away.
    Trim {
        /// The table or list.
        node: NodeId,
    },
    /// The window gets another width.
    Resize {
        /// The width in pixels.
        width: f32,
    },
    /// The pointer moves over a node, which gets a class that no rule mentions. Nothing changes but
    /// the class.
    Hover {
        /// The node.
        node: NodeId,
    },
}

impl Change {
    /// The node that it changes; a resize changes the root, whichever that is.
    pub fn node(&self) -> Option<NodeId> {
        match *self {
            Change::Type { node, .. }
            | Change::Erase { node }
            | Change::Toggle { node }
            | Change::Append { node }
            | Change::Trim { node }
            | Change::Hover { node } => Some(node),
            Change::Resize { .. } => None,
        }
    }
}
