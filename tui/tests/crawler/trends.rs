//! The change of rows over time.

use metaspy_core::Recording;

use crate::fixture;
use crate::user::User;

/// The cells of a row in the column of the trend.
fn trend(user: &User, row: &str) -> String {
    let screen = user.screen();
    let head =
        screen.lines().find(|line| line.contains("trend")).unwrap_or_else(|| panic!("{screen}"));
    let at = head.chars().count() - head[head.find("trend").unwrap_or(0)..].chars().count();
    let line = screen
        .lines()
        .find(|line| line.contains(row))
        .unwrap_or_else(|| panic!("no {row}: {screen}"));
    line.chars().skip(at).take(16).collect()
}

#[test]
fn a_row_shows_in_which_part_of_the_window_its_events_began() {
    let mut user = User::with_size(fixture::open(&fixture::closed("trends.spy", 16)), (120, 24));
    user.press("3");
    insta::assert_snapshot!("trend_of_sites", user.screen());
    // One frame in each sixteenth of the window.
    assert_eq!(trend(&user, "Scene::paint"), "█".repeat(16));
    user.press("f \"epoch:0\" Enter 3 Esc");
    assert_eq!(trend(&user, "Scene::paint"), "█".repeat(16));
    user.press("2");
    assert_eq!(trend(&user, "#5 <div>"), "█".repeat(16));
}

#[test]
fn a_narrow_table_shows_no_trend_and_reads_none() {
    let mut user = User::new(fixture::open(&fixture::closed("no-trends.spy", 2)));
    user.press("3");
    assert!(!user.screen().contains("trend"), "{}", user.screen());
    assert_eq!(user.crawler.view.sites.trends.bar_ns, 0);
    user.resize(120, 24);
    assert!(user.crawler.view.sites.trends.bar_ns > 0);
}

#[test]
fn a_trend_of_events_of_which_earlier_ones_left_is_of_the_window() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("folded-trends.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 8_000);
    drop(installed);
    recording.close();
    let mut user = User::with_size(fixture::open(&path), (120, 24));
    assert!(user.crawler.store.totals().folded > 0);
    user.press("3");
    let screen = user.screen();
    assert!(screen.contains("window, ") && !screen.contains("trend"), "{screen}");
}
