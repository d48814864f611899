//! What a program that is observed, and one that observes, usually need: `use metaspy::prelude::*;`.

#[cfg(feature = "record")]
pub use crate::live::Live;
pub use crate::{
    Announce, Identify, Key, Kind, ObjectId, Owner, Spied, Subject, TraceParent, Watched, forget, from_remote, label,
    observe, relate, unrelate,
};
#[cfg(feature = "record")]
pub use crate::{
    Calls, Group, Mode, Profile, Profiler, Recording, Selector, Trigger, because, current, group, in_group, link,
    methods, objects, on, site,
};
#[cfg(feature = "tokio")]
pub use crate::{announced, announcements, announcements_in};
