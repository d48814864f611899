//! Types whose `Debug`, `Hash` and `PartialEq` are known: those of `core` and `std`, made of such
//! types.
//!
//! A private function may return a value that its caller completes, and code of the value's type
//! then meets a broken invariant. So values of private functions are only given to code that is
//! known.
//!
//! Other code of a type runs only in functions that other crates can call, where values must be
//! complete. On an incomplete value, a `Debug` that follows a pointer crashes a sound program.
//! `--trust` selects more.

use core::cmp::Ordering;
use core::fmt::Debug;
use core::hash::Hash;
use core::num::NonZero;
use core::time::Duration;

#[cfg(not(metaspy_bare))]
use crate::value::value_copy::{Compare, Listed, keep, keep_listed};
use crate::value::{How, Probe, ability, hash, show};

/// A type whose values run no code of another crate when they are printed, hashed or compared.
pub trait Known {}

macro_rules! known {
    ($($type:ty),* $(,)?) => { $(impl Known for $type {})* };
}

known!(
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    f32,
    f64,
    bool,
    char,
    (),
    str,
    Ordering,
    Duration
);
known!(NonZero<u8>, NonZero<u16>, NonZero<u32>, NonZero<u64>, NonZero<usize>);
#[cfg(not(metaspy_bare))]
known!(std::string::String);

impl<T: ?Sized + Known> Known for &T {}
impl<T: ?Sized + Known> Known for &mut T {}
impl<T: Known> Known for [T] {}
impl<T: Known, const N: usize> Known for [T; N] {}
impl<T: Known> Known for Option<T> {}
impl<T: Known, E: Known> Known for Result<T, E> {}
impl<A: Known, B: Known> Known for (A, B) {}
impl<A: Known, B: Known, C: Known> Known for (A, B, C) {}
#[cfg(not(metaspy_bare))]
impl<T: Known> Known for std::vec::Vec<T> {}
#[cfg(not(metaspy_bare))]
impl<T: ?Sized + Known> Known for std::boxed::Box<T> {}

ability!(
    /// Of known types that are printed by `Debug`.
    CanBeShown, CannotBeShown, can_show -> show, [T: Debug + Known] T, show::<T>
);
ability!(
    /// Of known types that can be hashed.
    CanBeHashed, CannotBeHashed, can_hash -> hash, [T: Hash + Known] T, hash::<T>
);
#[cfg(not(metaspy_bare))]
ability!(
    /// Of known types whose copy is their bytes.
    CanBeKept, CannotBeKept, can_compare -> compare, [T: Copy + PartialEq + Send + Sync + 'static + Known] T,
    Compare::by::<T>(keep::<T>)
);
#[cfg(not(metaspy_bare))]
ability!(
    /// Of texts, and lists of known types.
    CanBeListed, CannotBeListed, can_compare_items -> compare, [T: Listed + Known] T, Compare::by::<T>(keep_listed::<T>)
);
