//! Filters that are written, and those that grow out of the rows of a table.

use metaspy_core::Recording;

use crate::fixture;
use crate::reader::Reader;

fn reader(name: &str) -> Reader {
    Reader::new(fixture::open(&fixture::closed(name, 40)))
}

fn filter(reader: &Reader) -> String {
    reader.crawler.view.filter.text().to_owned()
}

#[test]
fn a_term_from_a_row_takes_the_place_of_the_one_before() {
    let mut reader = reader("narrowed.spy");
    reader.press("2 / \"fox\" Enter Enter");
    assert_eq!(filter(&reader), "subject:node:#3");
    reader.press("2 Enter");
    assert_eq!(filter(&reader), "subject:node:#3");
    reader.press("3 / \"Scene::layout\" Enter Enter");
    assert_eq!(filter(&reader), "subject:node:#3 site:page::Scene::layout");
    reader.press("4 Enter");
    assert_eq!(filter(&reader), "subject:node:#3 site:page::Scene::layout lane:page");
    assert!(reader.screen().contains("40 of "), "{}", reader.screen());
    reader.press("3 Enter");
    assert_eq!(filter(&reader), "subject:node:#3 lane:page site:page::Scene::layout");
}

#[test]
fn who_asks_twice_for_the_events_of_a_subject_is_told() {
    let mut reader = reader("twice.spy");
    reader.press("Down Down s");
    let depth = reader.crawler.history.depth();
    reader.press("s");
    assert_eq!(filter(&reader), "subject:node:#1");
    assert!(reader.screen().contains("already"), "{}", reader.screen());
    assert_eq!(reader.crawler.history.depth(), depth);
}

#[test]
fn a_filter_is_written_where_one_is() {
    let mut reader = reader("stays.spy");
    for (key, name) in [("2", "Subjects"), ("3", "Sites"), ("4", "Lanes")] {
        reader.press(key).press("f \"site:measure\" Enter");
        assert_eq!(reader.crawler.view.screen.name(), name);
        assert_eq!(filter(&reader), "site:measure");
        reader.press("Esc");
        assert_eq!((reader.crawler.view.screen.name(), filter(&reader)), (name, String::new()));
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
    let mut reader = Reader::new(fixture::open(&path));
    assert!(reader.crawler.status.totals.folded > 0);
    reader.press("f \"outcome:failed\" Enter");
    assert!(reader.screen().contains("┌ ≥ "), "{}", reader.screen());
    for screen in ["2", "3"] {
        reader.press(screen);
        let screen = reader.screen();
        assert!(screen.contains(" at least: `outcome:` is unknown beyond the window ┐"), "{screen}");
    }
    // What tallies know is exact, whatever left the window.
    reader.press("f Ctrl-u \"site:measure\" Enter");
    assert!(!reader.screen().contains("at least"), "{}", reader.screen());
    reader.press("1");
    assert!(reader.screen().contains("┌ 48,030 of "), "{}", reader.screen());
}
