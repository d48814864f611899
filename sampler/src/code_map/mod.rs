//! Code maps: functions by address, each with ranges of source positions.
//!
//! This is the `mcpcbcpcmap` of *A detailed VM profiler for the Cog VM* (section 3). Sorted pairs
//! of a machine address and a source position split a function into ranges. Code before the first
//! pair belongs to the range that starts at the first position.

mod bytecode;
mod dump;
mod perf_map;
mod register;
mod wasm;

use std::collections::BTreeMap;
use std::ops::Range;

pub use bytecode::Bytecode;
pub(crate) use bytecode::find as find_bytecode;
pub(crate) use dump::{Dump, is_dump};
pub(crate) use perf_map::PerfMap;
pub use register::Kind;
pub use wasm::register_wasm;

/// Functions by address. A new function replaces every function that it overlaps.
#[derive(Clone, Debug, Default)]
pub struct CodeMap {
    functions: BTreeMap<u64, CodeFunction>,
}

/// A function in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFunction {
    /// Name as reports show it, with a suffix for stubs and inline caches.
    pub name: String,
    /// Addresses of the machine code, which belong to no other function of the map.
    pub code: Range<u64>,
    /// Source positions, sorted by address.
    positions: Vec<Position>,
    /// Distinct source files, which [`Position::file`] indexes.
    files: Vec<String>,
    /// Time of registration, in ns of the monotonic clock.
    pub since_ns: u64,
}

/// Source position of the code from an address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub address: u64,
    pub position: u64,
    /// Index into the function's files; `None` if the position is not a line.
    pub file: Option<u32>,
}

impl CodeMap {
    /// Adds a function; an empty address range is ignored.
    ///
    /// `positions` has pairs of an address and the position that the code before this address leads
    /// to, as a debugger needs it at calls. Pairs outside the function are left out.
    pub fn add(&mut self, name: &str, code: Range<u64>, positions: &[(u64, u64)]) {
        let position = |&(address, position)| Position { address, position, file: None };
        let positions = positions.iter().map(position).collect();
        if let Some(function) = CodeFunction::new(name, code, positions, Vec::new(), 0) {
            self.insert(function);
        }
    }

    /// Adds a function and removes the functions that it overlaps.
    pub(crate) fn insert(&mut self, function: CodeFunction) {
        let code = &function.code;
        // Memory has only one content, so overlapped functions no longer exist.
        let overlapped: Vec<u64> = (self.functions.range(..code.end).rev())
            .take_while(|(_, it)| it.code.end > code.start)
            .map(|(&at, _)| at)
            .collect();
        overlapped.iter().for_each(|at| _ = self.functions.remove(at));
        self.functions.insert(code.start, function);
    }

    /// Moves the function that begins at `from` to other addresses.
    pub(crate) fn move_to(&mut self, from: u64, to: Range<u64>) {
        let Some(mut function) = self.functions.remove(&from) else { return };
        if to.is_empty() {
            return;
        }
        for Position { address, .. } in &mut function.positions {
            *address = address.wrapping_sub(from).wrapping_add(to.start);
        }
        function.code = to;
        self.insert(function);
    }

    /// Finds the function that contains an address.
    pub fn find(&self, address: u64) -> Option<&CodeFunction> {
        let (_, function) = self.functions.range(..=address).next_back()?;
        function.code.contains(&address).then_some(function)
    }

    /// Returns true if the map has no functions.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }
}

impl CodeFunction {
    /// Creates a function, or returns `None` if it is empty. Positions outside it are left out.
    pub(crate) fn new(
        name: &str,
        code: Range<u64>,
        mut positions: Vec<Position>,
        files: Vec<String>,
        since_ns: u64,
    ) -> Option<CodeFunction> {
        positions.retain(|at| code.contains(&at.address));
        positions.sort_unstable();
        let is_some = !code.is_empty();
        is_some.then(|| CodeFunction { name: name.to_owned(), code, positions, files, since_ns })
    }

    /// Returns the range of source positions for the code at an address.
    ///
    /// The range ends at the next mapped position, or at `u64::MAX`, the end of the function. The
    /// result is `None` if no position is mapped.
    pub fn range(&self, address: u64) -> Option<(u64, u64)> {
        if self.positions.is_empty() {
            return None;
        }
        let after = self.after(address);
        let from = after.checked_sub(1).map_or(1, |at| self.positions[at].position);
        Some((from, self.positions.get(after).map_or(u64::MAX, |next| next.position)))
    }

    /// Returns the source file and the line of the code at an address. Line 0 means an unknown
    /// line.
    pub fn line(&self, address: u64) -> Option<(&str, u32)> {
        let at = self.positions[..self.after(address)].last()?;
        Some((self.files.get(at.file? as usize)?, at.position.try_into().unwrap_or(0)))
    }

    /// Returns the file of the function's first line.
    pub fn file(&self) -> Option<&str> {
        let first = self.positions.iter().find_map(|at| at.file)?;
        self.files.get(first as usize).map(String::as_str)
    }

    /// Counts the positions at or before an address.
    fn after(&self, address: u64) -> usize {
        self.positions.partition_point(|at| at.address <= address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 5 and figure 6 of the paper: `foobarbaz` begins at 0xFF45, its sends are bytecodes
    /// 26, 29 and 32.
    fn of_the_paper() -> CodeMap {
        let mut map = CodeMap::default();
        map.add("foobarbaz", 0xFF45..0xFF80, &[(0xFF47, 26), (0xFF52, 29), (0xFF60, 32)]);
        map
    }

    #[test]
    fn the_example_of_the_paper_has_twelve_of_twenty_samples_before_the_first_send() {
        let map = of_the_paper();
        // There are 1,932 samples: 12 before the first send, 1 behind it, 7 further on, the rest
        // elsewhere.
        let mut samples = vec![0xFF45; 6];
        samples.extend([0xFF46; 6]);
        samples.push(0xFF50);
        samples.extend([0xFF60; 7]);
        samples.extend((0..1912).map(|at| 0x1_0000 + at));
        assert_eq!(samples.len(), 1932);
        let within: Vec<u64> =
            samples.iter().copied().filter(|&at| map.find(at).is_some()).collect();
        let of = |range| {
            within
                .iter()
                .filter(|&&at| map.find(at).and_then(|it| it.range(at)) == Some(range))
                .count()
        };
        assert_eq!((within.len(), of((1, 26)), of((26, 29)), of((32, u64::MAX))), (20, 12, 1, 7));
        assert_eq!(of((1, 26)) * 100 / within.len(), 60);
    }

    #[test]
    fn a_later_function_replaces_what_it_overlaps() {
        let mut map = of_the_paper();
        map.add("other", 0xFF70..0xFF90, &[]);
        assert_eq!(map.find(0xFF45), None);
        assert_eq!(map.find(0xFF75).map(|it| (&*it.name, it.range(0xFF75))), Some(("other", None)));
        map.add("empty", 5..5, &[]);
        assert_eq!(map.find(5), None);
    }

    #[test]
    fn pairs_outside_the_function_are_left_out() {
        let mut map = CodeMap::default();
        map.add("f", 10..20, &[(500, 9), (15, 3), (2, 7)]);
        let range = |at| map.find(at).and_then(|it| it.range(at));
        assert_eq!((range(12), range(15)), (Some((1, 3)), Some((3, u64::MAX))));
    }
}
