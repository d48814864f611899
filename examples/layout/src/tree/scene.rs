//! The scene: all nodes of a page, and one frame after the other.

use std::collections::BTreeMap;
use std::fmt;

use taffy::prelude::TaffyMaxContent;
use taffy::{AvailableSpace, NodeId, Size, Style};

use metaspy::{Owner, observe};

use super::dirty::Cause;
use super::rows::Rows;
use super::{Content, Counts, Node, Painted};
use crate::changes::Change;

/// A page as a tree of boxes.
///
/// Nodes are added once and never go away; their ids are dense, and each keeps its identity for
/// good.
#[derive(Debug)]
pub struct Scene {
    /// Whose nodes they are: node 5 of another scene is another subject.
    pub(super) owner: Owner,
    /// True if the names and relations of the nodes are registered.
    pub(super) introduced: bool,
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
    pub(super) window: Size<f32>,
    /// Changes since the last layout.
    pub(super) causes: Vec<Cause>,
    pub(super) dirty: Vec<NodeId>,
    /// Rows appended to tables and lists.
    pub(super) rows: BTreeMap<u64, Rows>,
    pub(super) counts: Counts,
    /// Re-layouts that this frame may still do.
    pub(super) work: u64,
}

/// A layout that would take too long was given up. Boxes of some nestings take exponential time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overrun {
    /// Re-layouts that one frame may do.
    pub limit: u64,
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the page is too costly to lay out: one layout of it does more than {} re-layouts",
            self.limit
        )
    }
}

impl std::error::Error for Overrun {}

#[observe(only)]
impl Scene {
    /// Re-layouts that one frame may do.
    pub const WORK: u64 = 5_000_000;

    pub(crate) fn new() -> Scene {
        let root = Node::new(
            "html",
            Content::Boxes,
            Style { display: taffy::Display::Block, ..Style::default() },
        );
        Scene {
            owner: Owner::new("node"),
            introduced: false,
            nodes: vec![root],
            root: NodeId::new(0),
            window: Size { width: 1280.0, height: 800.0 },
            causes: Vec::new(),
            dirty: Vec::new(),
            rows: BTreeMap::new(),
            counts: Counts::default(),
            work: 0,
        }
    }

    /// Adds a node that `parent` lays out and `owner` owns.
    pub(crate) fn add(&mut self, node: Node, parent: NodeId, owner: NodeId) -> NodeId {
        let id = self.own(node, owner);
        self[id].parent = Some(parent);
        self[parent].children.push(id);
        id
    }

    /// Adds a node without a layout.
    pub(crate) fn own(&mut self, node: Node, owner: NodeId) -> NodeId {
        let id = NodeId::from(self.nodes.len());
        self.nodes.push(Node { owner: Some(owner), ..node });
        id
    }

    /// The root of the tree.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// All nodes.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::from)
    }

    /// The window that the page is laid out in.
    pub fn window(&self) -> Size<f32> {
        self.window
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How a node is called for people: `#412 <p> "The quick…"`.
    pub fn label(&self, id: NodeId) -> String {
        let node = &self[id];
        let number = u64::from(id);
        // The names of elements in a page are arbitrary, terminal escapes included.
        let tag = if node.tag.is_empty() {
            "text".into()
        } else {
            node.tag.escape_debug().take(24).collect::<String>()
        };
        match node.text().map(|text| text.beginning(24)) {
            Some(text) if !text.is_empty() => format!("#{number} <{tag}> {text:?}"),
            _ => format!("#{number} <{tag}>"),
        }
    }

    /// One frame: makes the changes, lays out the dirty nodes, and paints the visible part of the
    /// page.
    #[observe(subject = (&self.owner, 0u64))]
    pub fn frame(&mut self, changes: &[Change], scroll: f32) -> Result<Painted, Overrun> {
        changes.iter().for_each(|&change| self.make(change));
        self.relayout()?;
        Ok(self.paint_window(scroll))
    }

    /// Lays out the dirty nodes, and forgets the causes.
    pub fn relayout(&mut self) -> Result<(), Overrun> {
        self.work = Self::WORK;
        self.compute();
        self.settle();
        if self.work == 0 { Err(Overrun { limit: Self::WORK }) } else { Ok(()) }
    }

    pub(super) fn compute(&mut self) {
        let width = AvailableSpace::Definite(self.window.width);
        taffy::compute_root_layout(self, self.root, Size { width, ..Size::MAX_CONTENT });
        taffy::round_layout(self, self.root);
    }
}

impl std::ops::Index<NodeId> for Scene {
    type Output = Node;

    #[inline]
    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[usize::from(id)]
    }
}

impl std::ops::IndexMut<NodeId> for Scene {
    #[inline]
    fn index_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[usize::from(id)]
    }
}
