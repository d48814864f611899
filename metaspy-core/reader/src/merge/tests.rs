use std::collections::BTreeMap;

use crate::event::{EventId, Outcome};
use crate::merge::MergeError;
use crate::testing::{Draft, Writer, store_of};
use crate::{By, EffectsIndex, EndState, Filter, Origin, Position, Remote, Scope, Store};
use metaspy_format::arena::Entry;
use metaspy_format::profile::{Column, TableDef};
use metaspy_format::row::{COUNT, KEY, ROW_WORDS, TIMED, TOTAL, WHO, Who};
use metaspy_format::slot::Mark;
use metaspy_format::span;
use metaspy_format::superblock as sb;
use metaspy_probe::{KindId, Subject};

/// The kind whose keys have the same meaning in every process.
const ACROSS: u16 = 3;

/// Builds a recording of a process with names of its own: sites 1 to 3 or 2 to 4, two kinds, two
/// lanes.
fn process(pid: u32, name: &str) -> Writer {
    let writer = Writer::new(3);
    writer.set(sb::PID, pid.into());
    writer.set(sb::STARTED_NS, 1_000 + u64::from(pid));
    writer.set(sb::SPAN_WORD, 1 << 63 | u64::from(pid).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    writer.set(sb::TRACE_WORD, 77);
    writer.set(sb::LAST_TICK, 10_000_000);
    writer.entry(Entry::Program, 0, &[], &[&format!(r#"{{"name":"{name}"}}"#)]);
    for site in 0..3 {
        // Both recordings have this path under different numbers, and a path of their own.
        writer.site(
            site + 1 + pid % 2,
            &if site == 2 { format!("{name}::own") } else { format!("both::site{site}") },
        );
    }
    writer.entry(Entry::Kind, 1, &[0], &["Node"]);
    writer.entry(Entry::Kind, 2, &[1], &[&format!("{name}::Place")]);
    writer.entry(Entry::Kind, ACROSS.into(), &[2], &["Request"]);
    writer.entry(Entry::Label, 1, &[5], &[&format!("five of {name}")]);
    writer.lane(0, "main");
    writer.lane(1, "helper");
    writer
}

fn merged(stores: &[(&str, Store)]) -> Store {
    Store::merged(stores.iter().map(|(name, store)| ((*name).to_owned(), store.clone())).collect())
        .expect("they are of two processes")
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// Fills a recording at random: nested events of both lanes, links, rows of tallies.
fn fill(writer: &mut Writer, dice: &mut Dice, first_site: u32) {
    let mut tick = 1_000;
    let mut last = [None; 2];
    for _ in 0..dice.roll(9_000) {
        tick += dice.roll(40);
        let lane = dice.roll(2) as u32;
        let kind = KindId(dice.roll(4) as u16);
        let cause =
            if dice.roll(3) == 0 { last[dice.roll(2) as usize] } else { last[lane as usize] };
        let span = (dice.roll(20) != 0).then(|| dice.roll(1_000));
        let outcome =
            [Outcome::Returned, Outcome::Failed, Outcome::Panicked][dice.roll(3) as usize];
        let id = writer.event(Draft {
            lane,
            site: first_site + dice.roll(3) as u32,
            subject: if kind.0 == 0 { Subject::NONE } else { Subject::new(kind, dice.roll(9)) },
            start: tick,
            span,
            cause,
            outcome,
            ..Draft::default()
        });
        if dice.roll(50) == 0
            && let Some(cause) = last[1 - lane as usize]
        {
            writer.mark(lane, tick, Mark::Link, [id.raw(), EventId::raw(cause), 0]);
        }
        if dice.roll(100) == 0 {
            writer.details(lane, tick, id, &[7; 100][..dice.roll(100) as usize]);
        }
        last[lane as usize] = (dice.roll(4) != 0).then_some(id);
    }
    let mut row = |lost| {
        let kind = [0, 1, 2, ACROSS][dice.roll(4) as usize];
        let who = Who { site: first_site + dice.roll(3) as u32, kind, epoch: 1, meta: false, lost };
        let mut row = [0; ROW_WORDS];
        (row[KEY], row[WHO], row[COUNT]) = (dice.roll(9), who.pack(), 1 + dice.roll(100));
        (row[TIMED], row[TOTAL]) = (row[COUNT], dice.roll(100_000));
        row
    };
    let rows: Vec<_> = (0..8).map(|at| row(at % 3 == 0)).collect();
    writer.page(&rows);
    let folded: Vec<_> = (0..20).map(|_| row(false)).collect();
    writer.set(sb::FOLDED, folded.iter().map(|row| row[COUNT]).sum());
    folded.into_iter().enumerate().for_each(|(at, row)| writer.fold_row(at, row));
    writer.set(sb::FOLD_DONE, 1);
    writer.set(sb::UNNAMED, dice.roll(5));
    writer.summarise();
}

/// Counts and outcomes, by the names of their rows.
fn counts(store: &Store, by: By) -> BTreeMap<String, [u64; 6]> {
    let mut counts: BTreeMap<String, [u64; 6]> = BTreeMap::new();
    for row in store.tally(by, &Scope::default()).rows {
        let name = match by {
            By::Subject => row.subject.map_or("nobody".into(), |subject| {
                let kind = store.kind(subject.kind).map_or("?", |kind| &kind.name);
                format!("{kind} {}", subject.key)
            }),
            _ => row.site.map_or("gone".into(), |site| store.site_path(site).to_owned()),
        };
        let of = &row.measure;
        let sum = counts.entry(name).or_default();
        let inputs = [of.count, of.failed, of.panicked, of.running, of.lost, of.timed];
        sum.iter_mut().zip(inputs).for_each(|(sum, input)| *sum += input);
    }
    counts
}

#[test]
fn what_is_counted_of_the_whole_is_the_sum_of_its_parts() {
    for seed in 1..6 {
        let mut dice = Dice(seed * 0x9E37_79B9);
        let mut one = process(10, "one");
        let mut two = process(11, "two");
        fill(&mut one, &mut dice, 1);
        fill(&mut two, &mut dice, 2);
        let one = one.store();
        let two = two.store();
        let whole = merged(&[("one.spy", one.clone()), ("two.spy", two.clone())]);
        let found = whole.verify();
        assert!(found.is_sound(), "seed {seed}: {found:?}");
        let inputs = [one.verify(), two.verify()];
        let sum = |of: fn(&crate::Verification) -> u64| inputs.iter().map(of).sum::<u64>();
        assert_eq!(
            (found.events, found.marks),
            (sum(|input| input.events), sum(|input| input.marks)),
            "seed {seed}"
        );
        assert_eq!(
            (found.running, found.lanes),
            (sum(|input| input.running), sum(|input| input.lanes)),
            "seed {seed}"
        );
        let totals = |store: &Store| {
            let totals = store.totals();
            [
                totals.emitted,
                totals.stored,
                totals.folded,
                totals.counted,
                totals.lost,
                totals.unnamed,
            ]
        };
        let both: Vec<u64> =
            totals(&one).iter().zip(totals(&two)).map(|(one, two)| one + two).collect();
        assert_eq!(totals(&whole).as_slice(), both, "seed {seed}");
        for by in [By::Site, By::Subject, By::RootCause] {
            let mut both = counts(&one, by);
            for (name, inputs) in counts(&two, by) {
                both.entry(name)
                    .or_default()
                    .iter_mut()
                    .zip(inputs)
                    .for_each(|(sum, input)| *sum += input);
            }
            assert_eq!(counts(&whole, by), both, "seed {seed}, {by:?}");
        }
        let effects = |store: &Store| {
            let index = EffectsIndex::build(store, |_, _| true).expect("it was not stopped");
            let all = store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events;
            all.iter()
                .map(|event| index.effects(event.id).len() + store.links(event.id).len())
                .sum::<usize>()
        };
        assert_eq!(effects(&whole), effects(&one) + effects(&two), "seed {seed}");
    }
}

#[test]
fn sites_are_shared_and_subjects_are_each_processs_own() {
    let mut one = process(10, "one");
    let mut two = process(11, "two");
    for (writer, site) in [(&mut one, 1), (&mut two, 2)] {
        for kind in [1, ACROSS] {
            writer.event(Draft {
                site,
                subject: Subject::new(KindId(kind), 5),
                start: 50,
                ..Draft::default()
            });
        }
        writer.event(Draft { site, lane: 1, start: 60, ..Draft::default() });
    }
    let whole = merged(&[("one.spy", one.store()), ("two.spy", two.store())]);
    let paths: Vec<&str> = whole.sites().iter().map(|site| site.path.as_str()).collect();
    assert_eq!(paths, ["both::site0", "both::site1", "one::own", "two::own"]);
    let mut names: Vec<(String, u64)> = (whole.tally(By::Subject, &Scope::default()).rows.iter())
        .filter_map(|row| Some((whole.subject_name(row.subject?), row.measure.count)))
        .collect();
    names.sort();
    let expected = [("Request #5", 2), ("one/Node #5", 1), ("two/Node #5", 1)];
    assert_eq!(names, expected.map(|(name, count)| (name.to_owned(), count)));
    // By its own name a kind or a lane is found in every process.
    for (filter, count) in
        [("kind:Node", 2), ("kind:one/Node", 1), ("lane:helper", 2), ("lane:two/helper", 1)]
    {
        let filter: Filter = filter.parse().expect("a filter");
        assert_eq!(
            whole.forward(Position::Start, &filter, 10, 1_000).events.len(),
            count,
            "{filter:?}"
        );
    }
    let labels: Vec<&str> = whole.labelled().map(|(_, label)| label).collect();
    assert!(labels.contains(&"five of one") && labels.contains(&"five of two"), "{labels:?}");
    let lanes: Vec<String> = whole.lanes().into_iter().map(|lane| lane.name).collect();
    assert_eq!(lanes, ["one/main", "one/helper", "two/main", "two/helper"]);
    let of: Vec<&str> = whole
        .lanes()
        .iter()
        .filter_map(|lane| Some(whole.process_of(lane.id)?.label.as_str()))
        .collect();
    assert_eq!(of, ["one", "one", "two", "two"]);
    assert_eq!((whole.program().name.as_str(), whole.end_state()), ("one + two", EndState::Closed));
}

/// Builds two recordings: a client sends its event to a server. By the server's clock the message
/// arrives 40 ns earlier.
fn crossing(server_base: u64) -> (Writer, EventId, Writer, EventId, u64) {
    let mut client = process(10, "client");
    let mut server = process(11, "server");
    let request = client.event(Draft { start: 1_000, span: Some(500), ..Draft::default() });
    let number = span::of_event(request.raw(), client.get(sb::SPAN_WORD));
    client.mark(0, 1_100, Mark::Sent, [request.raw(), number, 9]);
    server.event(Draft { site: 2, start: server_base + 1_000, ..Draft::default() });
    server.mark(0, server_base + 1_140, Mark::Remote, [8, number, 9]);
    let cause = EventId::new(server.get(sb::BLOCKS), 2);
    let handle =
        server.event(Draft { site: 2, start: server_base + 1_150, cause, ..Draft::default() });
    (client, request, server, handle, number)
}

fn calibrated(writer: &Writer, clock: u64, pairs: &[[u64; 4]]) {
    writer.set(sb::CLOCK, clock);
    writer.set(sb::CALIBRATION_USED, pairs.len() as u64);
    let at = writer.table(sb::CALIBRATION);
    (at..).zip(pairs.iter().flatten()).for_each(|(at, word)| writer.set(at, *word));
}

#[test]
fn a_cause_in_another_process_is_the_event_there() {
    let (client, request, server, handle, number) = crossing(0);
    let remote = Remote { trace: 8 << 64 | 9, span: number };
    assert_eq!(server.store().causes(handle).origin(), Origin::Remote(remote));
    let whole = merged(&[("client.spy", client.store()), ("server.spy", server.store())]);
    let all = whole.forward(Position::Start, &Filter::all(), 10, 1_000).events;
    let sender = all.iter().find(|event| event.lane.0 == 0);
    let receiver = all.last();
    let sender = sender.expect("the request");
    let receiver = receiver.expect("what it led to");
    assert_eq!(sender.id.slot(), request.slot());
    let mut causes = whole.causes(receiver.id);
    assert_eq!(causes.by_ref().map(|event| event.id).collect::<Vec<_>>(), [sender.id]);
    assert_eq!(causes.origin(), Origin::Root);
    let index = EffectsIndex::build(&whole, |_, _| true).expect("it was not stopped");
    assert_eq!(index.effects(sender.id), [receiver.id]);
    // In a merge without the client's recording it stays a remote cause.
    let other = process(12, "other");
    let server = server.store();
    let apart = merged(&[("server.spy", server), ("other.spy", other.store())]);
    let all = apart.forward(Position::Start, &Filter::all(), 10, 1_000).events;
    assert_eq!(apart.causes(all[1].id).origin(), Origin::Remote(remote));
}

#[test]
fn clocks_of_one_boot_are_one_clock() {
    let (client, _, server, ..) = crossing(0);
    for writer in [&client, &server] {
        calibrated(writer, 2, &[[500, 500, 500, 1_000_500], [1_000_000_500; 4]]);
        writer.set(writer.table(sb::CALIBRATION) + 7, 1_001_000_500);
    }
    let whole = merged(&[("client.spy", client.store()), ("server.spy", server.store())]);
    assert!(!whole.order_is_uncertain(), "{:?}", whole.notes());
    assert_eq!(whole.notes(), [] as [String; 0]);
    let starts: Vec<u64> =
        (whole.forward(Position::Start, &Filter::all(), 10, 1_000).events.iter())
            .map(|event| whole.time_ns(event.start))
            .collect();
    assert_eq!([starts[1] - starts[0], starts[2] - starts[0]], [0, 150]);
}

#[test]
fn clocks_that_disagree_are_moved_and_the_order_is_uncertain() {
    // The server's clock is 10 s behind on the wall, and of another boot.
    let (client, _, server, ..) = crossing(7_000_000_000);
    let wall = 1_000_000_000_000;
    calibrated(&client, 2, &[[500, 500, 500, wall + 500]]);
    calibrated(
        &server,
        2,
        &[[7_000_000_500, 7_000_000_500, 7_000_000_500, wall - 10_000_000_000 + 500]],
    );
    server.set(sb::FIRST_TICK, 7_000_000_000);
    let whole = merged(&[("client.spy", client.store()), ("server.spy", server.store())]);
    assert!(whole.order_is_uncertain());
    let [client, server] = whole.processes() else { panic!("there are two") };
    assert_eq!((client.clock, client.moved_ns, server.clock), (0, 0, 1));
    assert_eq!(server.moved_ns, 10_000_000_000 - 40);
    let notes = whole.notes().join("\n");
    assert!(
        notes.contains("disagree: server was moved by +10.000 s") && notes.contains("uncertain"),
        "{notes}"
    );
    let all = whole.forward(Position::Start, &Filter::all(), 10, 1_000).events;
    let handle = all.iter().find(|event| event.cause.is_some()).expect("what was handled");
    let request = whole.event(handle.cause.expect("it has one")).expect("the request is there");
    assert!(handle.start > request.start, "no receipt precedes its sending");
}

#[test]
fn the_same_recording_is_refused() {
    let (one, again) = (process(10, "one"), process(10, "one"));
    let both = |first: &Writer, second: &Writer| {
        Store::merged(vec![("a.spy".into(), first.store()), ("b.spy".into(), second.store())])
    };
    assert!(
        matches!(both(&one, &again), Err(MergeError::Twice(a, b)) if (a.as_str(), b.as_str()) == ("a.spy", "b.spy"))
    );
    assert!(matches!(Store::merged(Vec::new()), Err(MergeError::Nothing)));
}

#[test]
fn subjects_are_those_of_their_process_in_all_of_its_recordings() {
    let recording = |pid: u32, first_tick: u64, calls: u64| {
        let mut writer = process(pid, "one");
        writer.set(sb::FIRST_TICK, first_tick);
        writer.set(sb::STARTED_NS, first_tick);
        for at in 1..=calls {
            let node = Subject::new(KindId(1), 5);
            writer.event(Draft {
                site: 2,
                start: first_tick + at,
                subject: node,
                ..Draft::default()
            });
        }
        writer.store()
    };
    let parts = [
        ("late", recording(10, 2_000, 3)),
        ("other", recording(11, 500, 7)),
        ("early", recording(10, 900, 2)),
    ];
    let whole = merged(&parts);
    let sources: Vec<_> = whole.processes().iter().map(|process| &*process.source).collect();
    assert_eq!(sources, ["early", "late", "other"], "one after the other");
    let rows = whole.tally(By::Subject, &Scope::default()).rows;
    let mut counts: Vec<u64> = rows.iter().map(|row| row.measure.count).collect();
    counts.sort_unstable();
    assert_eq!(counts, [5, 7]);
    assert_eq!(whole.verify().events, 12);
}

#[test]
fn damage_of_one_is_reported_with_its_name_and_the_other_is_whole() {
    let mut dice = Dice(99);
    let mut one = process(10, "one");
    let mut two = process(11, "two");
    fill(&mut one, &mut dice, 1);
    for at in 0..2_000 {
        two.event(Draft { site: 2, start: 1_000 + at, ..Draft::default() });
    }
    let bytes = two.bytes();
    let cut =
        store_of(&bytes[..(two.table(sb::CHUNKS) + 3 * 512) * 8]).expect("its first page is there");
    let whole = merged(&[("one.spy", one.store()), ("two.spy", cut.clone())]);
    let missing = whole.missing().join("\n");
    assert!(missing.contains("two.spy: ") && !missing.contains("one.spy"), "{missing}");
    assert!(!whole.totals().exact && !whole.verify().is_sound());
    assert_eq!(whole.verify().events, one.store().verify().events + cut.verify().events);
}

#[test]
fn no_damage_makes_it_panic() {
    let mut dice = Dice(5);
    let mut one = process(10, "one");
    let mut two = process(11, "two");
    fill(&mut one, &mut dice, 1);
    fill(&mut two, &mut dice, 2);
    let one = one.store();
    let bytes = two.bytes();
    let events = two.table(sb::CHUNKS) * 8;
    for round in 0..45 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + round % 9 {
            let range = [4096, events, bytes.len()][round % 3] as u64;
            damaged[dice.roll(range) as usize] = dice.roll(256) as u8;
        }
        let Ok(two) = store_of(&damaged) else { continue };
        if let Ok(whole) = Store::merged(vec![("one".into(), one.clone()), ("two".into(), two)]) {
            let _ = (whole.verify(), whole.tally(By::RootCause, &Scope::default()).rows.len());
        }
    }
}

/// A merged recording has the sites of its parts, each once.
#[test]
fn sites_of_one_path_are_told_apart_as_each_recording_does() {
    let process = |pid: u32, sites: &[(u32, &str)]| {
        let mut writer = process(pid, "woven");
        for (id, (line, facts)) in (9..).zip(sites) {
            let words = [1 | u64::from(*line) << 32, 4 << 32];
            writer.entry(Entry::Site, id, &words, &["both::Text::eq", "src/both.rs", "", facts]);
            writer.event(Draft { site: id, start: 50, ..Draft::default() });
        }
        writer.store()
    };
    let [of_str, of_ref, of_string] = ["str", "&str", "String"]
        .map(|to| format!("c=1 type=Text trait=PartialEq traitargs=<{to}>"));
    type Sites<'s> = &'s [(u32, &'s str)];
    let cases: [(Sites<'_>, Sites<'_>, &[u64]); 6] = [
        // The impls of three lines, and of one line of a macro.
        (&[(7, &of_str), (8, &of_ref)], &[(7, &of_str), (8, &of_ref), (9, &of_string)], &[2, 2, 1]),
        (&[(7, &of_str), (7, &of_ref)], &[(7, &of_ref), (7, &of_string)], &[1, 2, 1]),
        // Functions in the bodies of two others, or under two conditions.
        (&[(7, "c=1"), (8, "c=1")], &[(7, "c=1"), (8, "c=1")], &[2, 2]),
        (&[(7, "c=1")], &[(8, "c=1")], &[1, 1]),
        // A process without a weaver knows no arguments.
        (&[(7, "")], &[(7, &of_str)], &[2]),
        (&[(7, &of_str)], &[(7, "")], &[2]),
    ];
    for (one, two, expected) in cases {
        let store = merged(&[("a", process(1, one)), ("b", process(2, two))]);
        let sites: Vec<_> =
            store.sites().iter().filter(|site| site.path == "both::Text::eq").collect();
        let rows = store.tally(By::Site, &Scope::default()).rows;
        let calls = |id| {
            rows.iter().filter(|row| row.site == Some(id)).map(|row| row.measure.count).sum::<u64>()
        };
        let found: Vec<u64> = sites.iter().map(|site| calls(site.id)).collect();
        assert_eq!(found, expected, "{one:?} {two:?}");
    }
}

#[test]
fn a_function_is_one_in_two_builds_of_a_program_whose_lines_moved() {
    let process = |pid: u32, build: &str, lines: &[u32]| {
        let writer = process(pid, "moved");
        writer.entry(
            Entry::Program,
            0,
            &[],
            &[&format!(r#"{{"name":"moved","build_id":"{build}"}}"#)],
        );
        for (id, &line) in (9..).zip(lines) {
            let words = [1 | u64::from(line) << 32, u64::from(line + 2)];
            writer.entry(Entry::Site, id, &words, &["both::parse", "src/both.rs", "", "c=1"]);
        }
        writer.store()
    };
    type Build<'b> = (&'b str, &'b [u32]);
    let cases: [(Build<'_>, Build<'_>, usize); 6] = [
        (("b1", &[7]), ("b2", &[9]), 1),
        // One build has both, of a macro or under two conditions.
        (("b1", &[7]), ("b1", &[9]), 2),
        (("b1", &[7, 9]), ("b2", &[8, 10]), 4),
        (("b1", &[7]), ("b2", &[8, 10]), 3),
        (("b1", &[7]), ("", &[9]), 2),
        (("", &[7]), ("", &[7]), 1),
    ];
    for ((build, lines), (other, others), expected) in cases {
        let store = merged(&[("a", process(1, build, lines)), ("b", process(2, other, others))]);
        let found = store.sites().iter().filter(|site| site.path == "both::parse").count();
        assert_eq!(found, expected, "{build:?} {lines:?}, {other:?} {others:?}");
    }
    // A third recording, of the second build, has the function as well.
    let stores = [
        ("a", process(1, "b1", &[7])),
        ("b", process(2, "b2", &[9])),
        ("c", process(3, "b2", &[9])),
    ];
    let store = merged(&stores);
    assert_eq!(store.sites().iter().filter(|site| site.path == "both::parse").count(), 1);
}

#[test]
fn facts_of_the_code_in_one_process_hold_for_all() {
    let process = |pid: u32, facts: &str| {
        let writer = process(pid, "woven");
        let words = [1, 9 | 4 << 32];
        writer.entry(Entry::Site, 9, &words, &["both::Scene::measure", "src/both.rs", "", facts]);
        writer.store()
    };
    for facts in
        [["", "c=4 type=Scene"], ["c=4 type=Scene", ""], ["c=4 type=Scene", "c=4 type=Scene"]]
    {
        let store = merged(&[("a", process(1, facts[0])), ("b", process(2, facts[1]))]);
        let site = store
            .sites()
            .iter()
            .find(|site| site.path == "both::Scene::measure")
            .expect("it is one");
        let facts = site.facts().expect("one of them was woven");
        assert_eq!(
            (facts.module.as_str(), facts.name.as_str(), facts.complexity),
            ("both", "measure", 4)
        );
    }
}

#[test]
fn of_several_costs_of_hooks_the_lowest_counts_and_none_if_one_with_times_is_not_known() {
    let table = TableDef {
        profile: "calls".into(),
        columns: vec![Column::ticks("total")],
        ..TableDef::default()
    };
    let json = serde_json::to_string(&table).expect("it is a value");
    let timed = |pid, cost: [u64; 3]| {
        let writer = process(pid, "timed");
        writer.entry(Entry::Table, 0, &[], &[&json]);
        writer.set(sb::HOOKS_WITHIN, cost[0]);
        writer.set(sb::HOOKS_WHOLE, cost[1]);
        writer.set(sb::HOOKS_RETURNED, cost[2]);
        writer.store()
    };
    let cost_of = |stores: &[(&str, Store)]| {
        merged(stores).hook_cost().map(|cost| (cost.within_ns, cost.whole_ns, cost.returned_ns))
    };
    let both = [("a", timed(1, [21_500, 58_000, 6_250])), ("b", timed(2, [20_250, 60_000, 0]))];
    assert_eq!(cost_of(&both), Some((21.5, 58.0, 6.25)));
    let untimed = ("c", process(3, "untimed").store());
    assert_eq!(cost_of(&[both[0].clone(), untimed]), Some((21.5, 58.0, 6.25)));
    assert_eq!(cost_of(&[both[0].clone(), ("d", timed(4, [0, 0, 0]))]), None);
}
