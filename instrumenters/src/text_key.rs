//! Key of a subject whose name is a text.
//!
//! The key is a hash of the text, and texts are not numbered. So one text is one subject in every
//! process and every run, also where the table of texts is full. The text is the label.

use std::collections::HashSet;
use std::fmt::{self, Debug, Write};
use std::sync::{PoisonError, RwLock};

use metaspy_core::{KindId, Subject, label};

/// Maximum length of a label, in bytes.
const LABEL_MAX: usize = 128;
/// Maximum length of a text that is read, in bytes, because a `Debug` may have no end.
const TEXT_MAX: usize = 1 << 16;
/// Maximum number of labels, because a program may have a new text for each request.
const LABELS_MAX: usize = 1 << 16;

/// Returns the subject of this kind with the value's text as its name. The text of a number is the
/// number.
pub(crate) fn subject(kind: KindId, value: &dyn Debug) -> Subject {
    let mut text = Text { hash: FNV_BASIS, seen: 0, begin: String::new() };
    // Only the beginning of a text that is too long counts.
    let _ = write!(text, "{value:?}");
    match text.number() {
        Some(key) => Subject::new(kind, key),
        None => {
            let subject = Subject::new(kind, text.hash);
            give_label(subject, text.begin);
            subject
        }
    }
}

/// Labels a subject with its text, the first time.
fn give_label(subject: Subject, text: String) {
    static GIVEN: RwLock<Option<HashSet<Subject>>> = RwLock::new(None);
    let given = GIVEN.read().unwrap_or_else(PoisonError::into_inner);
    if given.as_ref().is_some_and(|given| given.contains(&subject) || given.len() >= LABELS_MAX) {
        return;
    }
    drop(given);
    let is_new = GIVEN
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert_default()
        .insert(subject);
    if is_new {
        label(subject, text);
    }
}

/// Text while it is written: its hash and its beginning.
struct Text {
    hash: u64,
    seen: usize,
    begin: String,
}

/// Initial value of an FNV-1a hash.
pub(crate) const FNV_BASIS: u64 = 0xCBF2_9CE4_8422_2325;

/// Continues an FNV-1a hash. The result does not depend on how the bytes are cut into pieces.
pub(crate) fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3))
}

impl Write for Text {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let fits = &piece[..piece.floor_char_boundary(TEXT_MAX - self.seen)];
        self.hash = fnv(self.hash, fits.as_bytes());
        let room = LABEL_MAX.saturating_sub(self.seen);
        self.begin.push_str(&fits[..fits.floor_char_boundary(room)]);
        self.seen += fits.len();
        if fits.len() < piece.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

impl Text {
    /// Returns the number, if the text is a number in the usual notation.
    fn number(&self) -> Option<u64> {
        let is_plain = self.begin.strip_prefix('-').unwrap_or(&self.begin);
        if self.seen > 20 || self.begin != "0" && is_plain.starts_with(['0', '+']) {
            return None;
        }
        let signed = || self.begin.parse::<i64>().ok().map(|number| number as u64);
        self.begin.parse::<u64>().ok().or_else(signed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[&str]) -> Text {
        let mut text = Text { hash: FNV_BASIS, seen: 0, begin: String::new() };
        pieces.iter().for_each(|piece| _ = text.write_str(piece));
        text
    }

    #[test]
    fn a_number_that_is_written_out_is_the_number() {
        let numbers =
            ["0", "7", "18446744073709551615", "-1"].map(|number| text(&[number]).number());
        assert_eq!(numbers, [Some(0), Some(7), Some(u64::MAX), Some(u64::MAX)]);
        assert_eq!(
            ["", "-", "07", "+7", "-07", "7 ", "x"].map(|word| text(&[word]).number()),
            [None; 7]
        );
    }

    #[test]
    fn a_text_is_identified_by_all_of_it() {
        let long = "x".repeat(LABEL_MAX);
        assert_eq!(text(&["node ", "a"]).hash, text(&["node a"]).hash);
        assert_ne!(text(&[&long, "a"]).hash, text(&[&long, "b"]).hash);
        assert_eq!(text(&[&long, "a"]).begin, long);
    }

    #[test]
    fn a_text_without_end_is_identified_by_its_beginning() {
        let mut endless = text(&["é"]);
        while endless.write_str("ééé").is_ok() {}
        assert!(endless.seen <= TEXT_MAX && endless.begin.len() <= LABEL_MAX);
    }
}
