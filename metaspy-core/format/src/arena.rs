//! The arena: everything about a recording that is text. Entries are appended, never changed, and never by a hook.
//!
//! The superblock's `ARENA_USED` (words) is stored with release after an entry is whole: a reader goes that far.
//! Entry: word 0 = kind (low 8 bits) | length in words with this one (24 bits) | `a` (high 32 bits), then the payload.
//! A string is a word with its length in bytes, then its bytes, padded with zeros to whole words.

use metaspy_probe::{KindId, SiteKind};

use crate::{high, join, low};

/// What an entry tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Entry {
    /// `a` = site number; words: kind | line << 32, end line | bytes of the path that are its module << 32; strings: path,
    /// file, note (why it was skipped, or empty), what a weaver knows of it (or empty). Older recordings have neither of
    /// what is known of modules and by weavers.
    Site = 1,
    /// `a` = kind of subjects; word: bit 0 if its keys are places (addresses), bit 1 if they mean the same in every
    /// process; strings: its name, and, where several recordings are one and others have such a kind too, its process.
    Kind = 2,
    /// `a` = kind; word: key; string: the subject's label. A later label replaces an earlier one.
    Label = 3,
    /// `a` = kind of the first subject | kind of the second << 16; words: both keys; string: the relation's name.
    Relation = 4,
    /// `a` = view number; string: the view as JSON.
    View = 5,
    /// `a` = kind; words: key, tick: the subject ended.
    Ended = 6,
    /// The program's identity as JSON.
    Program = 7,
    /// A sentence for people: what the recorder could not do, and why.
    Note = 8,
    /// `a` = epoch that begins; word: tick; string: what was installed or uninstalled.
    Epoch = 9,
    /// `a` = lane; string: the thread's whole name.
    Lane = 10,
    /// `a` = kind of the first subject | kind of the second << 16; words: both keys; string: a relation that ended.
    Unrelation = 11,
    /// A mark set by the user; word: tick; string: its text.
    UserMark = 12,
    /// `a` = number of a profile table; string: its declaration as JSON ([`crate::profile::TableDef`]).
    Table = 13,
}

impl Entry {
    /// The entry behind a number; `None` for one of a later version, which a reader passes over.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Entry::Site,
            2 => Entry::Kind,
            3 => Entry::Label,
            4 => Entry::Relation,
            5 => Entry::View,
            6 => Entry::Ended,
            7 => Entry::Program,
            8 => Entry::Note,
            9 => Entry::Epoch,
            10 => Entry::Lane,
            11 => Entry::Unrelation,
            12 => Entry::UserMark,
            13 => Entry::Table,
            _ => return None,
        })
    }
}

/// Word 0 of an entry.
pub const fn head(entry: Entry, words: usize, a: u32) -> u64 {
    entry as u64 | (words as u64 & 0xFF_FFFF) << 8 | (a as u64) << 32
}

/// Kind, length in words and `a` of an entry.
pub const fn unpack_head(word: u64) -> (u8, usize, u32) {
    (word as u8, (word >> 8) as usize & 0xFF_FFFF, (word >> 32) as u32)
}

/// The two words of a [`Entry::Site`]: kind, first and last line, and bytes of the path that are its module.
pub const fn site_words(kind: SiteKind, lines: (u32, u32), module: u32) -> [u64; 2] {
    [join(kind as u32, lines.0), join(lines.1, module)]
}

/// Kind, lines and module of the words of a [`Entry::Site`].
pub const fn unpack_site(words: [u64; 2]) -> (SiteKind, (u32, u32), u32) {
    let [kind_line, end_module] = words;
    (SiteKind::from_byte(kind_line as u8), (high(kind_line), low(end_module)), high(end_module))
}

/// The word of a [`Entry::Kind`]: are its keys places, and do they have the same meaning in every process?
pub const fn nature(is_place: bool, is_across: bool) -> u64 {
    is_place as u64 | (is_across as u64) << 1
}

/// What [`nature`] packed.
pub const fn unpack_nature(word: u64) -> (bool, bool) {
    (word & 1 != 0, word & 2 != 0)
}

/// The kinds of both ends of a relation, as the `a` of its entry.
pub const fn two_kinds(from: KindId, to: KindId) -> u32 {
    from.0 as u32 | (to.0 as u32) << 16
}

/// The kinds of both ends of a relation, from the `a` of its entry.
pub const fn unpack_two_kinds(a: u32) -> (KindId, KindId) {
    (KindId(a as u16), KindId((a >> 16) as u16))
}

/// Bytes of a string at most; a longer one is cut at a character.
pub const TEXT_MAX: usize = 64 * 1024;

/// Appends a string to the words of an entry.
pub fn push_text(words: &mut Vec<u64>, text: &str) {
    let text = &text[..text.floor_char_boundary(TEXT_MAX)];
    words.push(text.len() as u64);
    words.extend(text.as_bytes().chunks(8).map(|chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(bytes)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_words_of_entries_packed_is_unpacked() {
        let site = (SiteKind::Method, (3, 9), 4);
        assert_eq!(unpack_site(site_words(site.0, site.1, site.2)), site);
        for nature_of in [(false, false), (true, false), (false, true), (true, true)] {
            assert_eq!(unpack_nature(nature(nature_of.0, nature_of.1)), nature_of);
        }
        let kinds = (KindId(7), KindId(u16::MAX));
        assert_eq!(unpack_two_kinds(two_kinds(kinds.0, kinds.1)), kinds);
        assert_eq!(unpack_head(head(Entry::Kind, 0xFF_FFFF, u32::MAX)), (2, 0xFF_FFFF, u32::MAX));
    }
}
