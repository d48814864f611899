//! The instrumenters of metaspy. Use them through the facade, `metaspy`.
//!
//! Each knows how to install hooks into one kind of domain, and how to take them out again.

#![forbid(unsafe_code)]

mod announce;
#[cfg(feature = "tokio")]
pub mod announcements;
mod calls;
mod dynamic;
#[doc(hidden)]
pub mod expansion;
mod known;
pub mod live;
pub mod locks;
mod methods;
#[cfg(feature = "tokio")]
mod names;
mod objects;
pub mod productions;
mod site_ref;
mod sites;
#[cfg(feature = "tracing")]
pub mod spans;
mod spied;
mod state;
pub mod tasks;
mod watched;

#[doc(hidden)]
pub use metaspy_core::{
    Site as __Site, SiteDef as __SiteDef, SiteKind as __SiteKind,
    site::{SITES as __SITES, linkme as __linkme},
};

pub use announce::Announce;
#[doc(hidden)]
pub use announce::{ANNOUNCED as __ANNOUNCED, Announced as __Announced};
pub use calls::Calls;
pub use methods::{ReceiverSite, methods, on};
pub use objects::{group, in_group, objects};
pub use site_ref::{NamedSite, SiteRef};
pub use sites::Sites;
pub use spied::Spied;
#[doc(hidden)]
pub use state::transition as __transition;
pub use watched::Watched;
