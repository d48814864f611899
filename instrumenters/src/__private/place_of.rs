//! Places as subjects: a type and an address.

use std::any::type_name;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use metaspy_core::Subject;
use metaspy_core::hook::AddressIdentity;

use crate::lookup_cache::{LookupCache, Names};

/// The places of values of one type: a `static` beside the site.
///
/// They are named by the type, not by the module of its `impl`, so that all its methods agree.
pub struct PlaceOf(OnceLock<AddressIdentity>);

impl PlaceOf {
    /// The type is known at the first call of [`of`](Self::of).
    #[expect(clippy::new_without_default, reason = "it is for statics")]
    pub const fn new() -> Self {
        PlaceOf(OnceLock::new())
    }

    /// The subject at the address of `it`. Every `T` given to one `PlaceOf` must be the same type.
    #[inline(always)]
    pub fn of<T: ?Sized>(&self, it: &T) -> Subject {
        self.0.get_or_init(|| AddressIdentity::new(type_name::<T>())).of(it)
    }
}

/// The subject at the address of `it`, for a site with many types.
#[inline]
pub fn of_any<T: ?Sized>(it: &T) -> Subject {
    places(type_name::<T>()).of(it)
}

/// The places of a type, by its name.
#[inline]
fn places(name: &'static str) -> &'static AddressIdentity {
    thread_local! {
        static KNOWN: LookupCache<Names, &'static AddressIdentity> = const { LookupCache::new() };
    }
    KNOWN.try_with(|known| known.get([name, ""], || registered(name))).unwrap_or_else(|_| registered(name))
}

#[cold]
fn registered(name: &'static str) -> &'static AddressIdentity {
    static ALL: Mutex<Option<HashMap<&'static str, &'static AddressIdentity>>> = Mutex::new(None);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    // One for each type, for the rest of the process.
    all.get_or_insert_default().entry(name).or_insert_with(|| Box::leak(Box::new(AddressIdentity::new(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_a_type_are_the_same_at_every_site() {
        static PLACE: PlaceOf = PlaceOf::new();
        let it = 5_u64;
        assert_eq!(PLACE.of(&it), of_any(&it));
    }

    #[test]
    fn two_types_at_one_address_are_two_places() {
        let it = [5_u64];
        assert_ne!(of_any(&it), of_any(&it[0]));
    }
}
