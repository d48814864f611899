//! Writes the types behind trait objects into a recording, while the program that made it is still
//! the same.

use std::io;
use std::path::Path;

use metaspy_format::arena::{Entry, head, push_text};
use metaspy_reader::{EndState, Store, TypeKey};

use super::tables::Tables;
use crate::append::{Space, append};

/// Writes the resolved types into a recording whose process has ended. Later builds of the program
/// then change nothing.
///
/// A name is appended as a later name of the same kind. Without room for all, the recording stays
/// as it is.
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
    if entries.is_empty() || entries.len() > Space::of(store).names {
        return Ok(());
    }
    append(path, &[], &entries)
}
