//! Names for addresses, by the symbols of the files that ran.
//!
//! A sampler may leave the names to whoever opens its profile. A file has them only if it is still
//! the one that ran: its build id must be that of the profile.

use std::collections::HashMap;
use std::path::Path;

use metaspy_reader::files;
use object::read::ReadCache;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use serde::Deserialize;

/// File with code, as a profile states it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Library {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    path: String,
    /// Build id, in hexadecimal digits.
    code_id: Option<String>,
}

/// Functions of the files of a profile, each read when the first address asks for it.
pub struct Names<'p> {
    libraries: &'p [Library],
    /// By path and build id: many libraries of a profile may be one file.
    functions: HashMap<(&'p str, Option<&'p str>), Vec<Function>>,
}

/// Function of a symbol table.
#[derive(Debug)]
struct Function {
    start: u64,
    end: u64,
    name: String,
}

impl<'p> Names<'p> {
    pub fn new(libraries: &'p [Library]) -> Self {
        Names { libraries, functions: HashMap::new() }
    }

    /// The function at an address, which counts from the beginning of a library; `None` if the file
    /// is not the one that ran, or has no symbol there.
    pub fn at(&mut self, library: usize, address: u64) -> Option<&str> {
        let of = self.libraries.get(library)?;
        let file = (&*of.path, of.code_id.as_deref());
        let functions =
            self.functions.entry(file).or_insert_with(|| functions(of).unwrap_or_default());
        let after = functions.partition_point(|function| function.start <= address);
        let function =
            functions.get(after.checked_sub(1)?).filter(|function| address < function.end)?;
        Some(&function.name)
    }
}

/// The functions of a library, by their start.
fn functions(library: &Library) -> Option<Vec<Function>> {
    let cache = ReadCache::new(files::open(Path::new(&library.path)).ok()?);
    let file = object::File::parse(&cache).ok()?;
    let id: String = file.build_id().ok()??.iter().map(|byte| format!("{byte:02x}")).collect();
    if !library.code_id.as_ref()?.eq_ignore_ascii_case(&id) {
        return None;
    }
    let base = file.segments().map(|segment| segment.address()).min()?;
    let all = file.symbols().chain(file.dynamic_symbols());
    let code = all.filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    let mut functions: Vec<Function> = code
        .filter_map(|symbol| {
            let start = symbol.address().checked_sub(base)?;
            let name = String::from_utf8_lossy(symbol.name_bytes().ok()?);
            let name = format!("{:#}", rustc_demangle::demangle(&name));
            Some(Function { start, end: start.saturating_add(symbol.size()), name })
        })
        .collect();
    functions.sort_by(|one, other| (one.start, &one.name).cmp(&(other.start, &other.name)));
    functions.dedup_by_key(|function| function.start);
    // A function without a size ends where the next one begins.
    for at in 1..functions.len() {
        if functions[at - 1].end == functions[at - 1].start {
            functions[at - 1].end = functions[at].start;
        }
    }
    Some(functions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_addresses_only_if_it_is_the_one_that_ran() {
        let path = std::env::current_exe().expect("a test is a file");
        let cache = ReadCache::new(files::open(&path).expect("it can be read"));
        let file = object::File::parse(&cache).expect("it is a program");
        let Some(id) = file.build_id().expect("it is sound") else {
            println!("SKIPPED: names of addresses: the linker writes no build id here");
            return;
        };
        let id: String = id.iter().map(|byte| format!("{byte:02X}")).collect();
        let base = file.segments().map(|segment| segment.address()).min().expect("it has some");
        let functions =
            file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
        let of_this =
            |name: &&str| name.contains("a_file_names_addresses_only_if_it_is_the_one_that_ran");
        let (start, _) = functions
            .filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?)))
            .find(|(_, name)| of_this(name))
            .expect("this function has a symbol");
        let library = |id: Option<&str>| {
            let path = path.display().to_string();
            [Library { name: String::new(), path, code_id: id.map(str::to_owned) }]
        };
        let same = library(Some(&id));
        let other = library(Some("0123"));
        let unknown = library(None);
        let mut names = Names::new(&same);
        let name = names.at(0, start - base + 1).expect("it is there").to_owned();
        assert!(name.contains("addresses::tests::a_file_names") && !name.contains("::h"), "{name}");
        assert_eq!(names.at(0, u64::MAX), None);
        assert_eq!(names.at(1, start - base), None);
        assert_eq!(Names::new(&other).at(0, start - base), None);
        assert_eq!(Names::new(&unknown).at(0, start - base), None);
    }
}
