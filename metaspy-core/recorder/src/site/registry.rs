//! All sites of the process: those that the linker collected, observed and woven ones, and those
//! that instrumenters made at run time.

use std::ptr::null_mut;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
use std::sync::{OnceLock, RwLock};

use metaspy_probe::{Adapter, Cell};

use crate::format::slot::FIRST_MARK;
use crate::platform::fork_gate::Unforked;
use crate::site::entered::note_entered;
use crate::site::{Family, Site, SiteDef, SiteId, section};

/// A site of this process, with its number.
#[derive(Clone, Copy, Debug)]
pub struct SiteEntry {
    /// Its number.
    pub id: SiteId,
    /// The site.
    pub site: &'static Site,
}

static ALL: OnceLock<RwLock<Vec<&'static Site>>> = OnceLock::new();

/// How many sites the linker collected: they have the first numbers, from 1 on, and only they have
/// cells. Set once, before any of them is armed.
pub(crate) static LINKED: AtomicUsize = AtomicUsize::new(0);

/// Learns of sites that are made at run time.
static WATCHER: OnceLock<fn(&'static Site)> = OnceLock::new();

/// The adapter of this core; null until a profiler is installed for the first time.
static ADAPTER: AtomicPtr<Adapter> = AtomicPtr::new(null_mut());

/// Gives all sites the adapter that their armed hooks call. Call this before a site is armed.
pub fn provide(adapter: *mut Adapter) {
    let _unforked = Unforked::begin();
    let sites = all().write().unwrap_or_else(|poisoned| poisoned.into_inner());
    if ADAPTER.swap(adapter, Release).is_null() {
        sites.iter().for_each(|site| site.adapter.store(adapter, Release));
        for door in section::doors() {
            door.adapter.store(adapter, Release);
            door.arm.store(1, Release);
        }
    }
}

/// All sites. The linked ones are adopted and numbered here, once, in link order.
fn all() -> &'static RwLock<Vec<&'static Site>> {
    ALL.get_or_init(|| {
        let mut sites: Vec<&'static Site> = Vec::new();
        for site in section::linked_sites().take(FIRST_MARK as usize - 1) {
            // If a program contains two cores, the number belongs to the first one.
            if site.id.compare_exchange(0, sites.len() as u32 + 1, Relaxed, Relaxed).is_ok() {
                aim(site);
                sites.push(site);
                note_kind(sites.len() as u32, site);
                site.cell.store((sites.len() * size_of::<Cell>()) as u32, Relaxed);
            }
        }
        LINKED.store(sites.len(), Relaxed);
        RwLock::new(sites)
    })
}

/// Lets folders tell events that are entered and left from calls.
fn note_kind(id: u32, site: &Site) {
    if site.kind().is_entered() {
        note_entered(id);
    }
}

/// Lets cells be compared with the site's own tally word.
fn aim(site: &'static Site) {
    site.counted.store((&raw const site.tally).cast_mut(), Release);
}

/// Lets cells be compared with another word, or again with the site's own. Sites that were made at
/// run time have no cells.
pub fn compare_with(site: &'static Site, word: Option<&'static AtomicU64>) {
    match word {
        _ if site.id.load(Relaxed) as usize > LINKED.load(Relaxed) => {}
        Some(word) => site.counted.store(std::ptr::from_ref(word).cast_mut(), Release),
        None => aim(site),
    }
}

/// Every site of the process, armed or not, observed or skipped.
pub fn entries() -> Vec<SiteEntry> {
    entries_since(0)
}

/// Sites from the `from`th on.
pub fn entries_since(from: usize) -> Vec<SiteEntry> {
    let _unforked = Unforked::begin();
    let sites = all().read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let numbered = sites.iter().enumerate().skip(from);
    numbered.map(|(at, &site)| SiteEntry { id: SiteId(at as u32 + 1), site }).collect()
}

/// The number of a registered site; registers it if it was made at run time or loaded later.
pub fn entry(site: &'static Site) -> SiteEntry {
    let _unforked = Unforked::begin();
    let mut sites = all().write().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut id = site.id.load(Relaxed);
    if id == 0 {
        // Made at run time, or part of a library that was loaded later.
        site.adapter.store(ADAPTER.load(Relaxed), Release);
        sites.push(site);
        id = (sites.len() as u32).min(FIRST_MARK - 1);
        note_kind(id, site);
        site.id.store(id, Relaxed);
    }
    SiteEntry { id: SiteId(id), site }
}

/// The site with this number.
pub fn by_id(id: SiteId) -> Option<&'static Site> {
    let _unforked = Unforked::begin();
    let sites = all().read().unwrap_or_else(|poisoned| poisoned.into_inner());
    sites.get((id.0 as usize).checked_sub(1)?).copied()
}

/// Makes a site at run time: a production of a grammar that was read from a file, say. It lives as
/// long as the process.
pub fn register_dynamic(def: SiteDef) -> &'static Site {
    register_dynamic_in(Family::NONE, def)
}

/// Sets the function that learns of sites that are made at run time from now on: the recorder's.
pub(crate) fn watch_registrations(watcher: fn(&'static Site)) {
    WATCHER.get_or_init(|| watcher);
}

pub(crate) fn register_dynamic_in(family: Family, def: SiteDef) -> &'static Site {
    let site: &'static Site = Box::leak(Box::new(Site::in_family(family.number(), def)));
    entry(site);
    if let Some(watcher) = WATCHER.get() {
        watcher(site);
    }
    site
}
