//! Small cache in each thread, which finds earlier lookups in a few instructions.

use std::cell::Cell;
use std::panic::Location;

/// Direct-mapped cache of `CELLS` cells for a thread.
pub(crate) struct LookupCache<K: 'static, V: 'static, const CELLS: usize = 64>(
    [Cell<Option<(K, V)>>; CELLS],
);

/// Key of a cache.
pub(crate) trait CacheKey: Copy + Eq {
    /// Returns a number that differs for most keys.
    fn number(self) -> u64;
}

/// Up to two names, each by its address and length. A `&'static str` at a place in the program
/// always has the same address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Names([(usize, usize); 2]);

impl From<[&'static str; 2]> for Names {
    #[inline]
    fn from(names: [&'static str; 2]) -> Self {
        Names(names.map(|name| (name.as_ptr().addr(), name.len())))
    }
}

/// Combines a name with a place in the program.
impl From<(&'static str, &'static Location<'static>)> for Names {
    #[inline]
    fn from((name, at): (&'static str, &'static Location<'static>)) -> Self {
        Names([(name.as_ptr().addr(), name.len()), (std::ptr::from_ref(at).addr(), 0)])
    }
}

impl CacheKey for Names {
    #[inline]
    fn number(self) -> u64 {
        let Names([(first, _), (second, _)]) = self;
        (first ^ second.rotate_left(32)) as u64
    }
}

/// The key is an address.
impl CacheKey for usize {
    #[inline]
    fn number(self) -> u64 {
        self as u64
    }
}

impl<K: CacheKey, V: Copy, const CELLS: usize> LookupCache<K, V, CELLS> {
    pub const fn new() -> Self {
        const { assert!(CELLS.is_power_of_two()) };
        LookupCache([const { Cell::new(None) }; CELLS])
    }

    /// Returns the value of the key. `look_up` runs if the cache does not have it.
    #[inline]
    pub fn get(&self, key: impl Into<K>, look_up: impl FnOnce() -> V) -> V {
        let key = key.into();
        let cell = &self.0[cell(key.number(), CELLS.trailing_zeros())];
        match cell.get() {
            Some((found, value)) if found == key => value,
            _ => {
                let value = look_up();
                cell.set(Some((key, value)));
                value
            }
        }
    }
}

/// Selects a cell out of `2^bits` by Fibonacci hashing: the highest bits of the product depend on
/// all bits of the number.
#[inline]
pub(crate) fn cell(number: u64, bits: u32) -> usize {
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - bits)) as usize
}
