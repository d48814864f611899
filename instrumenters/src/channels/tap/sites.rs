//! Sites of a tap, with a site for each kind of announcement.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use metaspy_core::site::Family;
use metaspy_core::{Site, SiteDef, SiteKind};

/// Maximum number of kinds of a tap. All further kinds share the site `others`.
const KINDS_MAX: usize = 256;

/// Name of the site of all further kinds.
const OTHERS: &str = "others";

/// Name of the site of missed messages.
const MISSED: &str = "missed";

/// Sites of a tap.
///
/// Each tap has separate sites, so that its messages are never counted by the profiler of another
/// tap. When it has ended, the next tap of the same bus takes them over, because sites are never
/// removed.
pub(super) struct TapSites {
    family: Family,
    module: &'static str,
    at: &'static Location<'static>,
    missed: &'static Site,
    by_kind: Mutex<HashMap<&'static str, &'static Site>>,
}

/// Sites of taps that have ended.
static FREE: Mutex<Vec<TapSites>> = Mutex::new(Vec::new());

impl TapSites {
    /// Returns the sites of a bus with this module, for a tap at this location.
    pub fn lease(module: &str, at: &'static Location<'static>) -> LeasedSites {
        let mut free = lock(&FREE);
        let found = free.iter().position(|sites| sites.module == module && sites.at == at);
        let sites = match found {
            Some(place) => free.swap_remove(place),
            None => TapSites::new(crate::interned::name(module), at),
        };
        LeasedSites(Some(sites))
    }

    fn new(module: &'static str, at: &'static Location<'static>) -> Self {
        let family = Family::new();
        let missed = family.register(def(module, MISSED, at));
        TapSites { family, module, at, missed, by_kind: Mutex::default() }
    }

    /// Returns the family of the sites, for arming.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Returns the module of the sites: the name of the tap.
    pub fn module(&self) -> &'static str {
        self.module
    }

    /// Returns the site of missed messages.
    pub fn missed(&self) -> &'static Site {
        self.missed
    }

    /// Returns the site of a kind. The first message of the kind registers it.
    pub fn of_kind(&self, kind: &str) -> &'static Site {
        let mut by_kind = lock(&self.by_kind);
        if let Some(site) = by_kind.get(kind) {
            return site;
        }
        let kind = if by_kind.len() < KINDS_MAX { kind } else { OTHERS };
        if let Some(site) = by_kind.get(kind) {
            return site;
        }
        let kind = kind.to_owned().leak();
        let site = self.family.register(def(self.module, kind, self.at));
        by_kind.insert(kind, site);
        site
    }
}

fn def(module: &'static str, name: &'static str, at: &'static Location<'static>) -> SiteDef {
    let lines = (at.line(), at.line());
    SiteDef { kind: SiteKind::Announcement, module, name, file: at.file(), lines, skipped: None }
}

/// Sites in use. Dropping them makes them free for the next tap.
pub(super) struct LeasedSites(Option<TapSites>);

impl std::ops::Deref for LeasedSites {
    type Target = TapSites;

    fn deref(&self) -> &TapSites {
        self.0.as_ref().expect("the sites are here until the drop")
    }
}

impl Drop for LeasedSites {
    fn drop(&mut self) {
        lock(&FREE).extend(self.0.take());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_taps_at_a_time_have_their_own_sites_and_later_ones_take_them_over() {
        let at = Location::caller();
        let (one, two) =
            (TapSites::lease("sites_of_a_test", at), TapSites::lease("sites_of_a_test", at));
        let site = one.of_kind("Moved");
        assert!(std::ptr::eq(site, one.of_kind("Moved")));
        assert!(!std::ptr::eq(site, two.of_kind("Moved")));
        drop(one);
        assert!(std::ptr::eq(site, TapSites::lease("sites_of_a_test", at).of_kind("Moved")));
        assert_eq!(site.path(), "sites_of_a_test::Moved");
    }

    #[test]
    fn kinds_without_end_share_a_site() {
        let sites = TapSites::lease("kinds_without_end", Location::caller());
        let all: Vec<_> =
            (0..1_000).map(|kind| sites.of_kind(&format!("kind_{kind}")).path()).collect();
        assert_eq!(all[KINDS_MAX - 1], "kinds_without_end::kind_255");
        assert!(all[KINDS_MAX..].iter().all(|path| path == "kinds_without_end::others"));
    }
}
