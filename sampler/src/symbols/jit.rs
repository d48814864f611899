//! Names of generated code, from the map that a process wrote for `perf`.

use std::fs;
use std::os::unix::fs::MetadataExt;

use metaspy_reader::files;

use crate::code_map::{CodeFunction, CodeMap, PerfMap};
use crate::symbols::{Category, Frame, Function, Resolved, Symbols};

/// Module name of generated code.
const MODULE: &str = "[made while it ran]";
/// Largest map that is read, in bytes.
const BYTES_MAX: u64 = 256 << 20;

/// Generated code of a process.
#[derive(Default)]
pub struct Jit {
    map: CodeMap,
}

impl Jit {
    /// Reads the map of a process; a missing map is empty.
    ///
    /// A map that another user could have written is ignored. Only files of this user and of root
    /// are trusted.
    pub fn read(map: &PerfMap) -> Jit {
        let path = map.path();
        let own = fs::metadata("/proc/self").map_or(u32::MAX, |own| own.uid());
        let is_ours = fs::symlink_metadata(&path).is_ok_and(|of| {
            of.is_file() && of.len() <= BYTES_MAX && (of.uid() == own || of.uid() == 0 || own == 0)
        });
        let bytes =
            if is_ours { files::read(&path, BYTES_MAX).unwrap_or_default() } else { Vec::new() };
        Jit { map: parse(&String::from_utf8_lossy(&bytes)) }
    }

    /// Returns true if the process has no map.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Resolves an address to a function of the map.
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

/// Resolves an address in a registered function, to a line of its file or to a range of its
/// positions.
///
/// A line of another file counts as inlined. Its function has the name of that file.
pub fn made(symbols: &mut Symbols, found: &CodeFunction, address: u64) -> Resolved {
    let Some(own) = found.file() else {
        let range = found.range(address);
        return Resolved {
            range,
            ..symbols.simple(found.name.clone(), Category::Registered, MODULE)
        };
    };
    let mut function = |name: &str, file: &str| {
        let name = name.to_owned();
        let module = MODULE.to_owned();
        symbols.function(Function {
            name,
            file: Some(file.to_owned()),
            category: Category::Registered,
            module,
        })
    };
    let (file, line) = found.line(address).unwrap_or((own, 0));
    let mut frames = Vec::new();
    if file != own {
        frames.push(Frame { function: function(&format!("code of {file}"), file), line });
    }
    let line = if file == own { line } else { 0 };
    frames.push(Frame { function: function(&found.name, own), line });
    Resolved { frames, range: None }
}

/// Parses lines of address, size and name, both numbers in hexadecimal. Malformed lines are
/// skipped.
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
    use crate::code_map::Position;

    #[test]
    fn a_line_of_another_file_is_inlined_code_of_that_file() {
        let position = |address, position, file| Position { address, position, file: Some(file) };
        let positions = vec![position(10, 2, 0), position(14, 90, 1)];
        let files = vec!["f.lang".to_owned(), "other.lang".to_owned()];
        let found = CodeFunction::new("f", 8..20, positions, files, 0).expect("it is not empty");
        let mut symbols = Symbols::default();
        let mut frames = |at| {
            let frames = made(&mut symbols, &found, at).frames;
            let of = |frame: &Frame| {
                (symbols.functions[frame.function as usize].name.clone(), frame.line)
            };
            frames.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!([frames(9), frames(10)], [[("f".into(), 0)], [("f".into(), 2)]]);
        assert_eq!(frames(15), [("code of other.lang".into(), 90), ("f".into(), 0)]);
    }

    #[test]
    fn a_map_with_false_lines_still_has_the_true_ones() {
        let map = parse(
            "7f10 20 fib\nnonsense\nffffffffffffffff 9 beyond\n7f30 0 empty\n0x7f40 0x10 two words\n7f18 10\n",
        );
        let name = |at| map.find(at).map(|found| found.name.as_str());
        assert_eq!(
            [0x7f0f, 0x7f10, 0x7f2f, 0x7f30, 0x7f4f].map(name),
            [None, Some("fib"), Some("fib"), None, Some("two words")]
        );
    }
}
