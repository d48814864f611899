//! Code that a process made while it ran, from the map that it wrote for `perf`: `/tmp/perf-PID.map`.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::code_map::{CodeFunction, CodeMap};
use crate::symbols::{Category, Frame, Function, Resolved, Symbols};

/// The module of such code.
const MODULE: &str = "[made while it ran]";
/// Bytes of a map at most.
const BYTES_MAX: u64 = 256 << 20;

/// The code that a process made.
#[derive(Default)]
pub struct Jit {
    map: CodeMap,
}

impl Jit {
    /// Reads the map of a process; empty if there is none. A map that another user could have written is not read: only
    /// this user and root are believed.
    pub fn read(pid: u32) -> Jit {
        let path = format!("/tmp/perf-{pid}.map");
        let own = fs::metadata("/proc/self").map_or(u32::MAX, |own| own.uid());
        let is_ours = fs::symlink_metadata(&path)
            .is_ok_and(|of| of.is_file() && of.len() <= BYTES_MAX && (of.uid() == own || of.uid() == 0 || own == 0));
        let bytes = if is_ours { fs::read(path).unwrap_or_default() } else { Vec::new() };
        Jit { map: parse(&String::from_utf8_lossy(&bytes)) }
    }

    /// What an address means.
    pub fn resolve(&self, symbols: &mut Symbols, address: u64) -> Resolved {
        match self.map.find(address) {
            Some(found) => Resolved {
                range: found.range(address),
                ..symbols.simple(found.name.clone(), Category::Registered, MODULE)
            },
            None => symbols.simple("[code without a map]".to_owned(), Category::Unknown, MODULE),
        }
    }
}

/// What an address in a registered function means: a line of its file, or a range of its positions.
pub fn made(symbols: &mut Symbols, found: &CodeFunction, address: u64) -> Resolved {
    let range = found.range(address);
    let Some(file) = &found.file else {
        return Resolved { range, ..symbols.simple(found.name.clone(), Category::Registered, MODULE) };
    };
    let (name, module) = (found.name.clone(), MODULE.to_owned());
    let function =
        symbols.function(Function { name, file: Some(file.clone()), category: Category::Registered, module });
    let line = range.and_then(|(line, _)| u32::try_from(line).ok()).unwrap_or(0);
    Resolved { frames: vec![Frame { function, line }], range: None }
}

/// Lines of address, size and name, both numbers in hexadecimal. Lines that are none are left out.
fn parse(text: &str) -> CodeMap {
    let mut map = CodeMap::default();
    for line in text.lines() {
        let mut fields = line.splitn(3, ' ');
        let mut number = || u64::from_str_radix(fields.next()?.trim_start_matches("0x"), 16).ok();
        let (Some(start), Some(size)) = (number(), number()) else { continue };
        let (Some(name), Some(end)) = (fields.next(), start.checked_add(size)) else { continue };
        map.add(name.trim(), start..end, &[]);
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_with_false_lines_still_has_the_true_ones() {
        let map =
            parse("7f10 20 fib\nnonsense\nffffffffffffffff 9 beyond\n7f30 0 empty\n0x7f40 0x10 two words\n7f18 10\n");
        let name = |at| map.find(at).map(|found| found.name.as_str());
        assert_eq!(
            [0x7f0f, 0x7f10, 0x7f2f, 0x7f30, 0x7f4f].map(name),
            [None, Some("fib"), Some("fib"), None, Some("two words")]
        );
    }
}
