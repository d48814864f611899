//! With the feature `record`.

pub use metaspy_core::*;

#[doc(hidden)]
pub mod __private {
    pub use metaspy_core::hook::{AsyncCall, Call, enter, enter_with};
    pub use metaspy_core::site::{SITES, linkme};
    pub use metaspy_core::{Identify, Outcome, Site, SiteDef, SiteKind, Subject};
    pub use metaspy_instrumenters::SiteRef;
    pub use metaspy_instrumenters::expansion::*;
    pub use metaspy_macros::site;
}
