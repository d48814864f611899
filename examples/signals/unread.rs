//! An instrumenter for the framework's own callbacks.

use metaspy::instrumenter::{Arming, register};
use metaspy::prelude::*;
use metaspy::{Installation, Session, Site, SiteDef, SiteKind, hook};

use crate::listeners::Listeners;

register! {
    static UNREAD: Site = Site::new(SiteDef {
        kind: SiteKind::Change,
        module: module_path!(),
        name: "unread",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
}

/// Makes an event of each value that is replaced before anything has read it.
pub struct Unread(pub Listeners);

impl Instrumenter for Unread {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm(&UNREAD, Arming::all(Mode::Full))?;
        let listening = self.0.listen(|replaced| {
            if !replaced.was_read {
                hook::instant(&UNREAD, replaced.id.identify());
            }
        });
        Ok(Installation::with_guard(listening))
    }
}
