//! A selected event that scrolls away or leaves the window.

use metaspy_core::Recording;

use crate::fixture;
use crate::user::User;

fn title(user: &User) -> String {
    user.screen().lines().nth(2).unwrap_or("").split('┬').nth(1).unwrap_or("").to_owned()
}

#[test]
fn a_selected_event_that_scrolls_away_is_shown_in_the_first_line() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("pushed.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 2);
    let mut user = User::new(fixture::open(&path));
    user.press("Up Up").tick(100);
    let (before, pane) = (user.selected(), title(&user));
    assert!(before.contains("measure #9"), "{}", user.screen());
    (0..8).for_each(|_| user.wheel(10, 8, -3));
    assert!(user.selected().contains("measure #9"), "{}", user.screen());
    assert_eq!(user.screen().lines().position(|line| line.contains('▶')), Some(3));
    assert_eq!(title(&user), pane);
    // A click there changes nothing.
    user.click(10, 3);
    assert!(user.selected().contains("measure #9"));
    user.click(10, 4);
    assert!(!user.selected().contains("measure #9"), "{}", user.screen());
    drop(installed);
    recording.close();
}

#[test]
fn follow_mode_selects_the_newest_event_and_ends_when_the_user_moves() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("followed.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 2);
    let mut user = User::new(fixture::open(&path));
    assert!(
        user.screen().contains("following") && user.selected().contains("paint"),
        "{}",
        user.screen()
    );
    fixture::measure(fixture::node(77));
    user.tick(100);
    assert!(
        user.screen().contains("following") && user.selected().contains("#77"),
        "{}",
        user.screen()
    );
    // The user reads: nothing moves.
    user.press("Up").tick(200);
    let reads = user.selected();
    fixture::measure(fixture::node(78));
    user.tick(300);
    assert!(!user.screen().contains("following"), "{}", user.screen());
    assert_eq!(user.selected(), reads);
    // The end of a live recording moves on.
    user.press("End").tick(400);
    assert!(
        user.screen().contains("following") && user.selected().contains("#78"),
        "{}",
        user.screen()
    );
    // The pane is about one event.
    user.press("Enter").tick(500);
    fixture::measure(fixture::node(79));
    user.tick(600);
    assert!(user.selected().contains("#78"), "{}", user.screen());
    user.press("Esc F");
    drop(installed);
    recording.close();
    user.tick(700);
    assert!(!user.screen().contains("following"), "{}", user.screen());
    user.press("F");
    assert!(user.screen().contains("nothing to follow"), "{}", user.screen());
}

#[test]
fn an_event_that_left_the_window_is_marked_everywhere() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("left.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 5);
    let mut user = User::new(fixture::open(&path));
    user.press("Home Down Down").tick(100);
    (0..16).for_each(|_| {
        (0..500).for_each(|_| fixture::frame());
        recording.collect();
    });
    user.tick(2000);
    assert!(
        user.selected().contains("layout #1") && user.selected().contains("gone"),
        "{}",
        user.screen()
    );
    for _ in 0..3 {
        let screen = user.screen();
        assert!(screen.contains("it left the window"), "{screen}");
        for untrue in ["a root", "none: nothing", "effects 0", "cause   "] {
            assert!(!screen.contains(untrue), "{untrue}: {screen}");
        }
        user.press("Tab");
    }
    // Under a filter the list begins with the first event in the window.
    user.press("f \"site:layout\" Enter");
    assert!(!user.selected().contains("gone"), "{}", user.screen());
    drop(installed);
    recording.close();
}

#[test]
fn the_number_of_events_that_pass_grows_with_a_live_recording() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("grows.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 2);
    let mut user = User::new(fixture::open(&path));
    user.press("f \"site:measure\" Enter").tick(100);
    assert!(user.screen().contains("┌ 12 of "), "{}", user.screen());
    (0..3).for_each(|_| fixture::frame());
    user.tick(2000);
    assert!(user.screen().contains("┌ 30 of "), "{}", user.screen());
    drop(installed);
    recording.close();
}

#[test]
fn a_screen_that_was_too_small_for_a_while_is_restored() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("small.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 2);
    let mut user = User::new(fixture::open(&path));
    let before = user.selected();
    user.resize(20, 5).tick(100);
    user.resize(80, 24).tick(200);
    assert_eq!(user.selected(), before);
    assert!(user.screen().contains("took "), "{}", user.screen());
    drop(installed);
    recording.close();
}
