//! Identity of last resort: an address. For wrapped objects: the identity that is registered at
//! their address.

use std::any::type_name;
use std::sync::atomic::{AtomicU32, Ordering};

use metaspy_probe::Text;

use crate::subject::residents::{self, registered_at};
use crate::subject::{Identify, KindId, Nature, ObjectId, Subject, kind_of_type, register};

/// Distinguishes receivers without an identity by their addresses. A `static` beside the site; its
/// kind is "place of T", because Rust moves values and reuses memory.
pub struct AddressIdentity {
    kind: AtomicU32,
}

impl AddressIdentity {
    /// Places of values of one type.
    #[expect(clippy::new_without_default, reason = "it is for statics")]
    pub const fn new() -> Self {
        AddressIdentity { kind: AtomicU32::new(0) }
    }

    /// The subject at an address: the identity of the object that was registered there
    /// ([`RegisteredIdentity`]), else the place. A value without a size has none. Every `T` given
    /// to one `AddressIdentity` must be the same type.
    #[inline]
    pub fn of<T: ?Sized>(&self, value: &T) -> Subject {
        subject_at(value, || self.kind::<T>())
    }

    #[inline(always)]
    fn kind<T: ?Sized>(&self) -> KindId {
        match self.kind.load(Ordering::Relaxed) {
            0 => {
                let kind = register(type_name::<T>(), Nature::Place);
                self.kind.store(u32::from(kind.0), Ordering::Relaxed);
                kind
            }
            kind => KindId(kind as u16),
        }
    }
}

/// As [`AddressIdentity::of`], for a site with many types.
#[inline]
pub fn place_of<T: ?Sized>(value: &T) -> Subject {
    subject_at(value, || kind_of_type(Text::of(type_name::<T>()), Nature::Place))
}

#[inline]
fn subject_at<T: ?Sized>(value: &T, kind: impl FnOnce() -> KindId) -> Subject {
    let address = std::ptr::from_ref(value).cast::<u8>() as usize;
    match registered_at(address, type_name::<T>()) {
        Some(subject) => subject,
        None if size_of_val(value) == 0 => Subject::NONE,
        None => Subject::new(kind(), address as u64),
    }
}

/// Registers an object with an identity at an address, until it is dropped.
///
/// The address must stay the object's own: `Spied<T>` keeps its value in a box.
#[derive(Debug)]
pub struct RegisteredIdentity {
    address: usize,
    id: ObjectId,
}

impl RegisteredIdentity {
    /// Registers `id` at the address of `value`. No other value of the type may be there: one
    /// without a size needs a neighbour that has one.
    pub fn new<T: ?Sized>(value: &T, id: ObjectId) -> Self {
        let address = std::ptr::from_ref(value).cast::<u8>() as usize;
        residents::insert(address, id.identify(), type_name::<T>);
        RegisteredIdentity { address, id }
    }

    /// The identity.
    pub fn id(&self) -> &ObjectId {
        &self.id
    }
}

impl Drop for RegisteredIdentity {
    fn drop(&mut self) {
        residents::remove(self.address);
        crate::model::forget(self.id.identify());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_place_until_an_object_is_registered_there() {
        static PLACE: AddressIdentity = AddressIdentity::new();
        let thing = Box::new(7_u64);
        let place = PLACE.of(&*thing);
        let resident = RegisteredIdentity::new(&*thing, ObjectId::new());
        assert_eq!([PLACE.of(&*thing), place_of(&*thing)], [resident.id().identify(); 2]);
        drop(resident);
        assert_eq!([PLACE.of(&*thing), place_of(&*thing)], [place; 2]);
        assert_eq!([AddressIdentity::new().of(&()), place_of(&())], [Subject::NONE; 2]);
    }

    #[test]
    fn a_first_field_is_not_its_owner() {
        struct Owner {
            first: u64,
        }
        let owner = Box::new(Owner { first: 1 });
        let resident = RegisteredIdentity::new(&*owner, ObjectId::new());
        assert_eq!(place_of(&*owner), resident.id().identify());
        assert_ne!(place_of(&owner.first), resident.id().identify());
    }

    #[test]
    fn two_types_at_one_address_are_two_places() {
        let it = [5_u64];
        assert_ne!(place_of(&it), place_of(&it[0]));
    }

    #[test]
    fn many_registered_objects_are_all_found_again() {
        let things: Vec<Box<u64>> = (0..1_000).map(Box::new).collect();
        let residents: Vec<RegisteredIdentity> =
            things.iter().map(|thing| RegisteredIdentity::new(&**thing, ObjectId::new())).collect();
        for (thing, resident) in things.iter().zip(&residents) {
            assert_eq!(place_of(&**thing), resident.id().identify());
        }
    }
}
