//! What a program that is observed, and one that observes, usually need: `use metaspy::prelude::*;`.

#[cfg(feature = "record")]
pub use crate::live::LiveEvents;
pub use crate::{
    Announce, Identify, Key, Kind, ObjectId, Owner, Spied, Subject, TraceParent, Watched, forget, from_remote, label,
    observe, relate, unrelate,
};
#[cfg(feature = "record")]
pub use crate::{
    CallInstrumenter, Group, Mode, Profile, Profiler, Recording, Selector, Trigger, because, current, group, in_group,
    link, methods, objects, on, site,
};
#[cfg(feature = "tokio")]
pub use crate::{announcements, announcements_in, proxied};
