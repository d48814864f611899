//! A sheet of icons: one SVG file with a `symbol` for each, as web pages have them.
//!
//! Nothing here depends on metaspy. `README.md` has the findings of `cargo metaspy test` below it,
//! in roxmltree.
#![forbid(unsafe_code)]

use roxmltree::{Document, Error, Node};

/// The namespace of links.
const XLINK: &str = "http://www.w3.org/1999/xlink";

/// A sheet that was read.
pub struct Sheet<'t> {
    document: Document<'t>,
}

/// A problem, and its place.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// The description.
    pub what: String,
}

impl<'t> Sheet<'t> {
    /// Reads a file.
    pub fn read(text: &'t str) -> Result<Self, Error> {
        Ok(Sheet { document: Document::parse(text)? })
    }

    /// The icon of this name.
    pub fn icon(&self, name: &str) -> Option<Node<'_, 't>> {
        self.icons().find(|icon| icon.attribute("id") == Some(name))
    }

    /// All names, in the order of the file.
    pub fn names(&self) -> Vec<&str> {
        self.icons().filter_map(|icon| icon.attribute("id")).collect()
    }

    /// Returns the text that people read where an icon is not shown.
    pub fn title(&self, name: &str) -> Option<&str> {
        self.icon(name)?.children().find(|child| child.has_tag_name("title"))?.text()
    }

    /// Paths without an outline, and uses of icons that there are not.
    pub fn problems(&self) -> Vec<Problem> {
        self.document.descendants().filter_map(|node| self.problem(node)).collect()
    }

    fn problem(&self, node: Node<'_, 't>) -> Option<Problem> {
        let what = match node.tag_name().name() {
            "path" if !node.has_attribute("d") => "a path without an outline".to_owned(),
            "use" => {
                let link = node.attribute((XLINK, "href")).or_else(|| node.attribute("href"))?;
                let name = link.strip_prefix('#')?;
                if self.icon(name).is_some() {
                    return None;
                }
                format!("there is no icon `{name}`")
            }
            _ => return None,
        };
        Some(Problem { line: self.document.text_pos_at(node.range().start).row, what })
    }

    fn icons(&self) -> impl Iterator<Item = Node<'_, 't>> {
        self.document.root_element().children().filter(|child| child.has_tag_name("symbol"))
    }
}
