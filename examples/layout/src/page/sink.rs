//! The sink of the parser, which collects the nodes of the page. It watches the limits, as the
//! parser itself has none.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, QualName, parse_document};

use super::dom::{Dom, DomKind};
use super::{Limits, PageError};

/// Parses a page, and stops soon after a limit is passed.
pub(super) fn parse(html: &[u8], limits: Limits) -> Result<Dom, PageError> {
    // A limit is looked at between pieces, so that a hostile page costs a piece more and not the
    // whole page.
    const PIECE: usize = 16 << 10;

    let sink = Sink {
        dom: RefCell::new(Dom::new()),
        depths: RefCell::default(),
        elements: Cell::new(0),
        limits,
    };
    let mut parser = parse_document(sink, Default::default()).from_utf8();
    for piece in html.chunks(PIECE) {
        parser.process(piece.into());
        parser.inner_sink.tokenizer.sink.sink.check()?;
    }
    let dom = parser.finish()?;
    // Misnested tags move whole subtrees, so the depth is known for certain only at the end.
    if dom.depth() > limits.depth {
        Err(PageError::TooDeep { limit: limits.depth })
    } else {
        Ok(dom)
    }
}

struct Sink {
    dom: RefCell<Dom>,
    /// How deep each node was when it got its place.
    depths: RefCell<Depths>,
    elements: Cell<usize>,
    limits: Limits,
}

#[derive(Default)]
struct Depths {
    of: Vec<usize>,
    deepest: usize,
}

impl Depths {
    fn place(&mut self, parent: usize, child: usize) {
        let depth = self.of.get(parent).copied().unwrap_or(0) + 1;
        if self.of.len() <= child {
            self.of.resize(child + 1, 0);
        }
        self.of[child] = depth;
        self.deepest = self.deepest.max(depth);
    }
}

impl Sink {
    fn check(&self) -> Result<(), PageError> {
        let limits = self.limits;
        if self.depths.borrow().deepest > limits.depth {
            return Err(PageError::TooDeep { limit: limits.depth });
        }
        if self.elements.get() > limits.elements {
            return Err(PageError::TooManyElements { limit: limits.elements });
        }
        Ok(())
    }
}

/// The name of an element, borrowed from the document.
#[derive(Debug)]
struct Name<'a>(Ref<'a, QualName>);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeSink for Sink {
    type Handle = usize;
    type Output = Result<Dom, PageError>;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Self::Output {
        self.check()?;
        Ok(self.dom.into_inner())
    }

    fn get_document(&self) -> usize {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a usize) -> Name<'a> {
        Name(Ref::map(self.dom.borrow(), |dom| match &dom.nodes[*target].kind {
            DomKind::Element { name, .. } => name,
            other => {
                unreachable!("the parser asks for the names of elements only, not of {other:?}")
            }
        }))
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> usize {
        self.elements.set(self.elements.get() + 1);
        let attributes =
            attributes.into_iter().map(|it| (it.name.local, it.value.to_string())).collect();
        self.dom.borrow_mut().add(DomKind::Element { name, attributes })
    }

    fn create_comment(&self, _: StrTendril) -> usize {
        self.dom.borrow_mut().add(DomKind::Silent)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> usize {
        self.dom.borrow_mut().add(DomKind::Silent)
    }

    fn append(&self, parent: &usize, child: NodeOrText<usize>) {
        let mut dom = self.dom.borrow_mut();
        match child {
            NodeOrText::AppendNode(child) => {
                dom.append(*parent, child);
                self.depths.borrow_mut().place(*parent, child);
            }
            NodeOrText::AppendText(text) => dom.append_text(*parent, &text),
        }
    }

    fn append_before_sibling(&self, sibling: &usize, child: NodeOrText<usize>) {
        let mut dom = self.dom.borrow_mut();
        let child = match child {
            NodeOrText::AppendNode(child) => child,
            NodeOrText::AppendText(text) => dom.add(DomKind::Text(text.to_string())),
        };
        dom.insert_before(*sibling, child);
        if let Some(parent) = dom.nodes[child].parent {
            self.depths.borrow_mut().place(parent, child);
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &usize,
        previous: &usize,
        child: NodeOrText<usize>,
    ) {
        let has_parent = self.dom.borrow().nodes[*element].parent.is_some();
        if has_parent {
            self.append_before_sibling(element, child)
        } else {
            self.append(previous, child)
        }
    }

    fn remove_from_parent(&self, target: &usize) {
        self.dom.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &usize, new_parent: &usize) {
        let mut dom = self.dom.borrow_mut();
        let children = std::mem::take(&mut dom.nodes[*node].children);
        for &child in &children {
            dom.nodes[child].parent = Some(*new_parent);
        }
        dom.nodes[*new_parent].children.extend(children);
    }

    fn add_attrs_if_missing(&self, target: &usize, more: Vec<Attribute>) {
        let mut dom = self.dom.borrow_mut();
        let DomKind::Element { attributes, .. } = &mut dom.nodes[*target].kind else { return };
        for attribute in more {
            if attributes.iter().all(|(name, _)| *name != attribute.name.local) {
                attributes.push((attribute.name.local, attribute.value.to_string()));
            }
        }
    }

    // The content of a template is never shown, so it may stay where it is.
    fn get_template_contents(&self, target: &usize) -> usize {
        *target
    }

    fn same_node(&self, one: &usize, other: &usize) -> bool {
        one == other
    }

    // Half of the web has errors; the parser repairs them.
    fn parse_error(&self, _: Cow<'static, str>) {}
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
}
