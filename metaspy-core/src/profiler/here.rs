//! Profilers of one thread: until a guard is dropped, or around a block.
//!
//! A profiler of one thread is a profiler of the process, narrowed to the event of the block and
//! its effects. Arming sites for a thread would cost each hook a comparison, and causes also follow
//! the work to other threads.

use std::fmt;

use crate::arm::{self, Arming, Mode};
use crate::event::Outcome;
use crate::hook::{self, Call};
use crate::instrumenter::Session;
use crate::profile::Profile;
use crate::profiler::{InstallError, Installed, Profiler};
use crate::site::{Site, SiteDef, SiteKind};
use crate::subject::Subject;

impl Profiler {
    /// Installs the profiler for this thread: the profile has the events of the thread until the
    /// guard is dropped, and their effects on any thread. Tests that run in parallel do not see
    /// each other:
    ///
    /// ```
    /// use metaspy_core::Profiler;
    ///
    /// let profiler = Profiler::new("test").install_here()?;
    /// // … this test, beside others …
    /// let profile = profiler.uninstall();
    /// assert_eq!(profile.counts().total(), 0);
    /// # Ok::<(), metaspy_core::InstallError>(())
    /// ```
    ///
    /// The same calls are those that its method profilers see and that their tables count. Other
    /// calls of other threads are recorded too, and run handlers; the profile leaves them out.
    /// Every call is an event, because only events have causes: modes below [`Mode::Sampled`] are
    /// raised to [`Mode::Full`]. Effects that another thread has after the guard is dropped are not
    /// in the profile.
    pub fn install_here(self) -> Result<InstalledHere, InstallError> {
        let installed = hook::meta(|| self.install_in(Session::of_block))?;
        let site = block_site();
        hook::meta(|| arm::arms().arm(installed.number(), site, Arming::all(Mode::Full)));
        let block = hook::enter(site, Subject::NONE);
        installed.begin_block(block.event());
        Ok(InstalledHere { block, installed })
    }

    /// Installs it around a block: as [`Profiler::install_here`], until the block ends.
    pub fn profile<R>(self, block: impl FnOnce() -> R) -> Result<(R, Profile), InstallError> {
        let installed = self.install_here()?;
        let value = block();
        Ok((value, installed.uninstall()))
    }
}

fn block_site() -> &'static Site {
    static SITE: Site = Site::new(SiteDef {
        kind: SiteKind::Block,
        module: "metaspy",
        name: "Profiler::profile",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
    &SITE
}

/// A profiler that is installed for one thread: dropping it uninstalls it. It stays on the thread.
#[must_use = "dropping it uninstalls the profiler"]
pub struct InstalledHere {
    // First: the block ends while its site is armed. A call is not `Send`.
    block: Call,
    installed: Installed,
}

impl InstalledHere {
    /// Uninstalls it, and returns its profile.
    pub fn uninstall(self) -> Profile {
        let InstalledHere { block, installed } = self;
        let root = block.event();
        block.done(Outcome::Returned);
        installed.uninstall().narrowed_to(root)
    }

    /// The profile so far.
    pub fn so_far(&self) -> Profile {
        self.installed.so_far().narrowed_to(self.block.event())
    }
}

impl fmt::Debug for InstalledHere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InstalledHere").field(&self.installed).finish()
    }
}
