//! Text made safe to print: names of files, values of the environment and texts of recordings are
//! data, and data must not control a terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

/// Replaces the characters that a terminal obeys or that reorder the text beside them.
///
/// Control characters become their pictures (`␛`), the others become `·`.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(replacement).collect())
}

/// Returns true if a terminal shows the character and does nothing else.
pub(crate) fn is_harmless(c: char) -> bool {
    replacement(c) == c
}

fn replacement(c: char) -> char {
    match c {
        // The pictures of the C0 controls stand in the same order as the controls.
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or('·'),
        '\x7f' => '␡',
        '\u{80}'..='\u{9f}' => '·',
        // Line and paragraph separators, marks and overrides of the writing direction, joiners,
        // tags.
        '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => '·',
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => '·',
        c => c,
    }
}

/// Makes each line of a message safe, like [`clean`].
pub fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// Prints a message on standard error, without the characters that a terminal obeys, because it may
/// quote a name or a variable. A closed or full standard error ends no program.
pub fn print_message(message: &(impl Display + ?Sized)) {
    let _ = writeln!(io::stderr(), "{}", clean_lines(&message.to_string()));
}

/// Formats the name of a file for a message.
pub fn file_name(path: &Path) -> String {
    clean(&path.display().to_string()).into_owned()
}

/// Implements `Debug` for errors as their message. `fn main() -> Result<(), E>` prints an error by
/// `Debug`.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_message {
    ($($error:ty),+) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&$crate::text::clean_lines(&self.to_string()))
            }
        }
    )+};
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
