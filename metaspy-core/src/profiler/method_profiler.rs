//! Method profilers as instrumenters.
//!
//! A method profiler arms its methods in tally mode, and has no counter of executions of its own.
//! There is then one number, however many profilers are installed.

use std::sync::Arc;

use crate::arm::{Arming, Mode};
use crate::instrumenter::{Installation, Instrumenter, Session};
use crate::method_profilers::{self, MethodProfiler};
use crate::profiler::InstallError;
use crate::site::{self, Site};

/// Installs a method profiler as a part of a [`Profiler`](crate::Profiler).
pub(crate) struct Instrument<P>(pub Option<P>);

impl<P: MethodProfiler> Instrumenter for Instrument<P> {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        let Some(profiler) = self.0.take() else { return Ok(Installation::none()) };
        let is_enough = |site: &Site| {
            !site.is_entry()
                || P::ONLY_CONTEXTS && site.has_context()
                || P::ONLY_BEGINNINGS && site.shows_objects()
        };
        if let Some(entry) = site::entries().iter().find(|entry| !is_enough(entry.site)) {
            return Err(InstallError::OnlyCounts { site: entry.site.path() });
        }
        let installed = method_profilers::install(profiler, session.profiler(), session.block())?;
        let observer = Arc::clone(installed.observer());
        session.add_method_profiler(Arc::clone(&observer));
        // How often a method ran is the count of its tally.
        let sites = site::entries();
        let observed = sites.iter().filter(|entry| observer.is_interested(entry.id.0 as usize));
        observed
            .into_iter()
            .try_for_each(|entry| session.arm(entry.site, Arming::all(Mode::Tally)))?;
        Ok(Installation::with_guard(installed))
    }
}
