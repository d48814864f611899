//! Rules of a profiler that keep events in the recording.

use crate::instrumenter::{Installation, Instrumenter, Session};
use crate::profiler::InstallError;
use crate::recorder::AddedRules;

/// Keeps the events that meet its rules while the profiler is installed.
pub(super) struct Keep(pub String);

impl Instrumenter for Keep {
    fn install(&mut self, _: &mut Session) -> Result<Installation, InstallError> {
        let added =
            AddedRules::add(&self.0).map_err(|error| InstallError::Other(Box::new(error)))?;
        Ok(Installation::with_guard(added))
    }
}
