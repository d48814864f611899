//! The arena: everything about a recording that is text. Entries are appended, never changed, and never by a hook.
//!
//! The superblock's `ARENA_USED` (words) is stored with release after an entry is whole: a reader goes that far.
//! Entry: word 0 = kind (low 8 bits) | length in words with this one (24 bits) | `a` (high 32 bits), then the payload.
//! A string is a word with its length in bytes, then its bytes, padded with zeros to whole words.

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
