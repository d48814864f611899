//! The order of findings: the most expensive first, and what another finding implies below that one.

use std::collections::HashSet;

use metaspy_probe::SiteId;
use metaspy_reader::EventId;

use super::{Context, Finding, Whole};

/// Maximum number of causes of an event that are examined.
const CAUSES_MAX: usize = 256;

/// Completes findings and puts them in order.
pub(super) fn ranked(mut found: Vec<Finding>, context: &Context<'_>) -> Vec<Finding> {
    for finding in &mut found {
        complete(finding, context);
    }
    found.sort_by(|a, b| {
        let size = |it: &Finding| (it.cost.share_ppm(), it.cost.time_ns, it.cost.events);
        size(b).cmp(&size(a)).then_with(|| a.fingerprint.cmp(&b.fingerprint))
    });
    let implied = implied(&found, context);
    let tops: Vec<Option<usize>> = (0..found.len()).map(|at| top(&implied, at)).collect();
    let mut order = Vec::with_capacity(found.len());
    for first in (0..found.len()).filter(|&at| tops[at].is_none()) {
        let place = order.len();
        order.push((first, None));
        order.extend((0..found.len()).filter(|&at| tops[at] == Some(first)).map(|at| (at, Some(place))));
    }
    let mut found: Vec<Option<Finding>> = found.into_iter().map(Some).collect();
    let taken = order.into_iter().filter_map(|(at, by)| Some((found[at].take()?, by)));
    taken.map(|(finding, implied_by)| Finding { implied_by, ..finding }).collect()
}

fn complete(finding: &mut Finding, context: &Context<'_>) {
    let survey = context.survey;
    let whole = match finding.cost.of {
        Whole::Work => survey.work_ticks,
        Whole::Roots => survey.root_ticks,
    };
    let cost = &mut finding.cost;
    cost.time_ppm = cost.time_ns.map_or(0, |ns| ppm(ns, context.ns(whole)));
    cost.events_ppm = ppm(cost.events, survey.events);
    cost.at_least = context.totals.stored != context.totals.emitted;
    let least = (context.config.least_share * 1e6) as u32;
    finding.is_small = cost.share_ppm() < least;
    finding.evidence.events.truncate(super::finding::NAMED);
    finding.fingerprint = finding.computed_fingerprint();
}

/// Returns a part of a whole in millionths.
fn ppm(part: u64, whole: u64) -> u32 {
    let ppm = u128::from(part) * 1_000_000 / u128::from(whole.max(1));
    ppm.min(1_000_000) as u32
}

/// Returns for each finding the finding of the same kind whose calls lead to all events that its evidence names.
fn implied(found: &[Finding], context: &Context<'_>) -> Vec<Option<usize>> {
    let sites_above = |id: EventId| context.store.causes(id).take(CAUSES_MAX).map(|cause| cause.site).collect();
    let above: Vec<Vec<HashSet<SiteId>>> =
        found.iter().map(|finding| finding.evidence.events.iter().map(|&id| sites_above(id)).collect()).collect();
    let site = |at: usize| found[at].sites.first().map(|site| site.id);
    let leads_to = |from: usize, to: usize| {
        let is_below = |above: &HashSet<SiteId>| site(from).is_some_and(|site| above.contains(&site));
        !above[to].is_empty() && above[to].iter().all(is_below)
    };
    let implies = |from: usize, to: usize| {
        let is_comparable = found[from].kind == found[to].kind && site(from) != site(to);
        // Where each leads to the other, neither implies the other.
        is_comparable && leads_to(from, to) && !leads_to(to, from)
    };
    (0..found.len()).map(|to| (0..found.len()).find(|&from| implies(from, to))).collect()
}

/// Returns the finding at the top of those that imply this one; `None` if there is none, or if they form a circle.
fn top(implied: &[Option<usize>], at: usize) -> Option<usize> {
    let mut top = implied[at]?;
    for _ in 0..implied.len() {
        match implied[top] {
            Some(above) => top = above,
            None => return Some(top),
        }
    }
    None
}
