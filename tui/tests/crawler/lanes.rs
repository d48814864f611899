//! Lanes over time: zoom, the cursor in time, and the way to the events there.

use crate::fixture;
use crate::user::User;

fn user(name: &str) -> User {
    User::new(fixture::open(&fixture::closed(name, 40)))
}

#[test]
fn the_time_is_zoomed_from_the_whole_window_to_single_events() {
    let mut user = user("zoomed.spy");
    user.press("4");
    let all = user.screen();
    assert!(all.contains("657 ms"), "{all}");
    user.click(37, 4);
    (0..12).for_each(|_| {
        user.press("+");
    });
    let near = user.screen();
    assert!(near.contains("µs, 1 cell = "), "{near}");
    insta::assert_snapshot!("lanes_zoomed", near);
    user.press("0");
    assert!(user.screen().contains("657 ms"), "{}", user.screen());
    user.press("+ - 0");
    assert!(user.screen().contains("657 ms"), "{}", user.screen());
}

#[test]
fn enter_goes_to_the_events_under_the_cursor() {
    let mut user = user("under.spy");
    // The middle of the time, in the only lane.
    user.press("4 0 Enter");
    assert_eq!(user.crawler.view.filter.text(), "lane:page");
    let middle =
        user.crawler.store.time_ns(user.crawler.view.list.selected.expect("an event").start);
    assert!((300_000_000..360_000_000).contains(&middle), "{middle}: {}", user.screen());
    user.press("Backspace Right Right Right Enter");
    let later =
        user.crawler.store.time_ns(user.crawler.view.list.selected.expect("an event").start);
    assert!(later > middle, "{later}");
    // The selected event is in the time, too.
    user.press("4");
    assert!(user.screen().contains('┃'), "{}", user.screen());
}

#[test]
fn zoom_keeps_the_selected_event_in_sight() {
    let mut user = user("in-sight.spy");
    user.press("End 4 + + + + + +");
    assert!(user.screen().contains('┃'), "{}", user.screen());
}
