//! Subject of a call without `subject = …`: the receiver's identity, or else its place.
//!
//! `(&Receiver(it)).subject_or(place)` is any of three methods. The compiler takes the first that
//! exists: for receivers with a [`DirectIdentity`], for other receivers that implement
//! [`Identify`], and for all others.

use metaspy_core::hook::{self, AddressIdentity as PlaceOf};
use metaspy_core::{Identify, Key, Kind, ObjectId, Owner, Subject};

use crate::__private::subject::{identity, subject};
use crate::{Spied, Watched};

/// Receiver of a call, whose type selects the method that finds the subject.
pub struct Receiver<'a, T: ?Sized>(pub &'a T);

/// Wraps an explicit subject, which must implement [`Identify`].
#[inline(always)]
pub fn stated<T: Identify + ?Sized>(it: &T) -> Receiver<'_, T> {
    Receiver(it)
}

/// Marks values whose [`Identify::identify`] needs no guard, because it neither panics nor calls an
/// observed function. `#[derive(Identify)]` implements it.
pub trait DirectIdentity: Identify {}

impl DirectIdentity for Subject {}
impl DirectIdentity for ObjectId {}
impl<K: PlainKey> DirectIdentity for (&Owner, K) {}
impl<T: DirectIdentity + ?Sized> DirectIdentity for &T {}
impl<T: DirectIdentity + ?Sized> DirectIdentity for &mut T {}
impl<T> DirectIdentity for Spied<T> {}
impl<T> DirectIdentity for Watched<T> {}

/// Marks keys that are numbers, which need no guard.
pub trait PlainKey: Key {}

macro_rules! plain {
    ($($key:ty),*) => {$(
        impl DirectIdentity for $key {}
        impl PlainKey for $key {}
    )*};
}

plain!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, char);

impl<T: DirectIdentity + ?Sized> Receiver<'_, T> {
    /// Returns the identity of the value.
    #[inline(always)]
    pub fn identity(&self) -> Subject {
        self.0.identify()
    }

    /// Returns the identity of the receiver.
    #[inline(always)]
    pub fn subject_or(&self, _: &PlaceOf) -> Subject {
        self.0.identify()
    }

    /// Returns the identity of the receiver.
    #[inline(always)]
    pub fn subject_or_place(&self) -> Subject {
        self.0.identify()
    }

    /// Returns the identity of the receiver.
    #[inline(always)]
    pub fn subject_or_none(&self) -> Subject {
        self.0.identify()
    }
}

/// Identity that is computed under a guard, because [`Identify::identify`] may panic or call
/// observed functions.
pub trait GuardedIdentity {
    /// Returns the identity of the value.
    fn identity(&self) -> Subject;
    /// Returns the identity of the receiver.
    fn subject_or(&self, _: &PlaceOf) -> Subject;
    /// Returns the identity of the receiver.
    fn subject_or_place(&self) -> Subject;
    /// Returns the identity of the receiver.
    fn subject_or_none(&self) -> Subject;
}

impl<T: Identify + ?Sized> GuardedIdentity for Receiver<'_, T> {
    fn identity(&self) -> Subject {
        identity(|| self.0.identify())
    }

    fn subject_or(&self, _: &PlaceOf) -> Subject {
        self.subject_or_none()
    }

    fn subject_or_place(&self) -> Subject {
        self.subject_or_none()
    }

    #[inline(never)]
    fn subject_or_none(&self) -> Subject {
        subject(|| self.0.identify())
    }
}

/// Key of a value, for the code of `#[derive(Identify)]`.
pub struct KeyOf<K>(K);

/// Wraps the key of a value.
#[inline(always)]
pub fn key_of<K: Key>(key: K) -> KeyOf<K> {
    KeyOf(key)
}

impl<K: PlainKey> KeyOf<K> {
    /// Returns the subject with this key.
    #[inline(always)]
    pub fn subject(&self, kind: &Kind) -> Subject {
        Subject::new(kind.id(), self.0.key())
    }
}

/// Key that is computed under a guard, because [`Key::key`] may panic or call observed functions.
pub trait GuardedKey {
    /// Returns the subject with this key.
    fn subject(&self, kind: &Kind) -> Subject;
}

impl<K: Key> GuardedKey for KeyOf<K> {
    fn subject(&self, kind: &Kind) -> Subject {
        identity(|| Subject::new(kind.id(), self.0.key()))
    }
}

/// Fallback for values that are not keys, so that the compiler only reports the error at
/// [`key_of`].
pub trait NoKey {
    /// Exists for type checking only, and is never called.
    fn subject(&self, _: &Kind) -> Subject {
        Subject::NONE
    }
}

impl<K> NoKey for &KeyOf<K> {}

/// Place as identity, for receivers that do not implement [`Identify`].
pub trait AddressIdentity {
    /// Returns the place of the receiver, whose type is known.
    fn subject_or(&self, place: &PlaceOf) -> Subject;
    /// Returns the place of the receiver, for any type.
    fn subject_or_place(&self) -> Subject;
    /// Returns no subject, because the receiver is moved into the call.
    fn subject_or_none(&self) -> Subject;
}

impl<T: ?Sized> AddressIdentity for &Receiver<'_, T> {
    #[inline(always)]
    fn subject_or(&self, place: &PlaceOf) -> Subject {
        place.of(self.0)
    }

    #[inline(always)]
    fn subject_or_place(&self) -> Subject {
        hook::place_of(self.0)
    }

    #[inline(always)]
    fn subject_or_none(&self) -> Subject {
        Subject::NONE
    }
}
