//! Times of types and packages: groups of sites, each in another group.
//!
//! The total of a type is the union of its calls, read from the window in one pass. The sum of the
//! totals of its methods counts time twice, because they call each other. Each receiver of a type
//! counts once.
//!
//! The total of a group is an upper bound once calls of several of its sites have left the window.
//! A row of folded calls has their time outside other calls at their site or on their subject, not
//! outside calls of their type. For that, a folder would have to know the types and packages of all
//! sites. A reader finds these from the facts of all methods together, and a row would need a time
//! for each package around its site. More room for events (`METASPY_BUDGET`) keeps the total exact.

use crate::Store;
use crate::event::{EventId, Outcome};
use crate::filter::Filter;
use crate::measure::Measure;
use crate::ring::blocks::{Block, Record};
use crate::ring::links::Links;
use crate::tally::aggregate::PartialTally;
use crate::tally::cover::{Cover, Covers};
use crate::tally::{By, Scope, Tally};
use metaspy_format::slot::{self, Mark};

/// Groups of sites.
#[derive(Clone, Debug, Default)]
pub struct SiteGroups {
    /// Innermost group of each site, by the number of the site.
    pub of_site: Vec<Option<usize>>,
    /// Group around each group, which has a smaller number.
    pub around: Vec<Option<usize>>,
}

/// Time in which at least one call of a group was open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTotal {
    /// Number of ticks. A call inside another call of the group adds nothing.
    pub ticks: u64,
    /// True if some time may count twice, because calls of several sites left the window, or wait
    /// side by side.
    pub at_most: bool,
}

/// Sums of a group.
#[derive(Clone, Copy, Default)]
struct Sum {
    cover: Cover,
    ticks: u64,
    at_most: bool,
    has_folded: bool,
    /// First site with timed calls.
    site: Option<u32>,
    has_several_sites: bool,
}

impl SiteGroups {
    /// Iterates over the groups around a site, the innermost group first.
    fn around_site(&self, site: u32) -> impl Iterator<Item = usize> {
        let innermost = self.of_site.get(site as usize).copied().flatten();
        let outer = |&group: &usize| {
            self.around.get(group).copied().flatten().filter(|&outer| outer < group)
        };
        std::iter::successors(innermost.filter(|&group| group < self.around.len()), outer)
    }
}

impl Store {
    /// Returns the time of each group, over the calls that match a filter. `by_site` is the tally
    /// of these calls by site.
    pub fn group_totals(
        &self,
        groups: &SiteGroups,
        filter: &Filter,
        by_site: &Tally,
    ) -> Vec<GroupTotal> {
        let mut sums = vec![Sum::default(); groups.around.len()];
        let scope = Scope::matching(filter.clone());
        self.add_window(groups, &scope, &mut sums);
        self.add_folded(groups, &scope, &mut sums);
        let of_site =
            |site: u32| by_site.rows.iter().find(|row| row.site.is_some_and(|it| it.0 == site));
        let total = |sum: Sum| match sum.site.and_then(of_site) {
            // The same calls, of which more is known.
            Some(row) if !sum.has_several_sites => row.measure,
            _ => Measure {
                timed: u64::from(sum.site.is_some()),
                total_ticks: sum.ticks,
                total_at_most: sum.at_most || (sum.has_folded && sum.has_several_sites),
                ..Measure::default()
            },
        };
        let mut totals: Vec<Measure> = sums.into_iter().map(total).collect();
        self.limit_totals(totals.iter_mut());
        let total = |measure: Measure| GroupTotal {
            ticks: measure.total_ticks,
            at_most: measure.total_at_most,
        };
        totals.into_iter().map(total).collect()
    }

    fn add_window(&self, groups: &SiteGroups, scope: &Scope, sums: &mut [Sum]) {
        let ring = self.ring();
        let folds = self.ring().folds();
        let matcher = self.compile(&scope.filter, scope.levels());
        let links = if matcher.follows_reasons() { self.all_links() } else { Links::none() };
        let mut memory = matcher.memory_with(&links);
        let asyncs = self.asyncs();
        let mut covers = Covers::default();
        let mut block = Block::boxed();
        for place in ring.units().iter().flat_map(|unit| unit.places(ring)) {
            if !ring.load_stored(place, &folds, &mut block) {
                continue;
            }
            let head = block.head;
            let mut now = head.base;
            for record in block.records() {
                let slot = match record {
                    Record::Event(slot) => slot,
                    Record::Mark(mark) if mark.mark == Mark::Polls => {
                        let call = EventId::from_raw(mark.event).and_then(|id| ring.peek(id));
                        if let Some((_, slot)) =
                            call.filter(|(of, slot)| matcher.matches(ring, of, slot, &mut memory))
                        {
                            // Other calls of the group may be inside its polls.
                            groups
                                .around_site(slot.site)
                                .for_each(|at| sums[at].add(slot.site, mark.words[0], true));
                        }
                        continue;
                    }
                    Record::Mark(_) => continue,
                };
                now = head.base.saturating_add(slot.start);
                let is_async = asyncs.get(slot.site as usize).copied().unwrap_or(false);
                let is_polled = is_async && slot::has_details_at_end(slot::details(slot.end));
                let span = slot.span().filter(|_| !is_polled && slot.outcome() != Outcome::Instant);
                let Some(span) = span.filter(|_| matcher.matches(ring, &head, &slot, &mut memory))
                else {
                    continue;
                };
                for at in groups.around_site(slot.site) {
                    let end = now.saturating_add(span);
                    let added = covers.add(&mut sums[at].cover, at as u32, head.lane, now, end);
                    sums[at].add(slot.site, added, false);
                }
            }
            covers.leave(head.lane, now);
        }
    }

    /// Adds calls that left the window. If they belong to several sites, the calls around them are
    /// not known.
    fn add_folded(&self, groups: &SiteGroups, scope: &Scope, sums: &mut [Sum]) {
        let matcher = self.compile(&scope.filter, scope.levels());
        let mut part = PartialTally::new();
        self.add_rows(&mut part, By::Site, scope, &matcher, &self.ring().folds());
        for row in
            part.into_tally(By::Site, scope.detail).rows.iter().filter(|row| row.measure.timed > 0)
        {
            let Some(site) = row.site.map(|site| site.0) else { continue };
            for at in groups.around_site(site) {
                sums[at].add(site, row.measure.total_ticks, row.measure.total_at_most);
                sums[at].has_folded = true;
            }
        }
    }
}

impl Sum {
    #[inline]
    fn add(&mut self, site: u32, ticks: u64, at_most: bool) {
        self.ticks = self.ticks.saturating_add(ticks);
        self.at_most |= at_most;
        self.has_several_sites |= self.site.is_some_and(|known| known != site);
        self.site = Some(site);
    }
}
