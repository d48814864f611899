//! Without the feature `record`: the same names for observed code, and nothing behind them.

#[doc(hidden)]
pub mod __private;
mod announce;
mod causality;
mod model;
pub mod productions;
pub mod remote;
mod spied;
mod state;
mod subject;
mod watched;

pub use announce::Announce;
pub use causality::{Because, EventId, because, current, link};
pub use model::{forget, label, relate, unrelate};
pub use remote::{FromRemote, MalformedTraceParent, TraceParent, from_remote};
pub use spied::Spied;
pub use subject::{Identify, Key, Kind, KindId, ObjectId, Owner, Subject};
pub use watched::Watched;
