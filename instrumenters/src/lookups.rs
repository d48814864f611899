//! Observation of caches: hits, misses and the cost of misses.

use std::panic::Location;

use metaspy_core::hook::{self, Call};
use metaspy_core::{Identify, ObjectId, Outcome, Site, SiteKind, Subject};

use crate::dynamic_sites;

/// Observer of a cache's lookups, at the sites `name::hit`, `name::miss` and `name::fill`.
///
/// The cache itself is of any type, and stays as it is. The subject of the events is the key of the
/// lookup.
/// Without the feature `record`, a lookup only calls its closure.
///
/// ```
/// use std::collections::HashMap;
///
/// use metaspy::Lookups;
/// use metaspy::prelude::*;
///
/// struct Glyphs { cache: HashMap<char, u32>, lookups: Lookups }
///
/// impl Glyphs {
///     fn width(&mut self, glyph: char) -> u32 {
///         if let Some(width) = self.lookups.look_up(glyph, || self.cache.get(&glyph).copied()) {
///             return width;
///         }
///         let width = self.lookups.fill(glyph, || glyph as u32 % 7);
///         self.cache.insert(glyph, width);
///         width
///     }
/// }
///
/// let mut glyphs = Glyphs { cache: HashMap::new(), lookups: Lookups::new("glyphs") };
/// let ((), profile) = Profiler::new("glyphs").observe(methods("glyphs::*")).profile(|| {
///     "abba".chars().for_each(|glyph| _ = glyphs.width(glyph));
/// })?;
/// let counts = profile.counts().by_site();
/// assert_eq!(counts.at("glyphs::hit").unwrap().measure.count, 2);
/// assert_eq!(counts.at("glyphs::miss").unwrap().measure.count, 2);
/// # Ok::<(), metaspy::InstallError>(())
/// ```
#[derive(Debug)]
pub struct Lookups {
    hit: &'static Site,
    miss: &'static Site,
    fill: &'static Site,
    cache: ObjectId,
}

impl Lookups {
    /// Creates the observer of a cache with this name.
    #[track_caller]
    pub fn new(name: &'static str) -> Self {
        let at = Location::caller();
        let site = |what| dynamic_sites::site(SiteKind::State, "", format!("{name}::{what}"), at);
        Lookups {
            hit: site("hit"),
            miss: site("miss"),
            fill: site("fill"),
            cache: ObjectId::of::<Lookups>(),
        }
    }

    /// Looks up a key. A lookup with a value is a hit, otherwise a miss.
    #[inline]
    pub fn look_up<V>(&self, key: impl Identify, look_up: impl FnOnce() -> Option<V>) -> Option<V> {
        let found = look_up();
        let site = if found.is_some() { self.hit } else { self.miss };
        if site.is_armed() {
            hook::instant(site, hook::subject(|| key.identify()));
        }
        found
    }

    /// Makes the value of a missed key. The time and the effects of `make` are the cost of the
    /// miss.
    #[inline]
    pub fn fill<V>(&self, key: impl Identify, make: impl FnOnce() -> V) -> V {
        let is_armed = self.fill.is_armed();
        let call = if is_armed {
            hook::enter(self.fill, hook::subject(|| key.identify()))
        } else {
            Call::inert()
        };
        let value = make();
        call.done(Outcome::Returned);
        value
    }
}

/// The identity is that of the cache, for keys without an identity: `look_up(&lookups, …)`.
impl Identify for Lookups {
    fn identify(&self) -> Subject {
        self.cache.identify()
    }
}
