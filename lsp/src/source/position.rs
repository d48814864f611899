//! Conversion between bytes of a text and positions of the protocol, whose columns are UTF-16 units
//! or bytes.

use std::ops::Range;

use lsp_types::Position;

/// Unit of the protocol's columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// UTF-16 units, which every client supports.
    #[default]
    Utf16,
    /// Bytes of UTF-8.
    Utf8,
}

/// Bytes between two entries of the table of UTF-16 units.
const BLOCK: usize = 1024;

/// Text with an index of its lines.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The whole text.
    pub text: String,
    starts: Vec<usize>,
    /// Number of UTF-16 units before each block, because a line may have megabytes.
    units: Vec<usize>,
}

impl Lines {
    /// Builds the index of a text.
    pub fn new(text: String) -> Lines {
        let ends =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        let mut units = vec![0];
        for block in text.as_bytes().chunks(BLOCK) {
            units.push(units[units.len() - 1] + units_in(block));
        }
        Lines { text, starts, units }
    }

    /// Returns the number of the line that contains this byte, from 0 on.
    pub fn line(&self, byte: usize) -> u32 {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1) as u32
    }

    /// Returns the position of a byte.
    pub fn position(&self, byte: usize, columns: Columns) -> Position {
        let line = self.line(byte);
        let start = self.starts[line as usize];
        let byte = byte.min(self.text.len());
        let column = match columns {
            Columns::Utf16 => self.units_before(byte) - self.units_before(start),
            Columns::Utf8 => byte - start,
        };
        Position::new(line, column as u32)
    }

    fn units_before(&self, byte: usize) -> usize {
        let block = byte / BLOCK;
        self.units[block] + units_in(&self.text.as_bytes()[block * BLOCK..byte])
    }

    /// Returns the positions of a range of bytes.
    pub fn range(&self, bytes: &Range<usize>, columns: Columns) -> lsp_types::Range {
        lsp_types::Range::new(
            self.position(bytes.start, columns),
            self.position(bytes.end, columns),
        )
    }

    /// Returns the bytes of a line without the blanks around it; `None` if the text has no such
    /// line.
    pub(crate) fn line_bytes(&self, line: u32) -> Option<Range<usize>> {
        let start = *self.starts.get(line as usize)?;
        let text = self.text[start..].lines().next().unwrap_or_default();
        let start = start + text.len() - text.trim_start().len();
        Some(start..start + text.trim().len())
    }

    /// Returns the byte at a position, or `None` if the text has no such line. A column behind the
    /// end of the line is its end.
    pub fn byte(&self, position: Position, columns: Columns) -> Option<usize> {
        let start = *self.starts.get(position.line as usize)?;
        let end =
            self.starts.get(position.line as usize + 1).map_or(self.text.len(), |next| next - 1);
        let line = &self.text[start..end];
        let mut column = 0;
        let mut byte = start;
        for letter in line.chars() {
            if column >= position.character as usize {
                break;
            }
            column += match columns {
                Columns::Utf16 => letter.len_utf16(),
                Columns::Utf8 => letter.len_utf8(),
            };
            byte += letter.len_utf8();
        }
        Some(byte)
    }
}

/// Counts the UTF-16 units of the characters that begin in these bytes: two for a character of four
/// bytes.
fn units_in(bytes: &[u8]) -> usize {
    bytes.iter().map(|byte| usize::from(byte & 0xc0 != 0x80) + usize::from(*byte >= 0xf0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_far_in_a_line_is_counted_in_units() {
        let lines = Lines::new(format!("\n{}x", "aä𝄞".repeat(2_000)));
        for letters in [0, 1, 333, 1_999, 2_000] {
            let at = Position::new(1, 4 * letters);
            assert_eq!(lines.position(1 + 7 * letters as usize, Columns::Utf16), at);
            assert_eq!(lines.byte(at, Columns::Utf16), Some(1 + 7 * letters as usize));
        }
    }

    #[test]
    fn a_letter_of_four_bytes_is_two_units_or_four_bytes() {
        let lines = Lines::new("a\n𝄞x\r\n".into());
        for (columns, column) in [(Columns::Utf16, 2), (Columns::Utf8, 4)] {
            let at = Position::new(1, column);
            assert_eq!((lines.byte(at, columns), lines.position(6, columns)), (Some(6), at));
            assert_eq!(lines.byte(Position::new(0, 99), columns), Some(1));
            assert_eq!(lines.byte(Position::new(9, 0), columns), None);
        }
        assert_eq!(
            lines.byte(Position::new(1, 1), Columns::Utf16),
            Some(6),
            "within a letter is behind it"
        );
    }
}
