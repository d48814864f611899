//! Text from a recording, made safe to draw: a recording is data, and data must not drive a terminal.

use std::borrow::Cow;

/// `text` without anything that a terminal obeys or that reorders what stands beside it.
///
/// Control characters become their pictures (`␛`), the rest becomes `·`.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| replacement(c) == c) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(replacement).collect())
}

fn replacement(c: char) -> char {
    match c {
        // The pictures of the C0 controls stand in the same order as the controls.
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or('·'),
        '\x7f' => '␡',
        '\u{80}'..='\u{9f}' => '·',
        // Line and paragraph separators, marks and overrides of the writing direction, joiners, tags.
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '·',
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => '·',
        c => c,
    }
}

/// A message of several lines, each without what would drive a terminal.
pub fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_becomes_its_picture() {
        assert_eq!(clean("\x1b[2Jgone\x07"), "␛[2Jgone␇");
        assert_eq!(clean("\u{9b}31m\u{202e}abc\x7f\n"), "·31m·abc␡␊");
        assert!(matches!(clean("<p> „Straße“"), Cow::Borrowed(_)));
    }
}
