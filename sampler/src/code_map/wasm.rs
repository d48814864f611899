//! Compiled WebAssembly: functions with source lines where the module has debug information,
//! otherwise with module offsets.

use std::ops::Range;

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian};

use crate::code_map::{CodeMap, Kind};

/// Registers the functions of a compiled WebAssembly module.
///
/// `module` has the bytes of the WebAssembly binary, and `text` the addresses of the compiled code.
/// `functions` and `map` have wasmtime's form: names with their ranges in the code, and pairs of an
/// offset in the code and the offset in the module that the following code was made from. Code
/// between functions is registered as stubs.
///
/// Call it before the code runs, and keep the code mapped, or [`unregister`](CodeMap::unregister)
/// it.
///
/// ```
/// use metaspy_sampler::code_map::register_wasm;
///
/// // With wasmtime: `module.text()`, `module.functions()` and `module.address_map()`.
/// let (binary, text, map) = (*b"\0asm\x01\0\0\0", [0x90_u8; 32], [(0, Some(40)), (8, Some(43)), (12, None)]);
/// let start = text.as_ptr() as u64;
/// register_wasm(&binary, start..start + 32, [("benchFib".to_owned(), 0..20)], map);
/// ```
pub fn register_wasm(
    module: &[u8],
    text: Range<u64>,
    functions: impl IntoIterator<Item = (String, Range<usize>)>,
    map: impl IntoIterator<Item = (usize, Option<u32>)>,
) {
    if !super::register::is_wanted() {
        return;
    }
    let mut functions: Vec<(String, Range<usize>)> = functions.into_iter().collect();
    functions.sort_by_key(|(_, code)| code.start);
    let mut map: Vec<(usize, u32)> =
        map.into_iter().filter_map(|(at, offset)| Some((at, offset?))).collect();
    map.sort_unstable();
    let lines = Lines::read(module);
    let address = |at: usize| text.start.saturating_add(at as u64).min(text.end);
    let mut end = 0;
    for (name, code) in functions {
        if code.start > end {
            CodeMap::register("wasm", Kind::Stub, address(end)..address(code.start), &[]);
        }
        end = end.max(code.end);
        let from = map.partition_point(|&(at, _)| at < code.start);
        let within = map[from..].iter().take_while(|&&(at, _)| at < code.end);
        let positions: Vec<(u64, u64)> =
            within.map(|&(at, offset)| (address(at), offset.into())).collect();
        let lines: Vec<(u64, &str, u32)> =
            positions.iter().filter_map(|&(at, offset)| lines.at(at, offset)).collect();
        let code = address(code.start)..address(code.end);
        match &*lines {
            [] => CodeMap::register(&name, Kind::Function, code, &positions),
            lines => CodeMap::register_lines(&name, Kind::Function, code, lines),
        }
    }
    if address(end) < text.end {
        CodeMap::register("wasm", Kind::Stub, address(end)..text.end, &[]);
    }
}

/// Source lines of a module, from its debug information.
struct Lines<'a> {
    /// Offset of the code section in the module.
    code: u64,
    context: Option<Context<EndianSlice<'a, LittleEndian>>>,
}

impl<'a> Lines<'a> {
    /// Reads the debug information of a module. Malformed debug information counts as absent.
    fn read(module: &'a [u8]) -> Lines<'a> {
        let sections = Sections::new(module);
        let of = |name: &str| sections.clone().find(|section| section.name == name.as_bytes());
        let code = sections
            .clone()
            .find(|section| section.id == CODE)
            .map_or(0, |section| section.start as u64);
        let load = |id: addr2line::gimli::SectionId| {
            let content = of(id.name()).map_or(&[][..], |section| section.content);
            Ok::<_, addr2line::gimli::Error>(EndianSlice::new(content, LittleEndian))
        };
        let context = Dwarf::load(load)
            .and_then(Context::from_dwarf)
            .ok()
            .filter(|_| of(".debug_line").is_some());
        Lines { code, context }
    }

    /// Returns `address` with the file and the line of an offset in the module.
    fn at(&self, address: u64, offset: u64) -> Option<(u64, &str, u32)> {
        let location =
            self.context.as_ref()?.find_location(offset.checked_sub(self.code)?).ok()??;
        Some((address, location.file?, location.line?))
    }
}

/// Section id of the code section.
const CODE: u8 = 10;

/// A section of a module. Only custom sections have a name.
struct Section<'a> {
    id: u8,
    name: &'a [u8],
    content: &'a [u8],
    /// Offset of the content in the module.
    start: usize,
}

/// Iterator over the sections of a module. It ends at the first malformed section.
#[derive(Clone)]
struct Sections<'a> {
    module: &'a [u8],
    at: usize,
}

impl<'a> Sections<'a> {
    fn new(module: &'a [u8]) -> Sections<'a> {
        // Sections follow the magic number and the version.
        Sections { module, at: 8 }
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = Section<'a>;

    fn next(&mut self) -> Option<Section<'a>> {
        let id = *self.module.get(self.at)?;
        self.at += 1;
        let size = number(self.module, &mut self.at)?;
        let mut start = self.at;
        let end = self.at.checked_add(size)?;
        self.module.get(start..end)?;
        self.at = end;
        let mut name = &[][..];
        if id == 0 {
            let length = number(self.module, &mut start)?;
            name = self.module.get(start..end)?.get(..length)?;
            start += length;
        }
        Some(Section { id, name, content: &self.module[start..end], start })
    }
}

/// Reads an unsigned number in LEB128.
fn number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut number = 0_u64;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return number.try_into().ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_end_where_a_module_is_cut_or_false() {
        let module =
            [b"\0asm\x01\0\0\0", &[1, 2, 9, 9][..], &[0, 5, 2, b'h', b'i', 7, 8], &[CODE, 1, 3]]
                .concat();
        let of = |module: &[u8]| -> Vec<(u8, Vec<u8>, Vec<u8>, usize)> {
            let parts = |it: Section| (it.id, it.name.to_vec(), it.content.to_vec(), it.start);
            Sections::new(module).map(parts).collect()
        };
        let whole = vec![
            (1, vec![], vec![9, 9], 10),
            (0, b"hi".to_vec(), vec![7, 8], 17),
            (CODE, vec![], vec![3], 21),
        ];
        assert_eq!(of(&module), whole);
        for length in 0..module.len() {
            let cut = of(&module[..length]);
            assert_eq!(cut, whole[..cut.len()]);
        }
        for at in 0..module.len() {
            for lie in [0x7F, 0xFF, 0] {
                let mut bytes = module.clone();
                bytes[at] = lie;
                assert!(Lines::read(&bytes).at(0, 21).is_none(), "it has no lines");
            }
        }
    }
}
