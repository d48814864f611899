//! Patterns, moment by moment.

use super::pattern::{Moment, Pattern, Patterns};
use crate::event::{Event, EventId, LaneId, Outcome};
use crate::site::SiteId;
use crate::subject::{KindId, Subject};

/// Meets moments that are written as `time subject filters`, and tells at which of them the pattern
/// was met, and how many events it had.
fn check(pattern: Pattern, moments: &[(u64, u64, u64)], expected: &[(usize, usize)]) {
    let mut patterns = Patterns::new(pattern);
    let mut met = Vec::new();
    for (at, &(end_ns, key, passed)) in moments.iter().enumerate() {
        let event = Event {
            id: EventId::from_raw(at as u64 + 1).unwrap(),
            site: SiteId(1),
            subject: Some(Subject::new(KindId(1), key)),
            cause: None,
            lane: LaneId(0),
            epoch: 1,
            start: end_ns,
            span: None,
            outcome: Outcome::Instant,
            level: 0,
            timed: true,
            details: 0,
        };
        if let Some(events) = patterns.meet(Moment { event: &event, end_ns, passed }) {
            assert_eq!(events.last().map(|event| event.id), Some(event.id));
            met.push((at, events.len()));
        }
    }
    assert_eq!(met, expected);
}

#[test]
fn a_count_begins_anew_after_it_was_met() {
    check(
        Pattern::count(2),
        &[(1, 1, 1), (2, 2, 0), (3, 3, 1), (4, 1, 1), (5, 1, 1)],
        &[(2, 2), (4, 2)],
    );
    check(Pattern::count(1), &[(1, 1, 1), (2, 1, 1)], &[(0, 1), (1, 1)]);
    check(Pattern::count(0), &[(1, 1, 1)], &[(0, 1)]);
}

#[test]
fn a_count_within_a_time_is_met_by_whichever_events_are_near_each_other() {
    let pattern = Pattern { within: Some(10), ..Pattern::count(3) };
    check(pattern.clone(), &[(0, 1, 1), (9, 1, 1), (18, 1, 1), (19, 1, 1), (30, 1, 1)], &[(3, 3)]);
    // The first one is too early, the other three are not.
    check(pattern, &[(0, 1, 1), (9, 1, 1), (11, 1, 1), (12, 1, 1)], &[(3, 3)]);
}

#[test]
fn a_large_count_remembers_the_last_events() {
    let moments: Vec<(u64, u64, u64)> = (0..5_000).map(|at| (at, 1, 1)).collect();
    check(Pattern::count(5_000), &moments, &[(4_999, 1_000)]);
    check(Pattern { within: Some(4_999), ..Pattern::count(5_000) }, &moments, &[(4_999, 1_000)]);
    check(Pattern { within: Some(4_998), ..Pattern::count(5_000) }, &moments, &[]);
}

#[test]
fn a_sequence_has_its_order_and_others_may_come_between() {
    let a = 1;
    let b = 2;
    let c = 4;
    check(
        Pattern::sequence(3),
        &[(1, 1, a), (2, 1, 0), (3, 1, b), (4, 1, a), (5, 1, c)],
        &[(4, 3)],
    );
    check(Pattern::sequence(2), &[(1, 1, b), (2, 1, a)], &[]);
    // One event is one step, whatever it passes.
    check(Pattern::sequence(2), &[(1, 1, a | b), (2, 1, a | b)], &[(1, 2)]);
    // The later beginning is near enough.
    let near = Pattern { within: Some(2), ..Pattern::sequence(2) };
    check(near, &[(1, 1, a), (4, 1, a), (6, 1, b), (7, 1, a), (10, 1, b)], &[(2, 2)]);
}

#[test]
fn each_subject_has_its_own_pattern() {
    let own = Pattern { per_subject: true, ..Pattern::sequence(2) };
    check(own, &[(1, 1, 1), (2, 2, 2), (3, 2, 1), (4, 1, 2), (5, 2, 2)], &[(3, 2), (4, 2)]);
}

#[test]
fn what_speaks_against_it_puts_it_back() {
    let pattern = Pattern { unless: Some(2), per_subject: true, ..Pattern::sequence(2) };
    check(pattern, &[(1, 1, 1), (2, 1, 4), (3, 1, 2), (4, 2, 1), (5, 1, 4), (6, 2, 2)], &[(5, 2)]);
}

#[test]
fn an_expectation_is_missed_by_each_event_for_which_it_does_not_hold() {
    check(Pattern::expect(), &[(1, 1, 1), (2, 1, 3), (3, 1, 2), (4, 1, 1)], &[(0, 1), (3, 1)]);
}

#[test]
fn with_too_many_subjects_the_others_go_on() {
    let pattern = Pattern { per_subject: true, ..Pattern::count(2) };
    let mut moments: Vec<(u64, u64, u64)> = (0..70_000).map(|key| (key, key, 1)).collect();
    moments.extend([(70_000, 5, 1), (70_001, 69_999, 1)]);
    check(pattern, &moments, &[(70_000, 2)]);
}
