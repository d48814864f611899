//! Writes the types behind trait objects into a recording, while the program that made it is still the same.

use std::io;
use std::path::Path;

use metaspy_core::Store;
use metaspy_core::format::arena::{Entry, head, push_text};
use metaspy_core::format::superblock as sb;
use metaspy_core::store::{EndState, TypeKey};

use super::tables::Tables;
use crate::append::write_words;

/// Writes the resolved types into a recording whose process has ended. Later builds of the program then change nothing.
///
/// A name is appended as a later name of the same kind, and the count of words is stored last, so that a reader finds all
/// names or none. Without room for all, the recording stays as it is.
pub fn keep(path: &Path, store: &Store) -> io::Result<()> {
    if store.end_state() == EndState::Live {
        return Ok(());
    }
    let mut tables = Tables::of(store);
    let mut entries = Vec::new();
    for kind in store.kinds() {
        let (declared, behind) = tables.split(&kind.name);
        let Some(Some(behind)) = behind else { continue };
        let at = entries.len();
        // An address has no meaning outside of its process, and a type has.
        entries.extend([0, 2]);
        push_text(&mut entries, &format!("{declared}{}{behind}", TypeKey::RESOLVED));
        push_text(&mut entries, "");
        entries[at] = head(Entry::Kind, entries.len() - at, u32::from(kind.id.0));
    }
    let ring = store.ring();
    let (used, arena) = (ring.words.acquire(sb::ARENA_USED) as usize, ring.layout.arena);
    if entries.is_empty() || used + entries.len() > arena.len {
        return Ok(());
    }
    let file = std::fs::OpenOptions::new().write(true).open(path)?;
    write_words(&file, (arena.at + used) * 8, &entries)?;
    write_words(&file, sb::ARENA_USED * 8, &[(used + entries.len()) as u64])
}
