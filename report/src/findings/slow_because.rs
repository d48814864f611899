//! `slow-because`: a few calls of a site contain an effect that makes them slow, and the other
//! calls do not contain it.

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{EventId, Outcome, ResolvedEvent};

use super::call_graph::CallGraph;
use super::finding::{NAMED, is_share};
use super::map::{ByPair, BySite, HashMap, HashSet};
use super::open_calls::OpenCalls;
use super::samples::Samples;
use super::{Certainty, Context, Cost, Detector, Finding, slow_kept};
use crate::text::{grouped, percent, time};

/// Word of the kind.
pub(super) const KIND: &str = "slow-because";
/// Least number of calls of a site.
const CALLS: u64 = 50;
/// Least number of calls with the effect.
const SLOW: u64 = 10;
/// Largest share of the calls with the effect, in percent.
const SLOW_PERCENT: u64 = 10;
/// Least duration of the calls with the effect, in durations of the others.
pub(super) const FACTOR: u64 = 3;
/// Least duration of the calls with the effect, in nanoseconds. A buffer that is written when it is
/// full takes less.
pub(super) const SLOW_NS: u64 = 250_000;
/// Least duration of the other calls, in nanoseconds. A call that mostly does nothing gathers or
/// guards work, as a buffer does, and the rare work is its purpose.
pub(super) const USUAL_NS: u64 = 2_000;
/// Least share of the additional time that the effect explains, in percent.
pub(super) const EXPLAINED_PERCENT: u64 = 50;
/// Share of calls with an effect at a site from which on the site belongs to these calls, in
/// percent.
const USUAL_PERCENT: u64 = 70;
/// Share of calls from which on an effect goes with the failures of another one, in percent.
const MISS_PERCENT: u64 = 90;
/// Maximum number of empty lists of effects that are kept for later calls.
const ROOM: usize = 1024;
/// Maximum number of sites that are remembered for a call.
const SITES: usize = 16;

/// Detector of effects that make a few calls slow.
#[derive(Default)]
pub(super) struct SlowBecause {
    may_be_found: HashSet<SiteId>,
    open: OpenCalls<Call>,
    sites: BySite<Calls>,
    pairs: ByPair<With>,
    graph: CallGraph,
    /// True for pairs of site and subject with an event, by the row of the pair.
    seen: Vec<bool>,
    /// Empty lists for the effects of later calls.
    room: Vec<Vec<Effect>>,
}

/// Call that has begun and not ended.
struct Call {
    id: EventId,
    site: SiteId,
    ticks: u64,
    use_of_subject: Use,
    effects: Vec<Effect>,
}

/// Effects of a call at a site.
struct Effect {
    site: SiteId,
    ticks: u64,
    use_of_subject: Use,
    has_failed: bool,
}

/// Whether a site was called on a subject before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    NoSubject,
    First,
    Again,
}

/// Calls of a site.
#[derive(Default)]
struct Calls {
    calls: u64,
    /// Calls that are the first on their subject.
    first: u64,
    ticks: u64,
    samples: Samples<u64>,
}

/// Calls of a site that have an effect at another one.
#[derive(Default)]
struct With {
    calls: u64,
    ticks: u64,
    effect_ticks: u64,
    samples: Samples<Sample>,
    /// These calls by the other sites at which they have effects as well.
    others: Vec<Other>,
    /// Number of these calls in which the effect itself fails.
    failed: u64,
    /// Calls whose effect is the first on its subject.
    first_effects: u64,
    /// Calls that are the first on their subject.
    first: u64,
    /// Calls that are not the first on their subject, or whose effect is not.
    again: u64,
    events: Vec<EventId>,
}

/// Calls that have an effect at a third site as well.
struct Other {
    site: SiteId,
    calls: u64,
    /// Number of these calls in which the effect at the third site fails.
    failed: u64,
}

#[derive(Clone, Copy)]
struct Sample {
    ticks: u64,
    effect_ticks: u64,
}

impl Detector for SlowBecause {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        let kinds = [SiteKind::Method, SiteKind::Async, SiteKind::Span];
        let calls = kinds.into_iter().flat_map(|kind| context.sites_of(kind));
        self.may_be_found = calls.filter(|site| may_be_found(*site, context)).collect();
        context.all_sites_if(!self.may_be_found.is_empty())
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        let SlowBecause { may_be_found, open, sites, pairs, graph, seen, room } = self;
        for &event in events {
            open.close(event, |call| {
                close(&call, sites, pairs);
                if call.effects.capacity() > 0 && room.len() < ROOM {
                    room.push(call.effects);
                }
            });
            let it = &event.event;
            let kind = context.site_kind(it.site);
            if !matches!(kind, SiteKind::Method | SiteKind::Async | SiteKind::Span) {
                continue;
            }
            let use_of_subject = match (it.subject, event.row) {
                (Some(_), Some(row)) if is_again(seen, row as usize) => Use::Again,
                (Some(_), Some(_)) => Use::First,
                _ => Use::NoSubject,
            };
            if let Some(cause) = event.cause.event() {
                graph.add(cause.site, it.site);
                if let Some((call, end)) = open.cause_of(event) {
                    let until = it.start.saturating_add(it.span.unwrap_or(0)).min(end);
                    if call.effects.is_empty() {
                        call.effects = room.pop().unwrap_or_default();
                        call.effects.clear();
                    }
                    let ticks = until.saturating_sub(it.start);
                    let has_failed = it.outcome == Outcome::Failed;
                    call.add(Effect { site: it.site, ticks, use_of_subject, has_failed });
                }
            }
            if let Some(ticks) = it.span.filter(|_| may_be_found.contains(&it.site)) {
                let call =
                    Call { id: it.id, site: it.site, ticks, use_of_subject, effects: Vec::new() };
                open.open(event, kind.is_entered(), call);
            }
        }
    }

    fn finish(mut self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let SlowBecause { open, sites, pairs, .. } = &mut *self;
        open.finish(|call| close(&call, sites, pairs));
        let mut best: HashMap<SiteId, (u64, SiteId)> = HashMap::default();
        for ((site, effect), with) in self.pairs.iter() {
            let is_found = self
                .sites
                .get(site)
                .is_some_and(|calls| self.explains(site, effect, with, calls, context));
            if is_found && !self.graph.is_recursive(site, effect) {
                let best = best.entry(site).or_insert((0, effect));
                *best = (*best).max((with.effect_ticks, effect));
            }
        }
        let finding = |(site, (_, effect)): (SiteId, (u64, SiteId))| {
            Some(finding(
                site,
                effect,
                self.sites.get(site)?,
                self.pairs.get(site, effect)?,
                context,
            ))
        };
        let kept = slow_kept::find(context, |site| best.contains_key(&site));
        best.into_iter().filter_map(finding).chain(kept).collect()
    }
}

/// Returns true if a few of a site's calls may take more time than all others.
fn may_be_found(site: SiteId, context: &Context<'_>) -> bool {
    let numbers = context.survey.site(site);
    let timed: u64 = numbers.spans.iter().sum();
    let most = numbers.most_ticks_of(timed * SLOW_PERCENT / 100);
    numbers.events >= CALLS && most >= numbers.ticks / 2
}

/// Notes an event of a pair of site and subject. Returns true if it is not the first one.
fn is_again(seen: &mut Vec<bool>, row: usize) -> bool {
    if seen.len() <= row {
        seen.resize(row + 1, false);
    }
    std::mem::replace(&mut seen[row], true)
}

impl Call {
    fn add(&mut self, new: Effect) {
        if let Some(effect) = self.effects.iter_mut().find(|effect| effect.site == new.site) {
            effect.ticks = effect.ticks.saturating_add(new.ticks);
            effect.has_failed |= new.has_failed;
            if new.use_of_subject == Use::Again {
                effect.use_of_subject = Use::Again;
            }
        } else if self.effects.len() < SITES {
            self.effects.push(new);
        }
    }
}

fn close(call: &Call, sites: &mut BySite<Calls>, pairs: &mut ByPair<With>) {
    let calls = sites.of(call.site);
    let is_first = call.use_of_subject == Use::First;
    calls.calls += 1;
    calls.first += u64::from(is_first);
    calls.ticks = calls.ticks.saturating_add(call.ticks);
    calls.samples.add(call.ticks);
    for effect in &call.effects {
        let with = pairs.of(call.site, effect.site);
        with.calls += 1;
        with.ticks = with.ticks.saturating_add(call.ticks);
        with.effect_ticks = with.effect_ticks.saturating_add(effect.ticks);
        with.samples.add(Sample { ticks: call.ticks, effect_ticks: effect.ticks });
        with.first_effects += u64::from(effect.use_of_subject == Use::First);
        with.first += u64::from(is_first);
        with.failed += u64::from(effect.has_failed);
        with.again +=
            u64::from(effect.use_of_subject == Use::Again || call.use_of_subject == Use::Again);
        for other in call.effects.iter().filter(|other| other.site != effect.site) {
            let failed = u64::from(other.has_failed);
            match with.others.iter_mut().find(|known| known.site == other.site) {
                Some(known) => {
                    known.calls += 1;
                    known.failed += failed;
                }
                None => with.others.push(Other { site: other.site, calls: 1, failed }),
            }
        }
        if with.events.len() < NAMED {
            with.events.push(call.id);
        }
    }
}

impl SlowBecause {
    fn explains(
        &self,
        site: SiteId,
        effect: SiteId,
        with: &With,
        calls: &Calls,
        context: &Context<'_>,
    ) -> bool {
        // The calls with the effect are so few that the median of all calls is the median of the
        // others, too.
        let usual = calls.samples.median();
        let slow = with.samples.median_by(|sample| sample.ticks);
        let explained = with.samples.median_by(|sample| sample.effect_ticks);
        let is_few = with.calls >= SLOW && with.calls * 100 <= calls.calls * SLOW_PERCENT;
        let is_slow = slow >= usual.saturating_mul(FACTOR)
            && context.ns(usual) >= USUAL_NS
            && context.ns(slow)
                >= context.config.at_least(KIND, "us", SLOW_NS / 1_000).saturating_mul(1_000);
        let is_explained = explained.saturating_mul(100)
            >= slow.saturating_sub(usual).saturating_mul(EXPLAINED_PERCENT);
        // Work that is due now and then, as the writing of a full buffer, costs less than all the
        // calls that it serves.
        let excess = with.ticks.saturating_sub(usual.saturating_mul(with.calls));
        let is_dominant = excess >= calls.ticks.saturating_sub(with.ticks);
        // Calls that do their work for the first time, or do other work instead, are slow by
        // nature.
        let others = calls.calls - with.calls;
        let is_first_of_call = with.first * 100 >= with.calls * USUAL_PERCENT
            && (calls.first - with.first) * 100 < others * USUAL_PERCENT;
        let is_first = is_first_of_call || with.first_effects * 100 >= with.calls * USUAL_PERCENT;
        let of_site = self.pairs.iter().filter(|((of, other), _)| *of == site && *other != effect);
        let mut others_of_site = of_site.map(|((_, other), calls)| (other, calls.calls));
        let mut is_additional = || {
            others_of_site.any(&mut |(other, count)| {
                let both = with.others.iter().find(|it| it.site == other).map_or(0, |it| it.calls);
                let alone = count - both;
                both * 100 >= with.calls * USUAL_PERCENT && alone * 100 >= others * USUAL_PERCENT
            }) || with.again * 100 >= with.calls * USUAL_PERCENT
        };
        is_few
            && is_slow
            && is_explained
            && is_dominant
            && !is_first
            && !is_poll(site, context)
            && is_additional()
            && !self.follows_a_miss(site, effect, with)
    }

    /// Returns true if an effect occurs together with failures of another effect, as the
    /// computation of a value follows the miss of a lookup.
    fn follows_a_miss(&self, site: SiteId, effect: SiteId, with: &With) -> bool {
        with.others.iter().filter(|other| other.failed > 0 && other.site != effect).any(|other| {
            let all_failed = self.pairs.get(site, other.site).map_or(0, |of_other| of_other.failed);
            is_share(other.failed, with.calls.max(all_failed), MISS_PERCENT)
        })
    }
}

/// Returns true for `poll`, `poll_next` and the like. A poll does the work that has become possible
/// since the last poll, and mostly there is none.
fn is_poll(site: SiteId, context: &Context<'_>) -> bool {
    let path = context.store.site_path(site);
    path.rsplit("::").next().is_some_and(|name| name.starts_with("poll"))
}

fn finding(
    site: SiteId,
    effect: SiteId,
    calls: &Calls,
    with: &With,
    context: &Context<'_>,
) -> Finding {
    let name = context.name(site);
    let effect_name = context.name(effect);
    let title =
        format!("{name} is slow when it calls {effect_name}, which most of its calls do not");
    let text = format!(
        "{} of {} calls of {name} ({}) call {effect_name}. They take {} (median), and all calls {}. {effect_name} takes {} of \
         the {} of these calls.",
        grouped(with.calls),
        grouped(calls.calls),
        percent(with.calls, calls.calls),
        time(context.ns(with.samples.median_by(|sample| sample.ticks))),
        time(context.ns(calls.samples.median())),
        time(context.ns(with.effect_ticks)),
        time(context.ns(with.ticks)),
    );
    let mut finding = slow_finding(title, site, effect, context);
    finding.cost = Cost::of_waiting(context.ns(with.effect_ticks), with.calls);
    finding.evidence.text = text;
    finding.evidence.numbers = vec![("slow_calls", with.calls), ("calls", calls.calls)];
    finding.evidence.events = with.events.clone();
    finding.certainty = Certainty::Estimated(
        "the counts are exact and the times are measured; whether the calls could do without it is not known"
            .to_owned(),
    );
    finding
}

/// Returns a finding about a site that is slow because of an effect, without the evidence.
pub(super) fn slow_finding(
    title: String,
    site: SiteId,
    effect: SiteId,
    context: &Context<'_>,
) -> Finding {
    let mut finding = Finding::new(KIND, title, vec![context.site(site), context.site(effect)]);
    finding.evidence.filter =
        format!("{} cause:{}", context.filter(effect), context.store.site_path(site));
    finding.advice = format!(
        "do {} when nobody waits for {}, in parts, or less often",
        context.name(effect),
        context.name(site)
    );
    finding
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Presses 800 keys.
    fn check(press: impl Fn(&mut Run, u64), expected: &[&str]) {
        let mut run = Run::new();
        (0..800).for_each(|n| _ = run.call("editor::Editor::press", n % 20, |run| press(run, n)));
        assert_eq!(run.found(SlowBecause::default()), expected);
    }

    #[test]
    fn a_rare_effect_that_makes_a_call_slow_is_found() {
        let press = |run: &mut Run, n: u64| {
            run.leaf("editor::Editor::insert", None, 20_000);
            if n % 40 == 7 {
                run.leaf("editor::Editor::index", None, 2_000_000);
            }
        };
        let title =
            "Editor::press is slow when it calls Editor::index, which most of its calls do not";
        check(press, &[&format!("{title}: slow_calls=20 calls=800")]);
    }

    #[test]
    fn the_same_effect_in_all_calls_and_between_them_is_silent() {
        check(|run, _| _ = run.leaf("editor::Editor::index", None, 2_000_000), &[]);
        let mut run = Run::new();
        for n in 0..800 {
            run.leaf("editor::Editor::press", None, 20_000);
            if n % 40 == 7 {
                run.leaf("editor::Editor::index", None, 2_000_000);
            }
        }
        assert_eq!(run.found(SlowBecause::default()), [] as [&str; 0]);
    }

    #[test]
    fn a_buffer_that_is_written_when_it_is_full_is_silent() {
        let write = |run: &mut Run, n: u64| {
            run.leaf("editor::Editor::insert", None, 2_000);
            if n % 64 == 63 {
                run.leaf("editor::Editor::flush", None, 80_000);
            }
        };
        check(write, &[]);
    }

    #[test]
    fn what_gathers_work_and_what_a_seventh_of_the_calls_do_are_silent() {
        // However long the work takes, the other calls only note that there is more work.
        let add = |run: &mut Run, n: u64| {
            run.leaf("editor::Editor::insert", None, 300);
            if n % 40 == 7 {
                run.leaf("editor::Editor::save", None, 2_000_000);
            }
        };
        check(add, &[]);
        let look_up = |run: &mut Run, n: u64| {
            run.leaf("editor::Editor::find", None, 20_000);
            if n % 7 == 3 {
                run.leaf("editor::Editor::fill", None, 2_000_000);
            }
        };
        check(look_up, &[]);
    }

    #[test]
    fn what_is_made_after_a_lookup_without_success_is_silent() {
        let look_up = |fails: fn(u64) -> bool, expected: usize| {
            let mut run = Run::new();
            for n in 0..800 {
                run.call("editor::Fonts::glyph", n % 20, |run| {
                    let outcome = if fails(n) { Outcome::Failed } else { Outcome::Succeeded };
                    run.ended_call("editor::Fonts::get", None, outcome, |run| run.work(20_000));
                    if n % 40 == 7 {
                        run.leaf("editor::Fonts::load", None, 2_000_000);
                    }
                });
            }
            assert_eq!(run.found(SlowBecause::default()).len(), expected);
        };
        look_up(|n| n % 40 == 7, 0);
        look_up(|n| n % 3 == 1, 1);
        look_up(|_| false, 1);
    }

    #[test]
    fn a_poll_with_something_to_do_is_silent() {
        let mut run = Run::new();
        for n in 0..800 {
            run.call("editor::Connection::poll_frame", n % 20, |run| {
                run.leaf("editor::Connection::state", None, 20_000);
                if n % 40 == 7 {
                    run.leaf("editor::Connection::receive", None, 2_000_000);
                }
            });
        }
        assert_eq!(run.found(SlowBecause::default()), [] as [&str; 0]);
    }

    #[test]
    fn preemption_is_silent() {
        let press = |run: &mut Run, n: u64| {
            run.leaf("editor::Editor::insert", None, if n % 50 == 3 { 4_000_000 } else { 20_000 });
            if n % 40 == 7 {
                run.leaf("editor::Editor::note", None, if n == 47 { 4_000_000 } else { 300 });
            }
        };
        check(press, &[]);
    }

    #[test]
    fn what_is_loaded_at_its_first_use_and_another_kind_of_request_are_silent() {
        let mut run = Run::new();
        for n in 0..900 {
            run.call("editor::show", n % 60, |run| {
                run.leaf("editor::measure", None, 2_000);
                if n < 60 {
                    run.leaf("editor::load", n, 300_000);
                }
            });
        }
        for n in 0..900_u64 {
            run.call("editor::answer", None, |run| {
                let is_export = n.is_multiple_of(30);
                run.leaf(
                    if is_export { "editor::export" } else { "editor::list" },
                    None,
                    if is_export { 900_000 } else { 9_000 },
                );
            });
        }
        assert_eq!(run.found(SlowBecause::default()), ["editor::show"; 0]);
    }
}
