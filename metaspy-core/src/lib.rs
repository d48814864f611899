#![doc = include_str!("../README.md")]

pub mod arm;
pub mod method_profilers;

pub mod hook;
pub mod profiler;

#[doc(hidden)]
pub use metaspy_format as format;
pub use metaspy_reader as store;
pub use metaspy_reader::{event, selector as select, stream};
pub use metaspy_recorder::{causality, clock, model, recording, remote, site, subject};
use metaspy_recorder::{platform, recorder};
#[doc(hidden)]
pub use profiler::environment;
pub use profiler::{instrumenter, profile, subscription, trigger};

pub use causality::{because, current, link};
pub use event::{Event, EventId, LaneId, Outcome};
pub use instrumenter::{Installation, Instrumenter, Session};
pub use model::{forget, label, relate, unrelate};
pub use profile::Profile;
pub use profiler::{InstallError, Installed, InstalledHere, Profiler, UnknownProfiler};
#[doc(hidden)]
pub use recorder::protocol;
pub use recording::Recording;
pub use remote::{FromRemote, MalformedTraceParent, TraceParent, from_remote};
pub use select::Selector;
pub use site::{Site, SiteDef, SiteId, SiteKind};
pub use store::Store;
pub use subject::{Identify, Key, Kind, KindId, ObjectId, Owner, Subject};
pub use trigger::Trigger;
