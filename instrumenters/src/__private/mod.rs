//! Items for the code that `#[observe]`, the derives, `state!` and `production!` generate. They may
//! change in any version.

mod receiver;
mod returns;
mod subject;

pub use crate::announce::{ANNOUNCEMENT_TYPES, AnnouncementType};
pub use crate::state::transition;
pub use metaspy_core::hook::AddressIdentity as PlaceOf;
pub use metaspy_core::hook::observed::{
    Unwinding, enter, enter_as, enter_by, enter_on, enter_site, enter_with,
};
pub use metaspy_core::hook::{Frame, Guard};
pub use metaspy_core::site::{linkme, register};
pub use metaspy_core::{Site, SiteDef, SiteKind};
pub use receiver::{
    AddressIdentity, DirectIdentity, GuardedIdentity, GuardedKey, NoKey, Receiver, key_of, stated,
};
pub use returns::{Returned, WithoutOutcome};
pub use subject::subject;
