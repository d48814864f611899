//! Instrumenters of metaspy. Use them through the facade, `metaspy`.
//!
//! Each module installs hooks into a kind of domain, and removes them again. All of them use the
//! public trait [`Instrumenter`](metaspy_core::Instrumenter).

#![forbid(unsafe_code)]

// Calls of observed methods.
mod call_instrumenter;
mod methods;
mod objects;
mod site_ref;
mod sites;

// Values with observed accesses.
mod lookups;
mod spied;
mod state;
mod watched;

// Libraries.
#[cfg(feature = "channels")]
pub mod channels;
#[cfg(feature = "io")]
pub mod io;
pub mod locks;
pub mod productions;
#[cfg(feature = "tracing")]
pub mod spans;
pub mod tasks;

// Events of a running profiler.
pub mod live;

// Code that the instrumenters share.
#[doc(hidden)]
pub mod __private;
mod announce;
#[cfg(any(feature = "async-channel", feature = "flume", all(feature = "io", feature = "tokio")))]
mod attempt;
mod dynamic_sites;
#[cfg(feature = "channels")]
mod interned;
mod lookup_cache;
#[cfg(any(feature = "io", feature = "tracing"))]
mod text_key;

pub use announce::Announce;
pub use call_instrumenter::CallInstrumenter;
pub use lookups::Lookups;
pub use methods::{ReceiverSite, methods, on};
pub use objects::{group, in_group, objects};
pub use site_ref::{NamedSite, SiteRef};
pub use sites::Sites;
pub use spied::Spied;
pub use watched::Watched;
