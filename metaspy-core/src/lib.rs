#![doc = include_str!("../README.md")]

pub mod arm;
pub mod causality;
pub mod clock;
#[doc(hidden)]
pub mod environment;
pub mod event;
pub mod format;
pub mod hook;
pub mod instrumenter;
mod log;
pub mod method_profilers;
pub mod model;
mod platform;
pub mod profile;
pub mod profiler;
pub mod recording;
pub mod remote;
pub mod select;
pub mod site;
pub mod store;
pub mod stream;
pub mod subject;
pub mod trigger;
pub mod watch;

pub use causality::{because, current, link};
pub use event::{Event, EventId, LaneId, Outcome};
pub use instrumenter::{Hooks, InstallError, Instrumenter, Session};
#[doc(hidden)]
pub use log::protocol;
pub use model::{forget, label, relate, unrelate};
pub use profile::Profile;
pub use profiler::{Installed, Profiler};
pub use recording::Recording;
pub use remote::{FromRemote, MalformedTraceParent, TraceParent, from_remote};
pub use select::Selector;
pub use site::{Site, SiteDef, SiteId, SiteKind};
pub use store::Store;
pub use subject::{Identify, Key, Kind, KindId, ObjectId, Owner, Subject};
pub use trigger::Trigger;
