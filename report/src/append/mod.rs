//! Appends tables and names to recordings whose process has ended.

mod room;

use std::fs::File;
use std::io;
use std::path::Path;

use metaspy_format::layout::{Area, Layout};
use metaspy_format::superblock as sb;
use metaspy_reader::Store;

pub use room::{AppendedRow, Room};

/// The room that a recording has for more.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Words of tables.
    pub tables: usize,
    /// Words of names.
    pub names: usize,
}

impl Space {
    /// Returns the rest of a recording's budget: a closed file is shorter than its budget, and
    /// grows.
    pub fn of(store: &Store) -> Space {
        let ring = store.ring();
        let header = store.header();
        let whole = Layout::new(header.budget, header.policy);
        let left =
            |area: Area, whole: Area, used: usize| area.len.max(whole.len).saturating_sub(used);
        Space {
            tables: left(ring.layout.profiles, whole.profiles, used_tables(store)),
            names: left(ring.layout.arena, whole.arena, used_names(store)),
        }
    }
}

fn used_tables(store: &Store) -> usize {
    store.ring().words.acquire(sb::PROFILES_USED) as usize / 8
}

fn used_names(store: &Store) -> usize {
    store.ring().words.acquire(sb::ARENA_USED) as usize
}

/// Appends pages of tables and entries of names to the recording at a path. The counts are stored
/// last, so that a reader finds all of them or none.
pub fn append(path: &Path, tables: &[u64], names: &[u64]) -> io::Result<()> {
    // Opened anew: the file of a process that has ended since then may have been replaced by a
    // shorter one.
    let store = Store::open(path).map_err(io::Error::other)?;
    let file = File::options().write(true).open(path)?;
    let (layout, tables_used, names_used) =
        (store.ring().layout, used_tables(&store), used_names(&store));
    append_to(
        &store,
        &file,
        Part { area: layout.profiles, word: sb::PROFILES, used: tables_used },
        tables,
    )?;
    append_to(
        &store,
        &file,
        Part { area: layout.arena, word: sb::ARENA, used: names_used },
        names,
    )?;
    write_words(&file, sb::PROFILES_USED * 8, &[(tables_used + tables.len()) as u64 * 8])?;
    write_words(&file, sb::ARENA_USED * 8, &[(names_used + names.len()) as u64])
}

/// An area, the word of the first page that has its place, and its used words.
struct Part {
    area: Area,
    word: usize,
    used: usize,
}

/// Writes words behind the used ones of an area. An area without room for them is moved to the end
/// of the file.
fn append_to(store: &Store, file: &File, part: Part, words: &[u64]) -> io::Result<()> {
    let Part { area, word, used } = part;
    if used + words.len() <= area.len {
        return write_words(file, (area.at + used) * 8, words);
    }
    let before = area.of(store.ring().words).slice(0, used);
    let all: Vec<u64> = (0..used).map(|at| before.get(at)).chain(words.iter().copied()).collect();
    let at = (file.metadata()?.len() as usize).next_multiple_of(4096);
    write_words(file, at, &all)?;
    write_words(file, word * 8, &[at as u64, all.len() as u64 * 8])
}

/// Writes words at a byte of a file. Errors are those of the file, and that this system cannot
/// write at a place.
#[cfg(unix)]
fn write_words(file: &File, at: usize, words: &[u64]) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    file.write_all_at(&bytes, at as u64)
}

/// As above.
#[cfg(not(unix))]
fn write_words(_: &File, _: usize, _: &[u64]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use metaspy_core::Recording;
    use metaspy_format::arena::{Entry, head, push_text};
    use metaspy_format::profile::page;

    use super::*;

    #[test]
    fn a_closed_recording_takes_more_than_its_file_has_room_for() {
        let path = std::env::temp_dir().join(format!("metaspy-append-{}.spy", std::process::id()));
        Recording::file(&path).start().expect("there is room").close();
        let open = || Store::open(&path).expect("it was closed");
        let notes_before = open().notes().len();
        let space = Space::of(&open());
        let mut table = vec![0; page::HEADER_WORDS + 1000];
        table[page::WORDS] = 1000;
        for round in 1..4 {
            let mut note = vec![0];
            push_text(&mut note, &"a long note ".repeat(2_000 * round));
            note[0] = head(Entry::Note, note.len(), 0);
            append(&path, &table, &note).expect("it can be written");
            let store = open();
            assert_eq!(store.notes().len() - notes_before, round);
            assert!(store.verify().is_sound(), "{:?}", store.verify());
            assert_eq!(space.tables - Space::of(&store).tables, round * table.len());
            assert!(Space::of(&store).names < space.names);
        }
        std::fs::remove_file(path).expect("it was made");
    }
}
