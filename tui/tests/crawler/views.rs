//! What a profiler states about its view: the relations that come first, and the table to begin
//! with.

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::instrumenter::Installation;
use metaspy_core::{
    InstallError, Instrumenter, Profiler, Recording, Session, Store, Subject, model,
};
use metaspy_tui::crawler::config::Browser;

use crate::fixture::{self, node};
use crate::user::User;

#[test]
fn relations_that_a_profiler_names_come_first() {
    let _turn = fixture::turn();
    let (recording, installed) = fixture::begin(Recording::memory(), 1);
    for name in ["cites", "uses"] {
        model::relate(name, node(3), node(2));
    }
    let mut user = User::new(recording.store());
    user.press("f \"subject:node:#3\" Enter Home Tab Tab Tab Tab");
    let screen = user.screen();
    let place = |text: &str| {
        screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{screen}"))
    };
    assert!(place("uses →") < place("cites →"), "{screen}");
    for name in ["cites", "uses"] {
        model::unrelate(name, node(3), node(2));
    }
    drop(installed);
    recording.close();
}

/// All events of the page.
struct Page;

impl Instrumenter for Page {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&"page::Scene::*".parse()?, &Arming::all(Mode::Full))?;
        Ok(Installation::none())
    }
}

#[test]
fn the_view_that_a_profiler_declares_is_a_browser() {
    let _turn = fixture::turn();
    let (recording, page) = fixture::begin(Recording::memory(), 1);
    let profiler =
        Profiler::new("scenes").observe(Page).group_by("subject").relation("owner").column("max");
    let scenes = profiler.column("count").install().expect("the sites are there");
    fixture::frame();
    let mut user = User::new(recording.store());
    user.press("7");
    insta::assert_snapshot!("declared_view", user.screen());
    // A row without a subject selects all, but the frame is at no site of the profiler.
    user.press("Down");
    assert!(
        user.screen().contains("│ Scene::paint") && !user.screen().contains("│ frame"),
        "{}",
        user.screen()
    );
    user.press("Down Right Right Tab");
    insta::assert_snapshot!("declared_relation", user.screen());
    // The palette has the view of the other profiler, too.
    user.press(": \"browse\"");
    let screen = user.screen();
    let place = |text: &str| {
        screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{screen}"))
    };
    assert!(
        place("browse scenes") < place("browse page")
            && place("browse page") < place("browse Too often")
    );
    drop((scenes, page));
    recording.close();
}

/// The count in the row of the first column that is selected.
fn selected_count(user: &User) -> String {
    let screen = user.screen();
    let row =
        screen.lines().find(|line| line.starts_with("│▸")).unwrap_or_else(|| panic!("{screen}"));
    row.split('│')
        .nth(1)
        .and_then(|row| row.split_whitespace().last())
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_browser_of_a_live_recording_is_read_again_and_its_cursors_stay() {
    let _turn = fixture::turn();
    let (recording, page) = fixture::begin(Recording::memory(), 1);
    let mut user = User::with_size(recording.store(), (120, 24));
    let text = "title = 'Live'\n[[column]]\nrows = 'subject'\nshow = ['count']\n[[column]]\nrows = 'event'\n";
    user.crawler.add_browser(Browser::parse("live.toml", text).expect("a browser"));
    user.press(": \"Live\" Enter Down Right Down").tick(1_000);
    assert!(
        user.screen().contains("▸#4 ") && user.screen().contains("▸hit #4"),
        "{}",
        user.screen()
    );
    let hits = |user: &User| user.screen().matches("hit #4").count();
    assert_eq!((hits(&user), selected_count(&user).as_str()), (1, "3"));
    fixture::frame();
    user.tick(3_000);
    assert_eq!((hits(&user), selected_count(&user).as_str()), (2, "6"));
    assert!(
        user.screen().contains("▸#4 ") && user.screen().contains("▸hit #4"),
        "{}",
        user.screen()
    );
    drop(page);
    recording.close();
}

/// Counts calls, and records no events.
struct Counts;

impl Instrumenter for Counts {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&"page::**".parse()?, &Arming::all(Mode::Tally))?;
        Ok(Installation::none())
    }
}

/// The screen that opens first for a recording with counts only.
fn check(grouping: &str, expected: &str, title: &str) {
    let _turn = fixture::turn();
    let recording =
        Recording::memory().budget(4 << 20).collector(false).start().expect("a small recording");
    let profiler = Profiler::new("counts").observe(Counts).group_by(grouping);
    let installed = profiler.install().expect("the sites are there");
    fixture::frame();
    drop(installed);
    let user = User::new(recording.store());
    assert_eq!(user.crawler.view.screen.name(), expected);
    assert!(user.screen().contains(title), "{}", user.screen());
    recording.close();
}

/// A recording of counts without subjects.
fn counted_without_subjects() -> Store {
    let _turn = fixture::turn();
    let path = fixture::directory().join("counted.spy");
    let recording =
        Recording::file(&path).budget(4 << 20).collector(false).start().expect("a small recording");
    let installed = Profiler::new("counts").observe(Counts).install().expect("the sites are there");
    fixture::measure(Subject::NONE);
    drop(installed);
    recording.close();
    fixture::open(&path)
}

#[test]
fn a_column_of_events_states_that_calls_were_only_counted() {
    let mut user = User::new(counted_without_subjects());
    let text = "title = 'Calls'\n[[column]]\nrows = 'site'\n[[column]]\nrows = 'event'\n";
    user.crawler.add_browser(Browser::parse("calls.toml", text).expect("a browser"));
    user.press(": \"Calls\" Enter").tick(100);
    assert!(user.screen().contains("calls were only counted"), "{}", user.screen());
    assert!(user.screen().contains("METASPY_MODE=full, or"), "{}", user.screen());
    user.press("4").tick(200);
    assert!(
        user.screen().contains("calls were only counted"),
        "lanes have nothing to draw: {}",
        user.screen()
    );
    user.press("1").tick(300);
    assert!(user.screen().contains("2 shows the subjects"), "{}", user.screen());
}

#[test]
fn a_recording_of_counts_opens_on_the_table_of_its_profiler() {
    check("subject", "Subjects", "┌ 10 subjects ─");
    check("site", "Sites", "┌ 8 sites ─");
    assert_eq!(User::new(counted_without_subjects()).crawler.view.screen.name(), "Structure");
}

#[test]
fn a_recording_without_samples_shows_how_to_take_them() {
    let mut user =
        User::with_size(fixture::open(&fixture::closed("no-functions.spy", 1)), (60, 15));
    user.press("C");
    let screen = user.screen();
    assert!(
        screen.contains("C Functions") && screen.contains("no samples were recorded"),
        "{screen}"
    );
    assert!(screen.contains("metaspy sample"), "{screen}");
    // No row leads anywhere, unfolds, is sorted, copied or searched.
    user.press("Down Enter Right Left > < r e / \"x\" Enter 1");
    assert!(user.screen().contains("19 events"), "{}", user.screen());
}

#[test]
fn a_recording_without_types_shows_how_to_record_them() {
    let mut user = User::with_size(fixture::open(&fixture::closed("no-types.spy", 1)), (60, 15));
    user.press("T");
    let screen = user.screen();
    assert!(screen.contains("T Types") && screen.contains("no types were recorded"), "{screen}");
    assert!(screen.contains("run --types`"), "{screen}");
    // No row leads anywhere, and none is copied or searched.
    user.press("Down Enter e / \"x\" Enter 1");
    assert!(user.screen().contains("19 events"), "{}", user.screen());
}
