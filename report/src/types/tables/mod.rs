//! The types behind the tables of trait objects, by the symbols and the debug information of the
//! program.

mod debug;
mod open;
mod symbols;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use metaspy_reader::{Store, TypeKey, files};
use object::read::ReadCache;
use object::{Object, ObjectSegment};

/// The tables of a program, by their distance from its beginning.
#[derive(Default)]
pub struct Tables {
    known: HashMap<u64, String>,
    /// The reason why types are not known.
    note: Option<String>,
    is_incomplete: bool,
}

/// The types behind tables that were looked for.
type Looked = HashMap<u64, Option<String>>;

/// By the path and the identity of a program, the types that were found in it.
static CACHE: Mutex<BTreeMap<(String, String), Looked>> = Mutex::new(BTreeMap::new());

impl Tables {
    /// The tables that a recording names.
    pub fn of(store: &Store) -> Tables {
        let wanted: BTreeSet<u64> =
            store.kinds().filter_map(|kind| table_in(&kind.name).map(|(_, table)| table)).collect();
        if wanted.is_empty() {
            return Tables::default();
        }
        if !store.processes().is_empty() {
            return Tables::without(
                "several recordings that are read as one have no program: name them one by one"
                    .to_owned(),
            );
        }
        let program = store.program();
        let key = (program.path.clone(), program.build_id.clone());
        let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cache.entry(key).or_default();
        let unknown: BTreeSet<u64> =
            wanted.iter().filter(|table| !known.contains_key(table)).copied().collect();
        if !unknown.is_empty() {
            match Tables::in_program(Path::new(&program.path), &program.build_id, &unknown) {
                Ok(found) => {
                    known.extend(unknown.iter().map(|table| (*table, found.get(table).cloned())))
                }
                Err(note) => return Tables::without(note),
            }
        }
        let known =
            wanted.iter().filter_map(|table| Some((*table, known.get(table)?.clone()?))).collect();
        Tables { known, ..Tables::default() }
    }

    fn without(note: String) -> Tables {
        Tables { note: Some(note), ..Tables::default() }
    }

    fn in_program(
        path: &Path,
        build_id: &str,
        wanted: &BTreeSet<u64>,
    ) -> Result<HashMap<u64, String>, String> {
        let shown = path.display();
        let cannot = |error: &dyn std::fmt::Display| {
            format!("types behind trait objects are not known: cannot read {shown}: {error}")
        };
        let cache = ReadCache::new(files::open(path).map_err(|error| cannot(&error))?);
        let file = object::File::parse(&cache).map_err(|error| cannot(&error))?;
        if self::build_id(path, &file) != build_id {
            return Err(format!(
                "types behind trait objects are not known: {shown} was built again after the run"
            ));
        }
        let base = file.segments().map(|segment| segment.address()).min().unwrap_or(0);
        let addresses: BTreeSet<u64> =
            wanted.iter().map(|offset| base.wrapping_add(*offset)).collect();
        let mut known = debug::types(&file, &addresses).unwrap_or_default();
        let left: BTreeSet<u64> =
            addresses.iter().filter(|address| !known.contains_key(address)).copied().collect();
        known.extend(symbols::types(&file, &left));
        Ok(known.into_iter().map(|(address, name)| (address.wrapping_sub(base), name)).collect())
    }

    /// The declared type of a kind's name, and the type behind its table: `None` without a table,
    /// and `Some(None)` if the type is not known. A name with a type parameter is that of several
    /// types.
    pub fn split<'n>(&mut self, name: &'n str) -> (&'n str, Option<Option<String>>) {
        let (declared, behind) =
            if let Some((declared, behind)) = name.split_once(TypeKey::RESOLVED) {
                (declared, Some(behind.to_owned()))
            } else if let Some((declared, table)) = table_in(name) {
                (declared, self.known.get(&table).cloned())
            } else {
                return (name, None);
            };
        let behind = behind.filter(|name| !open::has_parameter(name));
        self.is_incomplete |= behind.is_none();
        (declared, Some(behind))
    }

    /// The reason why a type was not known, if that happened.
    pub fn note(self) -> Option<String> {
        let advice = "types behind trait objects are not known: build the program with debug information, such as \
                      CARGO_PROFILE_RELEASE_DEBUG=full";
        self.is_incomplete.then(|| self.note.unwrap_or_else(|| advice.to_owned()))
    }
}

fn table_in(name: &str) -> Option<(&str, u64)> {
    let (declared, table) = name.split_once(TypeKey::TABLE)?;
    Some((declared, u64::from_str_radix(table, 16).ok()?))
}

/// The identity of a build, as recordings have it: the linker's, or else size and time of the file.
fn build_id<'d>(path: &Path, file: &impl Object<'d>) -> String {
    if let Ok(Some(id)) = file.build_id() {
        return id.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    let Ok(meta) = fs::metadata(path) else { return String::new() };
    let changed = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{}-{}", meta.len(), changed.map_or(0, |since| since.as_secs()))
}

/// The type in a name such as `<a::Circle as a::Shape>::area`, as `type_name` prints it.
fn implementing(name: &str) -> Option<String> {
    let inner = name.strip_prefix('<')?;
    let mut depth = 0_u32;
    for (at, letter) in inner.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            // Not the arrow of a function.
            '>' if inner[..at].ends_with('-') => {}
            '>' | ')' | ']' if depth == 0 => return None,
            '>' | ')' | ']' => depth -= 1,
            ' ' if depth == 0 && inner[at..].starts_with(" as ") => {
                return Some(plain(&inner[..at]));
            }
            _ => {}
        }
    }
    None
}

/// A type as `type_name` prints it: without the allocator of std.
fn plain(name: &str) -> String {
    name.replace(", alloc::alloc::Global>", ">").replace(",alloc::alloc::Global>", ">")
}

#[cfg(test)]
mod tests {
    use super::implementing;

    #[test]
    fn the_type_of_an_implementation_ends_at_its_own_as() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(implementing(name).as_deref(), expected, "{name}")
        };
        check("<a::Circle as a::Shape>::{vtable}", Some("a::Circle"));
        check("<a::Two<<b::C as b::D>::E> as a::Shape<u8>>::f", Some("a::Two<<b::C as b::D>::E>"));
        check("<fn(u8) -> u8 as core::ops::Fn>::call", Some("fn(u8) -> u8"));
        check(
            "<alloc::vec::Vec<u8, alloc::alloc::Global> as a::Shape>::{vtable}",
            Some("alloc::vec::Vec<u8>"),
        );
        check("<a::Circle>::new", None);
        check("a::Shape::name", None);
    }
}
