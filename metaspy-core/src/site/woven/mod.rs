//! Woven sites: those of functions that `cargo metaspy` put a hook into, in crates that know nothing of metaspy.
//!
//! A woven crate is compiled before, after or beside the core, and may be one that the core itself depends on. So it
//! depends on a few files of the core alone, and its sites stand in a section of the program. The core that the program
//! ends up with finds them there, makes a [`Site`] for each, and leaves its address behind.

mod adapter;
mod counter_cache;
mod kinds;
mod section;

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

pub(crate) use metaspy_probe::{self as record, self as shown, self as kept};
use metaspy_probe::{VERSION, Woven};

use crate::recorder::{Lane, Row};
use crate::site::{Site, SiteDef, SiteKind};

pub(crate) use counter_cache::{Cells, Settled};

/// The section of the program that woven sites stand in, where the linker takes ELF files.
pub const SECTION: &str = "metaspy_woven";

/// The woven sites of the program that this core adopted, in the order of their numbers, which begin at 0.
static ADOPTED: OnceLock<Vec<&'static Woven>> = OnceLock::new();

/// Takes the woven sites of the program over; each has one core that did.
pub(crate) fn adopt() -> Vec<&'static Site> {
    let ours = section::all().iter().filter(|woven| woven.version == VERSION);
    // Where a program came to have two cores, the other one may have been first.
    let ours: Vec<&'static Woven> = ours
        .filter(|woven| {
            woven.agent.compare_exchange(std::ptr::null_mut(), adapter::address(), Relaxed, Relaxed).is_ok()
        })
        .collect();
    let adopted = ADOPTED.get_or_init(|| ours);
    adopted.iter().zip(0..).map(|(woven, number)| take(woven, number)).collect()
}

/// The woven sites, in the order of their numbers.
pub(crate) fn adopted() -> &'static [&'static Woven] {
    ADOPTED.get().map_or(&[], Vec::as_slice)
}

fn take(woven: &'static Woven, number: u64) -> &'static Site {
    let is_async = woven.facts.get().split(' ').any(|word| word == "async");
    let def = SiteDef {
        kind: if is_async { SiteKind::Async } else { SiteKind::Method },
        module: woven.module.get(),
        name: woven.name.get(),
        file: woven.file.get(),
        lines: woven.lines.into(),
        skipped: None,
    };
    let site: &'static Site = Box::leak(Box::new(Site::with_facts(def, woven.facts.get())));
    woven.site.store(std::ptr::from_ref(site).cast_mut().cast(), Relaxed);
    woven.number.store(number, Relaxed);
    aim(woven, &site.tally, &site.arm);
    site
}

/// The core's site of a woven one.
pub(crate) fn site_of(woven: &'static Woven) -> Option<&'static Site> {
    // SAFETY: it is null, or was stored when the site was adopted, and sites stay.
    unsafe { woven.site.load(Relaxed).cast::<Site>().as_ref() }
}

/// The row that its calls are recorded in, if that is only counting; an error if it is more.
pub(crate) fn row_of(woven: &'static Woven, lane: &'static Lane) -> Result<Option<Row<'static>>, ()> {
    match site_of(woven).filter(|site| site.is_armed()).map(|site| site.tally.load(Relaxed)) {
        None => Ok(None),
        Some(0) => Err(()),
        Some(tally) => counted_in(lane, tally).map(Some).ok_or(()),
    }
}

/// The row of a site that only counts.
fn counted_in(lane: &'static Lane, tally: u64) -> Option<Row<'static>> {
    lane.near.look(0, tally).or_else(|| lane.near.look_further(0, tally))
}

/// Tells a site to look at the words of the core's.
pub(crate) fn aim_at_its_site(woven: &'static Woven) {
    if let Some(site) = site_of(woven) {
        aim(woven, &site.tally, &site.arm);
    }
}

/// Tells a site where to look.
pub(crate) fn aim(woven: &'static Woven, tally: &'static AtomicU64, arm: &'static AtomicU64) {
    woven.tally.store(std::ptr::from_ref(tally).cast_mut(), Release);
    woven.arm.store(std::ptr::from_ref(arm).cast_mut(), Release);
}
