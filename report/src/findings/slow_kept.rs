//! `slow-because` among the kept events: the slow events of a site contain an effect that the
//! sample of its ordinary events does not contain.
//!
//! Slow events may be one in a million of the calls of a site, so that most of them left the window
//! long ago. Their number says nothing about all calls, because they were chosen. But the
//! difference between their effects and the effects of ordinary events is a fact.

use metaspy_probe::SiteId;
use metaspy_reader::Filter;

use super::finding::NAMED;
use super::map::HashMap;
use super::slow_because::{EXPLAINED_PERCENT, FACTOR, KIND, SLOW_NS, USUAL_NS, slow_finding};
use super::{Certainty, Context, Cost, Finding};
use crate::kept::{Difference, KeptUnits, Unit};
use crate::text::{counted, grouped, time};

/// Least number of slow events with the effect.
const SLOW: usize = 3;

/// Finds sites whose kept slow events contain such an effect, except the sites that the window
/// shows already.
pub(super) fn find(context: &Context<'_>, is_known: impl Fn(SiteId) -> bool) -> Vec<Finding> {
    let Some(kept) = KeptUnits::read(context.store, &Filter::all()) else { return Vec::new() };
    let mut slow: HashMap<(usize, SiteId), Vec<&Unit>> = HashMap::default();
    for unit in kept.units.iter().filter(|unit| unit.unit.threshold > 0 && !unit.unit.is_ordinary) {
        slow.entry((unit.unit.rule, unit.event.site)).or_default().push(unit);
    }
    let mut found: HashMap<SiteId, Finding> = HashMap::default();
    for ((_, site), units) in slow {
        if !is_known(site)
            && let Some(finding) = of_site(context, site, &units)
        {
            found.entry(site).or_insert(finding);
        }
    }
    found.into_values().collect()
}

fn of_site(context: &Context<'_>, site: SiteId, units: &[&Unit]) -> Option<Finding> {
    // The slowest of many calls are often slow without an effect: they lost their processor.
    let is_effect = |(_, it): &(&Unit, Difference)| it.site != site && it.usual.calls == 0;
    let differences =
        || units.iter().filter_map(|unit| Some((*unit, unit.difference?))).filter(is_effect);
    let mut times: HashMap<SiteId, u64> = HashMap::default();
    for (_, it) in differences() {
        let time = times.entry(it.site).or_default();
        *time = time.saturating_add(it.work.ticks);
    }
    let (effect, ticks) = times.into_iter().max_by_key(|(effect, ticks)| (*ticks, *effect))?;
    let with: Vec<(&Unit, Difference)> =
        differences().filter(|(_, difference)| difference.site == effect).collect();
    let median = |value: fn(&(&Unit, Difference)) -> u64| {
        let mut values: Vec<u64> = with.iter().map(value).collect();
        values.sort_unstable();
        values[values.len() / 2]
    };
    let took = median(|(unit, _)| unit.event.span.unwrap_or(0));
    let in_effect = median(|(_, it)| it.work.ticks);
    let usually = median(|(_, it)| it.usual_span);
    let beyond = |unit: &&Unit| unit.event.span.unwrap_or(0).saturating_sub(unit.unit.threshold);
    let additional = units.iter().map(beyond).fold(0, u64::saturating_add);
    let count = with.len();
    let is_theirs =
        count >= SLOW && ticks.saturating_mul(100) >= additional.saturating_mul(EXPLAINED_PERCENT);
    let is_slow = context.ns(usually) >= USUAL_NS
        && took >= usually.saturating_mul(FACTOR)
        && context.ns(took)
            >= context.config.at_least(KIND, "us", SLOW_NS / 1_000).saturating_mul(1_000);
    let is_explained = in_effect.saturating_mul(100)
        >= took.saturating_sub(usually).saturating_mul(EXPLAINED_PERCENT);
    if !(is_theirs && is_slow && is_explained) {
        return None;
    }
    let name = context.name(site);
    let effect_name = context.name(effect);
    let title = format!("{name} is slow when it calls {effect_name}, which ordinary calls do not");
    let ordinary = with.first().map_or(0, |(_, it)| it.ordinary);
    let mut finding = slow_finding(title, site, effect, context);
    finding.cost = Cost::of_waiting(context.ns(ticks), count as u64);
    finding.evidence.text = format!(
        "{} of {} slow calls of {name} that a rule has kept spent most of their time in {effect_name}, which none of {} has. \
         They take {} (median), of which {} in {effect_name}; ordinary ones take {}.",
        grouped(count as u64),
        grouped(units.len() as u64),
        counted(ordinary as u64, "ordinary call"),
        time(context.ns(took)),
        time(context.ns(in_effect)),
        time(context.ns(usually)),
    );
    finding.evidence.numbers =
        vec![("slow_calls", count as u64), ("compared_with", ordinary as u64)];
    finding.evidence.events = with.iter().map(|(unit, _)| unit.event.id).take(NAMED).collect();
    finding.certainty = Certainty::Estimated(
        "the calls were chosen by the rule, and ordinary ones are a sample; the times are measured"
            .to_owned(),
    );
    Some(finding)
}
