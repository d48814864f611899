//! A font: how wide each letter is.

/// A look of text. There is one proportional and one fixed-width face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// Size in pixels.
    pub size: f32,
    /// Bold letters are a little wider.
    pub bold: bool,
    /// All letters equally wide.
    pub mono: bool,
    /// Line breaks and spaces stay as they are, and lines break nowhere else.
    pub pre: bool,
}

impl Default for Font {
    fn default() -> Self {
        Font { size: 16.0, bold: false, mono: false, pre: false }
    }
}

/// Widths of the letters from space to `~` in a usual sans-serif face, in thousandths of the size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278,
    278, // space to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
];

impl Font {
    /// The width of a letter in pixels.
    pub fn advance(self, letter: char) -> f32 {
        let thousandths = match letter {
            _ if self.mono => 600,
            ' '..='~' => WIDTHS[letter as usize - ' ' as usize],
            '\u{a0}' => WIDTHS[0],
            // Ideographs and their like fill a square.
            '\u{1100}'.. => 1000,
            _ => 556,
        };
        let bold = if self.bold && !self.mono { 1.06 } else { 1.0 };
        self.size * bold * f32::from(thousandths) / 1000.0
    }

    /// The height of a line in pixels.
    pub fn line_height(self) -> f32 {
        (self.size * 1.45).round()
    }
}
