//! `hot-subject`: one or a few subjects take a share of a site's calls out of proportion to the
//! others.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, LaneId, ResolvedEvent};

use super::context::OfTest;
use super::finding::NAMED;
use super::map::HashMap;
use super::open_calls::OpenCalls;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::median::median;
use crate::text::{grouped, percent, time};

/// Word of the kind.
const KIND: &str = "hot-subject";
/// Least number of subjects of a site.
const SUBJECTS: usize = 8;
/// Maximum number of hot subjects.
const HOT: usize = 3;
/// Least share of the site's calls that the hot subjects have together, in percent.
const PERCENT: u64 = 10;
/// Least median of the subjects' calls. Where most subjects are called once, as the instructions of
/// a program are, the others are in loops.
const MEDIAN: u64 = 5;
/// Least number of calls of a hot subject.
const CALLS: u64 = 50;
/// Least ratio between a hot subject and the median.
const MEDIANS: u64 = 5;
/// Least number of median deviations between a hot subject and the median.
const DEVIATIONS: u64 = 8;
/// Least ratio between a hot subject and the next one. Popular things differ by less from one to
/// the next.
const GAP: u64 = 4;

/// Detector of subjects that are called out of proportion.
#[derive(Default)]
pub(super) struct HotSubject {
    rows: Vec<Row>,
    /// Rows of the calls that run.
    open: OpenCalls<u32>,
    /// Calls that a finding may name, for the rows that have enough of them.
    named: Vec<[Option<EventId>; NAMED]>,
    /// The first and the last call of each row, in a recording of tests.
    first_and_last: Vec<Option<(EventId, EventId)>>,
}

/// Least number of calls of a subject that is hot by its time.
const TIMED_CALLS: u64 = 5;
/// Least number of calls on a place in several units of work. Each unit may have another object
/// there, and the shortest of many calls is hardly ever a call on the slow object.
const CALLS_ACROSS: u64 = 20;
/// Least share of the site's time for subjects that are hot by their time, in percent.
const TIME_PERCENT: u64 = 25;
/// Least share of the work for such subjects, in percent.
const WORK_PERCENT: u64 = 5;
/// Least share of the events or of the work, in percent, for a site in tests. The subjects of such
/// a site are sorted by test.
const LISTED_PERCENT: u64 = 1;
/// Maximum number of subjects that are sorted by test.
const SORTED: usize = 10_000;

/// Number that stands for several units of work. No event has it.
const SEVERAL: u64 = u64::MAX;

/// Calls of a site on a subject. There may be a million of them.
#[derive(Clone, Copy)]
struct Row {
    self_ticks: u64,
    /// Self time of the shortest call. A call that lost its processor is longer than its work.
    shortest: u64,
    /// End of the last counted call, and its lane.
    end: u64,
    lane: LaneId,
    calls: u32,
    /// Direct effects of the calls.
    effects: u32,
    /// Index of the named calls, from [`TIMED_CALLS`] calls on.
    named: u32,
    /// Number of the unit of work of the calls; 0 if they belong to none.
    unit: u64,
}

impl Row {
    const NEW: Row = Row {
        self_ticks: 0,
        shortest: u64::MAX,
        end: 0,
        lane: LaneId(0),
        calls: 0,
        effects: 0,
        named: 0,
        unit: 0,
    };
}

/// Calls of a site on one subject, with the row of the pair.
#[derive(Clone, Copy)]
struct OfSubject {
    row: u32,
    subject: Subject,
    calls: u64,
    self_ticks: u64,
    /// Self time of the shortest call.
    shortest: u64,
    /// Self time of all calls, if each took as long as the shortest.
    least_ticks: u64,
    /// Part of the shortest call for each of its effects. A call on a container takes as long as
    /// the container has parts.
    step_ticks: u64,
    /// True for a place that is used in several units of work. Each unit may have another object
    /// there.
    is_across: bool,
}

/// Difference between the hot subjects of a site and the others, in calls or in ticks.
struct Hot {
    /// Number of the hot subjects.
    count: usize,
    of_hot: u64,
    all: u64,
    /// Calls or ticks of the subject that follows the hot ones.
    next: u64,
    median: u64,
}

impl Detector for HotSubject {
    fn kind(&self) -> &str {
        KIND
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let kind = context.site_kind(it.site);
            self.open.close(event, |_| {});
            if let Some((&mut cause, _)) = self.open.cause_of(event) {
                let row = &mut self.rows[cause as usize];
                row.effects = row.effects.saturating_add(1);
            }
            let is_call = matches!(kind, SiteKind::Method | SiteKind::Async | SiteKind::Span);
            let Some(number) = event.row.filter(|_| is_call && it.subject.is_some()) else {
                continue;
            };
            let at = number as usize;
            if self.rows.len() <= at {
                self.rows.resize(at + 1, Row::NEW);
            }
            self.open.open(event, kind.is_entered(), number);
            let row = &mut self.rows[at];
            let unit = event.unit.map_or(0, |unit| unit.id.raw());
            row.unit = if row.calls == 0 || row.unit == unit { unit } else { SEVERAL };
            if context.has_tests() {
                self.first_and_last.resize(self.first_and_last.len().max(at + 1), None);
                self.first_and_last[at].get_or_insert((it.id, it.id)).1 = it.id;
            }
            if let Some(ticks) = event.self_ticks {
                row.self_ticks = row.self_ticks.saturating_add(ticks);
                row.shortest = row.shortest.min(ticks);
            }
            // A recursive call is a part of the call around it.
            if row.calls > 0 && it.start < row.end && row.lane == it.lane {
                continue;
            }
            row.calls = row.calls.saturating_add(1);
            row.lane = it.lane;
            row.end = it.start.saturating_add(it.span.unwrap_or(0));
            let calls = u64::from(row.calls);
            if calls == TIMED_CALLS {
                row.named = self.named.len() as u32;
                self.named.push([None; NAMED]);
            }
            if (TIMED_CALLS..TIMED_CALLS + NAMED as u64).contains(&calls) {
                self.named[row.named as usize][(calls - TIMED_CALLS) as usize] = Some(it.id);
            }
        }
    }

    fn missing_part(&self, context: &Context<'_>) -> Option<String> {
        let unknown = "an address may have other objects in other units of work: record keys as subjects, with \
                       `#[observe(subject = …)]`, or woven with --subject 'Type::*=self.key'";
        let mut sites = self.subjects_of_sites(context);
        let is_unknown =
            !context.has_tests() && sites.any(|(_, mut subjects)| is_hot_across(&mut subjects));
        is_unknown.then(|| unknown.to_owned()).or_else(|| context.missing_window())
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let sites = self.subjects_of_sites(context);
        sites
            .filter_map(|(site, subjects)| {
                let groups = self.of_tests(subjects, context).into_iter();
                groups
                    .filter_map(|subjects| self.finding(site, subjects, context))
                    .max_by_key(|it| it.cost.time_ns)
            })
            .collect()
    }
}

impl OfSubject {
    fn new(row: u32, subject: Subject, of_row: &Row) -> OfSubject {
        let Row { self_ticks, effects, .. } = *of_row;
        let calls = u64::from(of_row.calls);
        let shortest = if of_row.shortest == u64::MAX { 0 } else { of_row.shortest };
        let least_ticks = calls.saturating_mul(shortest);
        let step_ticks = shortest / (1 + u64::from(effects) / calls.max(1));
        OfSubject {
            row,
            subject,
            calls,
            self_ticks,
            shortest,
            least_ticks,
            step_ticks,
            is_across: false,
        }
    }
}

impl HotSubject {
    /// Returns the subjects of a site in comparable groups: one group for each test, or a single
    /// group if the recording is not of tests. A subject of several tests is in no group.
    fn of_tests(&self, subjects: Vec<OfSubject>, context: &Context<'_>) -> Vec<Vec<OfSubject>> {
        if !context.has_tests() {
            return vec![subjects];
        }
        let calls: u64 = subjects.iter().map(|it| it.calls).sum();
        let ticks: u64 = subjects.iter().map(|it| it.self_ticks).sum();
        let is_listed = calls >= context.survey.events / 100 * LISTED_PERCENT
            || ticks >= context.survey.work_ticks / 100 * LISTED_PERCENT;
        if !is_listed || !(SUBJECTS..=SORTED).contains(&subjects.len()) {
            return Vec::new();
        }
        let mut tests: HashMap<OfTest, Vec<OfSubject>> = HashMap::default();
        for subject in subjects {
            let calls = self.first_and_last.get(subject.row as usize).copied().flatten();
            let Some((first, last)) = calls else { continue };
            let test = context.test_of(first);
            if test != OfTest::Unknown && test == context.test_of(last) {
                tests.entry(test).or_default().push(subject);
            }
        }
        tests.into_values().collect()
    }

    /// Iterates over the sites with their subjects, of which there may be a million.
    fn subjects_of_sites(
        &self,
        context: &Context<'_>,
    ) -> impl Iterator<Item = (SiteId, Vec<OfSubject>)> {
        let mut sites: HashMap<SiteId, Vec<u32>> = HashMap::default();
        for (row, numbers) in (0..).zip(&self.rows) {
            if let Some((site, Some(subject))) = context.pairs.get(row)
                && numbers.calls > 0
                && context.is_one_object(subject)
            {
                sites.entry(site).or_default().push(row);
            }
        }
        let of_subject = |row: u32| {
            let (_, subject) = context.pairs.get(row)?;
            let subject = subject?;
            let numbers = &self.rows[row as usize];
            let is_across = numbers.unit == SEVERAL && context.is_place(subject.kind);
            Some(OfSubject { is_across, ..OfSubject::new(row, subject, numbers) })
        };
        sites
            .into_iter()
            .map(move |(site, rows)| (site, rows.into_iter().filter_map(of_subject).collect()))
    }

    fn named_of(&self, row: u32) -> impl Iterator<Item = EventId> {
        let row = self.rows.get(row as usize).filter(|row| u64::from(row.calls) >= TIMED_CALLS);
        row.and_then(|row| self.named.get(row.named as usize))
            .into_iter()
            .flatten()
            .copied()
            .flatten()
    }

    fn finding(
        &self,
        site: SiteId,
        mut subjects: Vec<OfSubject>,
        context: &Context<'_>,
    ) -> Option<Finding> {
        // The calls on a place may concern many objects.
        let mut counted: Vec<OfSubject> =
            subjects.iter().filter(|it| !it.is_across).copied().collect();
        let by_calls = Hot::by_calls(&mut counted);
        let is_by_calls = by_calls.is_some();
        if is_by_calls {
            subjects = counted;
        }
        let least_work = context.survey.work_ticks / 100 * WORK_PERCENT;
        let Hot { count, of_hot, all, next, median } = match by_calls {
            Some(hot) => hot,
            None => {
                let usual = median(subjects.iter().map(|it| it.shortest));
                let usual_step = median(subjects.iter().map(|it| it.step_ticks));
                Hot::of(&mut subjects, |it| it.least_ticks)
                    .filter(|hot| {
                        hot.of_hot >= least_work && hot.of_hot >= hot.all / 100 * TIME_PERCENT
                    })
                    .filter(|hot| {
                        subjects[..hot.count].iter().all(|it| {
                            it.calls >= if it.is_across { CALLS_ACROSS } else { TIMED_CALLS }
                                && it.shortest > usual.saturating_mul(MEDIANS)
                                && it.step_ticks > usual_step.saturating_mul(MEDIANS)
                        })
                    })?
            }
        };
        let hot = &subjects[..count];
        let name = context.name(site);
        let words = if count == 1 { "one subject".to_owned() } else { format!("{count} subjects") };
        let title = if is_by_calls {
            format!("{name} runs far more often on {words} than on the others")
        } else {
            format!("{name} takes far longer on {words} than on the others")
        };
        let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
        finding.subjects = context.subjects(&hot.iter().map(|it| (it.subject, it.calls)).collect());
        let ticks = hot.iter().map(|it| it.self_ticks).sum();
        finding.cost = Cost::of_work(context.ns(ticks), hot.iter().map(|it| it.calls).sum());
        let number = |number| if is_by_calls { grouped(number) } else { time(number) };
        let what = if is_by_calls {
            "calls"
        } else {
            "of the time, if each call took as long as the shortest on its subject"
        };
        let [of_hot, all, next, median] = if is_by_calls {
            [of_hot, all, next, median]
        } else {
            [of_hot, all, next, median].map(|ticks| context.ns(ticks))
        };
        finding.evidence = Evidence {
            text: format!(
                "{words} of {} {} {} of {} {what} ({}); the next has {}, and the median is {}.",
                grouped(subjects.len() as u64),
                if hot.len() == 1 { "has" } else { "have" },
                number(of_hot),
                number(all),
                percent(of_hot, all),
                number(next),
                number(median),
            ),
            numbers: if is_by_calls {
                vec![("calls_of_subjects", of_hot), ("calls", all), ("median", median)]
            } else {
                vec![("least_ns_of_subjects", of_hot), ("least_ns", all), ("median_ns", median)]
            },
            events: hot.iter().flat_map(|it| self.named_of(it.row)).collect(),
            filter: match hot {
                [only] => format!(
                    "{} subject:{}:#{}",
                    context.filter(site),
                    only.subject.kind.0,
                    only.subject.key
                ),
                _ => context.filter(site),
            },
        };
        let reason =
            "the counts are exact, without recursive calls; the subject may be used more by nature";
        finding.certainty = Certainty::Estimated(reason.to_owned());
        finding.advice =
            "look at what asks for these subjects: `metaspy report --by cause,subject`".to_owned();
        Some(finding)
    }
}

/// Returns true if places would be hot if they stood for one object in all units of work.
fn is_hot_across(subjects: &mut [OfSubject]) -> bool {
    Hot::by_calls(subjects).is_some_and(|hot| subjects[..hot.count].iter().all(|it| it.is_across))
}

impl Hot {
    /// Sorts the subjects by their calls, and returns the few that have far more calls than the
    /// others.
    fn by_calls(subjects: &mut [OfSubject]) -> Option<Hot> {
        Hot::of(subjects, |it| it.calls)
            .filter(|hot| hot.median >= MEDIAN && hot.of_hot * 100 >= hot.all * PERCENT)
            .filter(|hot| subjects[..hot.count].iter().all(|it| it.calls > CALLS))
    }

    /// Sorts subjects by `number`, and returns the few for which it is far larger than for the
    /// others.
    fn of(subjects: &mut [OfSubject], number: impl Fn(&OfSubject) -> u64) -> Option<Hot> {
        if subjects.len() < SUBJECTS {
            return None;
        }
        subjects.sort_by_key(|it| (std::cmp::Reverse(number(it)), it.row));
        let median = number(&subjects[subjects.len() / 2]);
        let mut deviations: Vec<u64> =
            subjects.iter().map(|it| number(it).abs_diff(median)).collect();
        deviations.sort_unstable();
        let deviation = deviations[deviations.len() / 2];
        let least = median
            .saturating_mul(MEDIANS)
            .max(median.saturating_add(deviation.saturating_mul(DEVIATIONS)));
        let count = (1..=HOT).find(|&count| {
            number(&subjects[count - 1]) >= GAP.saturating_mul(number(&subjects[count]))
        })?;
        let sum = |of: &[OfSubject]| of.iter().map(&number).fold(0, u64::saturating_add);
        let is_apart = number(&subjects[count - 1]) > least;
        let hot = Hot {
            count,
            of_hot: sum(&subjects[..count]),
            all: sum(subjects),
            next: number(&subjects[count]),
            median,
        };
        is_apart.then_some(hot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Measures 20 nodes, each `times` times.
    fn check(times: impl Fn(u64) -> u64, expected: &[&str]) {
        let mut run = Run::new();
        for node in 0..20 {
            (0..times(node)).for_each(|_| _ = run.leaf("page::Scene::measure", node, 100));
        }
        assert_eq!(run.found(HotSubject::default()), expected);
    }

    /// Measures 20 nodes ten times. `ns` returns the time of a call by node and round.
    fn check_times(ns: impl Fn(u64, u64) -> u64, expected: &[&str]) {
        let mut run = Run::new();
        for round in 0..10 {
            (0..20).for_each(|node| _ = run.leaf("page::Scene::measure", node, ns(node, round)));
        }
        assert_eq!(run.found(HotSubject::default()), expected);
    }

    #[test]
    fn a_subject_whose_calls_all_take_far_longer_is_found() {
        let found = "Scene::measure takes far longer on one subject than on the others: \
                     least_ns_of_subjects=80000 least_ns=99000 median_ns=1000";
        check_times(|node, _| if node == 3 { 8_000 } else { 100 }, &[found]);
    }

    #[test]
    fn one_call_that_loses_its_processor_and_subjects_of_all_sizes_are_silent() {
        check_times(|node, round| if (node, round) == (3, 4) { 1_000_000 } else { 100 }, &[]);
        check_times(|node, _| 100 << (node % 10), &[]);
        check_times(|node, _| if node < 4 { 8_000 } else { 100 }, &[]);
    }

    #[test]
    fn a_subject_that_is_called_out_of_proportion_is_found() {
        let found = "Scene::measure runs far more often on one subject than on the others: \
                     calls_of_subjects=300 calls=490 median=10";
        check(|node| if node == 3 { 300 } else { 10 }, &[found]);
        let found = "Scene::measure runs far more often on 2 subjects than on the others: \
                     calls_of_subjects=500 calls=680 median=10";
        check(|node| if node < 2 { 250 } else { 10 }, &[found]);
    }

    #[test]
    fn popularity_that_falls_step_by_step_is_silent() {
        check(|node| 1_000 / (node + 1), &[]);
        check(|_| 60, &[]);
        check(|node| if node < 2 { 900 } else { 1 }, &[]);
        check(|node| if node < 10 { 300 } else { 10 }, &[]);
    }

    #[test]
    fn recursion_counts_once() {
        fn visit(run: &mut Run, node: u64, depth: u64) {
            run.call("page::visit", node, |run| {
                if depth > 0 {
                    visit(run, node, depth - 1);
                }
                run.work(10);
            });
        }
        let mut run = Run::new();
        (0..20).for_each(|node| {
            (0..10).for_each(|_| visit(&mut run, node, if node == 3 { 40 } else { 0 }))
        });
        assert_eq!(run.found(HotSubject::default()), [] as [&str; 0]);
    }

    /// Calls 20 places ten times, and one of them 300 times, in the first of `frames` frames or in
    /// all of them in turn. `self_kind` tells how the calls take their places.
    fn check_places(self_kind: &str, is_in_all: bool, expected: &[&str]) {
        let mut run = Run::new();
        run.function("page", "page::Cell::add", &format!("type=Cell self={self_kind}"));
        run.at_places();
        for frame in 0..30 {
            run.call("page::frame", None, |run| {
                let rounds = if is_in_all {
                    usize::from(frame % 3 == 0)
                } else {
                    [10, 0][usize::from(frame > 0)]
                };
                for cell in (0..rounds).flat_map(|_| 0..20) {
                    let times = if cell == 3 { 30 } else { 1 };
                    (0..times).for_each(|_| _ = run.leaf("page::Cell::add", cell, 100));
                }
            });
        }
        assert_eq!(run.found(HotSubject::default()), expected);
    }

    #[test]
    fn a_place_is_compared_in_one_unit_of_work_if_its_calls_change_it() {
        let found = "Cell::add runs far more often on one subject than on the others: \
                     calls_of_subjects=300 calls=490 median=10";
        check_places("mut", false, &[found]);
        check_places("ref", false, &[]);
        check_places("mut", true, &[]);
    }

    #[test]
    fn an_address_that_has_most_calls_of_all_units_is_named() {
        let partly = |of_cell: u64| {
            let mut run = Run::new();
            run.function("page", "page::Cell::add", "type=Cell self=mut");
            run.at_places();
            for _ in 0..30 {
                run.call("page::frame", None, |run| {
                    for cell in 0..20 {
                        let times = if cell == 3 { of_cell } else { 1 };
                        (0..times).for_each(|_| _ = run.leaf("page::Cell::add", cell, 100));
                    }
                });
            }
            let findings = run.findings(HotSubject::default());
            (findings.found.len(), findings.partly_looked_for.len())
        };
        assert_eq!((partly(30), partly(1)), ((0, 1), (0, 0)));
    }

    #[test]
    fn objects_of_different_tests_are_not_compared() {
        let check = |tests: u64, expected: &[&str]| {
            let mut run = Run::new();
            run.function("page", "page::lays_out", "test");
            for test in 0..tests {
                run.call("page::lays_out", None, |run| {
                    for node in (0..20).filter(|node| node % tests == test) {
                        let times = if node == 3 { 300 } else { 10 };
                        (0..times).for_each(|_| _ = run.leaf("page::Scene::measure", node, 100));
                    }
                });
            }
            assert_eq!(run.found(HotSubject::default()), expected);
        };
        let found = "Scene::measure runs far more often on one subject than on the others: \
                     calls_of_subjects=300 calls=490 median=10";
        check(1, &[found]);
        check(5, &[]);
    }

    #[test]
    fn the_time_of_a_container_with_many_parts_is_silent() {
        let check = |parts_of: fn(u64) -> u64, expected: &[&str]| {
            let mut run = Run::new();
            for node in (0..10).flat_map(|_| 0..20) {
                run.call("page::Scene::layout", node, |run| {
                    run.work(if node == 3 { 8_000 } else { 100 });
                    (0..parts_of(node))
                        .for_each(|part| _ = run.leaf("page::Scene::place", 100 + part, 10));
                });
            }
            assert_eq!(run.found(HotSubject::default()), expected);
        };
        let found = "Scene::layout takes far longer on one subject than on the others: \
                     least_ns_of_subjects=80000 least_ns=99000 median_ns=1000";
        check(|_| 1, &[found]);
        check(|node| if node == 3 { 79 } else { 0 }, &[]);
    }
}
