//! What happens to an event that somebody looks at when it scrolls away or leaves the window.

use metaspy_core::Recording;

use crate::fixture;
use crate::reader::Reader;

fn title(reader: &Reader) -> String {
    reader.screen().lines().nth(2).unwrap_or("").split('┬').nth(1).unwrap_or("").to_owned()
}

#[test]
fn a_selected_event_that_newer_ones_push_out_of_sight_stands_above_them() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("pushed.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 2);
    let mut reader = Reader::new(fixture::open(&path));
    reader.press("Up Up F").tick(100);
    let (before, pane) = (reader.selected(), title(&reader));
    assert!(before.contains("measure #9"), "{}", reader.screen());
    (0..3).for_each(|_| fixture::frame());
    reader.tick(200);
    assert!(reader.screen().contains("following"), "{}", reader.screen());
    assert!(reader.selected().contains("measure #9"), "{}", reader.screen());
    assert_eq!(reader.screen().lines().position(|line| line.contains('▶')), Some(3));
    assert_eq!(title(&reader), pane);
    // It stands there to be seen, not to be pressed.
    reader.click(10, 3);
    assert!(reader.selected().contains("measure #9") && reader.crawler.view.list.follow);
    reader.click(10, 4);
    assert!(!reader.selected().contains("measure #9"), "{}", reader.screen());
    reader.press("F");
    drop(installed);
    recording.close();
    reader.tick(300);
    assert!(!reader.screen().contains("following"), "{}", reader.screen());
    reader.press("F");
    assert!(reader.screen().contains("nothing to follow"), "{}", reader.screen());
}

#[test]
fn an_event_that_left_the_window_says_so_wherever_it_stands() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("left.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 5);
    let mut reader = Reader::new(fixture::open(&path));
    reader.press("Home Down Down").tick(100);
    (0..16).for_each(|_| {
        (0..500).for_each(|_| fixture::frame());
        recording.collect();
    });
    reader.tick(2000);
    assert!(reader.selected().contains("layout #1") && reader.selected().contains("gone"), "{}", reader.screen());
    for _ in 0..3 {
        let screen = reader.screen();
        assert!(screen.contains("it left the window"), "{screen}");
        for untrue in ["a root", "none: nothing", "effects 0", "cause   "] {
            assert!(!screen.contains(untrue), "{untrue}: {screen}");
        }
        reader.press("Tab");
    }
    // Under a filter the list begins with what there is.
    reader.press("f \"site:layout\" Enter");
    assert!(!reader.selected().contains("gone"), "{}", reader.screen());
    drop(installed);
    recording.close();
}

#[test]
fn the_number_of_events_that_pass_grows_with_a_live_recording() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("grows.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 2);
    let mut reader = Reader::new(fixture::open(&path));
    reader.press("f \"site:measure\" Enter").tick(100);
    assert!(reader.screen().contains("┌ 12 of "), "{}", reader.screen());
    (0..3).for_each(|_| fixture::frame());
    reader.tick(2000);
    assert!(reader.screen().contains("┌ 30 of "), "{}", reader.screen());
    drop(installed);
    recording.close();
}

#[test]
fn a_screen_that_was_too_small_for_a_while_shows_again_what_it_showed() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("small.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 2);
    let mut reader = Reader::new(fixture::open(&path));
    let before = reader.selected();
    reader.resize(20, 5).tick(100);
    reader.resize(80, 24).tick(200);
    assert_eq!(reader.selected(), before);
    assert!(reader.screen().contains("took "), "{}", reader.screen());
    drop(installed);
    recording.close();
}
