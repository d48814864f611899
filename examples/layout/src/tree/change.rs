//! The changes of the page, made.

use taffy::{Display, NodeId};

use metaspy::{EventId, current, observe};

use super::{Content, Scene};
use crate::changes::Change;

#[observe(only)]
impl Scene {
    /// Makes a change, and marks the nodes that depend on it as dirty.
    pub fn make(&mut self, change: Change) {
        let node = change.node().unwrap_or(self.root);
        self.change(node.into(), change, current());
    }

    #[observe(subject = (&self.owner, node), args(change))]
    fn change(&mut self, node: u64, change: Change, around: Option<EventId>) {
        let node = NodeId::from(node);
        self.counts.changes += 1;
        self.apply(change, node);
        // This tree is as careful as most: whatever happens to a node makes it dirty, even a class
        // without a rule.
        self.dirty(node, change, current().filter(|&event| Some(event) != around));
    }

    fn apply(&mut self, change: Change, node: NodeId) {
        match change {
            Change::Type { letter, .. } => {
                if let Content::Text(text) = &mut self[node].content {
                    text.type_letter(letter);
                }
            }
            Change::Erase { .. } => {
                if let Content::Text(text) = &mut self[node].content {
                    text.erase_letter();
                }
            }
            Change::Toggle { .. } => self.toggle(node),
            Change::Append { .. } => self.append_row(node),
            Change::Trim { .. } => self.trim_rows(node),
            Change::Resize { width } => self.window.width = width,
            Change::Hover { .. } => {}
        }
    }

    fn toggle(&mut self, node: NodeId) {
        let node = &mut self[node];
        match (node.style.display, node.shown) {
            (Display::None, shown) => node.style.display = shown.unwrap_or(Display::Block),
            (display, _) => {
                node.shown = Some(display);
                node.style.display = Display::None;
            }
        }
    }
}
