//! A node: a box, a text, or an element that owns boxes without being one.

use taffy::{Cache, Layout, NodeId, Style};

use super::requests::SeenRequests;
use crate::text::Text;

/// A node of the tree.
#[derive(Debug)]
pub struct Node {
    /// The element it stands for; empty for text beside other boxes.
    pub tag: Box<str>,
    /// Its content.
    pub content: Content,
    /// How it is laid out.
    pub style: Style,
    /// The element that it belongs to in the document.
    pub owner: Option<NodeId>,
    /// The box that lays it out. A cell belongs to its row and is laid out by its table.
    pub parent: Option<NodeId>,
    /// The boxes that it lays out.
    pub children: Vec<NodeId>,
    /// Where it is, in whole pixels, relative to its parent.
    pub place: Layout,
    /// Its display before it was hidden.
    pub(super) shown: Option<taffy::Display>,
    pub(super) unrounded: Layout,
    pub(super) hoisted: Vec<NodeId>,
    pub(super) cache: Cache,
    /// Measurements requested since it was last dirty.
    pub(super) requests: SeenRequests,
    /// The changes since the last layout that made it dirty, by their place among the scene's
    /// causes.
    pub(super) reasons: Vec<u32>,
    /// True if one of the reasons changed this very node, and not one below it.
    pub(super) changed: bool,
}

/// The content of a node.
#[derive(Debug)]
pub enum Content {
    /// Other boxes.
    Boxes,
    /// Text.
    Text(Text),
    /// Nothing that is laid out: a row, whose cells belong to the grid of their table.
    Rows,
}

impl Node {
    pub(crate) fn new(tag: &str, content: Content, style: Style) -> Node {
        Node {
            tag: tag.into(),
            content,
            style,
            owner: None,
            parent: None,
            children: Vec::new(),
            place: Layout::new(),
            shown: None,
            unrounded: Layout::new(),
            hoisted: Vec::new(),
            cache: Cache::new(),
            requests: SeenRequests::default(),
            reasons: Vec::new(),
            changed: false,
        }
    }

    /// Its text, if it is a text.
    pub fn text(&self) -> Option<&Text> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }
}
