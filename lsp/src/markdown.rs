//! Builder of hover texts, as Markdown or plain. Names come from recordings, so they are escaped.

use std::fmt::Write;

use metaspy_report::text::clean;

/// Text of a hover.
#[derive(Debug)]
pub struct Text {
    text: String,
    style: Style,
}

/// Format in which a client shows a hover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Plain text.
    #[default]
    Plain,
    /// Markdown without links, because the client shows their addresses.
    Markdown,
    /// Markdown with links to declarations.
    Links,
}

impl Text {
    /// Creates an empty text.
    pub fn new(style: Style) -> Text {
        Text { text: String::new(), style }
    }

    /// Adds trusted words, without escaping.
    pub fn words(mut self, words: &str) -> Text {
        self.text.push_str(words);
        self
    }

    /// Adds a heading.
    pub fn heading(mut self, words: &str) -> Text {
        match self.style {
            Style::Plain => self.text.push_str(words),
            Style::Markdown | Style::Links => {
                let _ = write!(self.text, "**{words}**");
            }
        }
        self.end_of_paragraph()
    }

    /// Adds a name as code.
    pub fn name(mut self, name: &str) -> Text {
        let name = self.code(name);
        self.text.push_str(&name);
        self
    }

    /// Adds a name with a link, or without a link if `place` is `None`.
    pub fn link(mut self, name: &str, place: Option<&str>) -> Text {
        let name = self.code(name);
        match place.filter(|_| self.style == Style::Links) {
            // Addresses contain no brackets, because they are percent-encoded.
            Some(place) => {
                let _ = write!(self.text, "[{name}](<{place}>)");
            }
            None => self.text.push_str(&name),
        }
        self
    }

    /// Begins an entry of a list.
    pub fn entry(self) -> Text {
        self.words("- ")
    }

    /// Ends a line.
    pub(crate) fn end_of_line(self) -> Text {
        self.words("\n")
    }

    /// Ends a paragraph.
    pub(crate) fn end_of_paragraph(self) -> Text {
        self.words("\n\n")
    }

    /// Returns the finished text.
    pub fn finish(self) -> String {
        self.text.trim_end().to_owned()
    }

    /// Formats a name as a code span. Only backticks could end it.
    fn code(&self, name: &str) -> String {
        let name = clean(name);
        match self.style {
            Style::Plain => name.into_owned(),
            Style::Markdown | Style::Links => format!("`{}`", name.replace('`', "'")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_becomes_markup() {
        let name = "`](http://x) **a**\n# b\u{1b}[31m\u{202e}";
        let text = Text::new(Style::Links).link(name, Some("file:///a.rs#L3")).finish();
        assert!(
            text.starts_with("[`'](http://x) **a**") && text.ends_with("`](<file:///a.rs#L3>)"),
            "{text}"
        );
        assert!(
            !text.contains(['\n', '\u{1b}', '\u{202e}']) && text.matches('`').count() == 2,
            "{text}"
        );
        let plain = Text::new(Style::Plain)
            .heading("metaspy")
            .entry()
            .link("a::b", Some("file:///a"))
            .finish();
        assert_eq!(plain, "metaspy\n\n- a::b");
    }
}
