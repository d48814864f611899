//! Announcements on channels both of whose ends are watched, in a profiler.

use metaspy_core::SiteKind;
use metaspy_core::arm::Subjects;

use crate::calls::Calls;
use crate::sites::Sites;

/// Observes the channels of [`spied`](super::spied), callback lists and spied streams, by name: `announced("jobs::*")`.
///
/// Channels that are made later are meant as well, so a name that nothing has is no error.
///
/// Of several channels with one name, [`objects`](crate::objects()) chooses: `objects([&sender], "jobs::*")`.
pub fn announced(sites: impl Into<Sites>) -> Calls {
    Calls::new(sites.into().or_later(SiteKind::Announcement), Subjects::All)
}
