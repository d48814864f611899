//! The differences of a slow event from ordinary ones of its site.

use std::collections::{HashMap, HashSet};

use metaspy_probe::SiteId;
use metaspy_reader::{EffectsIndex, Event, EventId, Store};

use super::Unit;
use crate::median::median;

/// Events of a unit that are looked at.
const EVENTS: usize = 10_000;
/// Least number of ordinary events to compare with.
pub(crate) const ORDINARY: usize = 3;
/// Least share of the additional time that a site explains, in percent.
const EXPLAINED_PERCENT: u64 = 50;

/// The site where most of the additional time of a slow event went: in the event itself, or in its
/// effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The site.
    pub site: SiteId,
    /// Its work in the slow event.
    pub work: Work,
    /// Its work in ordinary ones: the medians.
    pub usual: Work,
    /// How long ordinary events take: the median, in ticks.
    pub usual_span: u64,
    /// Number of ordinary events that it is compared with.
    pub ordinary: usize,
}

/// The work of a site in an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Number of its calls.
    pub calls: u64,
    /// Their time in ticks, without that of their effects.
    pub ticks: u64,
}

/// The work of each site in an event.
type Works = HashMap<SiteId, Work>;

/// States for each unit with a threshold how it differs from ordinary ones of its site and rule.
pub fn find(store: &Store, units: &mut [Unit]) {
    let is_slow = |unit: &Unit| unit.unit.threshold > 0 && !unit.unit.is_ordinary;
    if !units.iter().any(is_slow)
        || units.iter().filter(|unit| unit.unit.is_ordinary).count() < ORDINARY
    {
        return;
    }
    let Some(effects) = EffectsIndex::build(store, |_, _| true) else { return };
    let mut ordinary: HashMap<(usize, SiteId), Vec<(Works, u64)>> = HashMap::new();
    for unit in units.iter().filter(|unit| unit.unit.is_ordinary) {
        let all = ordinary.entry((unit.unit.rule, unit.event.site)).or_default();
        all.push((works(store, &effects, &unit.event), unit.event.span.unwrap_or(0)));
    }
    for unit in units.iter_mut().filter(|unit| is_slow(unit)) {
        if let Some(usual) =
            ordinary.get(&(unit.unit.rule, unit.event.site)).filter(|all| all.len() >= ORDINARY)
        {
            unit.difference = difference(&works(store, &effects, &unit.event), &unit.event, usual);
        }
    }
}

fn difference(works: &Works, event: &Event, ordinary: &[(Works, u64)]) -> Option<Difference> {
    let usual = |site: &SiteId| {
        let of = |value: fn(&Work) -> u64| {
            median(ordinary.iter().map(|(works, _)| works.get(site).map_or(0, value)))
        };
        Work { calls: of(|work| work.calls), ticks: of(|work| work.ticks) }
    };
    let more = |work: &Work, usual: &Work| work.ticks.saturating_sub(usual.ticks);
    let compared = works.iter().map(|(site, work)| (*site, *work, usual(site)));
    let (site, work, usual) =
        compared.max_by_key(|(site, work, usual)| (more(work, usual), *site))?;
    let usual_span = median(ordinary.iter().map(|(_, span)| *span));
    let additional = event.span?.saturating_sub(usual_span);
    let is_explained =
        more(&work, &usual).saturating_mul(100) >= additional.saturating_mul(EXPLAINED_PERCENT);
    is_explained.then_some(Difference { site, work, usual, usual_span, ordinary: ordinary.len() })
}

/// Returns the work of each site in an event, the event itself included. The time of an effect is
/// taken from its cause, as far as that runs meanwhile.
fn works(store: &Store, effects: &EffectsIndex, event: &Event) -> Works {
    let mut works = Works::new();
    let mut seen: HashSet<EventId> = HashSet::from([event.id]);
    let mut open = vec![*event];
    while let Some(event) = open.pop() {
        let span = event.span.unwrap_or(0);
        let end = event.start.saturating_add(span);
        let mut own = span;
        for effect in effects.effects(event.id) {
            if seen.len() >= EVENTS || !seen.insert(effect) {
                continue;
            }
            let Some(effect) = store.event(effect) else { continue };
            let until = effect.start.saturating_add(effect.span.unwrap_or(0)).min(end);
            own = own.saturating_sub(until.saturating_sub(effect.start));
            open.push(effect);
        }
        let work = works.entry(event.site).or_default();
        work.calls += 1;
        work.ticks = work.ticks.saturating_add(own);
    }
    works
}
