//! Walks from question to answer, and back.

use crate::fixture;
use crate::reader::Reader;
use metaspy_tui::crawler::state::Outside;

fn reader(name: &str) -> Reader {
    Reader::new(fixture::open(&fixture::closed(name, 40)))
}

#[test]
fn a_walk_to_the_cause_and_back_ends_at_the_exact_view() {
    let mut reader = reader("cause.spy");
    reader.press("f \"site:measure\" Enter PageDown PageDown Up");
    let before = reader.screen();
    reader.press("c");
    assert!(reader.selected().contains("layout #"), "{}", reader.screen());
    assert!(reader.screen().contains("filter `site:measure` put aside"));
    reader.press("c c");
    assert!(reader.selected().contains("frame"), "{}", reader.screen());
    reader.press("Backspace Backspace Backspace");
    assert_eq!(reader.screen(), before);
    reader.press("]");
    assert!(reader.selected().contains("layout #"));
}

#[test]
fn effects_lead_on_from_one_to_the_next() {
    let mut reader = reader("effects.spy");
    reader.press("Down Down Right");
    assert!(reader.crawler.view.pane.focused);
    reader.press("Right");
    assert!(reader.selected().contains("layout #2"), "{}", reader.screen());
    reader.press("Right");
    assert!(reader.selected().contains("measure #4"), "{}", reader.screen());
    reader.press("Left");
    assert!(!reader.crawler.view.pane.focused);
    reader.press("Backspace Backspace");
    assert!(reader.selected().contains("layout #1"), "{}", reader.screen());
}

#[test]
fn a_subject_leads_to_all_of_its_events() {
    let mut reader = reader("subject.spy");
    reader.press("2 / \"fox\" Enter Enter");
    assert!(reader.screen().contains("40 of "), "{}", reader.screen());
    assert!(reader.crawler.view.list.rows.iter().all(|row| row.event.subject == Some(fixture::node(3))));
    reader.press("Backspace");
    assert_eq!(reader.crawler.view.screen.name(), "Subjects");
    reader.press("1 Down Down s");
    assert!(reader.screen().contains("40 of "), "{}", reader.screen());
}

#[test]
fn a_search_goes_on_from_match_to_match_and_back() {
    let mut reader = reader("search.spy");
    reader.press("/ \"paint\" Enter");
    let first = reader.selected();
    assert!(first.contains("paint"), "{}", reader.screen());
    reader.press("n");
    assert_ne!(reader.selected(), first);
    reader.press("N");
    assert_eq!(reader.selected(), first);
    reader.press("/ \"nothing-of-this-name\" Enter");
    assert!(reader.screen().contains("stands nowhere further on"), "{}", reader.screen());
    assert_eq!(reader.selected(), first);
}

#[test]
fn marks_are_found_again() {
    let mut reader = reader("marks.spy");
    reader.press("Down m");
    let marked = reader.selected();
    assert!(marked.contains('◈'), "{marked}");
    reader.press("End");
    assert_ne!(reader.selected(), marked);
    reader.press("'");
    assert_eq!(reader.selected(), marked);
    reader.press("m '");
    assert!(reader.screen().contains("no marks yet"), "{}", reader.screen());
}

#[test]
fn the_ends_of_the_recording_are_reached_and_steps_beyond_stay_there() {
    let mut reader = reader("ends.spy");
    let first = reader.selected();
    reader.press("End");
    let last = reader.selected();
    assert_ne!(first, last);
    reader.press("Down PageDown");
    assert_eq!(reader.selected(), last);
    // The other way by steps, through everything in between.
    (0..reader.crawler.status.totals.stored).for_each(|_| {
        reader.press("Up");
    });
    assert_eq!(reader.selected(), first);
    (0..60).for_each(|_| {
        reader.press("PageDown");
    });
    assert_eq!(reader.selected(), last);
}

#[test]
fn a_relation_leads_to_the_events_of_its_subject() {
    let mut reader = reader("relations.spy");
    reader.press("Down Down Down Down Tab Tab Tab Tab Tab Enter");
    // The first owner is the outermost: <html>.
    reader.press("Home Down Enter");
    assert!(reader.selected().contains("layout #1"), "{}", reader.screen());
}

#[test]
fn the_mouse_points_at_events_tabs_screens_and_rows() {
    let mut reader = reader("mouse.spy");
    // The sixth row of the list, then the tab of causes.
    reader.click(10, 8);
    assert!(reader.selected().contains("hit #4"), "{}", reader.screen());
    reader.click(54, 3);
    assert_eq!(reader.crawler.view.pane.tab.name(true), "Causes");
    // Its cause, and once more to go there.
    reader.click(60, 5).click(60, 5);
    assert!(reader.selected().contains("measure #4"), "{}", reader.screen());
    reader.click(14, 1);
    assert_eq!(reader.crawler.view.screen.name(), "Subjects");
    reader.click(10, 6);
    assert_eq!(reader.crawler.view.subjects.cursor, 2);
    // Below the rows there is nothing to select.
    reader.click(10, 21);
    assert_eq!(reader.crawler.view.subjects.cursor, 2);
    reader.press("n").click(10, 4);
    assert_eq!(reader.crawler.view.subjects.cursor, 1);
}

#[test]
fn the_source_of_an_event_is_asked_for_by_file_and_line() {
    let mut reader = reader("source.spy");
    reader.press("e");
    assert_eq!(reader.outside, Some(Outside::Edit { file: "tui/tests/fixture/mod.rs".into(), line: 88 }));
}

#[test]
fn sites_are_sorted_by_any_column() {
    let mut reader = reader("sorted.spy");
    reader.press("3 > >");
    assert!(reader.screen().contains("sort: total ▼"), "{}", reader.screen());
    let line = |reader: &Reader| reader.screen().lines().nth(4).unwrap_or("").to_owned();
    assert!(line(&reader).contains("page::frame"), "{}", reader.screen());
    reader.press("r");
    assert!(!line(&reader).contains("page::frame"), "{}", reader.screen());
}
