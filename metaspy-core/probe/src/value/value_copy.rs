//! Copies of values, to compare later ones with.
//!
//! A program must not be able to tell that one of its values was copied, so a copy of a value is
//! its bytes. `Copy` values, and texts and lists of them, are copied and compared. A clone of every
//! `PartialEq` value would be wrong: a kept `Arc` changes `try_unwrap`, the last `Drop` would not
//! run, and `Clone` is the program's own code. Other values are hashed, or not comparable.

use core::any::TypeId;
#[cfg(not(metaspy_bare))]
use core::ptr::null_mut;

#[cfg(not(metaspy_bare))]
use crate::value::{How, Probe, ability};

/// How a value is kept and compared.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Compare {
    /// Null if it is too large.
    keep: fn(at: *const u8) -> *mut u8,
    same: fn(at: *const u8, kept: *const u8) -> bool,
    forget: fn(kept: *mut u8),
    /// The type of the value: a generic function returns several types, and two of them may have
    /// the same name.
    of: TypeId,
}

/// A copy of a value.
pub struct Kept {
    at: *mut u8,
    compare: Compare,
}

// SAFETY: `CanBeKept` and `CanBeListed` give out only types that may be sent and shared.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl Drop for Kept {
    fn drop(&mut self) {
        (self.compare.forget)(self.at);
    }
}

impl Compare {
    /// A copy of the value there, which is of its type; `None` if it is too large.
    pub(super) fn keep(self, at: *const u8) -> Option<Kept> {
        let at = (self.keep)(at);
        (!at.is_null()).then(|| Kept { at, compare: self })
    }

    /// True if the value there, which is of its type, equals one that was kept.
    pub(super) fn is_same(self, at: *const u8, kept: &Kept) -> bool {
        self.of == kept.compare.of && (self.same)(at, kept.at)
    }
}

/// Bytes of a copy at most.
#[cfg(not(metaspy_bare))]
const MOST: usize = 4096;

#[cfg(not(metaspy_bare))]
impl Compare {
    pub(crate) fn by<T: PartialEq + 'static>(keep: fn(*const u8) -> *mut u8) -> Self {
        Compare { keep, same: same::<T>, forget: forget::<T>, of: TypeId::of::<T>() }
    }
}

#[cfg(not(metaspy_bare))]
ability!(
    /// Of types whose copy is their bytes.
    CanBeKept, CannotBeKept, can_compare -> compare, [T: Copy + PartialEq + Send + Sync + 'static] T,
    Compare::by::<T>(keep::<T>)
);
#[cfg(not(metaspy_bare))]
ability!(
    /// Of texts and lists.
    CanBeListed, CannotBeListed, can_compare_items -> compare, [T: Listed] T, Compare::by::<T>(keep_listed::<T>)
);

/// Texts and lists of bytewise copied items, also inside an `Option`.
#[cfg(not(metaspy_bare))]
pub trait Listed: PartialEq + Send + Sync + 'static {
    /// How many bytes a copy takes.
    fn bytes(&self) -> usize;
    /// A copy, made without the items' `Clone`, which is the program's.
    fn copied(&self) -> Self;
}

#[cfg(not(metaspy_bare))]
impl Listed for std::string::String {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn copied(&self) -> Self {
        self.clone()
    }
}

#[cfg(not(metaspy_bare))]
impl<T: Copy + PartialEq + Send + Sync + 'static> Listed for std::vec::Vec<T> {
    fn bytes(&self) -> usize {
        size_of_val(self.as_slice())
    }

    #[expect(clippy::iter_cloned_collect, reason = "`to_vec` may call `Clone`")]
    fn copied(&self) -> Self {
        self.iter().copied().collect()
    }
}

#[cfg(not(metaspy_bare))]
impl<T: Listed> Listed for Option<T> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, T::bytes)
    }

    fn copied(&self) -> Self {
        self.as_ref().map(T::copied)
    }
}

#[cfg(not(metaspy_bare))]
pub(crate) fn keep<T: Copy>(at: *const u8) -> *mut u8 {
    // SAFETY: `Value::new` paired this function with a `T`, which it borrows.
    kept(size_of::<T>(), || unsafe { *at.cast::<T>() })
}

#[cfg(not(metaspy_bare))]
pub(crate) fn keep_listed<T: Listed>(at: *const u8) -> *mut u8 {
    // SAFETY: as in `keep`.
    let value = unsafe { &*at.cast::<T>() };
    kept(value.bytes(), || value.copied())
}

#[cfg(not(metaspy_bare))]
fn kept<T>(bytes: usize, copied: impl FnOnce() -> T) -> *mut u8 {
    if bytes <= MOST {
        std::boxed::Box::into_raw(std::boxed::Box::new(copied())).cast()
    } else {
        null_mut()
    }
}

#[cfg(not(metaspy_bare))]
fn same<T: PartialEq>(at: *const u8, kept: *const u8) -> bool {
    // SAFETY: as in `keep`; `keep` or `keep_listed` of the same type made `kept`.
    unsafe { *at.cast::<T>() == *kept.cast::<T>() }
}

#[cfg(not(metaspy_bare))]
fn forget<T>(kept: *mut u8) {
    // SAFETY: as in `same`, and whoever forgets it has it no more.
    drop(unsafe { std::boxed::Box::from_raw(kept.cast::<T>()) });
}
