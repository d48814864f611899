//! Trait of messages with a kind, and the register of its derived implementations.

use std::any::{Any, TypeId};

use metaspy_core::site::linkme;
use metaspy_core::site::linkme::distributed_slice;

/// Message with a kind. With `#[derive(Announce)]`, the kind is the name of the variant.
///
/// A tap uses the derive if the type is `Debug` and has no parameters. For other types, give the
/// tap a closure: `.kind(|message| message.kind())`.
pub trait Announce {
    /// All kinds, also those that are never announced.
    const KINDS: &'static [&'static str];

    /// Returns the kind of this message.
    fn kind(&self) -> &'static str;
}

/// Type that derives [`Announce`], as an entry in a list that the linker collects.
pub struct AnnouncementType {
    type_id: fn() -> TypeId,
    kind: fn(&dyn Any) -> Option<&'static str>,
    kinds: &'static [&'static str],
}

/// Types that derive [`Announce`] and have no parameters.
#[distributed_slice]
#[linkme(crate = linkme)]
pub static ANNOUNCEMENT_TYPES: [AnnouncementType];

impl AnnouncementType {
    /// Creates the entry of a type.
    pub const fn new<T: Announce + 'static>() -> Self {
        AnnouncementType { type_id: TypeId::of::<T>, kind: kind_of::<T>, kinds: T::KINDS }
    }

    /// Returns the entry of `T`, or `None` if it does not derive [`Announce`].
    pub fn find<T: 'static>() -> Option<&'static AnnouncementType> {
        ANNOUNCEMENT_TYPES.iter().find(|announced| (announced.type_id)() == TypeId::of::<T>())
    }

    /// Returns the kind of a message, or `None` if it has another type.
    pub fn kind(&self, message: &dyn Any) -> Option<&'static str> {
        (self.kind)(message)
    }

    /// Returns all kinds of the type.
    pub fn kinds(&self) -> &'static [&'static str] {
        self.kinds
    }
}

impl std::fmt::Debug for AnnouncementType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("AnnouncementType").field(&self.kinds).finish()
    }
}

fn kind_of<T: Announce + 'static>(message: &dyn Any) -> Option<&'static str> {
    message.downcast_ref::<T>().map(T::kind)
}
