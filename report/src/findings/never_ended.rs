//! `never-ended`: subjects are created at a steady rate, and do not end after their last use.

use metaspy_probe::{KindId, SiteId, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::finding::NAMED;
use super::map::HashMap;
use super::samples::Samples;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::grouped;

/// Word of the kind.
const KIND: &str = "never-ended";
/// Least number of subjects that live on at the end.
const SUBJECTS: u64 = 50;
/// Least share of all subjects of the kind that live on at the end, in percent.
const PERCENT: u64 = 20;
/// Number of parts of the recording. At the end of each part, the subjects are counted that live
/// and are not used again.
const PARTS: usize = 8;
/// Least share of the remaining subjects that each quarter of the recording adds, in percent.
const QUARTER_PERCENT: u64 = 10;
/// Number of pauses, each as long as the longest time between two uses of a subject. Until they
/// have passed since its last use, the subject may be used again.
const PAUSES: u64 = 3;

/// Detector of subjects that are kept for no use.
#[derive(Default)]
pub(super) struct NeverEnded {
    /// Lives of the subjects, by the number of the subject.
    lives: Vec<Option<Life>>,
    /// Starts of events. A part of the recording is a number of events and not a time, because a
    /// program may stand still for long.
    starts: Samples<u64>,
    first: Option<u64>,
    last: u64,
}

/// Uses of a subject, as far as they are observed.
struct Life {
    subject: Subject,
    /// Site and event of the first use.
    site: SiteId,
    id: EventId,
    /// End of the last use.
    used: u64,
    /// Longest time between two uses.
    pause: u64,
}

/// Subjects of a kind.
#[derive(Default)]
struct Kind {
    subjects: u64,
    ended: u64,
    /// Subjects that live and are not used again, at the end of each part.
    idle: [u64; PARTS],
    /// Number of subjects that are idle at the end, by the site of their first use.
    sites: HashMap<SiteId, u64>,
    events: Vec<EventId>,
    named: HashMap<Subject, u64>,
}

impl Detector for NeverEnded {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        context.missing_calls()
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.all_sites_if(context.store.has_ends())
    }

    fn read(&mut self, events: &[&ResolvedEvent], _: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let end = it.start.saturating_add(it.span.unwrap_or(0));
            self.first.get_or_insert(it.start);
            self.starts.add(it.start);
            self.last = self.last.max(end);
            let (Some(subject), Some(row)) = (it.subject, event.subject_row) else { continue };
            let row = row as usize;
            if self.lives.len() <= row {
                self.lives.resize_with(row + 1, || None);
            }
            let life = self.lives[row].get_or_insert(Life {
                subject,
                site: it.site,
                id: it.id,
                used: end,
                pause: 0,
            });
            life.pause = life.pause.max(it.start.saturating_sub(life.used));
            life.used = life.used.max(end);
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let first = self.first.unwrap_or(0);
        let part = self.last.saturating_sub(first) / PARTS as u64;
        let mut ends = [self.last; PARTS];
        (1..PARTS).for_each(|at| ends[at - 1] = self.starts.kept(at, PARTS).unwrap_or(self.last));
        let mut kinds: HashMap<KindId, Kind> = HashMap::default();
        for life in self.lives.iter().flatten() {
            let kind = kinds.entry(life.subject.kind).or_default();
            let ended = context.store.ended_at(life.subject);
            kind.subjects += 1;
            kind.ended += u64::from(ended.is_some());
            let idle_from = life
                .used
                .saturating_add(life.pause.saturating_mul(PAUSES))
                .saturating_add(part / 4);
            let idle_until = ended.unwrap_or(u64::MAX);
            for (idle, tick) in kind.idle.iter_mut().zip(ends) {
                *idle += u64::from(idle_from <= tick && tick < idle_until);
            }
            let is_idle_at_end = idle_from <= self.last && idle_until >= self.last;
            if is_idle_at_end {
                *kind.sites.entry(life.site).or_default() += 1;
                if kind.named.len() < NAMED {
                    kind.named.insert(life.subject, 1);
                    kind.events.push(life.id);
                }
            }
        }
        kinds.iter().filter_map(|(&id, kind)| finding(id, kind, context)).collect()
    }
}

fn finding(id: KindId, kind: &Kind, context: &Context<'_>) -> Option<Finding> {
    let [.., idle] = kind.idle;
    let mut before = 0;
    let is_steady = kind.idle.chunks(PARTS / 4).all(|quarter| {
        let now = quarter.last().copied().unwrap_or(0);
        let grew = now.saturating_sub(before);
        before = now;
        grew * 100 >= idle * QUARTER_PERCENT
    });
    // Keys of a domain, such as numbers of nodes, have no ends.
    let has_ends = kind.ended > 0;
    if idle < context.config.at_least(KIND, "subjects", SUBJECTS)
        || idle * 100 < kind.subjects * PERCENT
        || !is_steady
        || !has_ends
    {
        return None;
    }
    let name = context.store.kind(id).map_or("subject", |kind| kind.short_name());
    let site =
        kind.sites.iter().max_by_key(|&(site, count)| (count, *site)).map(|(site, _)| *site)?;
    let title = format!("More and more {name} objects live on after their last use");
    let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
    finding.subjects = context.subjects(&kind.named);
    finding.subjects.count = idle;
    finding.cost = Cost::of_events(idle);
    finding.evidence = Evidence {
        text: format!(
            "Of {} subjects {name}, {} live at the last event of the recording and are not used any more. After each quarter \
             of the events there are {}, {}, {} and {} of them.",
            grouped(kind.subjects),
            grouped(idle),
            grouped(kind.idle[1]),
            grouped(kind.idle[3]),
            grouped(kind.idle[5]),
            grouped(kind.idle[7]),
        ),
        numbers: vec![("idle_subjects", idle), ("subjects", kind.subjects)],
        events: kind.events.clone(),
        filter: context.filter(site),
    };
    finding.certainty = Certainty::Estimated(
        "first uses, last uses and ends are recorded; uses that are not observed are not known"
            .to_owned(),
    );
    finding.needs = format!("all methods that use a {name}");
    finding.advice =
        format!("drop a {name} with its last use, or bound the collection that keeps it");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Serves 800 sessions, of which twenty are in use at a time. `ends` returns the number of
    /// further sessions after which a session ends.
    fn check(ends: impl Fn(u64) -> Option<u64>, last_use: impl Fn(&mut Run), expected: &[&str]) {
        let mut run = Run::new();
        for now in 0..800_u64 {
            for session in now.saturating_sub(19)..=now {
                run.leaf("server::Session::serve", session, 1_000);
            }
            (0..now)
                .filter(|&session| ends(session) == Some(now - session))
                .for_each(|session| run.forget(session));
        }
        last_use(&mut run);
        run.work(1);
        (0..800).filter(|&session| ends(session).is_none()).for_each(|session| run.forget(session));
        assert_eq!(run.found(NeverEnded::default()), expected);
    }

    #[test]
    fn sessions_that_are_kept_after_their_last_use_are_found() {
        let found = "More and more Node objects live on after their last use: idle_subjects=754 subjects=800";
        check(|_| None, |_| {}, &[found]);
    }

    #[test]
    fn sessions_that_end_with_their_last_use_are_silent() {
        check(|_| Some(20), |_| {}, &[]);
    }

    #[test]
    fn objects_that_a_report_uses_at_the_end_are_silent() {
        let report = |run: &mut Run| {
            (0..800).for_each(|session| _ = run.leaf("server::Session::report", session, 1_000))
        };
        check(|_| None, report, &[]);
    }

    #[test]
    fn keys_without_ends_and_objects_of_one_phase_are_silent() {
        let mut run = Run::new();
        (0..800).for_each(|node| _ = run.leaf("server::visit", node, 1_000));
        assert_eq!(run.found(NeverEnded::default()), [] as [&str; 0]);
        let mut run = Run::new();
        (0..800).for_each(|node| _ = run.leaf("server::load", node, 1_000));
        run.leaf("server::serve", None, 4_000_000);
        (0..800).for_each(|node| run.forget(node));
        assert_eq!(run.found(NeverEnded::default()), [] as [&str; 0]);
    }
}
