//! From the document to boxes.
//!
//! An element whose content is all of one line of text, whatever its looks, is one text; text
//! beside boxes gets a box of its own. The cells of a table become items of the table's grid.
//! Recursion is bounded by the page's depth limit.

use taffy::prelude::{auto, line, span};
use taffy::{Display, GridTemplateComponent, Line, NodeId, Style};

use super::defaults::{self, Flow};
use super::dom::{Dom, DomKind};
use super::style;
use crate::text::{Font, Text};
use crate::tree::{Content, Node, Scene};

/// A tree of boxes for the document.
pub(super) fn build(dom: &Dom) -> Scene {
    let mut scene = Scene::new();
    let root = scene.root();
    let builder = Builder { dom, blocks: blocks(dom) };
    for &child in &dom.nodes[0].children {
        if dom.tag(child) == "html" {
            let mut font = Font::default();
            scene[root].style = builder.style(child, &mut font);
            builder.fill(&mut scene, root, child, font);
        }
    }
    scene
}

/// True if the document has anything to show.
pub(super) fn shows_something(dom: &Dom) -> bool {
    let mut open = vec![0];
    while let Some(node) = open.pop() {
        match (&dom.nodes[node].kind, flow(dom, node)) {
            (_, Flow::Hidden) => {}
            (_, Flow::Atom(_)) => return true,
            (DomKind::Text(text), _) if !text.trim().is_empty() => return true,
            _ => open.extend(&dom.nodes[node].children),
        }
    }
    false
}

/// For each node of the document: `true` if it is or contains a box below the one before.
fn blocks(dom: &Dom) -> Vec<bool> {
    let mut blocks = vec![false; dom.nodes.len()];
    let mut order = vec![0];
    let mut next = 0;
    while next < order.len() {
        order.extend(&dom.nodes[order[next]].children);
        next += 1;
    }
    for &node in order.iter().rev() {
        blocks[node] = match flow(dom, node) {
            Flow::Hidden | Flow::Atom(_) => false,
            Flow::Inline => dom.nodes[node].children.iter().any(|&child| blocks[child]),
            _ => true,
        };
    }
    blocks
}

/// How a node takes part in layout, its own style considered.
fn flow(dom: &Dom, node: usize) -> Flow {
    if matches!(dom.nodes[node].kind, DomKind::Silent) || dom.attribute(node, "hidden").is_some() {
        return Flow::Hidden;
    }
    let flow = defaults::flow(dom.tag(node));
    match dom.attribute(node, "style").and_then(style::display) {
        // Hidden boxes are part of the tree, as they may be shown later; hidden text is not.
        Some(_) if flow == Flow::Inline => Flow::Block,
        _ => flow,
    }
}

struct Builder<'a> {
    dom: &'a Dom,
    blocks: Vec<bool>,
}

impl Builder<'_> {
    /// The style of an element; `font` becomes the font of its text.
    fn style(&self, element: usize, font: &mut Font) -> Style {
        let mut style = defaults::style(self.dom.tag(element), font);
        if let Some(declarations) = self.dom.attribute(element, "style") {
            style::apply(declarations, &mut style, font);
        }
        style
    }

    /// Makes boxes of the content of an element whose box is `parent`.
    fn fill(&self, scene: &mut Scene, parent: NodeId, element: usize, font: Font) {
        // The items of flex and grid containers are boxes, even if they would be part of a line
        // elsewhere.
        let all_boxes = matches!(scene[parent].style.display, Display::Flex | Display::Grid);
        let mut line = Text::default();
        let closed =
            self.dom.tag(element) == "details" && self.dom.attribute(element, "open").is_none();
        for &child in &self.dom.nodes[element].children {
            let flow = flow(self.dom, child);
            let is_element = !self.dom.tag(child).is_empty();
            if flow == Flow::Hidden || !(self.blocks[child] || all_boxes && is_element) {
                self.push_inline(child, font, &mut line);
                continue;
            }
            self.flush(scene, parent, &mut line);
            let id = self.element(scene, parent, parent, child, flow, font);
            if closed && self.dom.tag(child) != "summary" {
                scene[id].style.display = Display::None;
            }
        }
        self.flush(scene, parent, &mut line);
    }

    /// Makes a box of an element.
    fn element(
        &self,
        scene: &mut Scene,
        parent: NodeId,
        owner: NodeId,
        element: usize,
        flow: Flow,
        font: Font,
    ) -> NodeId {
        let mut font = font;
        let style = self.style(element, &mut font);
        let tag = self.dom.tag(element);
        let children = &self.dom.nodes[element].children;
        if let Flow::Atom(_) = flow {
            let mut text = Text::default();
            self.push_inline(element, font, &mut text);
            text.shape();
            return scene.add(Node::new(tag, Content::Text(text), style), parent, owner);
        }
        let is_line =
            children.iter().all(|&child| !self.blocks[child]) && style.display == Display::Block;
        if is_line && flow != Flow::Table {
            let mut text = Text::default();
            children.iter().for_each(|&child| self.push_inline(child, font, &mut text));
            text.shape();
            let content = if text.is_blank() { Content::Boxes } else { Content::Text(text) };
            return scene.add(Node::new(tag, content, style), parent, owner);
        }
        let id = scene.add(Node::new(tag, Content::Boxes, style), parent, owner);
        if flow == Flow::Table && scene[id].style.display == Display::Grid {
            let columns = self.rows(scene, id, id, element, font, &mut 0);
            let column: GridTemplateComponent<String> = auto();
            scene[id].style.grid_template_columns = vec![column; columns.max(1)];
        } else {
            self.fill(scene, id, element, font);
        }
        id
    }

    /// Makes boxes of the cells in `element` and returns the number of columns that they take.
    fn rows(
        &self,
        scene: &mut Scene,
        table: NodeId,
        owner: NodeId,
        element: usize,
        font: Font,
        row: &mut i16,
    ) -> usize {
        let mut columns = 0usize;
        let mut width = 0usize;
        for &child in &self.dom.nodes[element].children {
            match flow(self.dom, child) {
                Flow::Rows => {
                    let node = Node::new(self.dom.tag(child), Content::Rows, Style::default());
                    let rows = scene.own(node, owner);
                    if self.dom.tag(child) == "tr" {
                        *row = row.saturating_add(1);
                    }
                    columns = columns.max(self.rows(scene, table, rows, child, font, row));
                }
                flow @ (Flow::Cell | Flow::Block) => {
                    let cell = self.element(scene, table, owner, child, flow, font);
                    if flow == Flow::Block {
                        // A caption is a row of its own.
                        *row = row.saturating_add(1);
                    }
                    let across = self
                        .dom
                        .attribute(child, "colspan")
                        .and_then(|it| it.parse().ok())
                        .unwrap_or(1u16);
                    let across = across.clamp(1, 64);
                    scene[cell].style.grid_row = Line { start: line((*row).max(1)), end: span(1) };
                    scene[cell].style.grid_column =
                        Line { start: line(width.min(1000) as i16 + 1), end: span(across) };
                    width += usize::from(across);
                }
                _ => {}
            }
        }
        columns.max(width).min(1064)
    }

    /// Adds the text of a node to a line.
    fn push_inline(&self, node: usize, font: Font, text: &mut Text) {
        let mut font = font;
        match (&self.dom.nodes[node].kind, flow(self.dom, node)) {
            (_, Flow::Hidden) => {}
            (DomKind::Text(letters), _) => text.push(letters, font),
            (_, Flow::Atom(width)) => {
                let given = self.dom.attribute(node, "width").and_then(|width| width.parse().ok());
                text.push_atom(
                    given.filter(|width| (0.0..1e4).contains(width)).unwrap_or(width),
                    font,
                );
            }
            _ if self.dom.tag(node) == "br" => text.push_break(font),
            _ => {
                defaults::face(self.dom.tag(node), &mut font);
                if let Some(declarations) = self.dom.attribute(node, "style") {
                    style::apply(declarations, &mut Style::default(), &mut font);
                }
                for &child in &self.dom.nodes[node].children {
                    self.push_inline(child, font, text);
                }
            }
        }
    }

    /// Gives the text beside boxes a box of its own.
    fn flush(&self, scene: &mut Scene, parent: NodeId, line: &mut Text) {
        let mut text = std::mem::take(line);
        if !text.is_blank() {
            text.shape();
            let style = Style { display: Display::Block, ..Style::default() };
            scene.add(Node::new("", Content::Text(text), style), parent, parent);
        }
    }
}
