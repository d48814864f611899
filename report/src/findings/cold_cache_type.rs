//! `cold-cache`, by a type with observed methods: lookups find nothing, so values are made and
//! inserted that were made before.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, LaneId, Outcome, ResolvedEvent};

use super::cold_cache::KIND;
use super::finding::{NAMED, is_share};
use super::map::{BySite, HashMap, HashSet};
use super::question;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent};

/// Parts of the names of types that are caches.
const TYPES: [&str; 3] = ["cache", "memo", "lru"];
/// Beginnings of the names of methods that look up and that fill.
const LOOKUPS: [&str; 6] = ["get", "look", "find", "fetch", "peek", "load"];
const FILLS: [&str; 7] = ["insert", "put", "set", "store", "add", "fill", "remember"];
/// Least number of lookups and of fills.
const CALLS: u64 = 50;
/// Share of hits below which a cache is cold, in percent.
const HITS_PERCENT: u64 = 20;
/// Least share of misses that are followed by a fill, in percent.
const FILLED_PERCENT: u64 = 80;
/// Least share of values that were made before, in percent.
const AGAIN_PERCENT: u64 = 50;
/// Least number of different subjects that tell one value from another. With fewer, the subject is
/// the cache itself.
const SUBJECTS: usize = 8;
/// Maximum number of subjects that are remembered, and of made values whose questions are compared.
const REMEMBERED: usize = 1 << 16;
const QUESTIONS: usize = 512;

/// Detector of types that are caches without use.
#[derive(Default)]
pub(super) struct ColdCacheType {
    /// Role of each site in its cache, and the index of the cache in `caches`; `None` for other
    /// sites.
    methods: BySite<Option<(Method, usize)>>,
    types: HashMap<String, usize>,
    caches: Vec<Cache>,
    /// The last miss of each lane.
    misses: HashMap<LaneId, Miss>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Lookup,
    Fill,
}

/// Lookup that found nothing, with the next call of its cause.
struct Miss {
    cache: usize,
    cause: EventId,
    /// First call of the cause after the lookup, which makes the value.
    made: Option<Made>,
}

struct Made {
    id: EventId,
    site: SiteId,
    subject: Option<Subject>,
    ticks: u64,
}

#[derive(Default)]
struct Cache {
    lookups: u64,
    misses: u64,
    fills: u64,
    ticks: u64,
    lookup: Option<SiteId>,
    keys: Seen,
    askers: Seen,
    made: Seen,
    /// Sites that make values, by their number of values, and the first of these.
    makers: HashMap<SiteId, u64>,
    values: Vec<EventId>,
}

/// Subjects, and the number of those that recur.
#[derive(Default)]
struct Seen {
    all: u64,
    again: u64,
    subjects: HashSet<Subject>,
}

impl Seen {
    fn add(&mut self, subject: Option<Subject>, context: &Context<'_>) {
        let Some(subject) = subject.filter(|subject| !context.is_place(subject.kind)) else {
            return;
        };
        self.all += 1;
        if self.subjects.contains(&subject) {
            self.again += 1;
        } else if self.subjects.len() < REMEMBERED {
            self.subjects.insert(subject);
        }
    }

    /// Returns the number of subjects among `all` that were seen before, if the subjects tell
    /// values apart and enough of them recur.
    fn again(&self, all: u64) -> Option<u64> {
        let tells = self.subjects.len() >= SUBJECTS && self.all == all;
        (tells && is_share(self.again, all, AGAIN_PERCENT)).then_some(self.again)
    }
}

impl Detector for ColdCacheType {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        // A call that is missing may be the hit.
        context.missing_calls()
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.all_sites_if(
            context.sites_with_events().any(|site| method_of(site, context).is_some()),
        )
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let Self { methods, types, caches, .. } = self;
            let method = *methods.or_insert_with(it.site, || {
                let (method, cache) = method_of(it.site, context)?;
                let next = types.len();
                let at = *types.entry(cache).or_insert(next);
                if at == next {
                    caches.push(Cache::default());
                }
                Some((method, at))
            });
            let cause = event.cause.event();
            match (method, cause) {
                (Some((Method::Lookup, at)), cause) => {
                    let cache = &mut self.caches[at];
                    cache.lookup = Some(it.site);
                    cache.lookups += 1;
                    if it.outcome == Outcome::Failed {
                        cache.misses += 1;
                        if let Some(cause) = cause {
                            cache.keys.add(it.subject, context);
                            cache.askers.add(cause.subject, context);
                            self.misses
                                .insert(it.lane, Miss { cache: at, cause: cause.id, made: None });
                        }
                    }
                }
                (Some((Method::Fill, at)), Some(cause)) => {
                    let miss = self.misses.remove(&it.lane);
                    if let Some(miss) =
                        miss.filter(|miss| miss.cache == at && miss.cause == cause.id)
                    {
                        self.caches[at].fill(miss, context);
                    }
                }
                (None, Some(cause)) if !self.misses.is_empty() => {
                    if let Some(miss) =
                        self.misses.get_mut(&it.lane).filter(|miss| miss.cause == cause.id)
                        && miss.made.is_none()
                        && matches!(
                            context.site_kind(it.site),
                            SiteKind::Method | SiteKind::Async | SiteKind::Span
                        )
                    {
                        let ticks = context.busy_ticks(event);
                        miss.made =
                            Some(Made { id: it.id, site: it.site, subject: it.subject, ticks });
                    }
                }
                (Some((Method::Fill, _)) | None, _) => {}
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let Self { types, caches, .. } = *self;
        types.into_iter().filter_map(|(path, at)| caches[at].finding(&path, context)).collect()
    }
}

/// Returns the role of a site in its cache and the path of the cache's type; `None` if the site is
/// no lookup and no fill of a cache.
fn method_of(site: SiteId, context: &Context<'_>) -> Option<(Method, String)> {
    let known = context.store.site(site).filter(|site| site.kind == SiteKind::Method)?;
    let (cache, method) = known.path.rsplit_once("::")?;
    let name = cache.rsplit("::").next()?.to_lowercase();
    let is_type = context.facts(site).is_some_and(|facts| facts.of_type.is_some());
    let begins = |words: &[&str]| words.iter().any(|word| method.starts_with(word));
    let method = match known.failure() {
        "none" if begins(&LOOKUPS) => Method::Lookup,
        _ if begins(&FILLS) => Method::Fill,
        _ => return None,
    };
    (is_type && TYPES.iter().any(|word| name.contains(word))).then(|| (method, cache.to_owned()))
}

impl Cache {
    fn fill(&mut self, miss: Miss, context: &Context<'_>) {
        self.fills += 1;
        let Some(made) = miss.made else { return };
        self.ticks = self.ticks.saturating_add(made.ticks);
        self.made.add(made.subject, context);
        *self.makers.entry(made.site).or_default() += 1;
        if self.values.len() < QUESTIONS {
            self.values.push(made.id);
        }
    }

    /// Returns the number of values that had been made before, and the number of all compared
    /// values.
    fn made_again(&self, context: &Context<'_>) -> Option<(u64, u64)> {
        let by_subject = self.keys.again(self.misses).map(|again| (again, self.misses));
        let by_asker = || self.askers.again(self.misses).map(|again| (again, self.misses));
        let by_value = || self.made.again(self.fills).map(|again| (again, self.fills));
        by_subject.or_else(by_asker).or_else(by_value).or_else(|| {
            let questions: Vec<_> =
                self.values.iter().filter_map(|id| question::of(*id, context)).collect();
            let different = questions.iter().collect::<HashSet<_>>().len();
            let all = questions.len() as u64;
            let again = (questions.len() - different) as u64;
            let is_known = all >= CALLS && all * 2 > self.values.len() as u64;
            (is_known && is_share(again, all, AGAIN_PERCENT)).then_some((again, all))
        })
    }

    fn finding(&self, path: &str, context: &Context<'_>) -> Option<Finding> {
        let hits = self.lookups - self.misses;
        let is_cold = self.lookups >= CALLS && !is_share(hits, self.lookups, HITS_PERCENT);
        let is_filled = self.fills >= CALLS && is_share(self.fills, self.misses, FILLED_PERCENT);
        if !is_cold || !is_filled {
            return None;
        }
        let (again, all) = self.made_again(context)?;
        let lookup = self.lookup?;
        let (&maker, _) = self.makers.iter().max_by_key(|&(site, values)| (values, *site))?;
        let name = path.rsplit("::").next().unwrap_or(path);
        let makes = context.name(maker);
        let title = format!("the cache `{name}` hardly ever hits, and {makes} makes values again");
        let mut finding =
            Finding::new(KIND, title, vec![context.site(lookup), context.site(maker)]);
        finding.cost = Cost::of_work(context.ns(self.ticks), self.fills);
        finding.evidence = Evidence {
            text: format!(
                "{} of {} lookups hit ({}); {} misses are followed by {makes} and a fill, and {} of {} values ({}) had been \
                 asked for before.",
                grouped(hits),
                grouped(self.lookups),
                percent(hits, self.lookups),
                grouped(self.fills),
                grouped(again),
                grouped(all),
                percent(again, all),
            ),
            numbers: vec![
                ("hits", hits),
                ("lookups", self.lookups),
                ("fills", self.fills),
                ("made_again", again),
            ],
            events: self.values.iter().copied().take(NAMED).collect(),
            filter: context.filter(maker),
        };
        finding.certainty = Certainty::Estimated(
            "the counts are exact; what is a lookup and what a fill is known by names and by their order".to_owned(),
        );
        finding.advice =
            "look at what is in the key and does not change the value, and at what empties the cache".to_owned();
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Asks for 400 prices of 20 zones. `hits` tells which lookups hit. `zone` is the subject of
    /// the call that makes a price, and `weight` its recorded argument.
    fn check(
        cache: &str,
        hits: fn(u64) -> bool,
        zone: Option<fn(u64) -> u64>,
        weight: Option<fn(u64) -> u64>,
    ) -> Vec<String> {
        let mut run = Run::new();
        let get = format!("post::{cache}::get");
        let put = format!("post::{cache}::insert");
        run.function("post", &get, &format!("type={cache} self=ref option"));
        run.function("post", &put, &format!("type={cache} self=mut"));
        for parcel in 0..400 {
            run.call("post::quote", None, |run| {
                let outcome = if hits(parcel) { Outcome::Succeeded } else { Outcome::Failed };
                run.ended_call(&get, None, outcome, |run| run.work(10));
                if !hits(parcel) {
                    let made = run.leaf("post::compute", zone.map(|zone| zone(parcel)), 1_000);
                    if let Some(weight) = weight {
                        run.argument(made, "weight", &weight(parcel).to_string());
                    }
                    run.leaf(&put, None, 10);
                }
            });
        }
        run.found(ColdCacheType::default())
    }

    #[test]
    fn values_that_are_made_again_behind_a_cache_are_found_by_subject_or_by_argument() {
        let title = "the cache `PriceCache` hardly ever hits, and compute makes values again";
        let found = [format!("{title}: hits=0 lookups=400 fills=400 made_again=380")];
        assert_eq!(check("PriceCache", |_| false, Some(|parcel| parcel % 20), None), found);
        assert_eq!(check("PriceCache", |_| false, None, Some(|parcel| parcel % 20)), found);
    }

    #[test]
    fn new_values_warm_caches_and_other_maps_are_silent() {
        let silent: Vec<String> = Vec::new();
        assert_eq!(check("PriceCache", |_| false, Some(|parcel| parcel), None), silent);
        assert_eq!(check("PriceCache", |_| false, None, Some(|parcel| parcel)), silent);
        assert_eq!(check("PriceCache", |_| false, None, None), silent);
        assert_eq!(
            check("PriceCache", |parcel| parcel >= 80, Some(|parcel| parcel % 20), None),
            silent
        );
        assert_eq!(check("PriceList", |_| false, Some(|parcel| parcel % 20), None), silent);
    }
}
