//! Labels and relations of the nodes, for the recording.
//!
//! - `owner`: an element belongs to another.
//! - `sibling`: the next element with the same owner.
//! - `cache`: the layout that a node keeps was made from those of others, and is void when one of
//!   them changes.

use metaspy::{Subject, label, relate};
use taffy::NodeId;

use super::Scene;

impl Scene {
    /// The subject that a node is.
    pub fn subject(&self, id: NodeId) -> Subject {
        self.owner.subject(u64::from(id))
    }

    /// Tells the names and the relations of all nodes, and of those that come later as they come.
    pub fn introduce(&mut self) {
        self.introduced = true;
        let mut last_of = vec![None; self.nodes.len()];
        for id in self.ids() {
            self.introduce_node(id);
            if let Some(owner) = self[id].owner
                && let Some(before) = last_of[usize::from(owner)].replace(id)
            {
                relate("sibling", self.subject(before), self.subject(id));
            }
        }
    }

    /// Registers the name of a node, its owner, and the caches that depend on it.
    pub(super) fn introduce_node(&self, id: NodeId) {
        let node = &self[id];
        let subject = self.subject(id);
        label(subject, self.label(id));
        if let Some(owner) = node.owner {
            relate("owner", subject, self.subject(owner));
        }
        if let Some(parent) = node.parent {
            relate("cache", self.subject(parent), subject);
        }
    }
}
