#![doc = include_str!("../README.md")]

pub mod arm;
pub mod causality;
pub mod clock;
#[doc(hidden)]
pub mod environment;
pub mod hook;
mod install_error;
pub mod instrumenter;
pub mod method_profilers;
pub mod model;
mod platform;
pub mod profile;
pub mod profiler;
mod recorder;
pub mod recording;
pub mod remote;
pub mod site;
pub mod subject;
pub mod subscription;
pub mod trigger;

#[doc(hidden)]
pub use metaspy_format as format;
pub use metaspy_reader as store;
pub use metaspy_reader::{event, selector as select, stream};

pub use causality::{because, current, link};
pub use event::{Event, EventId, LaneId, Outcome};
pub use install_error::InstallError;
pub use instrumenter::{Installation, Instrumenter, Session};
pub use model::{forget, label, relate, unrelate};
pub use profile::Profile;
pub use profiler::{Installed, Profiler, UnknownProfiler};
#[doc(hidden)]
pub use recorder::protocol;
pub use recording::Recording;
pub use remote::{FromRemote, MalformedTraceParent, TraceParent, from_remote};
pub use select::Selector;
pub use site::{Site, SiteDef, SiteId, SiteKind};
pub use store::Store;
pub use subject::{Identify, Key, Kind, KindId, ObjectId, Owner, Subject};
pub use trigger::Trigger;
