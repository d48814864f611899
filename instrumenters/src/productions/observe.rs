//! Productions in a profiler.

use metaspy_core::Site;
use metaspy_core::arm::Subjects;

use crate::calls::Calls;
use crate::sites::Sites;

/// Whoever has productions that can be observed.
pub trait Productions {
    /// Their sites.
    fn sites(&self) -> &[&'static Site];
}

/// Observes the productions of a grammar: each activation is an event about its input. Where it was tried is its
/// argument `at`, and what it matched is what it returned.
pub fn productions(grammar: &impl Productions) -> Calls {
    Calls::new(Sites::all(grammar.sites().to_vec(), "productions"), Subjects::All).details()
}
