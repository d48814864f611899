//! Places in a text: bytes here, lines and columns in the protocol, whose columns are UTF-16 units or bytes.

use std::ops::Range;

use lsp_types::Position;

/// What a column of the protocol counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// UTF-16 units, which every client supports.
    #[default]
    Utf16,
    /// Bytes.
    Utf8,
}

/// A text with the beginnings of its lines.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The text.
    pub text: String,
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines of a text.
    pub fn new(text: String) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        Lines { text, starts }
    }

    /// The number of the line with this byte, from 0 on.
    pub fn line(&self, byte: usize) -> u32 {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1) as u32
    }

    /// The position of a byte.
    pub fn position(&self, byte: usize, columns: Columns) -> Position {
        let line = self.line(byte);
        let before = self.text.get(self.starts[line as usize]..byte).unwrap_or_default();
        let column = match columns {
            Columns::Utf16 => before.encode_utf16().count(),
            Columns::Utf8 => before.len(),
        };
        Position::new(line, column as u32)
    }

    /// The positions of a range of bytes.
    pub fn range(&self, bytes: &Range<usize>, columns: Columns) -> lsp_types::Range {
        lsp_types::Range::new(self.position(bytes.start, columns), self.position(bytes.end, columns))
    }

    /// The byte at a position; `None` if the text has no such line. A column behind the end of the line is its end.
    pub fn byte(&self, position: Position, columns: Columns) -> Option<usize> {
        let start = *self.starts.get(position.line as usize)?;
        let end = self.starts.get(position.line as usize + 1).map_or(self.text.len(), |next| next - 1);
        let line = &self.text[start..end];
        let (mut column, mut byte) = (0, start);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_of_four_bytes_is_two_units_or_four_bytes() {
        let lines = Lines::new("a\n𝄞x\r\n".into());
        for (columns, column) in [(Columns::Utf16, 2), (Columns::Utf8, 4)] {
            let at = Position::new(1, column);
            assert_eq!((lines.byte(at, columns), lines.position(6, columns)), (Some(6), at));
            assert_eq!(lines.byte(Position::new(0, 99), columns), Some(1));
            assert_eq!(lines.byte(Position::new(9, 0), columns), None);
        }
        assert_eq!(lines.byte(Position::new(1, 1), Columns::Utf16), Some(6), "within a letter is behind it");
    }
}
