//! Subjects: their numbers, two of them side by side, and durations.

use crate::fixture;
use crate::user::User;

fn user(name: &str) -> User {
    User::new(fixture::open(&fixture::closed(name, 40)))
}

#[test]
fn a_row_of_subjects_leads_to_everything_about_it() {
    let mut user = user("about.spy");
    user.press("2 / \"fox\" Enter o");
    let screen = user.screen();
    assert!(screen.contains("calls   40") && screen.contains("Scene::layout"), "{screen}");
    assert!(screen.contains("owners") && screen.contains("siblings  1"), "{screen}");
}

#[test]
fn two_subjects_are_shown_side_by_side() {
    let mut user = user("beside.spy");
    user.press("=");
    assert!(user.screen().contains("open the tab Object first"), "{}", user.screen());
    user.press("2 / \"fox\" Enter o = 2 / \"#4\" Enter o");
    let screen = user.screen();
    assert!(screen.contains("compared with #3 <p>"), "{screen}");
    // 40 layouts of each; only the other one was measured.
    assert!(screen.lines().any(|line| line.contains("layout  ") && line.contains('=')), "{screen}");
    assert!(
        screen.lines().any(|line| line.contains("measure") && line.contains("▶▶▶▶")),
        "{screen}"
    );
    insta::assert_snapshot!("compared", screen);
    user.press("= =");
    assert!(user.screen().contains("the comparison has ended"), "{}", user.screen());
}

#[test]
fn the_slowest_events_of_a_site_are_one_step_away() {
    let mut user = user("slowest.spy");
    user.press("3 / \"Scene::layout\" Enter t");
    let screen = user.screen();
    assert_eq!(user.crawler.view.filter.text(), "site:layout");
    assert!(screen.contains("160 events  all of them") && screen.contains("p99"), "{screen}");
    // The layouts of the root take longest.
    user.press("PageDown PageDown Up Enter");
    assert!(user.selected().contains("layout #1"), "{}", user.screen());
    user.press("Backspace Backspace");
    assert_eq!(user.crawler.view.screen.name(), "Sites");
}
