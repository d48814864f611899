//! Values that woven code shows: the receiver of a call, its arguments, and its return value.
//!
//! The abilities of a value are found where its type is written: a concrete type that can be
//! printed, hashed or compared, or a parameter with such a bound. The way there is method
//! resolution: an inherent ability is found on `Probe<T>`, and else its absence on `&Probe<T>`.
//!
//! Bounds are not used, because they would change the function.

pub mod type_layout;
pub mod value_copy;

use core::fmt::{self, Debug, Write};
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use crate::Text;
pub use type_layout::*;
pub use value_copy::*;

/// The receiver of a call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Receiver {
    /// How it is distinguished from others.
    pub identity: Identity,
    /// An address or a key.
    pub word: u64,
    /// Its type.
    pub type_name: Text,
}

/// How a receiver is distinguished from others.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Nothing: there is no receiver, or it was moved, or it has no size.
    None = 0,
    /// By its address.
    Place = 1,
    /// By a key.
    Keyed = 2,
}

impl Receiver {
    /// No object.
    pub const NONE: Receiver =
        Receiver { identity: Identity::None, word: 0, type_name: Text::of("") };
}

/// An object that a call may be about, in two words.
#[derive(Clone, Copy)]
pub struct Object {
    /// Its address; null if there is none.
    pub place: *const u8,
    type_name: fn() -> &'static str,
}

impl Object {
    /// No object.
    pub const NONE: Object = Object { place: core::ptr::null(), type_name: || "" };

    /// This one. One without a size is no object: many may have one address.
    #[inline]
    pub fn of<T: ?Sized>(object: &T) -> Self {
        let place = if size_of_val(object) == 0 {
            core::ptr::null()
        } else {
            core::ptr::from_ref(object).cast()
        };
        Object { place, type_name: core::any::type_name::<T> }
    }

    /// Distinguishes its type from others.
    #[inline(always)]
    pub fn kind(self) -> u64 {
        self.type_name as usize as u64
    }

    /// The object at this place, with the function that [`Object::kind`] is the address of.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn from_parts(place: *const u8, type_name: fn() -> &'static str) -> Self {
        Object { place, type_name }
    }

    /// The receiver that it is.
    pub fn receiver(self) -> Receiver {
        if self.place.is_null() {
            return Receiver::NONE;
        }
        let word = self.place.addr() as u64;
        Receiver { identity: Identity::Place, word, type_name: Text::of((self.type_name)()) }
    }
}

/// The name of the type that references and boxes of this type lead to: a field belongs to that
/// one.
pub fn pointed_to(mut type_name: &'static str) -> &'static str {
    const BOXES: [&str; 3] = ["alloc::boxed::Box<", "alloc::rc::Rc<", "alloc::sync::Arc<"];
    loop {
        let referred =
            type_name.strip_prefix('&').map(|name| name.strip_prefix("mut ").unwrap_or(name));
        let boxed =
            || BOXES.iter().find_map(|name| type_name.strip_prefix(name)?.strip_suffix('>'));
        match referred.or_else(boxed) {
            Some(inner) => type_name = inner,
            None => return type_name,
        }
    }
}

/// Runs a body that may hand out its captures.
#[inline(always)]
pub fn once<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Runs a part of a hook in a frame of its own: its variables are not in the frame of the function,
/// which may be recursive.
#[inline(never)]
pub fn apart<R>(part: impl FnOnce() -> R) -> R {
    part()
}

/// A value that is shown: its address and its abilities.
#[repr(C)]
pub struct Value<'v> {
    /// Its name.
    pub name: Text,
    pub(crate) at: *const u8,
    pub(crate) how: How,
    _value: PhantomData<&'v ()>,
}

/// The abilities of values of a type.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct How {
    /// The name of the type. The address of this function distinguishes types.
    pub type_name: fn() -> &'static str,
    pub(crate) show: Option<Show>,
    /// A number that equal values have in common.
    pub hash: Option<fn(at: *const u8) -> u64>,
    pub(crate) compare: Option<Compare>,
    pointee: Option<extern "C" fn(at: *const u8) -> Receiver>,
    failed: Option<extern "C" fn(at: *const u8) -> bool>,
    /// Its size and its variant, if types are recorded.
    pub layout: Option<fn(at: *const u8) -> TypeLayout>,
}

/// Prints a value as `Debug` does. It is small, because there is one for each type: the text is put
/// together elsewhere.
pub type Show = fn(at: *const u8, f: &mut fmt::Formatter<'_>) -> fmt::Result;

impl<'v> Value<'v> {
    /// A value and its abilities.
    #[inline(always)]
    pub fn new<T>(name: &'static str, value: &'v T, how: How) -> Self {
        Value {
            name: Text::of(name),
            at: core::ptr::from_ref(value).cast(),
            how,
            _value: PhantomData,
        }
    }

    /// A value that can be printed, and nothing else.
    pub fn printed<T: Debug>(name: &'static str, value: &'v T) -> Self {
        let probe = Probe::of(value);
        Value::new(name, value, How { show: Some(show::<T>), ..probe.how() })
    }

    /// Returns the name of its type.
    pub fn type_name(&self) -> &'static str {
        (self.how.type_name)()
    }

    /// Distinguishes its type from others.
    pub fn kind(&self) -> usize {
        self.how.type_name as usize
    }

    /// Writes it as `Debug` does; false if its type cannot.
    pub fn show(&self, into: &mut dyn Write) -> bool {
        struct Shown(*const u8, Show);
        impl fmt::Display for Shown {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (self.1)(self.0, f)
            }
        }
        let Some(show) = self.how.show else { return false };
        // Where there is no more room, the text ends.
        let _ = write!(into, "{}", Shown(self.at, show));
        true
    }

    /// A number that equal values have in common.
    pub fn hash(&self) -> Option<u64> {
        self.how.hash.map(|hash| hash(self.at))
    }

    /// A copy, to compare later values with; `None` if it is too large, or its type has none that
    /// the program cannot tell.
    pub fn keep(&self) -> Option<Kept> {
        self.how.compare?.keep(self.at)
    }

    /// True if it equals one that was kept.
    pub fn is(&self, kept: &Kept) -> bool {
        self.how.compare.is_some_and(|compare| compare.is_same(self.at, kept))
    }

    /// The object that it refers to, if it is a reference.
    pub fn pointee(&self) -> Option<Receiver> {
        self.how.pointee.map(|pointee| pointee(self.at))
    }

    /// True if it is a failure: `Err` or `None`. `None` if its type has no failures.
    pub fn failed(&self) -> Option<bool> {
        self.how.failed.map(|failed| failed(self.at))
    }
}

/// Finds the abilities of values of a type. See the macro `value!`. It is invariant: an ability
/// that only a `Token<'static>` has must not be found for a `Token<'a>`.
pub struct Probe<T: ?Sized>(PhantomData<fn(*mut T)>);

impl<T: ?Sized> Probe<T> {
    /// For the type of a value.
    #[inline(always)]
    pub fn of(_: &T) -> Self {
        Probe(PhantomData)
    }

    /// Returns the name of the type of its values.
    pub fn type_name(&self) -> &'static str {
        core::any::type_name::<T>()
    }

    /// Returns the abilities of any value: none.
    #[inline]
    pub fn how(&self) -> How {
        let type_name = core::any::type_name::<T>;
        How {
            type_name,
            show: None,
            hash: None,
            compare: None,
            pointee: None,
            failed: None,
            layout: None,
        }
    }
}

/// Declares an ability that a type may have or not. The methods write into one description, because
/// a value that is returned is copied in each woven function.
macro_rules! ability {
    ($(#[$doc:meta])* $can:ident, $cannot:ident, $method:ident -> $field:ident, [$($generics:tt)*] $type:ty, $how:expr) => {
        $(#[$doc])*
        pub trait $can {
            /// Writes how.
            fn $method(&self, how: &mut How);
        }

        impl<$($generics)*> $can for Probe<$type> {
            #[inline(always)]
            fn $method(&self, how: &mut How) {
                how.$field = Some($how);
            }
        }

        /// Of types that cannot.
        pub trait $cannot {
            /// Writes nothing.
            #[inline(always)]
            fn $method(&self, _: &mut How) {}
        }

        impl<T: ?Sized> $cannot for &Probe<T> {}
    };
}
pub(crate) use ability;

ability!(
    /// Of types that are printed by `Debug`.
    CanBeShown, CannotBeShown, can_show -> show, [T: Debug] T, show::<T>
);
ability!(
    /// Of types that can be hashed.
    CanBeHashed, CannotBeHashed, can_hash -> hash, [T: Hash] T, hash::<T>
);
ability!(
    /// Of references.
    Refers, RefersNot, refers_to -> pointee, ['r, T: ?Sized] &'r T, pointee::<&'r T, T>
);
ability!(
    /// Of mutable references.
    RefersMut, RefersNotMut, refers_to_mut -> pointee, ['r, T: ?Sized] &'r mut T,
    pointee::<&'r mut T, T>
);
ability!(
    /// Of results.
    Results, IsNoResult, may_be_err -> failed, [T, E] Result<T, E>, is_err::<T, E>
);
ability!(
    /// Of options.
    Options, IsNoOption, may_be_none -> failed, [T] Option<T>, is_none::<T>
);

pub(crate) fn show<T: Debug>(at: *const u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // SAFETY: `Value::new` paired this function with a `T`, which it borrows.
    unsafe { &*at.cast::<T>() }.fmt(f)
}

pub(crate) fn hash<T: Hash>(at: *const u8) -> u64 {
    let mut key = Fingerprint::default();
    // SAFETY: as in `show`.
    unsafe { &*at.cast::<T>() }.hash(&mut key);
    key.finish()
}

extern "C" fn pointee<R, T: ?Sized>(at: *const u8) -> Receiver
where
    R: core::ops::Deref<Target = T>,
{
    // SAFETY: as in `show`; `R` is a reference.
    Object::of(unsafe { &**at.cast::<R>() }).receiver()
}

extern "C" fn is_err<T, E>(at: *const u8) -> bool {
    // SAFETY: as in `show`.
    unsafe { &*at.cast::<Result<T, E>>() }.is_err()
}

extern "C" fn is_none<T>(at: *const u8) -> bool {
    // SAFETY: as in `show`.
    unsafe { &*at.cast::<Option<T>>() }.is_none()
}

/// A hasher that leaves one small number as it is: `NodeId(5)` has the key 5.
#[derive(Default)]
struct Fingerprint {
    state: u64,
    parts: u32,
}

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        self.state
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word) ^ (part.len() as u64) << 56);
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.state = match self.parts {
            0 => number,
            parts => (self.state.rotate_left(23) ^ number ^ u64::from(parts))
                .wrapping_mul(0x9E37_79B9_7F4A_7C15),
        };
        self.parts += 1;
    }
}
