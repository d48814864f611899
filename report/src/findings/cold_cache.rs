//! `cold-cache`: a cache that never hits, or whose values are made again before they are used.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::finding::NAMED;
use super::map::{ByPair, BySite, HashMap, HashSet};
use super::question::{self, Question};
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent};

/// Word of the kind.
pub(super) const KIND: &str = "cold-cache";
/// Least number of lookups, of fills, and of calls.
const CALLS: u64 = 50;
/// Share of hits below which a cache never hits, in percent.
const HITS_PERCENT: u64 = 2;
/// Least share of fills that make an unused value again, in percent.
const AGAIN_PERCENT: u64 = 50;
/// Least share of calls of a cache that make a value, in percent.
const MADE_PERCENT: u64 = 98;
/// Least share of lookups that a better key or a longer memory could have answered, in percent. A
/// scan asks for each thing once.
const EXPECTED_PERCENT: u64 = 30;
/// Endings and beginnings of the name of a function that keeps the results of another function.
const CACHING: [&str; 4] = ["cached", "cache", "memo", "memoized"];
/// Least share of the time of a function that may cache which the call in it takes, in percent. An
/// `entry` of a map may also count, group or insert, and then no value is cached.
const VALUE_PERCENT: u64 = 90;
/// Maximum number of calls of a function whose questions are compared.
const QUESTIONS: usize = 256;
/// Least number of calls that look up. In a single pass over new keys, the cache serves a later
/// pass.
const CALLERS: u64 = 20;

/// Detector of caches without use.
#[derive(Default)]
pub(super) struct ColdCache {
    lookups: LookupSites,
    caches: HashMap<usize, Lookups>,
    functions: Functions,
}

/// Cache of each site, as a number, and the part of its lookups that the site records.
#[derive(Default)]
struct LookupSites(BySite<(usize, Part)>);

/// Path, file and lines that the sites of a cache have in common.
type Origin<'s> = (&'s str, &'s str, (u32, u32));

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Hit,
    Miss,
    Fill,
}

/// Lookups of a cache.
#[derive(Default)]
struct Lookups {
    hits: u64,
    misses: u64,
    /// Lookups of a key that was looked up before, or for a caller's subject that looked up before:
    /// a better key could have hit.
    expected: u64,
    /// Lookups of new keys whose caller has no subject, so it is not known whether they could have
    /// hit.
    unknown: u64,
    keys: HashSet<Subject>,
    askers: HashSet<Subject>,
    fills: u64,
    /// Fills of a key that was filled before and not hit since.
    again: u64,
    fill_ticks: u64,
    again_ticks: u64,
    /// Calls that look up. Successive lookups of the same call count once.
    callers: u64,
    last_caller: Option<EventId>,
    /// Keys whose value was filled and not hit since.
    unused: HashSet<Subject>,
    subjects: HashMap<Subject, u64>,
    /// Sites in the order of [`Part`].
    sites: [Option<SiteId>; 3],
    events: Vec<EventId>,
}

/// Maximum number of keys that a cache is followed for.
const KEYS: usize = 1 << 16;

/// Functions that fill a cell or look up a map, and the calls in them.
#[derive(Default)]
struct Functions {
    is_caching: BySite<bool>,
    calls: BySite<Calls>,
    made: ByPair<Made>,
}

/// Calls of a function that caches.
#[derive(Default)]
struct Calls {
    count: u64,
    /// Calls on a subject of an earlier call.
    again: u64,
    /// Calls without a subject, or on the place of the cache itself, whose questions are in their
    /// arguments.
    unknown: u64,
    subjects: HashSet<Subject>,
    ticks: u64,
    /// The first calls.
    events: Vec<EventId>,
}

/// Calls of one site in a function that caches.
#[derive(Default)]
struct Made {
    count: u64,
    /// Calls of the function with such a call.
    callers: u64,
    last: Option<EventId>,
    ticks: u64,
    events: Vec<EventId>,
}

impl Detector for ColdCache {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        let lookups = LookupSites::of(context);
        let mut sites =
            context.all_sites_if(context.sites_with_events().any(|site| is_caching(site, context)));
        if sites.is_empty() {
            sites.extend(context.sites_with_events().filter(|site| lookups.0.get(*site).is_some()));
        }
        self.lookups = lookups;
        sites
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            if let Some(&(cache, part)) = self.lookups.0.get(event.event.site) {
                self.caches.entry(cache).or_default().add(event, part);
            } else {
                self.functions.add(event, context);
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let caches = self.caches.values().filter_map(|lookups| lookups.finding(context));
        let functions = self
            .functions
            .made
            .iter()
            .filter_map(|(sites, made)| self.functions.finding(sites, made, context));
        caches.chain(functions).collect()
    }
}

/// Returns true if the source or the name of a function says that it keeps the results of another
/// function.
fn is_caching(site: SiteId, context: &Context<'_>) -> bool {
    let facts = context.facts(site);
    facts.is_some_and(|facts| facts.is_caching) || uncached_name(context.name(site)).is_some()
}

impl LookupSites {
    /// Finds the three sites that each `Lookups` has: states of one path, registered at one place.
    fn of(context: &Context<'_>) -> Self {
        let mut caches: HashMap<Origin<'_>, Vec<(SiteId, Part)>> = HashMap::default();
        for site in context.store.sites().iter().filter(|site| site.kind == SiteKind::State) {
            let Some((cache, end)) = site.path.rsplit_once("::") else { continue };
            let part = match end {
                "hit" => Part::Hit,
                "miss" => Part::Miss,
                "fill" => Part::Fill,
                _ => continue,
            };
            caches.entry((cache, &site.file, site.lines)).or_default().push((site.id, part));
        }
        let whole = caches.into_values().filter(|sites| sites.len() == 3).enumerate();
        let mut parts = BySite::default();
        for (cache, sites) in whole {
            sites
                .into_iter()
                .for_each(|(site, part)| _ = parts.or_insert_with(site, || (cache, part)));
        }
        LookupSites(parts)
    }
}

impl Lookups {
    fn add(&mut self, event: &ResolvedEvent, part: Part) {
        let it = &event.event;
        self.sites[part as usize] = Some(it.site);
        let ticks = it.span.unwrap_or(0);
        match part {
            Part::Hit => self.hits += 1,
            Part::Miss => self.misses += 1,
            Part::Fill => {
                self.fills += 1;
                self.fill_ticks = self.fill_ticks.saturating_add(ticks);
                if self.events.len() < NAMED {
                    self.events.push(it.id);
                }
            }
        }
        if part != Part::Fill {
            self.expect(event);
        }
        if it.cause.is_none() || it.cause != self.last_caller {
            self.callers += 1;
            self.last_caller = it.cause;
        }
        let Some(subject) = it.subject else { return };
        match part {
            Part::Hit => _ = self.unused.remove(&subject),
            Part::Fill if self.unused.contains(&subject) => {
                self.again += 1;
                self.again_ticks = self.again_ticks.saturating_add(ticks);
                *self.subjects.entry(subject).or_default() += 1;
            }
            Part::Fill if self.unused.len() < KEYS => _ = self.unused.insert(subject),
            Part::Fill | Part::Miss => {}
        }
    }

    /// Notes whether a lookup could have hit.
    fn expect(&mut self, event: &ResolvedEvent) {
        let is_again = |seen: &mut HashSet<Subject>, subject: Subject| {
            if seen.len() < KEYS { !seen.insert(subject) } else { seen.contains(&subject) }
        };
        let asker = event.cause.event().map(|cause| cause.subject);
        let key_is_known = event.event.subject.is_some_and(|key| is_again(&mut self.keys, key));
        let asker_is_known = asker.flatten().is_some_and(|asker| is_again(&mut self.askers, asker));
        self.expected += u64::from(key_is_known || asker_is_known);
        self.unknown += u64::from(!key_is_known && asker == Some(None));
    }

    fn finding(&self, context: &Context<'_>) -> Option<Finding> {
        let lookups = self.hits + self.misses;
        let could_hit = (self.expected + self.unknown) * 100 >= lookups * EXPECTED_PERCENT;
        let never_hits = lookups >= CALLS && self.hits * 100 < lookups * HITS_PERCENT;
        let is_cold = never_hits && could_hit && self.callers >= CALLERS;
        let is_again = self.fills >= CALLS && self.again * 100 > self.fills * AGAIN_PERCENT;
        if !is_cold && !is_again {
            return None;
        }
        let sites: Vec<SiteId> = [Part::Fill, Part::Miss, Part::Hit]
            .iter()
            .filter_map(|&it| self.sites[it as usize])
            .collect();
        let path = context.store.site_path(*sites.first()?);
        let cache = path.rsplit_once("::").map_or(path, |(cache, _)| cache);
        let title = if is_cold {
            format!("the cache `{cache}` never hits")
        } else {
            format!("the cache `{cache}` makes values again that it never used")
        };
        let mut finding =
            Finding::new(KIND, title, sites.iter().map(|&site| context.site(site)).collect());
        let (ticks, events) =
            if is_cold { (self.fill_ticks, self.fills) } else { (self.again_ticks, self.again) };
        if !is_cold {
            finding.subjects = context.subjects(&self.subjects);
        }
        finding.cost = Cost::of_work(context.ns(ticks), events);
        finding.evidence = Evidence {
            text: format!(
                "{} of {} lookups hit ({}); {} fills, {} of them of a key that was filled and not hit before.",
                grouped(self.hits),
                grouped(lookups),
                percent(self.hits, lookups),
                grouped(self.fills),
                grouped(self.again),
            ),
            numbers: vec![
                ("hits", self.hits),
                ("lookups", lookups),
                ("fills", self.fills),
                ("fills_again", self.again),
            ],
            events: self.events.clone(),
            filter: format!("site:{cache}::*"),
        };
        finding.certainty = match self.again {
            0 => Certainty::Estimated(
                "the counts are exact; all keys may be new by nature".to_owned(),
            ),
            _ => context.counted("counts exact"),
        };
        finding.advice =
            "look at what is in the key and does not change the value, and at what empties the cache".to_owned();
        Some(finding)
    }
}

impl Functions {
    fn add(&mut self, event: &ResolvedEvent, context: &Context<'_>) {
        let it = &event.event;
        let mut is_caching =
            |site: SiteId| *self.is_caching.or_insert_with(site, || is_caching(site, context));
        if is_caching(it.site) {
            let calls = self.calls.of(it.site);
            calls.count += 1;
            calls.ticks = calls.ticks.saturating_add(it.span.unwrap_or(0));
            if calls.events.len() < QUESTIONS {
                calls.events.push(it.id);
            }
            match it.subject.filter(|subject| !context.is_place(subject.kind)) {
                None => calls.unknown += 1,
                Some(subject) if calls.subjects.contains(&subject) => calls.again += 1,
                Some(subject) if calls.subjects.len() < KEYS => _ = calls.subjects.insert(subject),
                Some(_) => {}
            }
        }
        let Some(cause) = event.cause.event().filter(|cause| is_caching(cause.site)) else {
            return;
        };
        let made = self.made.of(cause.site, it.site);
        made.count += 1;
        made.callers += u64::from(made.last != Some(cause.id));
        made.last = Some(cause.id);
        made.ticks = made.ticks.saturating_add(it.span.unwrap_or(0));
        if made.events.len() < NAMED {
            made.events.push(it.id);
        }
    }

    fn finding(
        &self,
        (cache, site): (SiteId, SiteId),
        made: &Made,
        context: &Context<'_>,
    ) -> Option<Finding> {
        let of_cache = self.calls.get(cache)?;
        let calls = of_cache.count;
        let is_named = uncached_name(context.name(cache))
            .is_some_and(|name| name == method_name(context.name(site)));
        let is_caching = context.facts(cache).is_some_and(|facts| facts.is_caching);
        let makes_value = is_named || is_caching && self.is_value(made, of_cache.ticks);
        let is_once = made.count == made.callers;
        let is_outcome = matches!(context.site_kind(site), SiteKind::Method | SiteKind::Async);
        if calls < CALLS
            || !makes_value
            || !is_once
            || !is_outcome
            || made.callers * 100 < calls * MADE_PERCENT
        {
            return None;
        }
        let certainty = of_cache.could_hit(is_named, context)?;
        let name = context.name(cache);
        let makes = context.name(site);
        let sites = vec![context.site(cache), context.site(site)];
        let mut finding = Finding::new(
            KIND,
            format!("{name} calls {makes} each time, so it caches nothing"),
            sites,
        );
        finding.cost = Cost::of_work(context.ns(made.ticks), made.count);
        finding.evidence = Evidence {
            text: format!(
                "{} of {} calls of {name} call {makes}, once each.",
                grouped(made.callers),
                grouped(calls)
            ),
            numbers: vec![("calls", calls), ("calls_that_make", made.callers)],
            events: made.events.clone(),
            filter: format!("{} cause.{}", context.filter(site), context.filter(cache)),
        };
        finding.certainty = certainty;
        finding.advice =
            "look at what empties the cache between two calls, or call the function directly"
                .to_owned();
        Some(finding)
    }

    /// Returns true if the calls of a site take nearly all of the time of the caching function. A
    /// function that only looks up an entry of a map may insert or count.
    fn is_value(&self, made: &Made, cache_ticks: u64) -> bool {
        made.ticks > 0
            && u128::from(made.ticks) * 100 >= u128::from(cache_ticks) * u128::from(VALUE_PERCENT)
    }
}

impl Calls {
    /// Returns the certainty that calls ask for a value which an earlier call made, or `None` if
    /// they do not. For a function without the name of a cache, recorded arguments must show that
    /// its questions recur.
    fn could_hit(&self, is_named: bool, context: &Context<'_>) -> Option<Certainty> {
        let questions: Vec<Question> =
            self.events.iter().filter_map(|id| question::of(*id, context)).collect();
        let has_most = questions.len() * 2 > self.events.len();
        if !is_named || (has_most && self.unknown > 0) {
            let mut known = HashSet::default();
            let again = questions.iter().filter(|question| !known.insert(*question)).count() as u64;
            let is_again = has_most && again * 100 >= questions.len() as u64 * EXPECTED_PERCENT;
            return is_again.then(|| context.counted("counts exact"));
        }
        if self.again * 100 >= self.count * EXPECTED_PERCENT {
            return Some(context.counted("counts exact"));
        }
        let could_hit = (self.again + self.unknown) * 100 >= self.count * EXPECTED_PERCENT;
        let reason =
            "the counts are exact; whether the calls ask for the same value is not recorded";
        could_hit.then(|| Certainty::Estimated(reason.to_owned()))
    }
}

fn method_name(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Returns the name of the function whose values a function keeps by its name: `height` of
/// `Terrain::height_cached`.
fn uncached_name(name: &str) -> Option<&str> {
    let method = method_name(name);
    CACHING.iter().find_map(|word| {
        let shorter = method.strip_suffix(word).and_then(|rest| rest.strip_suffix('_'));
        shorter.or_else(|| method.strip_prefix(word).and_then(|rest| rest.strip_prefix('_')))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Draws glyphs in some frames, with a cache. `key` returns the key of a glyph by frame and
    /// glyph.
    fn check(frames: u64, key: impl Fn(u64, u64) -> u64, forgets: bool, expected: &[&str]) {
        let mut run = Run::new();
        ["hit", "miss", "fill"]
            .iter()
            .for_each(|end| run.site(&format!("glyphs::{end}"), SiteKind::State));
        let mut known = HashSet::default();
        for frame in 0..frames {
            run.call("text::draw", None, |run| {
                for glyph in 0..10 {
                    let key = key(frame, glyph);
                    if known.contains(&key) {
                        run.instant("glyphs::hit", key, None);
                        continue;
                    }
                    run.instant("glyphs::miss", key, None);
                    run.leaf("glyphs::fill", key, 1_000);
                    if !forgets {
                        known.insert(key);
                    }
                }
            });
        }
        assert_eq!(run.found(ColdCache::default()), expected);
    }

    #[test]
    fn a_cache_that_never_hits_is_found() {
        let found = "the cache `glyphs` never hits: hits=0 lookups=600 fills=600 fills_again=0";
        check(60, |frame, glyph| frame * 100 + glyph, false, &[found]);
        let found = "the cache `glyphs` never hits: hits=0 lookups=600 fills=600 fills_again=590";
        check(60, |_, glyph| glyph, true, &[found]);
    }

    /// Asks for the height of 40 places in 20 rounds. `place` returns the n-th place of a round.
    fn check_heights(place: impl Fn(u64, u64) -> u64, is_kept: bool, expected: &[&str]) {
        let mut run = Run::new();
        for round in 0..20 {
            for n in 0..40 {
                run.call("map::Terrain::height_cached", place(round, n), |run| {
                    if round == 0 || !is_kept {
                        run.leaf("map::Terrain::height", place(round, n), 1_000);
                    }
                });
            }
        }
        assert_eq!(run.found(ColdCache::default()), expected);
    }

    #[test]
    fn a_function_that_is_named_after_what_it_keeps_and_makes_it_each_time_is_found() {
        let found = "Terrain::height_cached calls Terrain::height each time, so it caches nothing: \
                     calls=800 calls_that_make=800";
        check_heights(|_, n| n, false, &[found]);
        check_heights(|_, n| n, true, &[]);
        check_heights(|round, n| round * 40 + n, false, &[]);
    }

    #[test]
    fn a_scan_of_new_keys_is_silent_and_a_key_that_is_new_for_a_known_subject_is_found() {
        let run = |subject: fn(u64) -> u64| {
            let mut run = Run::new();
            ["hit", "miss", "fill"]
                .iter()
                .for_each(|end| run.site(&format!("tiles::{end}"), SiteKind::State));
            for tile in 0..200 {
                run.call("map::show", subject(tile), |run| {
                    run.instant("tiles::miss", 1_000 + tile, None);
                    run.leaf("tiles::fill", 1_000 + tile, 1_000);
                });
            }
            run.found(ColdCache::default())
        };
        assert_eq!(run(|tile| tile), [] as [&str; 0]);
        let found = "the cache `tiles` never hits: hits=0 lookups=200 fills=200 fills_again=0";
        assert_eq!(run(|tile| tile % 20), [found]);
    }

    #[test]
    fn a_cache_that_hits_and_one_that_is_only_filled_so_far_are_silent() {
        check(60, |_, glyph| glyph, false, &[]);
        check(60, |frame, glyph| if glyph < 9 { frame * 100 + glyph } else { glyph }, false, &[]);
        check(6, |frame, glyph| frame * 100 + glyph, false, &[]);
    }

    /// Behaviour of a function that looks up an entry of a map, in each of its 800 calls.
    struct Lookup {
        /// Argument of the call, by the number of the call.
        key: fn(u64) -> u64,
        /// Sites that the function calls.
        callees: &'static [&'static str],
        /// Self time of the function in nanoseconds.
        own_ns: u64,
        /// True if the arguments are recorded.
        has_arguments: bool,
    }

    const LOOKUP: Lookup = Lookup {
        key: |n| n % 40,
        callees: &["map::Terrain::height"],
        own_ns: 50,
        has_arguments: true,
    };

    fn check_lookup(lookup: Lookup, expected: &[&str]) {
        let mut run = Run::new();
        run.function("map", "map::Terrain::height_at", "type=Terrain self=mut caching");
        run.at_places();
        for n in 0..800 {
            let call = run.call("map::Terrain::height_at", 7, |run| {
                run.work(lookup.own_ns);
                lookup.callees.iter().for_each(|callee| _ = run.leaf(callee, 7, 1_000));
            });
            if lookup.has_arguments {
                run.argument(call, "place", &(lookup.key)(n).to_string());
            }
        }
        assert_eq!(run.found(ColdCache::default()), expected);
    }

    #[test]
    fn an_entry_of_a_map_is_a_cache_if_it_is_asked_the_same_and_makes_one_value() {
        let found = "Terrain::height_at calls Terrain::height each time, so it caches nothing: \
                     calls=800 calls_that_make=800";
        check_lookup(LOOKUP, &[found]);
        check_lookup(Lookup { key: |n| n, ..LOOKUP }, &[]);
        check_lookup(Lookup { has_arguments: false, ..LOOKUP }, &[]);
        check_lookup(Lookup { callees: &["map::hash", "map::Terrain::height"], ..LOOKUP }, &[]);
        check_lookup(Lookup { own_ns: 1_000, ..LOOKUP }, &[]);
    }

    #[test]
    fn a_cache_by_name_on_which_nothing_tells_the_questions_apart_is_estimated() {
        let mut run = Run::new();
        run.at_places();
        for _ in 0..800 {
            run.call("map::Terrain::height_cached", 7, |run| {
                _ = run.leaf("map::Terrain::height", 7, 1_000)
            });
        }
        let findings = run.findings(ColdCache::default());
        assert!(matches!(findings.found[..], [Finding { certainty: Certainty::Estimated(_), .. }]));
    }
}
