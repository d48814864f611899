//! Text: words with widths, broken into lines where the space ends.

mod font;

use taffy::{AvailableSpace, Size};

pub use font::Font;

/// The text of a node: runs of one look each, and the words that they make.
#[derive(Clone, Debug, Default)]
pub struct Text {
    runs: Vec<Run>,
    words: Vec<Word>,
    line_height: f32,
}

/// Text of one look.
#[derive(Clone, Debug)]
struct Run {
    font: Font,
    letters: String,
    /// Set for a picture or a control: a box of this width instead of letters.
    atom: Option<f32>,
}

/// A piece of text that is never broken.
#[derive(Clone, Copy, Debug)]
struct Word {
    width: f32,
    /// The space before it, if it is not the first of its line.
    gap: f32,
    /// True if it must begin a line.
    begins_line: bool,
}

impl Text {
    /// Adds text with this look at the end.
    pub fn push(&mut self, letters: &str, font: Font) {
        match self.runs.last_mut() {
            Some(run) if run.font == font && run.atom.is_none() => run.letters.push_str(letters),
            _ => self.runs.push(Run { font, letters: letters.to_owned(), atom: None }),
        }
    }

    /// Adds a box of this width, as a picture has.
    pub fn push_atom(&mut self, width: f32, font: Font) {
        self.runs.push(Run { font, letters: String::new(), atom: Some(width) });
    }

    /// Adds a break of the line.
    pub fn push_break(&mut self, font: Font) {
        self.push("\n", Font { pre: true, ..font });
    }

    /// Finds the words and their widths. To be called after the last `push`.
    pub fn shape(&mut self) {
        self.words.clear();
        self.line_height = self.runs.iter().map(|run| run.font.line_height()).fold(0.0, f32::max);
        let mut shaper =
            Shaper { words: &mut self.words, open: false, gap: 0.0, begins_line: false };
        for run in &self.runs {
            match run.atom {
                Some(width) => shaper.atom(width),
                None => shaper.letters(&run.letters, run.font),
            }
        }
    }

    /// True if it is invisible.
    pub fn is_blank(&self) -> bool {
        self.runs.iter().all(|run| run.atom.is_none() && run.letters.trim().is_empty())
    }

    /// Types a letter at the end.
    pub fn type_letter(&mut self, letter: char) {
        let font = self.runs.last().map(|run| run.font).unwrap_or_default();
        self.push(letter.encode_utf8(&mut [0; 4]), font);
        self.shape();
    }

    /// Takes the last letter away.
    pub fn erase_letter(&mut self) {
        while let Some(run) = self.runs.last_mut() {
            if run.letters.pop().is_some() || self.runs.len() == 1 {
                break;
            }
            self.runs.pop();
        }
        self.shape();
    }

    /// The first letters, on one line.
    pub fn beginning(&self, letters: usize) -> String {
        let mut beginning = String::new();
        for word in self.runs.iter().flat_map(|run| run.letters.split_whitespace()) {
            if !beginning.is_empty() {
                beginning.push(' ');
            }
            beginning.push_str(word);
            if beginning.chars().count() > letters {
                let short: String = beginning.chars().take(letters).collect();
                return format!("{}…", short.trim_end());
            }
        }
        beginning
    }

    /// The size of the text in this space.
    pub fn measure(&self, available: AvailableSpace) -> Size<f32> {
        let limit = match available {
            AvailableSpace::Definite(width) => width,
            AvailableSpace::MinContent => 0.0,
            AvailableSpace::MaxContent => f32::INFINITY,
        };
        let mut lines = 0u32;
        let mut width = 0.0f32;
        let mut widest = 0.0f32;
        for word in &self.words {
            let longer = width + word.gap + word.width;
            if lines == 0 || word.begins_line || longer > limit {
                lines += 1;
                width = word.width;
            } else {
                width = longer;
            }
            widest = widest.max(width);
        }
        Size { width: widest.ceil(), height: lines as f32 * self.line_height }
    }
}

/// Cuts letters into words. A word goes on over the border of two runs.
struct Shaper<'a> {
    words: &'a mut Vec<Word>,
    /// True if the last word continues.
    open: bool,
    gap: f32,
    begins_line: bool,
}

impl Shaper<'_> {
    fn letters(&mut self, letters: &str, font: Font) {
        for letter in letters.chars() {
            if letter == '\n' && font.pre {
                // An empty line is a line too.
                if self.begins_line {
                    self.add(0.0);
                }
                self.open = false;
                self.gap = 0.0;
                self.begins_line = true;
            } else if letter.is_whitespace() && letter != '\u{a0}' && !font.pre {
                self.open = false;
                self.gap = font.advance(' ');
            } else {
                self.add(font.advance(letter));
            }
        }
    }

    fn atom(&mut self, width: f32) {
        self.open = false;
        self.add(width);
        self.open = false;
    }

    fn add(&mut self, width: f32) {
        if self.open {
            self.words.last_mut().expect("an open word is the last one").width += width;
            return;
        }
        self.words.push(Word { width, gap: self.gap, begins_line: self.begins_line });
        self.open = true;
        self.gap = 0.0;
        self.begins_line = false;
    }
}

#[cfg(test)]
mod tests;
