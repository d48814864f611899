//! Filters from the prompt, and from the rows of a table.

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
fn a_term_from_a_row_replaces_the_term_with_the_same_key() {
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
fn a_second_request_for_the_events_of_a_subject_shows_a_message() {
    let mut user = user("twice.spy");
    user.press("Down Down s");
    let depth = user.crawler.history.depth();
    user.press("s");
    assert_eq!(filter(&user), "subject:node:#1");
    assert!(user.screen().contains("already"), "{}", user.screen());
    assert_eq!(user.crawler.history.depth(), depth);
}

#[test]
fn editing_a_filter_keeps_the_open_screen() {
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
fn a_closed_recording_shows_why_numbers_outside_the_window_are_not_exact() {
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
    user.press("f \"took:>1us\" Enter");
    assert!(user.screen().contains("┌ ≥ "), "{}", user.screen());
    for screen in ["2", "3"] {
        user.press(screen);
        let screen = user.screen();
        assert!(screen.contains(" at least: `took:` is unknown outside the window ┐"), "{screen}");
    }
    // Counts by site are exact, even if events left the window.
    user.press("f Ctrl-u \"site:measure\" Enter");
    assert!(!user.screen().contains("at least"), "{}", user.screen());
    user.press("1");
    assert!(user.screen().contains("┌ 48,030 of "), "{}", user.screen());
}
