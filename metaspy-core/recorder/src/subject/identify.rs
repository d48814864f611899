//! The identity of a value.

use crate::subject::{Owner, Subject};

/// The subject that a value is.
///
/// Keys are at most 64 bits wide and must not be reused while a recording runs. For keys of a type
/// of your own:
///
/// ```
/// use metaspy_recorder::subject::{Identify, Kind, Subject};
///
/// struct NodeId(u32);
///
/// impl Identify for NodeId {
///     fn identify(&self) -> Subject {
///         static KIND: Kind = Kind::new("NodeId");
///         Subject::new(KIND.id(), self.0.into())
///     }
/// }
/// ```
///
/// Where several owners use equal keys, give each an [`Owner`] and identify by `(&owner, key)`.
#[diagnostic::on_unimplemented(
    message = "metaspy cannot tell which subject a `{Self}` is",
    note = "implement `metaspy::Identify`, or give `(&owner, key)` with an `Owner` and a key of at most 64 bits"
)]
pub trait Identify {
    /// The subject that this value is, or stands for.
    fn identify(&self) -> Subject;
}

impl Identify for Subject {
    #[inline(always)]
    fn identify(&self) -> Subject {
        *self
    }
}

impl<T: Identify + ?Sized> Identify for &T {
    #[inline(always)]
    fn identify(&self) -> Subject {
        (**self).identify()
    }
}

impl<T: Identify + ?Sized> Identify for &mut T {
    #[inline(always)]
    fn identify(&self) -> Subject {
        (**self).identify()
    }
}

impl<K: Key> Identify for (&Owner, K) {
    #[inline(always)]
    fn identify(&self) -> Subject {
        self.0.subject(self.1)
    }
}

/// A key of at most 64 bits.
pub trait Key: Copy {
    /// The key as a number.
    fn key(self) -> u64;
}

macro_rules! keys {
    ($($key:ty),*) => {$(
        impl Key for $key {
            #[inline(always)]
            fn key(self) -> u64 {
                self as u64
            }
        }
        /// A plain number: all numbers of one type are of one kind, whatever they belong to.
        impl Identify for $key {
            #[inline(always)]
            fn identify(&self) -> Subject {
                static KIND: crate::subject::Kind = crate::subject::Kind::new(stringify!($key));
                Subject::new(KIND.id(), *self as u64)
            }
        }
    )*};
}

keys!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, char);
