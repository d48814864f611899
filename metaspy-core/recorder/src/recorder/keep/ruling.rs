//! A rule at work: it judges events, with the thresholds of their sites.

use std::ops::RangeInclusive;
use std::sync::Arc;

use metaspy_reader::blocks::{Head, Ring, Slot};
use metaspy_reader::matcher::{Matcher, Memory};

use crate::format::slot;
use crate::recorder::keep::rules::Rule;
use crate::recorder::keep::sample::Samples;
use crate::recorder::keep::threshold::Thresholds;
use crate::store::Store;

/// Ordinary events of a site that are kept: with fewer than three, nothing can be compared.
const SAMPLE: RangeInclusive<u64> = 3..=8;
/// Sites with such a sample, at most.
const SAMPLED_SITES: u64 = 16;
/// Blocks of a recording for each ordinary event of a site that is kept, and for each of all sites:
/// a small part of the kept events.
const BLOCKS_PER_SAMPLE: u64 = 256;
const BLOCKS_PER_SAMPLED: u64 = 16;

/// A rule at work.
pub(super) struct Ruling {
    pub rule: Rule,
    thresholds: Option<Thresholds>,
    /// Of the events that are not longer than the threshold of their site.
    pub samples: Samples,
    matcher: Arc<Matcher>,
    /// The outcomes of the events that may meet it, as bits.
    outcomes: u8,
    memory: Memory,
    /// How many of those who give rules want it.
    pub wanted: usize,
    /// True if it has not met the events yet that were looked at before it was added.
    pub is_new: bool,
}

/// Why an event meets a rule.
pub(super) struct Judgement {
    /// The ticks that it was compared with; 0 if the rule has no thresholds.
    pub threshold: u64,
    /// How surprising it is: the larger, the later it gives way.
    pub score: u64,
    /// Its place in the sample of its site, if it is an ordinary one.
    pub sampled: Option<usize>,
}

impl Ruling {
    pub fn new(store: &Store, rule: &Rule, blocks: u64) -> Self {
        let sample = (blocks / BLOCKS_PER_SAMPLE).clamp(*SAMPLE.start(), *SAMPLE.end());
        let sampled_sites = (blocks / BLOCKS_PER_SAMPLED / sample).clamp(1, SAMPLED_SITES);
        let matcher = store.compile(&rule.filter, 0..=0);
        let memory = matcher.memory(store);
        let thresholds = rule.quantile.map(Thresholds::new);
        let outcomes = matcher.outcomes();
        Ruling {
            thresholds,
            samples: Samples::new(sample as usize, sampled_sites as usize),
            rule: rule.clone(),
            matcher,
            outcomes,
            memory,
            wanted: 1,
            is_new: true,
        }
    }

    /// Takes names into account that came since. True if there were any.
    pub fn refresh(&mut self, store: &Store) -> bool {
        let matcher = store.compile(&self.rule.filter, 0..=0);
        let is_new = !Arc::ptr_eq(&matcher, &self.matcher);
        if is_new {
            (self.memory, self.matcher) = (matcher.memory(store), matcher);
        }
        is_new
    }

    /// True if events of a site may meet it.
    pub(crate) fn may_meet(&self, site: u32) -> bool {
        self.wanted > 0 && self.matcher.may_match_site(site)
    }

    /// Why an event that has ended is kept; `None` if it is not.
    pub fn judge(&mut self, ring: Ring<'_>, head: &Head, slot: &Slot) -> Option<Judgement> {
        if self.wanted == 0
            || !slot::has_outcome(self.outcomes, slot.outcome())
            || !self.matcher.matches(ring, head, slot, &mut self.memory)
        {
            return None;
        }
        let mut threshold = 0;
        let mut sampled = None;
        let score = match &mut self.thresholds {
            Some(thresholds) => {
                let span = slot.span()?;
                let compared = thresholds.compare(slot.site, span)?;
                threshold = compared.threshold.max(1);
                if compared.is_longer {
                    span.saturating_mul(1024) / threshold
                } else {
                    let place = self.samples.place(slot.site)?;
                    sampled = Some(place);
                    // As few as can be compared with stay. The others give way before any that
                    // meets the rule.
                    if (place as u64) < *SAMPLE.start() { u64::MAX } else { 1 }
                }
            }
            None if self.rule.asks_for_lengths() => slot.span().unwrap_or(0),
            // Of events that are equally surprising, the oldest ones give way.
            None => head.base.saturating_add(slot.start),
        };
        Some(Judgement { threshold, score, sampled })
    }
}
