//! The columns of method profilers: the crawler shows what a profiler declares, without code for
//! that profiler.
//!
//! Sites stay until the process ends, so these tests have their own process.

#[path = "../fixture/mod.rs"]
mod fixture;
mod library;
#[allow(dead_code, reason = "these tests use only a part of it")]
#[path = "../crawler/user.rs"]
mod user;

use std::path::PathBuf;
use std::sync::OnceLock;

use metaspy_core::{Recording, Store};

use user::User;

fn store() -> Store {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let _turn = fixture::turn();
        let path = fixture::directory().join("library.spy");
        let library = library::begin(Recording::file(&path));
        library::open_for_a_day();
        library.close();
        path
    });
    fixture::open(file)
}

/// A user with a recording of the library, on a screen of this size.
fn user(size: (u16, u16)) -> User {
    User::with_size(store(), size)
}

#[test]
fn the_structure_shows_the_columns_of_a_profiler_added_up_over_types_and_modules() {
    let mut user = user((80, 24));
    user.press("6 / \"library\" Enter");
    assert!(user.screen().contains("p profile"), "{}", user.screen());
    user.press("p");
    insta::assert_snapshot!("structure", user.screen());
    // From 3 days on, a number is a lower bound.
    user.press("p");
    let screen = user.screen();
    let shelf = screen.lines().find(|line| line.contains("Shelf")).unwrap_or_default();
    assert!(shelf.contains("≥8"), "{screen}");
}

#[test]
fn sites_show_the_columns_of_a_profiler() {
    let mut user = user((120, 24));
    user.press("3 p");
    insta::assert_snapshot!("sites", user.screen());
}

#[test]
fn subjects_show_the_tables_with_a_row_for_each_subject() {
    let mut user = user((80, 24));
    user.press("2 p");
    insta::assert_snapshot!("subjects", user.screen());
}

#[test]
fn after_the_last_profiler_come_the_columns_of_the_screen() {
    let mut user = user((80, 24));
    let before = user.press("3").screen();
    let profiles: Vec<String> =
        (0..3).map(|_| user.press("p").crawler.view.filter_and_sort()).collect();
    assert_eq!(
        profiles,
        ["profile: pages   sort: calls ▼", "profile: days   sort: calls ▼", "sort: calls ▼"]
    );
    assert_eq!(user.screen(), before);
}

#[test]
fn calls_without_events_begin_with_the_times_of_a_profiler() {
    let turn = fixture::turn();
    let path = fixture::directory().join("timed.spy");
    let library = library::begin_timed(Recording::file(&path));
    library::open_for_a_day();
    library.close();
    drop(turn);
    let mut user = User::with_size(fixture::open(&path), (120, 24));
    for screen in ["3", "6"] {
        let text = user.press(screen).screen();
        assert!(text.contains("profile: calls") && text.contains("self "), "{text}");
    }
    // What the user chose stays.
    user.press("p");
    assert!(!user.screen().contains("profile: "), "{}", user.screen());
    user.press("f \"site:take_back\" Enter").tick(100);
    assert!(!user.screen().contains("profile: "), "{}", user.screen());
}

#[test]
fn rows_are_sorted_by_a_column_of_a_profiler() {
    let mut user = user((80, 24));
    let first = |user: &User| user.screen().lines().nth(4).unwrap_or_default().to_owned();
    user.press("3 p > > >");
    assert!(
        user.screen().contains("sort: smallest ▼") && first(&user).contains("Shelf::lend"),
        "{}",
        user.screen()
    );
    user.press("r");
    assert!(!first(&user).contains("Shelf::lend"), "{}", user.screen());
    // The columns of the screen do not have this one.
    user.press("p p");
    assert!(user.screen().contains("sort: calls ▼"), "{}", user.screen());
}

#[test]
fn under_a_filter_the_screen_states_that_profiles_are_not_filtered() {
    let mut user = user((80, 24));
    user.press("3 p f \"site:lend\" Enter");
    assert!(user.screen().contains(" pages: all calls, not filtered ┐"), "{}", user.screen());
    user.press("p p");
    assert!(!user.screen().contains("not filtered"), "{}", user.screen());
}

#[test]
fn values_of_a_live_recording_grow() {
    let _turn = fixture::turn();
    let recording = library::begin(Recording::memory());
    library::open_for_a_day();
    let mut user = User::new(recording.store());
    let pages = |user: &User| {
        let screen = user.screen();
        let line =
            screen.lines().find(|line| line.contains("Shelf::lend")).unwrap_or_default().to_owned();
        line.split_whitespace()
            .filter(|word| word.chars().all(|c| c.is_ascii_digit()))
            .nth(1)
            .map(str::to_owned)
    };
    user.press("3 p").tick(100);
    assert_eq!(pages(&user).as_deref(), Some("60"), "{}", user.screen());
    library::open_for_a_day();
    user.tick(1500);
    assert_eq!(pages(&user).as_deref(), Some("120"), "{}", user.screen());
}

#[test]
fn a_recording_without_profiles_has_a_sentence_for_it() {
    let _turn = fixture::turn();
    let recording = library::begin_without_profiles(Recording::memory());
    library::open_for_a_day();
    let mut user = User::new(recording.store());
    user.press("3");
    assert!(!user.screen().contains("p profile"), "{}", user.screen());
    user.press("p");
    assert!(
        user.screen().contains("no method profiler has values for this screen"),
        "{}",
        user.screen()
    );
}
