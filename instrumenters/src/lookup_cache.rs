//! What a thread has looked up before, found again in a few instructions.

use std::cell::Cell;
use std::panic::Location;

/// A small table of a thread's own, from names to what was looked up for them. Names are told apart by their address,
/// which for a `&'static str` at one place in the program is the same each time.
pub(crate) struct LookupCache<V: 'static>([Cell<Option<(CacheKey, V)>>; SIZE]);

/// One or two names: where each stands, and how long it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheKey([(usize, usize); 2]);

impl From<[&'static str; 2]> for CacheKey {
    #[inline]
    fn from(names: [&'static str; 2]) -> Self {
        CacheKey(names.map(|name| (name.as_ptr().addr(), name.len())))
    }
}

/// A name, at a place in the program.
impl From<(&'static str, &'static Location<'static>)> for CacheKey {
    #[inline]
    fn from((name, at): (&'static str, &'static Location<'static>)) -> Self {
        CacheKey([(name.as_ptr().addr(), name.len()), (std::ptr::from_ref(at).addr(), 0)])
    }
}

const SIZE: usize = 64;

impl<V: Copy> LookupCache<V> {
    pub const fn new() -> Self {
        LookupCache([const { Cell::new(None) }; SIZE])
    }

    /// What was looked up for the name, looked up now if need be.
    #[inline]
    pub fn get(&self, name: impl Into<CacheKey>, look_up: impl FnOnce() -> V) -> V {
        let name = name.into();
        let cell = &self.0[place(name)];
        match cell.get() {
            Some((found, value)) if found == name => value,
            _ => {
                let value = look_up();
                cell.set(Some((name, value)));
                value
            }
        }
    }
}

fn place(CacheKey([(first, _), (second, _)]): CacheKey) -> usize {
    let address = first ^ second.rotate_left(32);
    (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> (usize::BITS - 6)
}
