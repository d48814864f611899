//! Position of an interpreter, which samplers find on the stack of its loop.
//!
//! The position is in a marked cell that the sampler finds in the copy of the stack. A word that a
//! handler would read is not in the samples of perf, and has no levels of a recursion.

use std::sync::atomic::{AtomicU64, Ordering};

/// Mark of a cell. It is combined with the cell's address, so that a copy elsewhere does not count
/// as a cell.
const MARK: u64 = 0x6D73_7079_6263_7C91;

/// Position of an interpreter in the bytecode that it executes.
///
/// It is a local variable of the interpreter's loop, which stores the address of each instruction
/// there. Samplers find it in the copy of the stack, and put the function that is
/// [registered](crate::code_map::CodeMap::register) at this address above the frame of the loop.
///
/// ```
/// use metaspy_sampler::code_map::{Bytecode, CodeMap, Kind};
///
/// let program = [1_u8, 2, 3];
/// let start = program.as_ptr() as u64;
/// CodeMap::register("main", Kind::Bytecode, start..start + 3, &[(start, 1), (start + 1, 2), (start + 2, 3)]);
/// let current = Bytecode::new();
/// let mut sum = 0;
/// for instruction in &program {
///     current.at(instruction);
///     sum += u32::from(*instruction);
/// }
/// assert_eq!(sum, 6);
/// ```
#[derive(Debug, Default)]
pub struct Bytecode {
    mark: AtomicU64,
    address: AtomicU64,
}

impl Bytecode {
    /// Creates a cell without a position.
    pub fn new() -> Bytecode {
        Bytecode::default()
    }

    /// Publishes the current instruction, by two stores.
    #[inline]
    pub fn at<T: ?Sized>(&self, instruction: &T) {
        self.address.store(std::ptr::from_ref(instruction).cast::<u8>() as u64, Ordering::Relaxed);
        self.mark.store(MARK ^ std::ptr::from_ref(self) as u64, Ordering::Relaxed);
    }
}

impl Drop for Bytecode {
    fn drop(&mut self) {
        self.mark.store(0, Ordering::Relaxed);
    }
}

/// Finds the cells in a copy of a stack that begins at an address, innermost first. The result has
/// the address of each cell and of its instruction.
pub fn find(stack: &[u8], from: u64) -> impl Iterator<Item = (u64, u64)> {
    let words =
        |at: usize| u64::from_ne_bytes(stack[at..at + 8].try_into().expect("it has eight bytes"));
    let places = (0..stack.len().saturating_sub(15)).step_by(8);
    places.filter_map(move |at| {
        let address = from.wrapping_add(at as u64);
        (words(at) == MARK ^ address).then(|| (address, words(at + 8)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_found_where_it_is_and_not_in_a_copy_or_after_its_end() {
        let mut memory = [0_u64; 8];
        let code = [7_u8; 4];
        let from = memory.as_ptr() as u64;
        let bytes = |memory: &[u64; 8]| {
            memory.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>()
        };
        // SAFETY: the memory has room for the cell, is aligned, and nothing else uses it meanwhile.
        let cell = unsafe {
            let place = memory.as_mut_ptr().add(2).cast::<Bytecode>();
            place.write(Bytecode::new());
            &*place
        };
        cell.at(&code[3]);
        let all = bytes(&memory);
        assert_eq!(find(&all, from).collect::<Vec<_>>(), [(from + 16, code.as_ptr() as u64 + 3)]);
        assert_eq!(find(&all, from + 8).count(), 0, "the same bytes elsewhere");
        assert_eq!(find(&all[..20], from).count() + find(&[], 0).count(), 0);
    }
}
