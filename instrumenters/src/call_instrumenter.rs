//! An instrumenter of calls: of whom, where, how closely, and what runs around them.

use metaspy_core::arm::{Arming, Mode, Subjects};
use metaspy_core::hook::{CallView, Handler};
use metaspy_core::instrumenter::Installation;
use metaspy_core::{InstallError, Instrumenter, Session};

use crate::sites::Sites;

/// Observes calls; made by [`methods`](crate::methods()), [`objects`](crate::objects()), [`group`](crate::group()) and
/// [`on`](crate::on()).
#[derive(Debug)]
#[must_use = "an instrumenter does nothing until a profiler installs it"]
pub struct CallInstrumenter {
    sites: Sites,
    arming: Arming,
    /// Why it cannot be installed.
    refused: Option<&'static str>,
}

impl CallInstrumenter {
    pub(crate) fn new(sites: Sites, subjects: Subjects) -> Self {
        let arming = Arming { subjects, ..Arming::all(Mode::Full) };
        CallInstrumenter { sites, arming, refused: None }
    }

    pub(crate) fn refused(self, why: Option<&'static str>) -> Self {
        CallInstrumenter { refused: why, ..self }
    }

    /// How closely; [`Mode::Full`] if nothing is said. Calls that are only counted have no details, unless they are asked
    /// for afterwards.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.arming.mode = mode;
        self.arming.details &= mode > Mode::Tally;
        self
    }

    /// Every call is counted and linked, and one in `n` is timed.
    pub fn sampled(mut self, n: u16) -> Self {
        self.arming.sample = n;
        self.mode(Mode::Sampled)
    }

    /// Writes down the arguments and return values that the sites offer.
    pub fn details(mut self) -> Self {
        self.arming.details = true;
        self
    }

    /// Runs before each call, in install order. What it calls is not observed, and a panic in it is caught.
    pub fn before(self, handler: impl Fn(&CallView<'_>) + Send + Sync + 'static) -> Self {
        self.with(Handler::before(handler))
    }

    /// Runs after each call, last installed first, and is told how the call ended.
    pub fn after(self, handler: impl Fn(&CallView<'_>) + Send + Sync + 'static) -> Self {
        self.with(Handler::after(handler))
    }

    fn with(mut self, handler: Handler) -> Self {
        self.arming.handlers.push(handler);
        self
    }
}

impl Instrumenter for CallInstrumenter {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        if let Some(why) = self.refused {
            return Err(InstallError::Other(why.into()));
        }
        self.sites.arm(session, &self.arming)?;
        Ok(Installation::none())
    }
}
