//! Journeys from question to answer, and back.

use crate::fixture;
use crate::user::User;
use metaspy_tui::crawler::state::Request;

fn user(name: &str) -> User {
    User::new(fixture::open(&fixture::closed(name, 40)))
}

#[test]
fn back_from_a_cause_restores_the_exact_view() {
    let mut user = user("cause.spy");
    user.press("f \"site:measure\" Enter PageDown PageDown Up");
    let before = user.screen();
    user.press("c");
    assert!(user.selected().contains("layout #"), "{}", user.screen());
    assert!(user.screen().contains("filter `site:measure` removed"));
    user.press("c c");
    assert!(user.selected().contains("frame"), "{}", user.screen());
    user.press("Backspace Backspace Backspace");
    assert_eq!(user.screen(), before);
    user.press("]");
    assert!(user.selected().contains("layout #"));
}

#[test]
fn effects_lead_from_one_event_to_the_next() {
    let mut user = user("effects.spy");
    user.press("Down Down Right");
    assert!(user.crawler.view.pane.has_focus());
    user.press("Right");
    assert!(user.selected().contains("layout #2"), "{}", user.screen());
    user.press("Right");
    assert!(user.selected().contains("measure #4"), "{}", user.screen());
    user.press("Left");
    assert!(!user.crawler.view.pane.has_focus());
    user.press("Backspace Backspace");
    assert!(user.selected().contains("layout #1"), "{}", user.screen());
}

#[test]
fn a_subject_leads_to_all_of_its_events() {
    let mut user = user("subject.spy");
    user.press("2 / \"fox\" Enter Enter");
    assert!(user.screen().contains("40 of "), "{}", user.screen());
    assert!(
        user.crawler.view.list.rows.iter().all(|row| row.event.subject == Some(fixture::node(3)))
    );
    user.press("Backspace");
    assert_eq!(user.crawler.view.screen.name(), "Subjects");
    user.press("1 Down Down s");
    assert!(user.screen().contains("40 of "), "{}", user.screen());
}

#[test]
fn a_search_goes_to_the_next_and_the_previous_match() {
    let mut user = user("search.spy");
    user.press("/ \"paint\" Enter");
    let first = user.selected();
    assert!(first.contains("paint"), "{}", user.screen());
    user.press("n");
    assert_ne!(user.selected(), first);
    user.press("N");
    assert_eq!(user.selected(), first);
    user.press("/ \"nothing-of-this-name\" Enter");
    assert!(user.screen().contains("no further event matches"), "{}", user.screen());
    assert_eq!(user.selected(), first);
}

#[test]
fn marks_are_found_again() {
    let mut user = user("marks.spy");
    user.press("Down m");
    let marked = user.selected();
    assert!(marked.contains('◈'), "{marked}");
    user.press("End");
    assert_ne!(user.selected(), marked);
    user.press("'");
    assert_eq!(user.selected(), marked);
    user.press("m '");
    assert!(user.screen().contains("no marks"), "{}", user.screen());
}

#[test]
fn steps_beyond_the_ends_of_the_recording_stay_there() {
    let mut user = user("ends.spy");
    let first = user.selected();
    user.press("End");
    let last = user.selected();
    assert_ne!(first, last);
    user.press("Down PageDown");
    assert_eq!(user.selected(), last);
    // The other way by steps, through everything in between.
    (0..user.crawler.status.totals.stored).for_each(|_| {
        user.press("Up");
    });
    assert_eq!(user.selected(), first);
    (0..60).for_each(|_| {
        user.press("PageDown");
    });
    assert_eq!(user.selected(), last);
}

#[test]
fn a_relation_leads_to_the_events_of_its_subject() {
    let mut user = user("relations.spy");
    user.press("Down Down Down Down o");
    // The first target is the outermost owner: <html>.
    user.press("Home Down Enter");
    assert!(user.selected().contains("layout #1"), "{}", user.screen());
}

#[test]
fn the_mouse_selects_events_tabs_screens_and_rows() {
    let mut user = user("mouse.spy");
    // The sixth row of the list, then the tab of causes.
    user.click(10, 8);
    assert!(user.selected().contains("hit #4"), "{}", user.screen());
    user.click(54, 3);
    assert_eq!(user.crawler.view.pane.tab.name(), "Causes");
    // Its cause, and once more to go there.
    user.click(60, 5).click(60, 5);
    assert!(user.selected().contains("measure #4"), "{}", user.screen());
    user.click(14, 1);
    assert_eq!(user.crawler.view.screen.name(), "Subjects");
    user.click(10, 6);
    assert_eq!(user.crawler.view.subjects.cursor.row, 2);
    // Below the rows there is nothing to select.
    user.click(10, 21);
    assert_eq!(user.crawler.view.subjects.cursor.row, 2);
    user.press("n").click(10, 5);
    assert_eq!(user.crawler.view.subjects.cursor.row, 1);
}

#[test]
fn the_source_of_an_event_opens_by_file_and_line() {
    let mut user = user("source.spy");
    user.press("e");
    assert_eq!(
        user.request,
        Some(Request::Edit { file: "tui/tests/fixture/mod.rs".into(), line: 88 })
    );
}

#[test]
fn sites_are_sorted_by_any_column() {
    let mut user = user("sorted.spy");
    user.press("3 >");
    assert!(user.screen().contains("sort: total ▼"), "{}", user.screen());
    let line = |user: &User| user.screen().lines().nth(4).unwrap_or("").to_owned();
    assert!(line(&user).contains("page::frame"), "{}", user.screen());
    user.press("r");
    assert!(!line(&user).contains("page::frame"), "{}", user.screen());
}

/// The journey of the question "what else made this happen": from a change to the layout that is
/// linked to it.
#[test]
fn an_effect_by_link_is_marked_and_leads_back_to_its_further_reasons() {
    let path = fixture::directory().join("linked.spy");
    {
        let _turn = fixture::turn();
        let (recording, installed) = fixture::begin(metaspy_core::Recording::file(&path), 1);
        fixture::linked_layout();
        drop(installed);
        recording.close();
    }
    let mut user = User::new(fixture::open(&path));
    user.press("f \"site:resize\" Enter End Right");
    assert!(user.screen().contains("└ link layout #1 <html>"), "{}", user.screen());
    user.press("Right");
    assert!(user.selected().contains("layout #1"), "{}", user.screen());
    user.press("f \"cause:resize\" Enter");
    assert!(user.screen().contains(" 2 of 23 "), "{}", user.screen());
}

/// A live recording with an effect on another thread, behind an unrelated event of a third one.
#[test]
fn an_effect_on_another_thread_is_counted_at_once_and_drawn_under_its_own_cause() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("elsewhere.spy");
    let (recording, installed) = fixture::begin(metaspy_core::Recording::file(&path), 0);
    fixture::received_elsewhere();
    let mut user = User::new(fixture::open(&path));
    user.press("Home").tick(100);
    let screen = user.screen();
    // In Detail, before the tab of effects was opened.
    assert!(screen.contains("effects 1 (1 paint)"), "{screen}");
    let rows: Vec<&str> = screen.lines().skip(3).take(3).collect();
    assert!(rows[0].contains(" resize"), "{screen}");
    assert!(rows[1].contains("│ frame"), "{screen}");
    assert!(rows[2].contains("└ paint"), "{screen}");
    drop(installed);
    recording.close();
}

#[test]
fn the_wheel_scrolls_the_part_under_it() {
    let mut user = user("wheel.spy");
    let (first, top) = (user.selected(), user.crawler.view.list.top);
    user.wheel(10, 8, 3);
    assert_eq!((user.selected(), user.crawler.view.list.top), (first.clone(), top + 3));
    // In the pane, whose focus stays in the list.
    user.resize(80, 12).wheel(60, 8, 3);
    assert_eq!(user.crawler.view.pane.cursor.top, 3);
    assert_eq!(user.selected(), first);
    user.press("2");
    user.wheel(10, 8, 3);
    assert_eq!(user.crawler.view.subjects.cursor.top, 3);
}

#[test]
fn the_screens_name_the_sites_and_the_times_of_a_loss() {
    let path = fixture::directory().join("losses.spy");
    {
        let _turn = fixture::turn();
        let oldest = metaspy_core::Recording::file(&path)
            .policy(metaspy_core::recording::Policy::KeepOldest);
        let (recording, installed) = fixture::begin(oldest, 8_000);
        drop(installed);
        recording.close();
    }
    let mut user = User::with_size(fixture::open(&path), (120, 24));
    user.press("3");
    let screen = user.screen();
    let row = screen.lines().find(|line| line.contains("Scene::measure")).expect("it is a site");
    assert!(screen.contains(" lost") && row.contains("23,676"), "{screen}");
    user.press("1 End 4");
    assert!(
        user.screen().contains('×') && user.screen().contains("lost 75.0 k"),
        "{}",
        user.screen()
    );
}
