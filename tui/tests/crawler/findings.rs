//! The screen of findings: its list, the evidence, and the way to the events.

use std::path::PathBuf;
use std::sync::OnceLock;

use metaspy_core::{Recording, Store};
use metaspy_reader::{Filter, Position};
use metaspy_report::findings::{
    Certainty, Config, Cost, Evidence, Finding, Findings, FoundSite, NotLookedFor, find_by,
};
use metaspy_tui::crawler::jobs::{Job, Slot};
use metaspy_tui::crawler::state::{Crawler, Request};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::fixture;
use crate::user::User;

fn store() -> Store {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    fixture::open(FILE.get_or_init(|| fixture::closed("findings.spy", 3)))
}

/// Findings of three sizes, the second of which the first implies, and kinds without a finding.
fn findings(store: &Store) -> Findings {
    let finding = |kind: &str, title: &str, method: &str| {
        let site = store
            .sites()
            .iter()
            .find(|site| site.path == format!("page::{method}"))
            .expect("it is there");
        let found = FoundSite {
            id: site.id,
            path: site.path.clone(),
            file: site.file.clone(),
            line: site.lines.0,
        };
        let mut finding = Finding::new(kind, title, vec![found]);
        finding.evidence = Evidence::new(
            "18 of 18 calls are on a node that did not change.",
            format!("site:{method}"),
        );
        finding.fingerprint = title.to_owned();
        finding
    };
    let mut first =
        finding("repeated", "Scene::measure runs again although nothing changed", "Scene::measure");
    first.cost = Cost { time_ppm: 380_000, ..Cost::of_work(1_080_000, 18) };
    first.advice = "Keep the result of the call until the node changes.".into();
    first.needs = "the arguments".into();
    let measures: Filter = "site:Scene::measure".parse().expect("a filter");
    first.evidence.events = store.forward(Position::Start, &measures, 2, 1_000).events[1..]
        .iter()
        .map(|it| it.id)
        .collect();
    let mut implied = finding("lost-cause", "cache::hit has no cause in some frames", "cache::hit");
    implied.cost = Cost { events_ppm: 240_000, ..Cost::of_events(18) };
    implied.implied_by = Some(0);
    implied.certainty = Certainty::Estimated("one thread has no roots".into());
    implied.evidence.filter = String::new();
    let mut small = finding("hot-subject", "one node takes all of Scene::paint", "Scene::paint");
    small.is_small = true;
    let kinds = |kinds: [&str; 5]| kinds.map(str::to_owned).to_vec();
    Findings {
        found: vec![first, implied, small],
        looked_for: kinds(["hot-subject", "lost-cause", "n+1", "ping-pong", "repeated"]),
        not_looked_for: vec![NotLookedFor {
            kind: "same-result".into(),
            why: "it has no returned values: record with --returns".into(),
        }],
        ..find_by(store, &Config::default(), Vec::new())
    }
}

fn user_of(size: (u16, u16)) -> User {
    let store = store();
    let findings = findings(&store);
    let mut user = User::with_size(store, size);
    user.findings = Some(findings);
    user
}

fn user() -> User {
    user_of((80, 24))
}

#[test]
fn a_list_is_above_the_evidence_of_one_of_them() {
    for (width, height) in [(80, 24), (60, 15), (200, 60)] {
        let mut user = user_of((width, height));
        user.press("5");
        insta::assert_snapshot!(format!("findings_{width}x{height}"), user.screen());
    }
}

#[test]
fn what_was_not_found_is_listed_too() {
    let mut user = user();
    user.press("5 Down");
    assert!(user.screen().contains("part of    Scene::measure runs again"), "{}", user.screen());
    user.press("Down");
    assert!(
        user.screen().contains("one node takes all of Scene::paint  hot-subject"),
        "{}",
        user.screen()
    );
    user.press("End");
    insta::assert_snapshot!("not_looked_for", user.screen());
}

#[test]
fn a_kind_of_which_only_a_part_can_be_seen_is_listed_with_its_reason() {
    let store = store();
    let why = "10 of 100 calls are events: record with a larger METASPY_BUDGET".to_owned();
    let partly = vec![NotLookedFor { kind: "ping-pong".into(), why }];
    let mut user = User::with_size(store, (80, 24));
    user.findings = Some(Findings { partly_looked_for: partly, ..findings(&self::store()) });
    user.press("5 End Up");
    let screen = user.screen();
    assert!(screen.contains("partly looked for     ping-pong: 10 of 100 calls"), "{screen}");
    assert!(screen.contains("only a part of ping-pong can be found"), "{screen}");
    let found_nothing =
        screen.lines().find(|line| line.contains("nothing found by")).expect("n+1 is there");
    assert!(!found_nothing.contains("ping-pong"), "{screen}");
}

#[test]
fn a_finding_leads_to_its_events_and_back() {
    let mut user = user();
    user.press("f \"site:paint\" Enter 5");
    let before = user.screen();
    assert!(before.contains("all events, not filtered"), "{before}");
    user.press("Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:Scene::measure");
    assert!(user.selected().contains("measure #5"), "{}", user.screen());
    user.press("Backspace");
    assert_eq!(user.screen(), before);
    // Without a filter, the first event of the evidence is selected; here there is none.
    user.press("Down Enter");
    assert!(user.screen().contains("no events of this finding"), "{}", user.screen());
    user.press("End Enter");
    assert!(user.screen().contains("this row is no finding"), "{}", user.screen());
}

#[test]
fn a_number_opens_the_events_of_its_finding() {
    let mut user = user();
    let all = findings(&user.crawler.store);
    assert!(
        !user.crawler.open_finding(all.clone(), 0) && !user.crawler.open_finding(all.clone(), 3)
    );
    assert!(user.crawler.open_finding(all, 1));
    assert!(user.selected().contains("measure #5"), "{}", user.screen());
    user.press("Backspace");
    assert!(user.screen().contains("2 findings in 57 events"), "{}", user.screen());
}

#[test]
fn the_source_of_a_finding_opens_in_the_editor() {
    let mut user = user();
    user.press("5 e");
    assert_eq!(
        user.request,
        Some(Request::Edit { file: "tui/tests/fixture/mod.rs".into(), line: 88 })
    );
}

#[test]
fn the_search_finds_what_a_call_repeats() {
    let mut user = User::new(fixture::open(&fixture::repeating("repeating.spy")));
    user.press("5 / \"repeated\" Enter");
    assert!(user.screen().contains("360 of 1,080 calls"), "{}", user.screen());
    assert!(!user.screen().contains("no row contains"), "{}", user.screen());
    user.press("Enter");
    assert!(user.crawler.view.filter.text().contains("Scene::measure"), "{}", user.screen());
}

#[test]
fn a_search_that_nobody_waits_for_is_stopped() {
    let mut user = user();
    let searches = searches(&mut user, "5");
    assert!(user.screen().contains("looking …"), "{}", user.screen());
    user.press("Esc");
    assert!(user.screen().contains("is stopped; 5 begins it again"), "{}", user.screen());
    assert!(searches.into_iter().all(|job| job.run(&user.crawler.store).change.is_none()));
    user.press("5");
    assert!(user.screen().contains("nothing changed"), "{}", user.screen());
}

/// Presses a key, and takes the searches that it begins.
fn searches(user: &mut User, key: &str) -> Vec<Job<Crawler>> {
    let key = key.chars().next().expect("a key");
    user.crawler.press(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE));
    taken(user)
}

fn taken(user: &mut User) -> Vec<Job<Crawler>> {
    user.crawler.take_jobs().into_iter().filter(|job| job.slot == Slot::Findings).collect()
}

#[test]
fn a_live_recording_is_searched_again_only_while_the_screen_is_open() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("live-findings.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 2);
    let mut user = User::new(fixture::open(&path));
    user.tick(100);
    let first = searches(&mut user, "5");
    assert_eq!(first.len(), 1);
    // No search begins before the last one has ended.
    fixture::measure(fixture::node(77));
    user.crawler.tick(3_000_000_000);
    assert_eq!(taken(&mut user).len(), 0);
    user.answer(first);
    fixture::measure(fixture::node(78));
    let search_at = |user: &mut User, ms: u64| {
        user.crawler.tick(ms * 1_000_000);
        taken(user)
    };
    // The first one took 2.9 s, so the next one has to wait.
    assert_eq!(search_at(&mut user, 4_000).len(), 0);
    let second = search_at(&mut user, 60_000);
    assert_eq!(second.len(), 1);
    user.answer(second);
    assert_eq!(search_at(&mut user, 60_900).len(), 0);
    // Nothing was recorded since.
    assert_eq!(search_at(&mut user, 62_000).len(), 0);
    fixture::measure(fixture::node(79));
    let third = search_at(&mut user, 63_000);
    assert_eq!(third.len(), 1);
    user.answer(third);
    user.press("1");
    fixture::measure(fixture::node(80));
    assert_eq!(search_at(&mut user, 90_000).len(), 0);
    assert!(user.crawler.progress(Slot::Findings).is_none());
    drop(installed);
    recording.close();
}
