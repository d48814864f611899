//! `hot-subject`: one or a few subjects take a share of a site's calls out of proportion to the others.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, LaneId, ResolvedEvent};

use super::finding::NAMED;
use super::map::HashMap;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent, time};

/// Word of the kind.
const KIND: &str = "hot-subject";
/// Least number of subjects of a site.
const SUBJECTS: usize = 8;
/// Maximum number of hot subjects.
const HOT: usize = 3;
/// Least share of the site's calls that the hot subjects have together, in percent.
const PERCENT: u64 = 10;
/// Least median of the subjects' calls. Where most are called once, as the instructions of a program, some are in loops.
const MEDIAN: u64 = 5;
/// Least number of calls of a hot subject.
const CALLS: u64 = 50;
/// Least ratio between a hot subject and the median.
const MEDIANS: u64 = 5;
/// Least number of median deviations between a hot subject and the median.
const DEVIATIONS: u64 = 8;
/// Least ratio between a hot subject and the next one. Popular things differ by less from one to the next.
const GAP: u64 = 4;

/// Detector of subjects that are called out of proportion.
#[derive(Default)]
pub(super) struct HotSubject {
    rows: Vec<Row>,
    events: HashMap<u32, Vec<EventId>>,
}

/// Least number of calls of a subject that is hot by its time.
const TIMED_CALLS: u64 = 5;
/// Least share of the site's time that a subject has which is hot by its time, in percent.
const TIME_PERCENT: u64 = 25;
/// Least share of the work that it takes, in percent.
const WORK_PERCENT: u64 = 5;

/// Calls of a site on a subject.
#[derive(Clone, Copy, Default)]
struct Row {
    calls: u64,
    self_ticks: u64,
    /// Self time of the shortest call. A call that lost its processor is longer than its work.
    shortest: Option<u64>,
    /// End of the last call that was counted, and its lane.
    end: u64,
    lane: u32,
}

/// Calls of a subject at the site in question.
struct OfSubject {
    row: u32,
    subject: Subject,
    calls: u64,
    self_ticks: u64,
    /// Self time of the shortest call.
    shortest: u64,
    /// Self time of all calls, if each took as long as the shortest.
    least_ticks: u64,
}

/// What sets the first of a site's subjects apart from the others, in calls or in ticks.
struct Hot {
    /// Number of the hot subjects.
    count: usize,
    of_hot: u64,
    all: u64,
    /// Number of the subject that follows them.
    next: u64,
    median: u64,
}

impl Detector for HotSubject {
    fn kind(&self) -> &str {
        KIND
    }

    fn read(&mut self, events: &[ResolvedEvent], context: &Context<'_>) {
        for event in events {
            let it = &event.event;
            let is_call = matches!(context.site_kind(it.site), SiteKind::Method | SiteKind::Async);
            let Some(number) = event.row.filter(|_| is_call && it.subject.is_some()) else { continue };
            let at = number as usize;
            if self.rows.len() <= at {
                self.rows.resize(at + 1, Row::default());
            }
            let row = &mut self.rows[at];
            if let Some(ticks) = event.self_ticks {
                row.self_ticks = row.self_ticks.saturating_add(ticks);
                row.shortest = Some(row.shortest.map_or(ticks, |shortest| shortest.min(ticks)));
            }
            // A recursive call is a part of the call around it.
            let LaneId(lane) = it.lane;
            if row.calls > 0 && it.start < row.end && row.lane == lane {
                continue;
            }
            row.calls += 1;
            row.lane = lane;
            row.end = it.start.saturating_add(it.span.unwrap_or(0));
            if row.calls == TIMED_CALLS || self.events.get(&number).is_some_and(|it| it.len() < NAMED) {
                self.events.entry(number).or_default().push(it.id);
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let mut sites: HashMap<SiteId, Vec<OfSubject>> = HashMap::default();
        for (row, numbers) in (0..).zip(&self.rows) {
            if let Some((site, Some(subject))) = context.pairs.get(row as usize)
                && numbers.calls > 0
            {
                let Row { calls, self_ticks, shortest, .. } = *numbers;
                let shortest = shortest.unwrap_or(0);
                let least_ticks = calls.saturating_mul(shortest);
                let of_subject = OfSubject { row, subject: *subject, calls, self_ticks, shortest, least_ticks };
                sites.entry(*site).or_default().push(of_subject);
            }
        }
        sites.into_iter().filter_map(|(site, subjects)| self.finding(site, subjects, context)).collect()
    }
}

impl HotSubject {
    fn finding(&self, site: SiteId, mut subjects: Vec<OfSubject>, context: &Context<'_>) -> Option<Finding> {
        if subjects.len() < SUBJECTS {
            return None;
        }
        let by_calls = Hot::of(&mut subjects, |it| it.calls)
            .filter(|hot| hot.median >= MEDIAN && hot.of_hot * 100 >= hot.all * PERCENT)
            .filter(|hot| subjects[..hot.count].iter().all(|it| it.calls > CALLS));
        let is_by_calls = by_calls.is_some();
        let least_work = context.survey.work_ticks / 100 * WORK_PERCENT;
        let is_long = |hot: &Hot| hot.of_hot >= least_work && hot.of_hot >= hot.all / 100 * TIME_PERCENT;
        let Hot { count, of_hot, all, next, median } = match by_calls {
            Some(hot) => hot,
            None => {
                let mut shortest: Vec<u64> = subjects.iter().map(|it| it.shortest).collect();
                let middle = shortest.len() / 2;
                let usual = *shortest.select_nth_unstable(middle).1;
                let is_slow = |it: &OfSubject| it.calls >= TIMED_CALLS && it.shortest > usual.saturating_mul(MEDIANS);
                Hot::of(&mut subjects, |it| it.least_ticks)
                    .filter(is_long)
                    .filter(|hot| subjects[..hot.count].iter().all(is_slow))?
            }
        };
        let hot = &subjects[..count];
        let name = context.name(site);
        let words = if count == 1 { "one subject".to_owned() } else { format!("{count} subjects") };
        let title = match is_by_calls {
            true => format!("{name} runs far more often on {words} than on the others"),
            false => format!("{name} takes far longer on {words} than on the others"),
        };
        let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
        finding.subjects = context.subjects(&hot.iter().map(|it| (it.subject, it.calls)).collect());
        let ticks = hot.iter().map(|it| it.self_ticks).sum();
        finding.cost = Cost::of_work(context.ns(ticks), hot.iter().map(|it| it.calls).sum());
        let number = |number| if is_by_calls { grouped(number) } else { time(number) };
        let what = match is_by_calls {
            true => "calls",
            false => "of the time, if each call took as long as the shortest on its subject",
        };
        let [of_hot, all, next, median] = match is_by_calls {
            true => [of_hot, all, next, median],
            false => [of_hot, all, next, median].map(|ticks| context.ns(ticks)),
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
            numbers: match is_by_calls {
                true => vec![("calls_of_subjects", of_hot), ("calls", all), ("median", median)],
                false => vec![("least_ns_of_subjects", of_hot), ("least_ns", all), ("median_ns", median)],
            },
            events: hot.iter().flat_map(|it| self.events.get(&it.row).into_iter().flatten().copied()).collect(),
            filter: match hot {
                [only] => format!("{} subject:{}:#{}", context.filter(site), only.subject.kind.0, only.subject.key),
                _ => context.filter(site),
            },
        };
        let reason = "the counts are exact, without recursive calls; the subject may be used more by nature";
        finding.certainty = Certainty::Estimated(reason.to_owned());
        finding.advice = "look at what asks for these subjects: `metaspy report --by cause,subject`".to_owned();
        Some(finding)
    }
}

impl Hot {
    /// Sorts subjects by a number of theirs, and returns the few that have far more than the others.
    fn of(subjects: &mut [OfSubject], number: impl Fn(&OfSubject) -> u64) -> Option<Hot> {
        subjects.sort_by_key(|it| (std::cmp::Reverse(number(it)), it.row));
        let median = number(&subjects[subjects.len() / 2]);
        let mut deviations: Vec<u64> = subjects.iter().map(|it| number(it).abs_diff(median)).collect();
        deviations.sort_unstable();
        let deviation = deviations[deviations.len() / 2];
        let least = median.saturating_mul(MEDIANS).max(median.saturating_add(deviation.saturating_mul(DEVIATIONS)));
        let gap = |&count: &usize| number(&subjects[count - 1]) >= GAP.saturating_mul(number(&subjects[count]));
        let count = (1..=HOT).find(gap)?;
        let sum = |of: &[OfSubject]| of.iter().map(&number).fold(0, u64::saturating_add);
        let is_apart = number(&subjects[count - 1]) > least;
        let hot =
            Hot { count, of_hot: sum(&subjects[..count]), all: sum(subjects), next: number(&subjects[count]), median };
        is_apart.then_some(hot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Measures 20 nodes as often as `times` says.
    fn check(times: impl Fn(u64) -> u64, expected: &[&str]) {
        let mut run = Run::new();
        for node in 0..20 {
            (0..times(node)).for_each(|_| _ = run.leaf("page::Scene::measure", node, 100));
        }
        assert_eq!(run.found(HotSubject::default()), expected);
    }

    /// Measures 20 nodes ten times, each for as long as `ns` says by node and round.
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
        (0..20).for_each(|node| (0..10).for_each(|_| visit(&mut run, node, if node == 3 { 40 } else { 0 })));
        assert_eq!(run.found(HotSubject::default()), [] as [&str; 0]);
    }
}
