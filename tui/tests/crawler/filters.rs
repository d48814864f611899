//! Filters that are written, and those that grow out of the rows of a table.

use metaspy_core::Recording;

use crate::fixture;
use crate::user::User;

fn user(name: &str) -> User {
    User::new(fixture::open(&fixture::closed(name, 40)))
}

fn filter(user: &User) -> String {
    user.crawler.view.filter.text().to_owned()
}

#[test]
fn a_term_from_a_row_takes_the_place_of_the_one_before() {
    let mut user = user("narrowed.spy");
    user.press("2 / \"fox\" Enter Enter");
    assert_eq!(filter(&user), "subject:node:#3");
    user.press("2 Enter");
    assert_eq!(filter(&user), "subject:node:#3");
    user.press("3 / \"Scene::layout\" Enter Enter");
    assert_eq!(filter(&user), "subject:node:#3 site:layout");
    user.press("4 Enter");
    assert_eq!(filter(&user), "subject:node:#3 site:layout lane:page");
    assert!(user.screen().contains("40 of "), "{}", user.screen());
    user.press("3 Enter");
    assert_eq!(filter(&user), "subject:node:#3 lane:page site:layout");
}

#[test]
fn who_asks_twice_for_the_events_of_a_subject_is_told() {
    let mut user = user("twice.spy");
    user.press("Down Down s");
    let depth = user.crawler.history.depth();
    user.press("s");
    assert_eq!(filter(&user), "subject:node:#1");
    assert!(user.screen().contains("already"), "{}", user.screen());
    assert_eq!(user.crawler.history.depth(), depth);
}

#[test]
fn a_filter_is_written_where_one_is() {
    let mut user = user("stays.spy");
    for (key, name) in [("2", "Subjects"), ("3", "Sites"), ("4", "Lanes")] {
        user.press(key).press("f \"site:measure\" Enter");
        assert_eq!(user.crawler.view.screen.name(), name);
        assert_eq!(filter(&user), "site:measure");
        user.press("Esc");
        assert_eq!((user.crawler.view.screen.name(), filter(&user)), (name, String::new()));
    }
}

#[test]
fn a_closed_recording_whose_calls_left_the_window_says_why_numbers_are_not_exact() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("doubt.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 5);
    (0..16).for_each(|_| {
        (0..500).for_each(|_| fixture::frame());
        recording.collect();
    });
    drop(installed);
    recording.close();
    let mut user = User::new(fixture::open(&path));
    assert!(user.crawler.status.totals.folded > 0);
    user.press("f \"outcome:failed\" Enter");
    assert!(user.screen().contains("┌ ≥ "), "{}", user.screen());
    for screen in ["2", "3"] {
        user.press(screen);
        let screen = user.screen();
        assert!(screen.contains(" at least: `outcome:` is unknown beyond the window ┐"), "{screen}");
    }
    // What tallies know is exact, whatever left the window.
    user.press("f Ctrl-u \"site:measure\" Enter");
    assert!(!user.screen().contains("at least"), "{}", user.screen());
    user.press("1");
    assert!(user.screen().contains("┌ 48,030 of "), "{}", user.screen());
}
