//! Order of findings: the most expensive first, and implied findings below the finding that implies
//! them.

use std::collections::HashSet;

use metaspy_probe::{SiteId, SiteKind};
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
        order.push(first);
        order.extend((0..found.len()).filter(|&at| tops[at] == Some(first)));
    }
    // Known, accepted and small findings come last, so a list without them has the same numbers as
    // the list of all.
    order.sort_by_key(|&at| (!found[at].state.is_open(), found[at].is_small));
    let place = |of: usize| order.iter().position(|&at| at == of);
    order
        .iter()
        .map(|&at| Finding { implied_by: tops[at].and_then(place), ..found[at].clone() })
        .collect()
}

fn complete(finding: &mut Finding, context: &Context<'_>) {
    let survey = context.survey;
    // Polls of async calls are no part of the self time of all calls.
    let is_async =
        finding.sites.first().is_some_and(|site| context.site_kind(site.id) == SiteKind::Async);
    if is_async && finding.cost.of == Whole::Work {
        let threads = context.store.lanes().len().max(1) as u64;
        finding.cost.of = Whole::Threads(context.recorded_ns().saturating_mul(threads));
    }
    let whole = match finding.cost.of {
        Whole::Work => context.ns(survey.work_ticks),
        Whole::Roots => context.ns(survey.root_ticks),
        Whole::Threads(ns) => ns,
    };
    let cost = &mut finding.cost;
    cost.time_ppm = cost.time_ns.map_or(0, |ns| ppm(ns, whole));
    cost.events_ppm = ppm(cost.events, survey.events);
    cost.at_least = context.totals.stored != context.totals.emitted;
    let least = (context.config.least_share_of(&finding.kind) * 1e6) as u32;
    // A finding without a cost is listed only if kinds are asked for.
    finding.is_small =
        if cost.is_none() { context.config.kinds.is_empty() } else { cost.share_ppm() < least };
    finding.evidence.events.truncate(super::finding::NAMED);
    finding.fingerprint = finding.computed_fingerprint();
    finding.state = context.config.state_of(&finding.fingerprint);
}

/// Returns a part of a whole in millionths.
fn ppm(part: u64, whole: u64) -> u32 {
    let ppm = (u128::from(part) * 1_000_000).checked_div(whole.into()).unwrap_or(0);
    ppm.min(1_000_000) as u32
}

/// Returns for each finding the finding of the same kind whose calls lead to all events that its
/// evidence names.
fn implied(found: &[Finding], context: &Context<'_>) -> Vec<Option<usize>> {
    let sites_above =
        |id: EventId| context.store.causes(id).take(CAUSES_MAX).map(|cause| cause.site).collect();
    let above: Vec<Vec<HashSet<SiteId>>> = found
        .iter()
        .map(|finding| finding.evidence.events.iter().map(|&id| sites_above(id)).collect())
        .collect();
    let site = |at: usize| found[at].sites.first().map(|site| site.id);
    let leads_to = |from: usize, to: usize| {
        !above[to].is_empty()
            && above[to].iter().all(|above| site(from).is_some_and(|site| above.contains(&site)))
    };
    let implies = |from: usize, to: usize| {
        let is_comparable = found[from].kind == found[to].kind && site(from) != site(to);
        // Where two findings lead to each other, neither implies the other.
        is_comparable && leads_to(from, to) && !leads_to(to, from)
    };
    (0..found.len()).map(|to| (0..found.len()).find(|&from| implies(from, to))).collect()
}

/// Returns the topmost of the findings that imply this one; `None` if no finding implies it, or if
/// they form a circle.
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

#[cfg(test)]
mod tests {
    use metaspy_reader::ResolvedEvent;

    use super::super::testing::Run;
    use super::super::{Cost, Detector};
    use super::*;

    /// Detector with a finding for each of these sites, with its number of events and one of the
    /// events.
    struct Given(Vec<(&'static str, u64, EventId)>);

    impl Detector for Given {
        fn kind(&self) -> &str {
            "given"
        }

        fn read(&mut self, _: &[&ResolvedEvent], _: &Context<'_>) {}

        fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
            let site = |path: &str| {
                context.store.sites().iter().find(|site| site.path == path).expect("it is there").id
            };
            let finding = |&(path, events, event): &(&str, u64, EventId)| {
                let mut finding = Finding::new("given", path, vec![context.site(site(path))]);
                finding.cost = Cost::of_events(events);
                finding.evidence.events = vec![event];
                finding
            };
            self.0.iter().map(finding).collect()
        }
    }

    #[test]
    fn what_is_implied_follows_and_small_findings_come_last() {
        let mut run = Run::new();
        let mut inner = None;
        let mut part = None;
        let outer = run.call("page::outer", None, |run| {
            inner = Some(run.leaf("page::inner", None, 10));
            part = Some(run.leaf("page::part", None, 10));
        });
        let other = run.leaf("page::other", None, 10);
        (0..996).for_each(|_| _ = run.leaf("page::work", None, 10));
        let inner = inner.expect("it was called");
        let part = part.expect("it was called");
        let given =
            [("page::part", 2, part), ("page::other", 70, other), ("page::inner", 50, inner)];
        let given = given.into_iter().chain([("page::outer", 90, outer)]).collect();
        let findings = run.findings(Given(given));
        let found: Vec<_> = findings
            .found
            .iter()
            .map(|it| (it.title.as_str(), it.implied_by, it.is_small))
            .collect();
        let expected = [
            ("page::outer", None, false),
            ("page::inner", Some(0), false),
            ("page::other", None, false),
            ("page::part", Some(0), true),
        ];
        assert_eq!(found, expected);
    }
}
