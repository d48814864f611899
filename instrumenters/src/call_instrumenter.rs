//! Instrumenter of calls: sites, subjects, mode, and handlers.

use metaspy_core::arm::{Arming, Mode, Subjects};
use metaspy_core::hook::{CallView, Handler};
use metaspy_core::instrumenter::Installation;
use metaspy_core::{InstallError, Instrumenter, Session};

use crate::sites::Sites;

/// Instrumenter that observes calls at some sites, on some subjects. [`methods`](crate::methods()),
/// [`objects`](crate::objects()),
/// [`group`](crate::group()), [`on`](crate::on()) and others return it.
///
/// ```
/// use metaspy::prelude::*;
///
/// # #[observe]
/// # fn lay_out(width: u32) -> u32 { width }
/// let ((), profile) = Profiler::new("layout")
///     .observe(methods(site!(lay_out)).mode(Mode::Tally)) // count, without events
///     .profile(|| (0..3).for_each(|width| _ = lay_out(width)))?;
/// assert_eq!(profile.counts().total(), 3);
/// # Ok::<(), InstallError>(())
/// ```
#[derive(Debug)]
#[must_use = "an instrumenter does nothing until a profiler installs it"]
pub struct CallInstrumenter {
    sites: Sites,
    arming: Arming,
    /// Reason for which the instrumenter cannot be installed.
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

    /// Sets the mode of observation, which is [`Mode::Full`] by default.
    ///
    /// [`Mode::Tally`] switches details off; call [`details`](Self::details) afterwards to have
    /// both.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.arming.mode = mode;
        self.arming.details &= mode > Mode::Tally;
        self
    }

    /// Counts and links all calls, and times every `n`th call.
    pub fn sampled(mut self, n: u16) -> Self {
        self.arming.sample = n;
        self.mode(Mode::Sampled)
    }

    /// Records the arguments and return values that the sites offer.
    pub fn details(mut self) -> Self {
        self.arming.details = true;
        self
    }

    /// Runs `handler` before each call.
    ///
    /// Handlers run in install order. The functions that a handler calls are not observed, and a
    /// panic in it is caught.
    pub fn before(self, handler: impl Fn(&CallView<'_>) + Send + Sync + 'static) -> Self {
        self.with(Handler::before(handler))
    }

    /// Runs `handler` after each call, which then has an outcome. The last installed handler runs
    /// first.
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
