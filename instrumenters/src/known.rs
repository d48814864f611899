//! What a thread has looked up before, found again in a few instructions.

use std::cell::Cell;

/// A small table of a thread's own, from names to what was looked up for them. Names are told apart by their address,
/// which for a `&'static str` at one place in the program is the same each time.
pub(crate) struct Known<V: 'static>([Cell<Option<(Name, V)>>; SIZE]);

/// One or two names.
type Name = [&'static str; 2];

const SIZE: usize = 64;

impl<V: Copy> Known<V> {
    pub const fn new() -> Self {
        Known([const { Cell::new(None) }; SIZE])
    }

    /// What was looked up for the name, looked up now if need be.
    #[inline]
    pub fn get(&self, name: Name, look_up: impl FnOnce() -> V) -> V {
        let cell = &self.0[place(name)];
        match cell.get() {
            Some((found, value)) if std::ptr::eq(found[0], name[0]) && std::ptr::eq(found[1], name[1]) => value,
            _ => {
                let value = look_up();
                cell.set(Some((name, value)));
                value
            }
        }
    }
}

fn place(name: Name) -> usize {
    let address = name[0].as_ptr().addr() ^ name[1].as_ptr().addr().rotate_left(32);
    (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> (usize::BITS - 6)
}
