//! The document: elements and text as the parser found them.

use html5ever::{LocalName, QualName};

/// A document in an arena; node 0 is the document itself.
#[derive(Debug)]
pub(super) struct Dom {
    pub nodes: Vec<DomNode>,
}

#[derive(Debug)]
pub(super) struct DomNode {
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    pub kind: DomKind,
}

#[derive(Debug)]
pub(super) enum DomKind {
    Document,
    Element {
        name: QualName,
        attributes: Vec<(LocalName, String)>,
    },
    Text(String),
    /// Comments and processing instructions: only the parser needs a handle for them.
    Silent,
}

impl Dom {
    pub fn new() -> Dom {
        let mut dom = Dom { nodes: Vec::new() };
        dom.add(DomKind::Document);
        dom
    }

    pub fn add(&mut self, kind: DomKind) -> usize {
        self.nodes.push(DomNode { parent: None, children: Vec::new(), kind });
        self.nodes.len() - 1
    }

    /// The tag of an element; empty for everything else.
    pub fn tag(&self, node: usize) -> &str {
        match &self.nodes[node].kind {
            DomKind::Element { name, .. } => &name.local,
            _ => "",
        }
    }

    /// An attribute of an element.
    pub fn attribute(&self, node: usize, attribute: &str) -> Option<&str> {
        let DomKind::Element { attributes, .. } = &self.nodes[node].kind else { return None };
        attributes.iter().find(|(name, _)| &**name == attribute).map(|(_, value)| value.as_str())
    }

    pub fn elements(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node.kind, DomKind::Element { .. })).count()
    }

    /// True if every element was added by the parser, as it does for any text.
    pub fn is_bare(&self) -> bool {
        (0..self.nodes.len()).all(|node| matches!(self.tag(node), "" | "html" | "head" | "body"))
    }

    /// The deepest nesting of elements, found without recursion.
    pub fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut open = vec![(0, 0)];
        while let Some((node, depth)) = open.pop() {
            deepest = deepest.max(depth);
            let elements =
                self.nodes[node].children.iter().filter(|&&child| !self.tag(child).is_empty());
            open.extend(elements.map(|&child| (child, depth + 1)));
        }
        deepest
    }

    pub fn append(&mut self, parent: usize, child: usize) {
        self.detach(child);
        self.nodes[child].parent = Some(parent);
        self.nodes[parent].children.push(child);
    }

    pub fn insert_before(&mut self, sibling: usize, child: usize) {
        self.detach(child);
        let Some((parent, at)) = self.place(sibling) else { return };
        self.nodes[child].parent = Some(parent);
        self.nodes[parent].children.insert(at, child);
    }

    pub fn detach(&mut self, node: usize) {
        if let Some((parent, at)) = self.place(node) {
            self.nodes[parent].children.remove(at);
            self.nodes[node].parent = None;
        }
    }

    /// Adds text at the end of `parent`, to the text that is there already if there is some.
    pub fn append_text(&mut self, parent: usize, text: &str) {
        if let Some(&last) = self.nodes[parent].children.last()
            && let DomKind::Text(before) = &mut self.nodes[last].kind
        {
            return before.push_str(text);
        }
        let node = self.add(DomKind::Text(text.to_owned()));
        self.append(parent, node);
    }

    /// The parent of a node, and its place among the children. Searched from the end: that is where
    /// parsers work.
    fn place(&self, node: usize) -> Option<(usize, usize)> {
        let parent = self.nodes[node].parent?;
        let at = self.nodes[parent].children.iter().rposition(|&child| child == node);
        Some((parent, at.expect("a parent lists its children")))
    }
}
