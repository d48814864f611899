//! `hot-subject`: one or a few subjects take a share of a site's calls out of proportion to the others.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, LaneId, ResolvedEvent};

use super::finding::NAMED;
use super::map::HashMap;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent};

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

/// Calls of a site on a subject.
#[derive(Clone, Copy, Default)]
struct Row {
    calls: u64,
    self_ticks: u64,
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
            row.self_ticks = row.self_ticks.saturating_add(event.self_ticks.unwrap_or(0));
            // A recursive call is a part of the call around it.
            let LaneId(lane) = it.lane;
            if row.calls > 0 && it.start < row.end && row.lane == lane {
                continue;
            }
            row.calls += 1;
            row.lane = lane;
            row.end = it.start.saturating_add(it.span.unwrap_or(0));
            if row.calls as usize == CALLS as usize || self.events.get(&number).is_some_and(|it| it.len() < NAMED) {
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
                let Row { calls, self_ticks, .. } = *numbers;
                sites.entry(*site).or_default().push(OfSubject { row, subject: *subject, calls, self_ticks });
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
        subjects.sort_by_key(|it| (std::cmp::Reverse(it.calls), it.row));
        let median = subjects[subjects.len() / 2].calls;
        if median < MEDIAN {
            return None;
        }
        let mut deviations: Vec<u64> = subjects.iter().map(|it| it.calls.abs_diff(median)).collect();
        deviations.sort_unstable();
        let deviation = deviations[deviations.len() / 2];
        let least = (MEDIANS * median).max(median + DEVIATIONS * deviation).max(CALLS);
        let gap = |count: &usize| subjects[count - 1].calls >= GAP * subjects[*count].calls;
        let count = (1..=HOT).find(gap)?;
        let (hot, rest) = subjects.split_at(count);
        let all: u64 = subjects.iter().map(|it| it.calls).sum();
        let of_hot: u64 = hot.iter().map(|it| it.calls).sum();
        if hot.iter().any(|it| it.calls <= least) || of_hot * 100 < all * PERCENT {
            return None;
        }
        let name = context.name(site);
        let words = if count == 1 { "one subject".to_owned() } else { format!("{count} subjects") };
        let title = format!("{name} runs far more often on {words} than on the others");
        let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
        finding.subjects = context.subjects(&hot.iter().map(|it| (it.subject, it.calls)).collect());
        let ticks = hot.iter().map(|it| it.self_ticks).sum();
        finding.cost = Cost::of_work(context.ns(ticks), of_hot);
        finding.evidence = Evidence {
            text: format!(
                "{words} of {} have {} of {} calls ({}); the next has {}, and the median is {}.",
                grouped(subjects.len() as u64),
                grouped(of_hot),
                grouped(all),
                percent(of_hot, all),
                grouped(rest[0].calls),
                grouped(median),
            ),
            numbers: vec![("calls_of_subjects", of_hot), ("calls", all), ("median", median)],
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
