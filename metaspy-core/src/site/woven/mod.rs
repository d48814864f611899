//! Woven sites: those of functions that `cargo metaspy` put a hook into, in crates that know nothing of metaspy.
//!
//! A woven crate is compiled before, after or beside the core, and may be one that the core itself depends on. So it
//! depends on [`record`] alone, and its sites stand in a section of the program. The core that the program ends up with
//! finds them there, makes a [`Site`] for each, and leaves its address behind.

mod collected;
pub mod record;

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use crate::hook::{self, Call, Entered, Guard};
use crate::site::{Site, SiteDef, SiteKind};
use crate::subject::Subject;
use record::{Agent, Frame, Kind, VERSION, Woven};

/// The source of [`record`], of which a weaver makes the crate that woven code calls.
pub const RECORD: &str = include_str!("record.rs");

/// The section of the program that woven sites stand in, where the linker takes ELF files.
pub const SECTION: &str = "metaspy_woven";

// The core makes a call in the frame of a woven function.
const _: () = assert!(size_of::<hook::Frame>() <= size_of::<Frame>() && align_of::<Call>() <= align_of::<Frame>());

/// Takes the woven sites of the program over; each has one core that did.
pub(crate) fn adopt() -> Vec<&'static Site> {
    collected::all().iter().filter(|woven| woven.version == VERSION).filter_map(take).collect()
}

fn take(woven: &'static Woven) -> Option<&'static Site> {
    // Where a program came to have two cores, the other one may have been first.
    woven.agent.compare_exchange(std::ptr::null_mut(), agent(), Relaxed, Relaxed).ok()?;
    let site: &'static Site = Box::leak(Box::new(Site::new(SiteDef {
        kind: SiteKind::Method,
        module: woven.module.get(),
        name: woven.name.get(),
        file: woven.file.get(),
        lines: woven.lines.into(),
        skipped: None,
    })));
    woven.site.store(std::ptr::from_ref(site).cast_mut().cast(), Relaxed);
    let word: &'static AtomicU64 = &site.arm;
    woven.arm.store(std::ptr::from_ref(word).cast_mut(), Release);
    Some(site)
}

fn agent() -> *mut Agent {
    static AGENT: Agent = Agent { enter, leave };
    (&raw const AGENT).cast_mut()
}

extern "C" fn enter(woven: &'static Woven, frame: *mut Frame) -> *mut u8 {
    let site: &AtomicPtr<u8> = &woven.site;
    // SAFETY: it was stored before the word that the caller has seen, and a site stays.
    let Some(site) = (unsafe { site.load(Relaxed).cast::<Site>().as_ref() }) else { return std::ptr::null_mut() };
    if woven.kind == Kind::Async {
        hook::instant(site, Subject::NONE);
        return std::ptr::null_mut();
    }
    // SAFETY: the frame is the caller's, who holds it until the call ends, and it has room for one of the core's.
    let frame: &'static mut hook::Frame = unsafe { &mut *frame.cast() };
    let entered: Entered<'static> =
        hook::count(site, Subject::NONE).unwrap_or_else(|| hook::enter_in(frame, site, Subject::NONE));
    Guard::of(entered).into_raw()
}

extern "C" fn leave(begun: *mut u8) {
    // SAFETY: `enter` took it out of a guard, and the frame is still there.
    drop(unsafe { Guard::from_raw(begun) });
}
