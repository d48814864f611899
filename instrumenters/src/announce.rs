//! `#[derive(Announce)]`: a message says what kind of announcement it is.

use std::any::{Any, TypeId};

use metaspy_core::site::linkme;
use metaspy_core::site::linkme::distributed_slice;

/// A message that says what kind of announcement it is. `#[derive(Announce)]` takes the variant's name.
///
/// A tap asks it by itself, as long as the type is `Debug` and has no parameters; else say so,
/// `.kind(|message| message.kind())`.
pub trait Announce {
    /// All kinds there are: one that is never announced is listed all the same.
    const KINDS: &'static [&'static str];

    /// The kind of this one.
    fn kind(&self) -> &'static str;
}

/// A type that derives [`Announce`], as the linker collects it: found by type, whoever asks.
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
