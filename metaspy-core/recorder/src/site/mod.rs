//! Sites: the places in the code that can emit.
//!
//! A site is a `static`, one per source function whatever its type arguments, and known before
//! `main`: a site that never ran can be named, listed and armed. Observed and woven code have the
//! same sites, in one section of the program.

mod entered;
mod family;
mod registry;
mod section;

pub(crate) use entered::is_entered;
pub use family::Family;
pub use linkme;
pub use metaspy_probe::{Site, SiteDef, SiteId, SiteKind, register};
pub(crate) use registry::{LINKED, register_dynamic_in, watch_registrations};
pub use registry::{SiteEntry, entries, entry, register_dynamic};
#[doc(hidden)]
pub use registry::{by_id, compare_with, entries_since, provide};
#[doc(hidden)]
pub use section::linked;
pub(crate) use section::linked_sites;
