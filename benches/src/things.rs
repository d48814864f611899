//! The objects that are called, and the one trivial method in all the ways it can be observed.
//!
//! Every method does the same: it adds to a word of its object and returns it. None is inlined.

use std::hint::black_box;

use metaspy::hook::{self, Call};
use metaspy::{Identify, Outcome, Site, SiteDef, SiteKind, observe};
use metaspy_probe::{Frame, Guard, Object};

use crate::clock;

/// A dense key: 0, 1, 2, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Identify)]
pub struct Dense(pub u32);

/// An arbitrary key of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Identify)]
pub struct Wide(pub u64);

/// One of the objects: 16 bytes, so that a thousand of them leave room in the first cache. What
/// larger ones cost is theirs, and shown by the rows of a million.
#[derive(Debug, Identify)]
pub struct Thing {
    /// Its number.
    #[identify(same)]
    pub dense: Dense,
    value: u32,
    /// A number as hashes are.
    pub wide: Wide,
}

impl Thing {
    /// The thing with this number.
    pub fn new(number: usize) -> Thing {
        let wide = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Thing { dense: Dense(number as u32), wide: Wide(wide ^ wide >> 29), value: 0 }
    }

    /// What each of the methods does.
    #[inline(always)]
    pub fn work(&mut self, by: u64) -> u64 {
        self.value = self.value.wrapping_add(by as u32);
        self.value.into()
    }

    /// The plain call.
    #[inline(never)]
    pub fn plain(&mut self, by: u64) -> u64 {
        self.work(by)
    }

    /// The plain call between two readings of the clock.
    #[inline(always)]
    pub fn between_clocks(&mut self, by: u64) -> u64 {
        let before = clock::ticks();
        let value = self.plain(by);
        black_box(clock::ticks().wrapping_sub(before));
        value
    }
}

#[observe]
impl Thing {
    /// Observed, about the dense key: the one that is measured as *unarmed*, *sampled*, *full* and
    /// so on.
    #[observe(subject = self.dense)]
    #[inline(never)]
    pub fn by_dense(&mut self, by: u64) -> u64 {
        self.work(by)
    }

    /// Observed, about the arbitrary key.
    #[observe(subject = self.wide)]
    #[inline(never)]
    pub fn by_wide(&mut self, by: u64) -> u64 {
        self.work(by)
    }

    /// Observed, with the subject of the receiver's `Identify`.
    #[inline(never)]
    pub fn by_receiver(&mut self, by: u64) -> u64 {
        self.work(by)
    }
}

/// Observed, without a subject.
#[observe]
#[inline(never)]
pub fn by_none(thing: &mut Thing, by: u64) -> u64 {
    thing.work(by)
}

/// A thousand calls: the cause of each of them.
#[observe]
#[inline(never)]
pub fn batch(run: &mut dyn FnMut()) {
    run();
}

/// The same hook without a macro.
#[inline(never)]
pub fn by_hand(thing: &mut Thing, by: u64) -> u64 {
    let call = if BY_HAND.is_armed() {
        hook::enter(&BY_HAND, thing.dense.identify())
    } else {
        Call::inert()
    };
    let value = thing.work(by);
    call.done(Outcome::Returned);
    value
}

metaspy::instrumenter::register! {
    /// The site of [`by_hand`].
    pub static BY_HAND: Site = Site::new(SiteDef {
        kind: SiteKind::Method,
        module: module_path!(),
        name: "by_hand",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
}

/// The same hook as `cargo metaspy` inserts it: `metaspy_probe::hook!`, whose site is known here.
#[inline(never)]
pub fn by_weaver(thing: &mut Thing, by: u64) -> u64 {
    let mut frame = Frame::vacant();
    let _guard = Guard::begin(&WOVEN, &mut frame, Object::NONE);
    thing.work(by)
}

metaspy_probe::register! {
    /// The site of [`by_weaver`].
    pub static WOVEN: Site = Site::woven(module_path!(), "by_weaver", file!(), (line!(), line!()), "");
}

/// As [`by_weaver`], with `--returns`: `metaspy_probe::whole!`.
#[inline(never)]
pub fn by_weaver_whole(thing: &mut Thing, by: u64) -> u64 {
    let mut frame = Frame::vacant();
    let mut guard = Guard::begin(&WOVEN_WHOLE, &mut frame, Object::NONE);
    let value = thing.work(by);
    if guard.is_seen() {
        metaspy_probe::apart(|| guard.returned(&metaspy_probe::value!(own any "", value)));
    }
    value
}

metaspy_probe::register! {
    /// The site of [`by_weaver_whole`]. Its facts do not say that its hook sees values: where one
    /// does, `TestCoverage` counts the calls that each call makes, at all sites.
    pub static WOVEN_WHOLE: Site = Site::woven(module_path!(), "by_weaver_whole", file!(), (line!(), line!()), "c=1");
}

/// As [`by_weaver`], of a method: its calls are about the object.
#[inline(never)]
pub fn by_weaver_on(thing: &mut Thing, by: u64) -> u64 {
    let mut frame = Frame::vacant();
    let _guard = Guard::begin(&WOVEN_ON, &mut frame, Object::of(thing));
    thing.work(by)
}

metaspy_probe::register! {
    /// The site of [`by_weaver_on`].
    pub static WOVEN_ON: Site = Site::woven(module_path!(), "by_weaver_on", file!(), (line!(), line!()), "c=1 self=mut");
}

/// As [`by_weaver`], where a run only counts: `metaspy_probe::entry!`.
#[inline(never)]
pub fn by_entry(thing: &mut Thing, by: u64) -> u64 {
    ENTRY.entered();
    thing.work(by)
}

metaspy_probe::register! {
    /// The site of [`by_entry`]. Its facts, as those of the next one, do not say that its hook is
    /// light: a program that has such hooks gets no larger ones, and no profiler for these.
    pub static ENTRY: Site = Site::woven(module_path!(), "by_entry", file!(), (line!(), line!()), "c=1");
}

/// As [`by_weaver_on`], where a run counts and shows objects: `metaspy_probe::covered!`.
#[inline(never)]
pub fn by_covered_on(thing: &mut Thing, by: u64) -> u64 {
    COVERED_ON.covered_on(thing);
    thing.work(by)
}

metaspy_probe::register! {
    /// The site of [`by_covered_on`].
    pub static COVERED_ON: Site =
        Site::woven(module_path!(), "by_covered_on", file!(), (line!(), line!()), "c=1 self=mut");
}

/// An object without any identity: its calls are about the place where it is.
#[derive(Debug)]
pub struct Placed(Thing);

impl Placed {
    /// The object with this number.
    pub fn new(number: usize) -> Placed {
        Placed(Thing::new(number))
    }
}

#[observe]
impl Placed {
    /// Observed like a plain `impl`, without options.
    #[inline(never)]
    pub fn by_place(&mut self, by: u64) -> u64 {
        self.0.work(by)
    }
}
