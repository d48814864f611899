//! Thresholds that adapt: how long the events of each site usually take.

use sketches_ddsketch::{Config, DDSketch};

use crate::format::hash;

/// Sites with a threshold at most. Others have none.
const SITES: usize = 4096;
/// A threshold is known from events of which so many are expected above it.
const ABOVE: f64 = 2.0;
/// When a site has so many times the events that a threshold needs, a fair part of them is enough:
/// one in [`PART`].
const MANY: u64 = 16;
const PART: u64 = 4;
/// Events of a site between two updates of its threshold, at most.
const UPDATE: u64 = 1024;

/// The thresholds of one quantile, by site.
pub(super) struct Thresholds {
    quantile: f64,
    /// Events that are seen before there is a threshold.
    least: u64,
    /// By the number of the site.
    sites: Vec<Option<Box<Site>>>,
    /// Number of sites with a threshold.
    used: usize,
}

/// An event beside those of its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compared {
    /// In ticks.
    pub threshold: u64,
    pub is_longer: bool,
}

struct Site {
    sketch: DDSketch,
    seen: u64,
    /// The number of events at which the threshold is computed next.
    next: u64,
    /// [`u64::MAX`] while it is not known.
    ticks: u64,
}

impl Thresholds {
    pub fn new(quantile: f64) -> Self {
        let least = (ABOVE / (1.0 - quantile)).ceil() as u64;
        Thresholds { quantile, least, sites: Vec::new(), used: 0 }
    }

    /// Takes an event into account, and compares it with those before. `None` while there are too
    /// few.
    pub fn compare(&mut self, site: u32, span: u64) -> Option<Compared> {
        let at = site as usize;
        if self.sites.len() <= at {
            self.sites.resize_with(at + 1, || None);
        }
        let place = &mut self.sites[at];
        if place.is_none() {
            if self.used >= SITES {
                return None;
            }
            self.used += 1;
        }
        let site = place.get_or_insert_with(|| Box::new(Site::new(self.least)));
        let before = site.ticks;
        if site.seen < MANY.saturating_mul(self.least)
            || hash::scatter(site.seen).is_multiple_of(PART)
        {
            site.sketch.add(span as f64);
        }
        site.seen += 1;
        if site.seen >= site.next {
            // A copy of the rule's quantile of the lengths seen so far, this event included.
            site.ticks = match site.sketch.quantile(self.quantile) {
                Ok(Some(ticks)) => ticks.ceil() as u64,
                _ => u64::MAX,
            };
            site.next = site.seen + (site.seen / 8).clamp(1, UPDATE);
        }
        // An event does not count among those that it is compared with.
        (before != u64::MAX).then_some(Compared { threshold: before, is_longer: span > before })
    }
}

impl Site {
    fn new(least: u64) -> Self {
        // Within 1 %, in at most 2048 numbers.
        Site { sketch: DDSketch::new(Config::defaults()), seen: 0, next: least, ticks: u64::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_longer_than_almost_all_of_its_site_exceeds_the_threshold() {
        let mut thresholds = Thresholds::new(0.99);
        assert_eq!(thresholds.compare(1, 1 << 30), None, "nothing is known yet");
        for number in 0..10_000 {
            thresholds.compare(1, 1000 + number % 100);
            thresholds.compare(2, 1_000_000);
        }
        let long = thresholds.compare(1, 5_000).expect("there were many");
        assert!(long.is_longer && (1050..1150).contains(&long.threshold), "{long:?}");
        let usual = [(2, 500_000), (1, 1000)]
            .map(|(site, span)| thresholds.compare(site, span).expect("it is known"));
        assert!(usual.iter().all(|compared| !compared.is_longer), "{usual:?}");
    }
}
