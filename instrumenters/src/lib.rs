//! The instrumenters of metaspy. Use them through the facade, `metaspy`.
//!
//! Each knows how to install hooks into one kind of domain, and how to take them out again.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod expansion;
mod site_ref;

pub use site_ref::{NamedSite, SiteRef};
