//! All sites of the process: those that the linker collected, woven ones among them, and those that instrumenters made
//! at run time.

use std::sync::atomic::Ordering;
use std::sync::{OnceLock, RwLock};

use linkme::distributed_slice;

use crate::format::slot::FIRST_MARK;
use crate::site::{Family, Site, SiteDef, SiteId, woven};

/// The sites that the linker collected, before `main`.
#[distributed_slice]
pub static SITES: [Site];

/// A site of this process, with its number.
#[derive(Clone, Copy, Debug)]
pub struct SiteEntry {
    /// Its number.
    pub id: SiteId,
    /// The site.
    pub site: &'static Site,
}

static ALL: OnceLock<RwLock<Vec<&'static Site>>> = OnceLock::new();

/// All sites. Numbers are given here, once, in link order.
fn all() -> &'static RwLock<Vec<&'static Site>> {
    ALL.get_or_init(|| {
        let linked = SITES.iter().chain(woven::adopt());
        let sites: Vec<&'static Site> = linked.take(FIRST_MARK as usize - 1).collect();
        for (at, site) in sites.iter().enumerate() {
            site.id.store(at as u32 + 1, Ordering::Relaxed);
        }
        RwLock::new(sites)
    })
}

/// Every site of the process, armed or not, observed or skipped.
pub fn entries() -> Vec<SiteEntry> {
    entries_since(0)
}

/// The number of sites: the highest number that one has.
pub(crate) fn count() -> usize {
    all().read().unwrap_or_else(|poisoned| poisoned.into_inner()).len()
}

/// Sites from the `from`th on.
pub(crate) fn entries_since(from: usize) -> Vec<SiteEntry> {
    let sites = all().read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let numbered = sites.iter().enumerate().skip(from);
    numbered.map(|(at, &site)| SiteEntry { id: SiteId(at as u32 + 1), site }).collect()
}

/// The number of a registered site; registers it if it was made at run time or loaded later.
pub fn entry(site: &'static Site) -> SiteEntry {
    let mut sites = all().write().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut id = site.id.load(Ordering::Relaxed);
    if id == 0 {
        sites.push(site);
        id = (sites.len() as u32).min(FIRST_MARK - 1);
        site.id.store(id, Ordering::Relaxed);
    }
    SiteEntry { id: SiteId(id), site }
}

/// The site with this number.
pub(crate) fn by_id(id: SiteId) -> Option<&'static Site> {
    let sites = all().read().unwrap_or_else(|poisoned| poisoned.into_inner());
    sites.get((id.0 as usize).checked_sub(1)?).copied()
}

/// Makes a site at run time: a production of a grammar that was read from a file, say. It lives as long as the
/// process.
pub fn register_dynamic(def: SiteDef) -> &'static Site {
    register_dynamic_in(Family::NONE, def)
}

pub(crate) fn register_dynamic_in(family: Family, def: SiteDef) -> &'static Site {
    let site: &'static Site = Box::leak(Box::new(Site::of_family(family, def)));
    entry(site);
    crate::arm::arms().meet(site);
    site
}
