//! The text for people: 80 columns, written line by line.

use std::io::{self, Write};

use crate::table::Top;
use crate::text::{clean, cut, grouped, wrap};

/// Columns of a line.
pub const COLUMNS: usize = 80;

/// Names that a list shows before the number of further ones.
const NAMES: usize = 20;

/// Writes text in lines, and wraps its paragraphs.
pub struct Page<'a, W: Write> {
    out: &'a mut W,
    /// True if the terminal can show reverse video.
    reverse: bool,
}

impl<'a, W: Write> Page<'a, W> {
    /// A page without text.
    pub fn new(out: &'a mut W, reverse: bool) -> Self {
        Page { out, reverse }
    }

    /// A line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", text.trim_end())
    }

    /// A line whose end is about something uncovered.
    pub fn marked(&mut self, text: &str, mark: &str) -> io::Result<()> {
        if self.reverse {
            writeln!(self.out, "{text}\x1b[7m{mark}\x1b[0m")
        } else {
            writeln!(self.out, "{text}{mark}")
        }
    }

    /// A text of as many lines as it needs, all as far from the edge as the first one.
    pub fn paragraph(&mut self, indent: usize, text: &str) -> io::Result<()> {
        for line in wrap(text, COLUMNS - indent) {
            writeln!(self.out, "{:indent$}{line}", "")?;
        }
        Ok(())
    }

    /// Writes a heading, and under it the names: each in a line, and how many more there are.
    pub fn list(&mut self, title: &str, names: &[String], more: u64) -> io::Result<()> {
        self.paragraph(0, &format!("{title}:"))?;
        for name in names {
            self.line(&format!("  {}", cut(&clean(name), COLUMNS - 2)))?;
        }
        if more > 0 { self.line(&format!("  … and {} more", grouped(more))) } else { Ok(()) }
    }

    /// `title: a, b, c` as a paragraph; nothing if there are no names.
    pub fn names<'n>(
        &mut self,
        title: &str,
        names: impl Iterator<Item = &'n str>,
        top: Top,
    ) -> io::Result<()> {
        let names: Vec<_> = names.map(clean).collect();
        let shown = names.len().min(top.limit(NAMES));
        let more = match names.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more: --top all lists them"),
        };
        if names.is_empty() {
            Ok(())
        } else {
            self.paragraph(0, &format!("{title}: {}{more}", names[..shown].join(", ")))
        }
    }
}
