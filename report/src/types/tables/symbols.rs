//! Tables in a program without debug information: the functions in a table have symbols, and these
//! name the type.
//!
//! The linker may give equal functions of several types one address. A type is known only if all
//! symbols agree.

use std::collections::{BTreeSet, HashMap};

use object::elf::{R_AARCH64_RELATIVE, R_X86_64_RELATIVE};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, RelocationFlags, SymbolKind};

use super::{implementing, plain};

/// Size of a word of a table, in bytes.
const WORD: u64 = 8;
/// The first method of a table, behind the destructor, the size and the alignment.
const FIRST_METHOD: u64 = 3;
/// Methods of a table that are looked at.
const METHODS: u64 = 64;

/// The types behind these addresses, as far as symbols have them.
pub(super) fn types<'d>(file: &impl Object<'d>, wanted: &BTreeSet<u64>) -> HashMap<u64, String> {
    let is_known = matches!(file.architecture(), Architecture::X86_64 | Architecture::Aarch64);
    if wanted.is_empty() || !is_known || !file.is_little_endian() {
        return HashMap::new();
    }
    let functions = functions(file);
    let moved = moved(file, wanted);
    let of_table = |&table: &u64| Some((table, type_of(file, table, &moved, &functions)?));
    wanted.iter().filter_map(of_table).collect()
}

/// The type whose functions are in a table; `None` if its functions do not agree on one.
fn type_of<'d>(
    file: &impl Object<'d>,
    table: u64,
    moved: &HashMap<u64, u64>,
    functions: &HashMap<u64, Vec<String>>,
) -> Option<String> {
    let mut types = BTreeSet::new();
    let places = [0].into_iter().chain(FIRST_METHOD..FIRST_METHOD + METHODS);
    for place in places {
        let at = table + place * WORD;
        let function = moved.get(&at).copied().or_else(|| word(file, at)).filter(|&word| word != 0);
        let names = function.and_then(|function| functions.get(&function));
        match names {
            // The first word is 0 for types without a destructor; behind the last method the next
            // table begins.
            None if place == 0 => {}
            None => break,
            Some(names) => {
                let is_next = place != 0 && names.iter().any(|name| dropped(name).is_some());
                if is_next {
                    break;
                }
                types.extend(
                    names.iter().filter_map(|name| dropped(name).or_else(|| implementing(name))),
                );
            }
        }
    }
    if types.len() == 1 { types.pop_first() } else { None }
}

/// The type of a destructor.
fn dropped(name: &str) -> Option<String> {
    let name = name
        .strip_prefix("core::ptr::drop_in_place::<")
        .or_else(|| name.strip_prefix("core::ptr::drop_in_place<"));
    name?.strip_suffix('>').map(plain)
}

/// The names of functions by their addresses.
fn functions<'d>(file: &impl Object<'d>) -> HashMap<u64, Vec<String>> {
    let mut functions: HashMap<u64, Vec<String>> = HashMap::new();
    for symbol in
        file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
    {
        let Ok(name) = symbol.name() else { continue };
        functions
            .entry(symbol.address())
            .or_default()
            .push(format!("{:#}", rustc_demangle::demangle(name)));
    }
    functions
}

/// Words near the tables that the loader writes: where they are, and their values before the
/// program is moved.
fn moved<'d>(file: &impl Object<'d>, wanted: &BTreeSet<u64>) -> HashMap<u64, u64> {
    let range = WORD * (FIRST_METHOD + METHODS);
    let is_near = |at: u64| wanted.range(at.saturating_sub(range)..=at).next().is_some();
    let all = file.dynamic_relocations().into_iter().flatten().filter(|(at, _)| is_near(*at));
    let relative = all.filter(|(_, of)| {
        matches!(of.flags(), RelocationFlags::Elf { r_type } if [R_X86_64_RELATIVE, R_AARCH64_RELATIVE].contains(&r_type))
    });
    relative.map(|(at, of)| (at, of.addend() as u64)).collect()
}

/// A word of a program that is not moved.
fn word<'d>(file: &impl Object<'d>, at: u64) -> Option<u64> {
    let section = file
        .sections()
        .find(|section| (section.address()..section.address() + section.size()).contains(&at))?;
    let bytes = section.data_range(at, WORD).ok()??;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
