//! The arena and the statements: everything about a recording that is text. Entries are only
//! appended, and never by a hook.
//!
//! The arena has the names of the program, and the history of the recording: views, epochs, notes.
//! The statements are about subjects, which come and go: labels, relations and ends. They have an
//! area of their own, so that they never take the room of names. Before version 1.5 they were in
//! the arena.
//!
//! The first page's `ARENA_USED` (words) is stored with release after an entry is complete, and
//! readers stop there. The statements have two halves. When the newest half has little room, the
//! statements that are still needed are copied to the other one, and `STATEMENTS_TURN` is stored
//! with release. So a reader that finds the turn unchanged has read a half that was not overwritten
//! meanwhile.
//!
//! A statement is needed while its subject lives. The statements about a subject that ended, its
//! end included, are needed while an event of the subject is in the blocks.
//!
//! Word 0 of an entry is the kind (low 8 bits), the length in words with this one (24 bits) and `a`
//! (high 32 bits). The payload follows. A string is a word with its length in bytes, then its
//! bytes, padded with zeros to whole words.

use metaspy_probe::{KindId, SiteKind};
use serde::{Deserialize, Serialize};

use crate::{Words, high, join, low};

/// The kinds of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Entry {
    /// `a` = site number. Words: kind | line << 32, end line | length of the module in the path, in
    /// bytes << 32. Strings: path, file, the reason why the site is skipped (or empty), the facts
    /// from the weaver or the macro (or empty). Older recordings have neither the length of the
    /// module nor the facts.
    Site = 1,
    /// `a` = kind of subjects. Word: bit 0 if the keys are places (addresses), bit 1 if they have
    /// the same meaning in every process. Strings: the name, and in a merged recording the process,
    /// if the kinds of other processes have this name too.
    Kind = 2,
    /// `a` = kind. Word: key. String: the label of the subject. A later label replaces an earlier
    /// one.
    Label = 3,
    /// `a` = kind of the first subject | kind of the second << 16. Words: both keys. String: the
    /// name of the relation.
    Relation = 4,
    /// `a` = view number. String: the view as JSON.
    View = 5,
    /// `a` = kind. Words: key and tick of a subject that ended.
    Ended = 6,
    /// The identity of the program as JSON.
    Program = 7,
    /// A sentence for people about a task that the recorder failed to do.
    Note = 8,
    /// `a` = the epoch that begins. Word: tick. String: its reason, such as an installation.
    Epoch = 9,
    /// `a` = lane. String: the whole name of the thread. Only merged recordings have it.
    Lane = 10,
    /// `a` = kind of the first subject | kind of the second << 16. Words: both keys. String: the
    /// name of a relation that ended.
    Unrelation = 11,
    // Older recordings may have entries with the number 12: marks of a user.
    /// `a` = number of a profile table. String: its declaration as JSON
    /// ([`crate::profile::TableDef`]).
    Table = 13,
    /// `a` = number of a rule that says which events are kept. String: its text.
    Keep = 14,
}

impl Entry {
    /// The kind with this number. `None` for a kind of a later version, which a reader skips.
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
            13 => Entry::Table,
            14 => Entry::Keep,
            _ => return None,
        })
    }
}

/// An entry, with its position in the arena.
#[derive(Clone, Copy)]
pub struct FoundEntry<'a> {
    /// The position of its first word.
    pub at: usize,
    /// Its length in words.
    pub length: usize,
    /// Its kind; `None` for a kind of a later version.
    pub entry: Option<Entry>,
    /// The high half of its first word.
    pub a: u32,
    /// The words behind the first one.
    pub words: Words<'a>,
}

/// Passes each entry between two positions to `each`. Returns the position at which it stopped:
/// `end`, or the one of an entry with an impossible length.
pub fn walk<'a>(
    words: Words<'a>,
    from: usize,
    end: usize,
    mut each: impl FnMut(FoundEntry<'a>),
) -> usize {
    let mut at = from;
    while at < end {
        let (kind, length, a) = unpack_head(words.get(at));
        if length == 0 || length > end - at {
            break;
        }
        each(FoundEntry {
            at,
            length,
            entry: Entry::from_byte(kind),
            a,
            words: words.slice(at + 1, length - 1),
        });
        at += length;
    }
    at
}

/// Word 0 of an entry.
pub const fn head(entry: Entry, words: usize, a: u32) -> u64 {
    entry as u64 | (words as u64 & 0xFF_FFFF) << 8 | (a as u64) << 32
}

/// Kind, length in words and `a` of an entry.
pub const fn unpack_head(word: u64) -> (u8, usize, u32) {
    (word as u8, (word >> 8) as usize & 0xFF_FFFF, (word >> 32) as u32)
}

/// The two words of an [`Entry::Site`]: kind, first and last line, and length of the module.
pub const fn site_words(kind: SiteKind, lines: (u32, u32), module: u32) -> [u64; 2] {
    [join(kind as u32, lines.0), join(lines.1, module)]
}

/// Kind, lines and length of the module, from the words of an [`Entry::Site`].
pub const fn unpack_site(words: [u64; 2]) -> (SiteKind, (u32, u32), u32) {
    let [kind_line, end_module] = words;
    (SiteKind::from_byte(kind_line as u8), (high(kind_line), low(end_module)), high(end_module))
}

/// The word of an [`Entry::Kind`]: bit 0 if the keys are places, bit 1 if they have the same
/// meaning in every process. Bit 2 distinguishes numbers of objects in the writer.
pub const fn nature(is_place: bool, is_across: bool) -> u64 {
    is_place as u64 | (is_across as u64) << 1
}

/// The inverse of [`nature`].
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

/// The view of a profiler. It is data, so that another process can show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// The profiler's name.
    pub name: String,
    /// The paths of the sites.
    pub sites: Vec<String>,
    /// The first grouping on a screen: `subject`, `site` or `cause`.
    pub group_by: String,
    /// The relations of the model that matter to the profiler: `owner`, `sibling`, …
    pub relations: Vec<String>,
    /// The values of each row on a screen: `count`, `bar`, `total`, `self`, `max`.
    pub columns: Vec<String>,
}

/// Largest string in bytes. A longer one is cut at a character.
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

    #[test]
    fn entries_are_walked_up_to_an_impossible_length() {
        use std::sync::atomic::AtomicU64;

        let entries = [(Entry::Note, 1, 3), (Entry::Epoch, 4, 5), (Entry::Label, 2, 6)];
        let mut words = Vec::new();
        for (entry, length, a) in entries {
            words.push(head(entry, length, a));
            words.extend((1..length).map(|word| word as u64));
        }
        let cells: Vec<AtomicU64> = words.iter().copied().map(AtomicU64::new).collect();
        for end in 0..=words.len() {
            let mut found = Vec::new();
            let stopped = walk(Words::from_slice(&cells), 0, end, |entry| {
                assert_eq!(
                    (entry.words.len(), entry.words.get(0)),
                    (entry.length - 1, (entry.length > 1).into())
                );
                found.extend(entry.entry.map(|kind| (kind, entry.length, entry.a)));
            });
            let whole = [1, 5, 7].iter().filter(|to| **to <= end).count();
            assert_eq!(
                (found.as_slice(), stopped),
                (&entries[..whole], [0, 1, 5, 7][whole]),
                "up to {end}"
            );
        }
        assert_eq!(
            walk(Words::from_slice(&[AtomicU64::new(0)]), 0, 1, |_| panic!("it has no length")),
            0
        );
    }
}
