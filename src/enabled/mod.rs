//! With the feature `record`: profilers, instrumenters and recordings.

// The identity of domain objects, and statements about them.
pub use metaspy_core::{
    Identify, Key, Kind, KindId, ObjectId, Owner, Subject, forget, label, relate, unrelate,
};
pub use metaspy_instrumenters::{Announce, Lookups, Spied, Watched, state};

// Profilers and their results.
pub use metaspy_core::arm::{Group, Mode};
pub use metaspy_core::subscription::Subscription;
pub use metaspy_core::trigger::Hit;
pub use metaspy_core::{
    Event, EventId, InstallError, Installed, InstalledHere, LaneId, Outcome, Profile, Profiler,
    Recording, Selector, Store, Trigger, UnknownProfiler,
};
pub use metaspy_core::{method_profilers, profiler, recording, store};
pub use metaspy_instrumenters::live;

// Instrumenters.
#[cfg(feature = "allocations")]
pub use metaspy_core::hook::SpiedAllocator;
#[cfg(feature = "channels")]
pub use metaspy_instrumenters::channels::{self, proxied};
#[cfg(feature = "tokio")]
pub use metaspy_instrumenters::channels::{announcements, announcements_in};
#[cfg(feature = "io")]
pub use metaspy_instrumenters::io;
pub use metaspy_instrumenters::productions::{self, productions};
#[cfg(feature = "tracing")]
pub use metaspy_instrumenters::spans::{self, spans};
pub use metaspy_instrumenters::tasks::{self, tasks};
pub use metaspy_instrumenters::{
    CallInstrumenter, NamedSite, ReceiverSite, SiteRef, Sites, group, in_group, locks, methods,
    objects, on, production,
};

// Processor time.
#[cfg(feature = "sample")]
pub mod sampling;

// Causes, in this process and across processes.
pub use metaspy_core::causality::{Because, Carried, carried};
pub use metaspy_core::{
    FromRemote, MalformedTraceParent, TraceParent, because, current, from_remote, link,
};

// An instrumenter of your own.
pub use metaspy_core::{
    Installation, Instrumenter, Session, Site, SiteDef, SiteId, SiteKind, hook,
};

/// The parts that an instrumenter of your own needs beside [`Instrumenter`]: arming, and sites that
/// are registered at run time. [`hook`] emits the events.
pub mod instrumenter {
    pub use metaspy_core::arm::{Arming, Subjects};
    pub use metaspy_core::site::{Family, SiteEntry, entries, entry, register, register_dynamic};
}

/// The site of an observed function, checked by the compiler: `site!(Scene::measure)`,
/// `site!(layout::compute)`, `site!(<Scene as Layout>::measure)`.
///
/// ```
/// use metaspy::prelude::*;
///
/// struct Scene;
///
/// #[observe]
/// impl Scene {
///     fn measure(&self) -> u32 { 80 }
/// }
///
/// let (width, profile) = Profiler::new("layout").observe(methods(site!(Scene::measure))).profile(|| Scene.measure())?;
/// assert_eq!((width, profile.counts().total()), (80, 1));
/// # Ok::<(), metaspy::InstallError>(())
/// ```
///
/// If the function is not observed, the compiler reports that `__metaspy_site_…` does not exist. It
/// reports the same for a function that a `use` imports, because the import does not include the
/// site: write it with its module, `site!(layout::compute)`. A type with parameters needs them, as
/// in `site!(Grid::<u32>::cell)`. That names the one site of all `Grid<_>`.
#[macro_export]
macro_rules! site {
    ($($path:tt)+) => {
        $crate::__private::site!($crate; $($path)+)
    };
}

/// The names that `#[observe]` and the derives generate. They may change in any version.
#[doc(hidden)]
pub mod __private {
    pub use metaspy_core::hook::{AsyncCall, Shown, show};
    pub use metaspy_core::{Identify, Outcome, Subject};
    pub use metaspy_instrumenters::__private::*;
    pub use metaspy_instrumenters::SiteRef;
    pub use metaspy_macros::site;
}
