//! The names that most programs need: `use metaspy::prelude::*;`.
//!
//! Without the feature `record`, the prelude has the names of the observed side only. The module
//! `tasks` and the parser libraries have traits with a method `spied`; import these where you need
//! them.

#[cfg(feature = "channels")]
pub use crate::proxied;
#[cfg(feature = "tracing")]
pub use crate::spans::spans;
pub use crate::{
    Announce, Identify, Key, Kind, ObjectId, Owner, Spied, Subject, TraceParent, Watched, forget,
    from_remote, label, observe, production, relate, state, unrelate,
};
#[cfg(feature = "record")]
pub use crate::{
    CallInstrumenter, Event, EventId, Group, InstallError, Installed, InstalledHere, Instrumenter,
    Mode, Outcome, Profile, Profiler, Recording, Selector, Trigger, because, carried, current,
    group, in_group, link, live::LiveEvents, methods, objects, on, productions::productions, site,
    tasks::tasks,
};
#[cfg(feature = "tokio")]
pub use crate::{announcements, announcements_in};
