//! The dirty nodes, and why they are dirty.
//!
//! A change makes its node dirty and every node above it, as their layouts were made from its. Each
//! of them remembers every change that did so, until the next layout.

use taffy::{ClearState, NodeId};

use metaspy::EventId;

use super::Scene;
use crate::changes::Change;

/// A change since the last layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cause {
    /// The change.
    pub change: Change,
    /// Its event, if it was recorded.
    pub event: Option<EventId>,
}

/// Why a node is laid out again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// Changes made it dirty.
    Dirty,
    /// Something above it changed.
    Above,
    /// Something beside it changed, and left it a space that it never had to fill before.
    Beside,
    /// Nothing changed at it, below it or above it, and it has answered the same request before:
    /// this should not have happened.
    Needless,
}

impl Scene {
    /// The changes since the last layout.
    pub fn causes(&self) -> &[Cause] {
        &self.causes
    }

    /// The changes since the last layout that made this node dirty.
    pub fn reasons(&self, id: NodeId) -> impl Iterator<Item = &Cause> {
        self[id].reasons.iter().map(|&reason| &self.causes[reason as usize])
    }

    /// Why a node is being laid out, in a space that it had to fill before or not.
    pub(super) fn why(&self, id: NodeId, is_repeated: bool) -> Why {
        if !self[id].reasons.is_empty() || self.causes.is_empty() {
            return Why::Dirty;
        }
        let mut above = self[id].parent;
        while let Some(parent) = above {
            if self[parent].changed {
                return Why::Above;
            }
            above = self[parent].parent;
        }
        if is_repeated { Why::Needless } else { Why::Beside }
    }

    /// Makes every node dirty, for no reason that is remembered.
    pub fn dirty_all(&mut self) {
        for node in &mut self.nodes {
            node.cache.clear();
            node.requests.clear();
        }
    }

    /// Remembers a change of `node`, and marks the nodes that depend on it as dirty.
    pub(super) fn dirty(&mut self, node: NodeId, change: Change, event: Option<EventId>) {
        let reason = self.causes.len() as u32;
        self.causes.push(Cause { change, event });
        self[node].changed = true;
        let mut next = Some(node);
        while let Some(id) = next {
            if matches!(self[id].cache.clear(), ClearState::Cleared) {
                self.counts.dirtied += 1;
            }
            self[id].requests.clear();
            if self[id].reasons.is_empty() {
                self.dirty.push(id);
            }
            self[id].reasons.push(reason);
            next = self[id].parent;
        }
    }

    /// Forgets the causes, after a layout.
    pub(super) fn settle(&mut self) {
        for id in std::mem::take(&mut self.dirty) {
            self[id].reasons.clear();
            self[id].changed = false;
        }
        self.causes.clear();
        self.counts.frames += 1;
    }
}
