//! Events in order of time, with causes, units of work and self times.

use std::collections::HashSet;

use crate::event::EventId;
use crate::testing::{Draft, Writer};
use crate::{Cause, ResolvedEvent, ResolvedScan, UnitRule};
use metaspy_format::slot::Mark;
use metaspy_probe::{Outcome, SiteId, SiteKind};

use super::node;

fn read(scan: &ResolvedScan) -> Vec<ResolvedEvent> {
    let mut all = Vec::new();
    scan.read(|events| {
        all.extend_from_slice(events);
        true
    });
    all
}

fn event(
    writer: &mut Writer,
    lane: u32,
    site: u32,
    start: u64,
    span: u64,
    cause: Option<EventId>,
) -> EventId {
    writer.event(Draft { lane, site, start, span: Some(span), cause, ..Draft::default() })
}

#[test]
fn lanes_are_merged_in_order_of_time() {
    // Several groups of chunks.
    let mut writer = Writer::new(12);
    // The blocks of the slow lane last as long as many blocks of the fast one.
    for tick in 0..80_000 {
        event(&mut writer, 0, 1, tick * 10, 5, None);
        if tick % 50 == 0 {
            event(&mut writer, 1, 2, tick * 10 + 1, 5, None);
        }
    }
    writer.summarise();
    let scan = writer.store().resolved(&UnitRule::default());
    let events = read(&scan);
    assert!(events.is_sorted_by_key(|it| it.event.start));
    assert_eq!((events.len(), scan.survey().events), (81_600, 81_600));
    assert_eq!([1, 2].map(|site| scan.survey().events_of(SiteId(site))), [80_000, 1_600]);
    assert_eq!(scan.survey().work_ticks, 81_600 * 5);
    let mut batches = 0;
    scan.read(|events| {
        batches += 1;
        events.len() == 81_600
    });
    assert_eq!(batches, 1);
}

#[test]
fn a_self_time_leaves_out_events_inside_also_in_later_blocks() {
    let mut writer = Writer::new(1);
    let outer = event(&mut writer, 0, 1, 0, 10_000, None);
    let middle = event(&mut writer, 0, 2, 0, 5_000, Some(outer));
    for at in 0..300 {
        event(&mut writer, 0, 3, at * 10, 4, Some(middle));
    }
    event(&mut writer, 0, 3, 9_000, 100, Some(outer));
    let scan = writer.store().resolved(&UnitRule::default());
    let own: Vec<_> = read(&scan).iter().map(|it| it.self_ticks).collect();
    assert_eq!(own[..2], [Some(10_000 - 5_000 - 100), Some(5_000 - 300 * 4)]);
    assert!(own[2..302].iter().all(|own| *own == Some(4)));
    assert_eq!((scan.survey().work_ticks, scan.survey().root_ticks), (10_000, 10_000));
}

#[test]
fn what_surrounds_an_async_call_has_no_self_time() {
    let mut writer = Writer::new(1);
    writer.site_of_kind(2, "fetch", SiteKind::Async);
    let outer = event(&mut writer, 0, 1, 0, 100, None);
    event(&mut writer, 0, 2, 10, 500, Some(outer));
    event(&mut writer, 0, 3, 20, 7, None);
    let own: Vec<_> = read(&writer.store().resolved(&UnitRule::default()))
        .iter()
        .map(|it| it.self_ticks)
        .collect();
    assert_eq!(own, [None, None, Some(7)]);
}

#[test]
fn a_unit_of_work_is_the_outermost_cause_that_occurs_often() {
    let mut writer = Writer::new(1);
    writer.site(3, "draw");
    let main = event(&mut writer, 0, 1, 0, 90_000, None);
    let mut frames = Vec::new();
    for at in 0..20 {
        let frame = event(&mut writer, 0, 2, at * 100, 50, Some(main));
        // On another thread, and further down.
        let draw = event(&mut writer, 1, 3, at * 100 + 1, 20, Some(frame));
        event(&mut writer, 1, 4, at * 100 + 2, 5, Some(draw));
        frames.push(frame);
    }
    let gone = EventId::new(1, 1);
    event(&mut writer, 0, 4, 80_000, 1, gone);
    let units = |rule: &UnitRule| {
        let events = read(&writer.store().resolved(rule));
        events.iter().map(|it| it.unit.map(|unit| (unit.site.0, unit.id))).collect::<Vec<_>>()
    };
    let outermost = units(&UnitRule::Outermost);
    assert_eq!(outermost[0], None, "main occurs once");
    assert_eq!(outermost[1..4], [Some((2, frames[0])); 3]);
    assert_eq!(
        outermost[58..],
        [Some((2, frames[19])), Some((2, frames[19])), Some((2, frames[19])), None]
    );
    let nearest = units(&UnitRule::Nearest(HashSet::from([SiteId(3)])));
    assert_eq!(nearest[1], None);
    assert_eq!(nearest[2].map(|unit| unit.0), Some(3));
    assert_eq!(nearest[2], nearest[3]);
}

#[test]
fn causes_and_links_are_known_by_site_and_subject() {
    let mut writer = Writer::new(1);
    let change = writer.event(Draft { lane: 1, site: 7, subject: node(5), ..Draft::default() });
    let frame = event(&mut writer, 0, 1, 1, 50, None);
    let layout = event(&mut writer, 0, 2, 2, 9, Some(frame));
    writer.mark(0, 3, Mark::Link, [layout.raw(), change.raw(), 0]);
    event(&mut writer, 0, 2, 20, 9, EventId::new(1, 1));
    let events = read(&writer.store().resolved(&UnitRule::default()));
    let site = |it: &ResolvedEvent| it.cause.event().map(|cause| cause.site.0);
    assert_eq!(events.iter().map(site).collect::<Vec<_>>(), [None, None, Some(1), None]);
    assert_eq!((events[1].cause, events[3].cause), (Cause::Root, Cause::Left));
    let links: Vec<_> = events[2].links.iter().map(|link| (link.site.0, link.subject)).collect();
    assert_eq!(links, [(7, Some(node(5)))]);
}

#[test]
fn pairs_and_subjects_are_numbered() {
    let mut writer = Writer::new(1);
    for (site, key) in [(1, 5), (2, 5), (1, 6), (1, 5)] {
        writer.event(Draft { site, subject: node(key), ..Draft::default() });
    }
    event(&mut writer, 0, 1, 9, 1, None);
    let scan = writer.store().resolved(&UnitRule::default());
    let events = read(&scan);
    let expected = [(1, Some(node(5))), (2, Some(node(5))), (1, Some(node(6))), (1, None)];
    let pairs: Vec<_> = scan.read(|_| true).iter().map(|(site, of)| (site.0, of)).collect();
    assert_eq!(pairs, expected);
    let rows: Vec<_> = events.iter().map(|it| (it.row, it.subject_row)).collect();
    let [a, b, c, d] = [0, 1, 2, 3].map(Some);
    assert_eq!(rows, [(a, a), (b, a), (c, b), (a, a), (d, None)]);
}

#[test]
fn the_survey_has_the_roots_failures_and_longest_times_of_each_site() {
    let mut writer = Writer::new(1);
    let outer = event(&mut writer, 0, 1, 0, 1_000, None);
    for at in 0..10 {
        event(&mut writer, 0, 2, at * 10, 4 + at, Some(outer));
    }
    let failed = Draft {
        site: 2,
        start: 500,
        span: Some(100),
        outcome: Outcome::Failed,
        ..Draft::default()
    };
    writer.event(Draft { lane: 1, ..failed });
    writer.event(Draft { lane: 1, start: 700, outcome: Outcome::Panicked, ..failed });
    let scan = writer.store().resolved(&UnitRule::default());
    let survey = scan.survey();
    let site = survey.site(SiteId(2));
    assert_eq!((site.events, site.roots, site.failed, site.panicked), (12, 2, 1, 1));
    assert_eq!((site.ticks, survey.lanes), ((4..14).sum::<u64>() + 200, 2));
    // 100 ticks are less than 2^7, and 8 to 13 ticks less than 2^4.
    assert_eq!(
        [0, 1, 4, 100].map(|events| site.most_ticks_of(events)),
        [0, 127, 254 + 30, 254 + 6 * 15 + 4 * 7]
    );
    assert_eq!(survey.site(SiteId(99)).most_ticks_of(9), 0);
}
