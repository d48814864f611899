//! `#[derive(Announce)]`: messages with a kind.

use std::any::{Any, TypeId};

use metaspy_core::site::linkme;
use metaspy_core::site::linkme::distributed_slice;

/// A message with a kind. With `#[derive(Announce)]`, the kind is the name of the variant.
///
/// A tap uses the derive if the type is `Debug` and has no parameters. For other types, give the tap a closure:
/// `.kind(|message| message.kind())`.
pub trait Announce {
    /// All kinds. A kind that is never announced is listed, too.
    const KINDS: &'static [&'static str];

    /// The kind of this message.
    fn kind(&self) -> &'static str;
}

/// A type that derives [`Announce`]. The linker collects the entries.
pub struct AnnouncementType {
    type_id: fn() -> TypeId,
    kind: fn(&dyn Any) -> Option<&'static str>,
    kinds: &'static [&'static str],
}

/// The types that derive [`Announce`] and have no parameters.
#[distributed_slice]
#[linkme(crate = linkme)]
pub static ANNOUNCEMENT_TYPES: [AnnouncementType];

impl AnnouncementType {
    /// The entry of a type.
    pub const fn new<T: Announce + 'static>() -> Self {
        AnnouncementType { type_id: TypeId::of::<T>, kind: kind_of::<T>, kinds: T::KINDS }
    }

    /// The entry of `T`, if it has one.
    pub fn find<T: 'static>() -> Option<&'static AnnouncementType> {
        ANNOUNCEMENT_TYPES.iter().find(|announced| (announced.type_id)() == TypeId::of::<T>())
    }

    /// The kind of a message of this type.
    pub fn kind(&self, message: &dyn Any) -> Option<&'static str> {
        (self.kind)(message)
    }

    /// All kinds.
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
