//! `growing-cost`: a call has more effects, or takes longer, the later it comes.

use metaspy_format::facts::SelfKind;
use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::call_graph::CallGraph;
use super::finding::{NAMED, is_share};
use super::map::{ByPair, BySite};
use super::open_calls::OpenCalls;
use super::question::Values;
use super::samples::Samples;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, time};

/// Word of the kind.
const KIND: &str = "growing-cost";
/// Least number of calls of a site.
const CALLS: u64 = 150;
/// Number of parts of the calls, by their order. The first part is left out: it warms up.
const PARTS: usize = 9;
/// Least exponent of the growth.
const EXPONENT: f64 = 0.5;
/// Least share of the variance that the growth explains.
const R2: f64 = 0.85;
/// Least growth from the first part to the last one.
const GROWTH: f64 = 2.5;
/// Least cost of the last part in effects or nanoseconds of a call.
const EFFECTS: f64 = 10.0;
const SELF_NS: f64 = 1_000.0;
/// Least share of the work for calls whose time grows without a recorded reason, in percent.
const TIME_PERCENT: u64 = 5;

/// Detector of calls whose cost grows.
#[derive(Default)]
pub(super) struct GrowingCost {
    open: OpenCalls<Open>,
    sites: BySite<Calls>,
    effects: ByPair<Effects>,
    /// The last call that had an effect on each pair of site and subject.
    causes: Vec<Option<EventId>>,
    graph: CallGraph,
}

/// Call that has begun and not ended.
#[derive(Clone, Copy)]
struct Open {
    id: EventId,
    site: SiteId,
    subject: Option<Subject>,
    part: usize,
}

/// Calls of a site in the order of their beginnings.
#[derive(Default)]
struct Calls {
    calls: [u64; PARTS],
    self_ticks: [Samples<u64>; PARTS],
    self_sum: u64,
    /// All effects, also those on subjects that the site had not met before.
    effects: [u64; PARTS],
    seen: u64,
    /// Part of the next call, and the number of calls before the following part.
    part: usize,
    part_end: u64,
    /// Least number of events of another site, so that the calls of the last part have many effects
    /// there.
    least_effects: u64,
    last: Vec<EventId>,
}

/// Effects of the calls of a site at another site, without effects on subjects that the other site
/// meets for the first time.
#[derive(Default)]
struct Effects {
    parts: [u64; PARTS],
    without_subject: u64,
}

/// Growth of a number with the number of calls so far.
struct Growth {
    exponent: f64,
    /// Half of the width of the 95 % confidence interval of the exponent.
    interval: f64,
    r2: f64,
    first: f64,
    last: f64,
}

impl Detector for GrowingCost {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        // Where effects are missing, the remaining ones may seem to grow in number.
        context.missing_calls()
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            self.open.close(event, |_| {});
            let it = &event.event;
            if let Some(cause) = event.cause.event() {
                self.graph.add(cause.site, it.site);
                if let Some((call, _)) = self.open.cause_of(event) {
                    let call = *call;
                    self.add_effect(event, call, context);
                }
            }
            let kind = context.site_kind(it.site);
            let is_call = matches!(kind, SiteKind::Method | SiteKind::Async | SiteKind::Span);
            let events = context.survey.events_of(it.site);
            if !is_call || events < CALLS || !context.is_whole_since(event) {
                continue;
            }
            let calls = self.sites.of(it.site);
            if calls.seen >= calls.part_end {
                calls.part = (calls.seen * PARTS as u64 / events).min(PARTS as u64 - 1) as usize;
                calls.part_end = ((calls.part as u64 + 1) * events).div_ceil(PARTS as u64);
                // Where calls left the window, the last part may have few calls.
                if context.survey.whole_from == 0 {
                    calls.least_effects = events / PARTS as u64 * EFFECTS as u64;
                }
            }
            let part = calls.part;
            calls.seen += 1;
            calls.calls[part] += 1;
            if let Some(ticks) = event.self_ticks {
                calls.self_ticks[part].add(ticks);
                calls.self_sum = calls.self_sum.saturating_add(ticks);
            }
            if part == PARTS - 1 && calls.last.len() < NAMED {
                calls.last.push(it.id);
            }
            self.open.open(
                event,
                kind.is_entered(),
                Open { id: it.id, site: it.site, subject: it.subject, part },
            );
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        self.sites.iter().filter_map(|(site, calls)| self.finding(site, calls, context)).collect()
    }
}

impl GrowingCost {
    fn add_effect(&mut self, effect: &ResolvedEvent, call: Open, context: &Context<'_>) {
        let Open { id: call, site, subject, part } = call;
        let Some(calls) = self.sites.get_mut(site) else { return };
        calls.effects[part] += 1;
        if context.survey.events_of(effect.event.site) < calls.least_effects {
            return;
        }
        // A helper on the call's own subject does not show which objects it looks at.
        let is_own = effect.event.subject.is_some() && effect.event.subject == subject;
        if effect.event.subject.is_some() && !is_own {
            // A call that meets subjects for the first time has a larger input. Several effects on
            // a subject count once.
            let Some(row) = effect.row else { return };
            let row = row as usize;
            if self.causes.len() <= row {
                self.causes.resize(row + 1, None);
            }
            let before = self.causes[row].replace(call);
            if before.is_none() || before == Some(call) {
                return;
            }
        }
        let effects = self.effects.of(site, effect.event.site);
        effects.parts[part] += 1;
        // At its second occurrence, an address may belong to another object.
        let is_known =
            !is_own && effect.event.subject.is_some_and(|subject| !context.is_place(subject.kind));
        effects.without_subject += u64::from(!is_known);
    }

    fn finding(&self, site: SiteId, calls: &Calls, context: &Context<'_>) -> Option<Finding> {
        let per_call = |numbers: &[u64; PARTS]| {
            let mut means = [0.0; PARTS];
            for (part, mean) in means.iter_mut().enumerate() {
                *mean = numbers[part] as f64 / calls.calls[part].max(1) as f64;
            }
            means
        };
        if calls.seen < CALLS || calls.calls.contains(&0) {
            return None;
        }
        let of_site = self
            .effects
            .iter()
            .filter(|((from, to), _)| *from == site && !self.graph.is_recursive(*from, *to));
        let grown = of_site.filter_map(|((_, to), effects)| {
            let growth =
                Growth::of(&per_call(&effects.parts)).filter(|growth| growth.last >= EFFECTS)?;
            Some((to, growth, effects))
        });
        let count_of = |effects: &Effects| effects.parts.iter().sum::<u64>();
        let name = context.name(site);
        let count = grouped(calls.seen);
        let mut finding = Finding::new(KIND, "", vec![context.site(site)]);
        if let Some((effect, growth, effects)) =
            grown.max_by_key(|(effect, _, effects)| (count_of(effects), *effect))
        {
            let sum = count_of(effects);
            let effect_name = context.name(effect);
            finding.title =
                format!("{name} calls {effect_name} more often, the later it is called");
            finding.sites.push(context.site(effect));
            finding.cost = self.cost_of_effects(effect, sum, calls, context);
            finding.evidence.text = format!(
                "{count} calls of {name} in the order of time: in the second ninth, a call has {:.1} calls of {effect_name}, \
                 and in the last ninth {:.1}. They grow with the number of calls to the power of {}.",
                growth.first,
                growth.last,
                growth.text(),
            );
            finding.evidence.numbers = vec![("calls", calls.seen), ("effects", sum)];
            finding.certainty = if effects.without_subject == 0 {
                context.counted("the calls are counted; those on new subjects are left out")
            } else {
                finding.needs =
                    format!("the subjects of {effect_name}: `#[observe(subject = item)]`");
                let unknown = "whether the inputs of the calls grow as well is not recorded";
                Certainty::Estimated(format!("the calls are counted; {unknown}"))
            };
            finding.advice = format!(
                "keep what {name} looks for in a map or an index, or remove what is no longer needed"
            );
        } else {
            let medians =
                calls.self_ticks.each_ref().map(|ticks| context.ns(ticks.median()) as f64);
            // A call that takes longer because it has more effects has a larger input.
            let mut per_effect = per_call(&calls.effects);
            for (cost, ns) in per_effect.iter_mut().zip(medians) {
                *cost = ns / (1.0 + *cost);
            }
            let growth = Growth::of(&medians).filter(|growth| growth.last >= SELF_NS)?;
            Growth::of(&per_effect)?;
            if reads_values(site, &calls.last, context) {
                return None;
            }
            if !is_share(calls.self_sum, context.survey.work_ticks, TIME_PERCENT) {
                return None;
            }
            finding.title = format!("{name} takes longer, the later it is called");
            let least = (growth.first * calls.seen as f64) as u64;
            finding.cost =
                Cost::of_work(context.ns(calls.self_sum).saturating_sub(least), calls.seen);
            finding.evidence.text = format!(
                "{count} calls of {name} in the order of time: the median self time is {} in the second ninth and {} in the \
                 last one. It grows with the number of calls to the power of {}.",
                time(growth.first as u64),
                time(growth.last as u64),
                growth.text(),
            );
            finding.evidence.numbers = vec![("calls", calls.seen)];
            finding.certainty = Certainty::Estimated(
                "the times are measured; whether the inputs of the calls grow as well is not recorded".to_owned(),
            );
            finding.needs =
                "sizes of the inputs: `#[observe(args(items = items.len()))]`".to_owned();
            finding.advice =
                format!("look in {name} for a loop or a copy of all that earlier calls have added");
        }
        // A test gives its calls the inputs that it wants.
        let is_estimated = matches!(finding.certainty, Certainty::Estimated(_));
        if is_estimated
            && (context.are_of_tests(&calls.last) || has_only_values(site, &calls.last, context))
        {
            return None;
        }
        finding.evidence = Evidence {
            events: calls.last.clone(),
            filter: context.filter(site),
            ..finding.evidence
        };
        Some(finding)
    }

    /// Returns the cost of effects. Their number leaves out one effect for each call, which would
    /// remain without growth.
    fn cost_of_effects(
        &self,
        effect: SiteId,
        sum: u64,
        calls: &Calls,
        context: &Context<'_>,
    ) -> Cost {
        let work = self.sites.get(effect).map_or(0, |effects| effects.self_sum);
        let share = u128::from(work) * u128::from(sum)
            / u128::from(context.survey.events_of(effect).max(1));
        Cost::of_work(context.ns(share as u64), sum.saturating_sub(calls.seen))
    }
}

/// Returns true if calls read receivers that no call changes. A larger receiver is another value
/// then.
fn reads_values(site: SiteId, calls: &[EventId], context: &Context<'_>) -> bool {
    let only_reads = context
        .facts(site)
        .is_some_and(|facts| matches!(facts.self_kind, SelfKind::Ref | SelfKind::Value));
    let subjects = || calls.iter().filter_map(|id| context.store.event(*id)?.subject);
    only_reads
        && subjects().next().is_some()
        && subjects().all(|subject| !context.is_one_object(subject))
}

/// Returns true if calls get only numbers, truth values and texts, to which no earlier call can
/// have added anything.
fn has_only_values(site: SiteId, calls: &[EventId], context: &Context<'_>) -> bool {
    let is_function = context.facts(site).is_some_and(|facts| {
        facts.self_kind == SelfKind::None && facts.shows_inputs && !facts.is_closure
    });
    let is_value = |value: &str| {
        value.parse::<f64>().is_ok()
            || value.starts_with(['"', '\''])
            || value == "true"
            || value == "false"
    };
    is_function
        && calls.iter().all(|id| {
            let arguments =
                Values::of(*id, context).map_or_else(Vec::new, |values| values.arguments);
            !arguments.is_empty() && arguments.iter().all(|(_, value)| is_value(value))
        })
}

impl Growth {
    /// Fits a power of the number of calls. Returns `None` unless the numbers grow and follow the
    /// power.
    fn of(parts: &[f64; PARTS]) -> Option<Growth> {
        let points: Vec<(f64, f64)> =
            (1..PARTS).map(|part| ((part as f64 + 0.5).ln(), parts[part].max(1e-3).ln())).collect();
        let n = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let xx: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        let yy: f64 = points.iter().map(|(_, y)| (y - mean_y).powi(2)).sum();
        let xy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let exponent = xy / xx;
        let rest = (yy - exponent * xy).max(0.0);
        // 2.447 is the quantile of Student's distribution for six degrees of freedom.
        let interval = 2.447 * (rest / (n - 2.0) / xx).sqrt();
        let r2 = if yy > 0.0 { 1.0 - rest / yy } else { 0.0 };
        let growth = Growth { exponent, interval, r2, first: parts[1], last: parts[PARTS - 1] };
        let grows =
            growth.exponent > EXPONENT && growth.r2 > R2 && growth.last >= growth.first * GROWTH;
        grows.then_some(growth)
    }

    fn text(&self) -> String {
        let low = self.exponent - self.interval;
        let high = self.exponent + self.interval;
        format!("{:.2} ({low:.2} to {high:.2})", self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Calls a site 300 times.
    fn check(insert: impl Fn(&mut Run, u64), expected: &[&str]) {
        let mut run = Run::new();
        (0..300).for_each(|n| _ = run.call("list::Guests::insert", None, |run| insert(run, n)));
        assert_eq!(run.found(GrowingCost::default()), expected);
    }

    fn compare(run: &mut Run, node: impl Into<Option<u64>>) {
        run.leaf("list::is_same", node, 100);
    }

    #[test]
    fn a_comparison_with_all_before_is_found() {
        let title = "Guests::insert calls is_same more often, the later it is called";
        let numbers = "calls=300 effects=44850";
        check(|run, n| (0..n).for_each(|_| compare(run, None)), &[&format!("{title}: {numbers}")]);
        check(
            |run, n| (0..=n).for_each(|other| compare(run, other)),
            &[&format!("{title}: {numbers}")],
        );
    }

    #[test]
    fn a_small_part_of_the_time_that_grows_is_silent() {
        let check = |rest_ns: u64, expected: usize| {
            let mut run = Run::new();
            for n in 0..300 {
                run.leaf("list::Guests::insert", None, 500 + n * 40);
                run.leaf("list::Guests::welcome", None, rest_ns);
            }
            assert_eq!(run.found(GrowingCost::default()).len(), expected);
        };
        check(10_000, 1);
        check(200_000, 0);
    }

    #[test]
    fn a_copy_of_all_before_is_found() {
        let title = "Guests::insert takes longer, the later it is called";
        check(|run, n| run.work(500 + n * 40), &[&format!("{title}: calls=300")]);
    }

    #[test]
    fn calls_that_cost_the_same_are_silent() {
        check(|run, _| (0..20).for_each(|_| compare(run, None)), &[]);
        check(|run, n| run.work(5_000 + n % 7 * 900), &[]);
    }

    #[test]
    fn inputs_that_grow_are_silent() {
        let read = |run: &mut Run, n: u64| {
            for entry in 0..n {
                run.work(30);
                compare(run, n << 16 | entry);
            }
        };
        check(read, &[]);
    }

    #[test]
    fn warm_up_and_a_second_phase_are_silent() {
        check(|run, n| run.work(if n < 30 { 90_000 } else { 900 }), &[]);
        check(|run, n| run.work(if n < 150 { 900 } else { 4_000 }), &[]);
    }

    #[test]
    fn a_function_of_numbers_and_texts_is_silent() {
        let check = |facts: &str, list: &str, expected: usize| {
            let mut run = Run::new();
            run.function("bank", "bank::schedule", facts);
            for months in 0..300 {
                let call = run.call("bank::schedule", None, |run| {
                    (0..months).for_each(|_| compare(run, None))
                });
                run.argument(call, "months", &months.to_string());
                run.argument(call, "loans", list);
            }
            assert_eq!(run.found(GrowingCost::default()).len(), expected);
        };
        check("self=none inputs", "\"many\"", 0);
        check("self=none inputs", "[Loan { rate: 3 }]", 1);
        check("self=none inputs", "?", 1);
        check("self=ref inputs", "7", 1);
    }

    #[test]
    fn values_that_become_larger_are_silent() {
        let found = |self_kind: &str, is_changed: bool| {
            let mut run = Run::new();
            run.function("bank", "bank::Sum::add", &format!("type=Sum self={self_kind}"));
            run.function("bank", "bank::Sum::clear", "type=Sum self=mut");
            run.at_places();
            for n in 0..300 {
                run.leaf("bank::Sum::add", n % 3, 500 + n * 40);
            }
            if is_changed {
                run.leaf("bank::Sum::clear", 1, 10);
            }
            run.found(GrowingCost::default()).len()
        };
        assert_eq!((found("ref", false), found("ref", true), found("mut", false)), (0, 1, 1));
    }

    #[test]
    fn deeper_recursion_is_silent() {
        fn fibonacci(run: &mut Run, n: u64) {
            run.call("list::fibonacci", None, |run| {
                run.work(100);
                (1..=2).filter(|less| *less <= n).for_each(|less| fibonacci(run, n - less));
            });
        }
        let mut run = Run::new();
        (0..14).for_each(|n| fibonacci(&mut run, n));
        assert_eq!(run.found(GrowingCost::default()), [] as [&str; 0]);
    }

    /// Parses 300 texts in a function with these facts. Later texts take longer, or have calls on
    /// more places.
    fn check_inputs(words: &str, has_places: bool, expected: usize) {
        let mut run = Run::new();
        run.function("list", "list::parses", words);
        run.at_places();
        run.call("list::parses", None, |run| {
            for n in 0..300 {
                run.call("list::parse", None, |run| {
                    if has_places {
                        (0..n).for_each(|place| compare(run, place))
                    } else {
                        run.work(1_000 * n)
                    }
                });
            }
        });
        let findings = run.findings(GrowingCost::default()).found;
        assert!(
            findings.iter().all(|finding| matches!(finding.certainty, Certainty::Estimated(_)))
        );
        assert_eq!(findings.len(), expected);
    }

    #[test]
    fn growth_that_may_be_of_the_inputs_is_estimated_and_silent_in_tests() {
        check_inputs("self=none", false, 1);
        check_inputs("self=none", true, 1);
        check_inputs("test", false, 0);
        check_inputs("test", true, 0);
    }

    #[test]
    fn a_helper_on_the_own_subject_counts_each_time() {
        let mut run = Run::new();
        for n in 0..300 {
            run.call("list::Guests::insert", 7, |run| (0..n).for_each(|_| compare(run, 7)));
        }
        let title = "Guests::insert calls is_same more often, the later it is called";
        assert_eq!(
            run.found(GrowingCost::default()),
            [format!("{title}: calls=300 effects=44850")]
        );
    }
}
