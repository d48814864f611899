//! With the feature `record`: hooks, recordings, profilers and instrumenters.

pub use metaspy_core::arm::{Group, Mode};
pub use metaspy_core::{
    Event, EventId, FromRemote, Identify, InstallError, Installation, Installed, Instrumenter, Key, Kind, KindId,
    LaneId, MalformedTraceParent, ObjectId, Outcome, Owner, Profile, Profiler, Recording, Selector, Session, Site,
    SiteDef, SiteId, SiteKind, Store, Subject, TraceParent, Trigger, because, current, forget, from_remote, label,
    link, relate, unrelate,
};
pub use metaspy_core::{
    arm, causality, clock, event, hook, instrumenter, profile, profiler, recording, remote, select, site, store,
    subscription, trigger,
};
pub use metaspy_instrumenters::Announce;
#[cfg(feature = "tokio")]
pub use metaspy_instrumenters::channels;
#[cfg(feature = "tokio")]
pub use metaspy_instrumenters::channels::{announcements, announcements_in, proxied};
pub use metaspy_instrumenters::live;
pub use metaspy_instrumenters::locks;
pub use metaspy_instrumenters::production;
pub use metaspy_instrumenters::productions;
pub use metaspy_instrumenters::productions::productions;
#[cfg(feature = "tracing")]
pub use metaspy_instrumenters::spans;
#[cfg(feature = "tracing")]
pub use metaspy_instrumenters::spans::spans;
pub use metaspy_instrumenters::state;
pub use metaspy_instrumenters::tasks;
pub use metaspy_instrumenters::tasks::tasks;
pub use metaspy_instrumenters::{
    CallInstrumenter, NamedSite, ReceiverSite, SiteRef, Sites, Spied, Watched, group, in_group, methods, objects, on,
};

/// The site of an observed function, checked by the compiler: `site!(Scene::measure)`, `site!(layout::compute)`,
/// `site!(<Scene as Layout>::measure)`.
///
/// Of a function that is not observed the compiler says that its site, `__metaspy_site_…`, does not exist. It says so
/// too of a function that a `use` brought in, as that brings in the function without its site: write it with its
/// module, `site!(layout::compute)`. A type with parameters needs them, as in `site!(Grid::<u32>::cell)`, which names
/// the one site of all `Grid<_>`.
#[macro_export]
macro_rules! site {
    ($($path:tt)+) => {
        $crate::__private::site!($crate; $($path)+)
    };
}

/// What `#[observe]` writes into functions. It may change in any version.
#[doc(hidden)]
pub mod __private {
    pub use metaspy_core::hook::{AsyncCall, Shown, show};
    pub use metaspy_core::{Identify, Outcome, Subject};
    pub use metaspy_instrumenters::__private::*;
    pub use metaspy_instrumenters::SiteRef;
    pub use metaspy_macros::site;
}
