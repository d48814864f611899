//! Sanitising of text from a recording, which is untrusted: no part of it may reach a terminal as a
//! command.

use crate::text::is_harmless;
use metaspy_format::Words;
use metaspy_format::arena::TEXT_MAX;

/// Removes control characters, escape sequences and marks that change the direction of writing.
pub(crate) fn sanitised(text: &str) -> String {
    text.chars().map(harmless).collect()
}

/// Sanitises bytes that may be invalid UTF-8, like [`sanitised`].
pub(crate) fn sanitised_bytes(bytes: &[u8]) -> String {
    sanitised(&String::from_utf8_lossy(bytes))
}

fn harmless(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_harmless(c) => c,
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// Reads the string at the word `at`, and returns the position of the next word. The string ends
/// with the words at the latest.
pub(crate) fn string(words: Words<'_>, at: usize) -> (String, usize) {
    let bytes = usize::try_from(words.get(at)).unwrap_or(usize::MAX).min(TEXT_MAX);
    let length = bytes.min(words.len().saturating_sub(at + 1).saturating_mul(8));
    let mut buffer = Vec::with_capacity(length.next_multiple_of(8));
    for word in at + 1..at + 1 + length.div_ceil(8) {
        buffer.extend_from_slice(&words.get(word).to_le_bytes());
    }
    buffer.truncate(length);
    (sanitised_bytes(&buffer), at + 1 + bytes.div_ceil(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_direction_marks_lose_their_power() {
        assert_eq!(
            sanitised("a\u{1b}[31mb\u{9b}c\nd\u{202e}e"),
            "a\u{FFFD}[31mb\u{FFFD}c d\u{FFFD}e"
        );
        assert_eq!(sanitised("größer, 大きい"), "größer, 大きい");
        assert_eq!(sanitised_bytes(&[b'a', 0xFF, b'b']), "a\u{FFFD}b");
    }
}
