//! Profile tables: the values that method profilers keep, as declared columns and keyed rows.
//!
//! An arena entry ([`Entry::Table`](crate::arena::Entry::Table)) declares a table: [`TableDef`] as
//! JSON, under the table's number. The values stand in pages of an area of their own
//! ([`PROFILES`](crate::superblock::PROFILES)), one behind the other, up to
//! [`PROFILES_USED`](crate::superblock::PROFILES_USED). A table's words are numbered: the value of
//! column `c` in row `r` is word `r * columns + c`. A page holds a run of them for one thread, so
//! the same word may stand in several pages; its value is the words merged by the rule of its
//! column. A word of 0 holds nothing.
//!
//! Rows of a table by site are numbered as the sites are. In the other tables, rows are numbered in
//! the order in which their keys were first seen; pages of their own hold the keys ([`Key`]). The
//! first column of a table by calling context is the id of the context: the same in all processes,
//! and the key of the contexts that it calls.

use serde::{Deserialize, Serialize};

/// Names of the method profilers that come with metaspy: [`TableDef::profile`] of their tables.
pub mod built_in {
    /// Objects and bytes by calling context.
    pub const ALLOCATIONS: &str = "allocations";
    /// Times and callers.
    pub const CALLS: &str = "calls";
    /// Times by calling context.
    pub const CONTEXTS: &str = "contexts";
    /// Receivers, tests and returned values.
    pub const COVERAGE: &str = "coverage";
    /// Calls that repeat an earlier one.
    pub const REPEATS: &str = "repeats";
    /// Types of receivers, arguments and results.
    pub const TYPES: &str = "types";

    /// The column `identity` of [`COVERAGE`] for receivers that only an address identifies.
    pub const ADDRESS: &str = "address";
    /// The column of [`REPEATS`] for calls that an earlier call was equal to.
    pub const REPEATED: &str = "repeated";
    /// The column of [`REPEATS`] for calls whose receivers or arguments cannot be compared.
    pub const NOT_COMPARED: &str = "not compared";
}

/// Columns of a table at most.
pub const COLUMNS_MAX: usize = 32;
/// Rows of a table at most.
pub const ROWS_MAX: u64 = 1 << 20;

/// A table, as its profiler declared it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableDef {
    /// The name of the method profiler.
    pub profile: String,
    /// The installation of the method profiler: its tables carry the same number.
    pub installation: u32,
    /// The table's own name; empty for the table of the methods.
    pub name: String,
    /// The kind of key that identifies a row.
    pub key: KeyKind,
    /// The columns, in the order of their words.
    pub columns: Vec<Column>,
}

/// The kinds of keys that identify the rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// A site.
    #[default]
    Site,
    /// A site and a subject.
    Subject,
    /// A callee and its caller.
    Caller,
    /// A calling context: a site, and the context of its caller.
    Context,
    /// A callee, its caller, and the type of one of its values ([`TypeKey`]).
    Type,
    /// A number that has the same meaning in all processes, with the site and the kind of the
    /// subject of the event around it, if there is one: the functions, frames and events of
    /// samples.
    Sampled,
}

/// The type of a receiver, an argument or a returned value: the rest of a [`Key`] beside callee and
/// kind. The kind of subjects with the type's name stands for the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeKey {
    /// The site of the caller; 0 = code without hooks.
    pub caller: u32,
    /// The value that has the type.
    pub position: u8,
    /// The discriminant of an enum; `None` for other types.
    pub variant: Option<u32>,
}

impl TypeKey {
    /// The position of the receiver. Arguments follow, in the order of their names.
    pub const RECEIVER: u8 = 0;
    /// The position of the returned value.
    pub const RETURNED: u8 = 255;
    /// The first word of kinds whose type is behind a table of a trait object:
    /// `&dyn a::Shape @0x5a8f0`, with the address of the table in the file of the program.
    pub const TABLE: &'static str = " @0x";
    /// The text between such a kind and its type once the type is known: `&dyn a::Shape =>
    /// a::Circle`.
    pub const RESOLVED: &'static str = " => ";

    const POSITION: u32 = 20;
    const HAS_VARIANT: u64 = 1 << 28;
    const VARIANT: u32 = 29;

    /// As the word of a key.
    #[inline]
    pub const fn pack(self) -> u64 {
        let variant = match self.variant {
            Some(variant) => Self::HAS_VARIANT | (variant as u64) << Self::VARIANT,
            None => 0,
        };
        self.caller as u64 & Key::SITE_MASK | (self.position as u64) << Self::POSITION | variant
    }

    /// From the word of a key.
    pub const fn unpack(word: u64) -> Self {
        let has_variant = word & Self::HAS_VARIANT != 0;
        TypeKey {
            caller: (word & Key::SITE_MASK) as u32,
            position: (word >> Self::POSITION) as u8,
            variant: if has_variant { Some((word >> Self::VARIANT) as u32) } else { None },
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// The type and unit of its values.
    pub kind: ColumnKind,
    /// The unit of a number, `bytes` for example; empty for plain counts.
    pub unit: String,
    /// How the values of several threads and processes become one.
    pub merge: Merge,
    /// From this value on, a number is a lower bound: the profiler stops counting there.
    pub at_most: Option<u64>,
}

/// The type and unit of the values of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers.
    #[default]
    Number,
    /// Lengths of time, in ticks of the recording's clock.
    Ticks,
    /// One of these names: the word is the place of the name in the list, + 1.
    Choice(Vec<String>),
    /// Any of these names: one bit each, the first name the lowest.
    Flags(Vec<String>),
}

/// How several values of a column become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// They are added up.
    #[default]
    Sum,
    /// The largest one.
    Max,
    /// The smallest one. The word is the complement of the value, so that 0 holds nothing.
    Min,
    /// All bits of all.
    Union,
}

impl Merge {
    /// Merges two words.
    pub const fn words(self, one: u64, other: u64) -> u64 {
        match self {
            Merge::Sum => one.saturating_add(other),
            Merge::Max | Merge::Min if one > other => one,
            Merge::Max | Merge::Min => other,
            Merge::Union => one | other,
        }
    }

    /// The word of a value, or the value of a word.
    pub const fn value(self, word: u64) -> u64 {
        match self {
            Merge::Min => !word,
            Merge::Sum | Merge::Max | Merge::Union => word,
        }
    }
}

impl Column {
    /// A column of numbers that are added up.
    pub fn new(name: &str) -> Self {
        Column { name: name.to_owned(), ..Column::default() }
    }

    /// A column of lengths of time, in ticks of the recording's clock, that are added up.
    pub fn ticks(name: &str) -> Self {
        Column { kind: ColumnKind::Ticks, ..Column::new(name) }
    }

    /// A column of flags with these names, at most 64. All flags that were set count.
    pub fn flags(name: &str, names: &[&str]) -> Self {
        let names = names.iter().take(64).map(|name| (*name).to_owned()).collect();
        Column { kind: ColumnKind::Flags(names), merge: Merge::Union, ..Column::new(name) }
    }

    /// The same column with a unit.
    #[must_use]
    pub fn unit(self, unit: &str) -> Self {
        Column { unit: unit.to_owned(), ..self }
    }

    /// The same column with another rule to merge values.
    #[must_use]
    pub fn merged_by(self, merge: Merge) -> Self {
        Column { merge, ..self }
    }

    /// The same column, in which numbers from `most` on are lower bounds.
    #[must_use]
    pub fn at_most(self, most: u64) -> Self {
        Column { at_most: Some(most), ..self }
    }
}

impl From<&str> for Column {
    fn from(name: &str) -> Self {
        Column::new(name)
    }
}

impl TableDef {
    /// True if a reader can read tables that are declared so.
    pub fn is_readable(&self) -> bool {
        (1..=COLUMNS_MAX).contains(&self.columns.len())
    }

    /// The word of a column in a row.
    pub const fn word(&self, row: u64, column: usize) -> u64 {
        row * self.columns.len() as u64 + column as u64
    }
}

/// The key of a row that is about more than a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The site; of a pair of methods, the callee. 0 = code without hooks.
    pub site: u32,
    /// The subject's kind, the kind that stands for a type, or the caller's site; 0 = none.
    pub second: u32,
    /// The subject's key, the id of the caller's context, a [`TypeKey`], or a number of samples; 0
    /// in a pair of methods.
    pub key: u64,
}

impl Key {
    /// Words of a key.
    pub const WORDS: usize = 2;
    /// The place of the subject's key.
    pub const KEY: usize = 0;
    /// The place of the rest, stored last.
    pub const WHO: usize = 1;

    const SITE_BITS: u32 = 20;
    const SITE_MASK: u64 = (1 << Self::SITE_BITS) - 1;
    const PRESENT: u64 = 1 << 63;

    /// Site, kind or caller as a word; never 0.
    #[inline]
    pub const fn who(self) -> u64 {
        Self::PRESENT
            | (self.second as u64 & Self::SITE_MASK) << Self::SITE_BITS
            | self.site as u64 & Self::SITE_MASK
    }

    /// The key with these words; `None` if there is none yet.
    pub const fn read(who: u64, key: u64) -> Option<Self> {
        if who & Self::PRESENT == 0 {
            return None;
        }
        let second = (who >> Self::SITE_BITS & Self::SITE_MASK) as u32;
        Some(Key { site: (who & Self::SITE_MASK) as u32, second, key })
    }
}

/// A page of the area: a header, then words.
pub mod page {
    /// Words of the header.
    pub const HEADER_WORDS: usize = 8;
    /// Words that follow the header: never 0 in a page that was taken. Storing it takes the page.
    pub const WORDS: usize = 0;
    /// The content of the page ([`Content`]), stored last; 0 = nothing yet.
    pub const CONTENT: usize = 1;
    /// The number of the table's word, or of the row's key, that stands first.
    pub const FIRST: usize = 2;
    /// One of [`USED`], [`ENDED`] and [`FREE`].
    pub const STATE: usize = 3;
    /// Its table may be written.
    pub const USED: u64 = 0;
    /// The profiler of its table has ended.
    pub const ENDED: u64 = 1;
    /// It holds nothing, and another table may take it. All words behind the header are 0.
    pub const FREE: u64 = 2;

    /// In a page of [`Kind::Head`]: values of the table that found no room.
    pub const LOST: usize = HEADER_WORDS;
    /// In a page of [`Kind::Head`]: the installation of the same profiler that sees all calls of
    /// this one, + 1; 0 = none.
    pub const WITHIN: usize = HEADER_WORDS + 1;
    /// In a page of [`Kind::Head`]: a bit for each installation around that does not see all of
    /// them, because it began later or ended earlier. The lowest bit is for the installation that
    /// [`WITHIN`] names, the next one for the one around it.
    pub const OVERLAPS: usize = HEADER_WORDS + 2;
    /// Words of a page of [`Kind::Head`].
    pub const HEAD_WORDS: usize = 8;

    /// The kinds of words in a page.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// The table's counts of loss.
        Head,
        /// Values.
        Values,
        /// Keys of rows.
        Keys,
        /// A bit for each site with a value that found no room. The bit of site 0 stands for sites
        /// that have none here.
        Incomplete,
    }

    /// A page's table, and the kind of its words.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Content {
        /// The table's number.
        pub table: u32,
        /// The kind of the page's words.
        pub kind: Kind,
    }

    impl Content {
        /// As a word; never 0.
        pub const fn pack(self) -> u64 {
            (self.kind as u64 + 1) << 32 | self.table as u64
        }

        /// From a word; `None` if the page holds nothing yet, or something of a later version.
        pub const fn unpack(word: u64) -> Option<Self> {
            let kind = match word >> 32 {
                1 => Kind::Head,
                2 => Kind::Values,
                3 => Kind::Keys,
                4 => Kind::Incomplete,
                _ => return None,
            };
            Some(Content { table: word as u32, kind })
        }
    }
}

/// Bits of a set in a word, the lowest one first.
pub fn bits(word: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |bit| word >> bit & 1 != 0)
}

/// Installations around an installation that do not see all of its calls, as a set: the lowest bit
/// is the innermost one's. Of more than 64, the outer ones have none.
pub mod overlaps {
    /// The set of the installation at this level.
    pub fn at(level: usize) -> u64 {
        u32::try_from(level).ok().and_then(|level| 1_u64.checked_shl(level)).unwrap_or(0)
    }

    /// True if the innermost one is in the set.
    pub const fn has_innermost(set: u64) -> bool {
        set & 1 != 0
    }

    /// The set of an installation that has one more around it than its inner ones.
    pub const fn without_innermost(set: u64) -> u64 {
        set >> 1
    }

    /// The set of an installation inside the one with this set.
    pub const fn inside(set: u64) -> u64 {
        set << 1
    }

    /// The set after another installation, which overlaps, came between at this level.
    pub fn with_another(set: u64, level: usize) -> u64 {
        let inner = at(level).wrapping_sub(1);
        set & inner | at(level) | (set & !inner) << 1
    }
}

#[cfg(test)]
mod tests {
    use super::page::{Content, Kind};
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let key = Key { site: 0xF_FFFE, second: 0xABCDE, key: u64::MAX };
        assert_eq!(Key::read(key.who(), key.key), Some(key));
        assert_eq!(Key::read(0, 7), None);
    }

    #[test]
    fn a_page_names_its_table_and_its_kind() {
        for kind in [Kind::Head, Kind::Values, Kind::Keys, Kind::Incomplete] {
            let content = Content { table: u32::MAX, kind };
            assert_eq!(Content::unpack(content.pack()), Some(content));
        }
        assert_eq!((Content::unpack(0), Content::unpack(9 << 32)), (None, None));
    }

    #[test]
    fn another_installation_comes_between_the_others() {
        assert_eq!(overlaps::with_another(0b101, 1), 0b1011);
        assert_eq!(overlaps::with_another(0b101, 0), 0b1011);
        assert_eq!([0, 63, 64].map(overlaps::at), [1, 1 << 63, 0]);
        assert_eq!(overlaps::without_innermost(overlaps::inside(0b11)), 0b11);
        assert!(overlaps::has_innermost(0b1) && !overlaps::has_innermost(0b10));
        assert_eq!(bits(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
    }

    #[test]
    fn nothing_is_neutral_in_every_rule() {
        for merge in [Merge::Sum, Merge::Max, Merge::Min, Merge::Union] {
            let word = merge.value(5);
            assert_eq!((merge.words(word, 0), merge.words(0, word)), (word, word), "{merge:?}");
        }
        assert_eq!(Merge::Min.value(Merge::Min.words(Merge::Min.value(5), Merge::Min.value(3))), 3);
    }

    #[test]
    fn the_words_of_a_table_are_its_rows_one_behind_the_other() {
        let table =
            TableDef { columns: ["a", "b", "c"].map(Column::from).into(), ..TableDef::default() };
        let words: Vec<u64> = (0..4)
            .flat_map(|row| (0..3).map(move |column| (row, column)))
            .map(|(row, column)| table.word(row, column))
            .collect();
        assert_eq!(words, (0..12).collect::<Vec<u64>>());
    }
}
