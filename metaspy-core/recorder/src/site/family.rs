//! Families: sites that belong together, and are registered one by one.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::site::{Site, SiteDef, register_dynamic_in};

/// Sites that are registered while a program runs and belong together: the kinds of announcements
/// of one bus, for example. Arming a family arms its later sites, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Family(u32);

impl Family {
    /// The family of a site that belongs to none.
    #[doc(hidden)]
    pub const NONE: Family = Family(0);

    /// Its number; 0 = none.
    #[doc(hidden)]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// A family without sites.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        Family(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes a site of this family. It lives as long as the process.
    pub fn register(self, def: SiteDef) -> &'static Site {
        register_dynamic_in(self, def)
    }
}

impl Default for Family {
    fn default() -> Self {
        Self::new()
    }
}
