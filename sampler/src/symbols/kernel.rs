//! Functions of the kernel, from `/proc/kallsyms`.

use std::fs;

use crate::code_map::CodeMap;

/// Functions of the kernel by address.
pub struct Kernel {
    map: CodeMap,
}

impl Kernel {
    /// Reads `/proc/kallsyms`.
    pub fn read() -> Kernel {
        let text = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        Kernel { map: parse(&text) }
    }

    /// Returns true if the system hides the addresses from this user.
    pub fn is_hidden(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns the name of the function at an address, or `[kernel]` if none is known.
    pub fn name(&self, address: u64) -> String {
        self.map.find(address).map_or("[kernel]", |found| &found.name).to_owned()
    }
}

/// Parses lines of address, type and name. Each function ends where the next symbol begins.
fn parse(text: &str) -> CodeMap {
    let mut all: Vec<(u64, bool, &str)> = text.lines().filter_map(symbol).collect();
    all.sort_unstable_by_key(|&(address, ..)| address);
    let mut map = CodeMap::default();
    for (at, &(start, is_code, name)) in all.iter().enumerate() {
        let end = all[at..].iter().map(|&(next, ..)| next).find(|&next| next > start);
        if is_code {
            map.add(name, start..end.unwrap_or(u64::MAX), &[]);
        }
    }
    map
}

/// Parses a line into an address, a flag for code, and a name.
fn symbol(line: &str) -> Option<(u64, bool, &str)> {
    let mut fields = line.split_ascii_whitespace();
    let address = u64::from_str_radix(fields.next()?, 16).ok().filter(|&address| address != 0)?;
    let is_code = matches!(fields.next()?, "t" | "T" | "w" | "W");
    Some((address, is_code, fields.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_the_kernel_has_the_function_that_begins_before_it() {
        let kernel = Kernel {
            map: parse("ffff0000 T begin\nffff0100 t middle\nffff0200 d table\nffff0300 W last\n"),
        };
        let names =
            [0xffff_0000, 0xffff_01ff, 0xffff_0250, 0xffff_0301, 0x10].map(|at| kernel.name(at));
        assert_eq!(names, ["begin", "middle", "[kernel]", "last", "[kernel]"]);
        assert!(Kernel { map: parse("0000000000000000 T hidden\n") }.is_hidden());
    }
}
