//! Names of subjects on a narrow screen.

use metaspy_core::{Recording, Store, model};

use crate::fixture::{self, brush, measure, node};
use crate::user::User;

fn store() -> Store {
    let path = fixture::directory().join("names.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 1);
    model::label(node(101), "#101 👩‍👩‍👧 <家族> \"の日本語のとても長い長いラベルです\"");
    model::label(node(102), "#102 <p> \"a sentence that was cut where it was wri…\"");
    measure(node(101));
    measure(node(102));
    measure(node(4711));
    measure(brush(12));
    drop(installed);
    recording.close();
    // Labels belong to the process: other recordings must not have these.
    [101, 102].map(node).into_iter().for_each(model::forget);
    fixture::open(&path)
}

#[test]
fn shortened_subjects_keep_the_first_word_of_their_label_or_their_key() {
    let _turn = fixture::turn();
    let mut user = User::new(store());
    user.press("2");
    for name in [
        "│ node #4711 ",
        "│ BrushOfTheWholePage #12 ",
        "│ #101 ",
        "│ #102 <p> \"a sentence that was c… ",
    ] {
        assert!(user.screen().contains(name), "{name}: {}", user.screen());
    }
    user.press("1 End");
    for name in
        ["measure Brus…age #12 ", "measure node #4711 ", "measure #102 <p> \"a… ", "measure #101 "]
    {
        assert!(user.screen().contains(name), "{name}: {}", user.screen());
    }
    assert!(user.screen().contains("Scene::measure ── Brus…Page #12"), "{}", user.screen());
    user.press("s");
    assert!(user.screen().contains("filter: subject:BrushOfTheWholePage:#12"), "{}", user.screen());
    assert!(user.screen().contains("┌ 1 of "), "{}", user.screen());
}

#[test]
fn counts_come_before_text_that_may_be_cut() {
    let mut user = User::new(fixture::open(&fixture::closed("headline.spy", 1)));
    user.press("Right");
    assert!(user.screen().contains("│ 3 effects: 1 resize, 1 layout, …  "), "{}", user.screen());
}

#[test]
fn wide_characters_do_not_move_borders() {
    let _turn = fixture::turn();
    let store = store();
    for size in [(80, 24), (61, 12), (40, 10), (24, 6), (20, 5)] {
        let mut user = User::with_size(store.clone(), size);
        for keys in ["End Up Up Up", "Enter", "Tab Tab Tab", "Esc 2", "3", "4"] {
            user.press(keys);
            let screen = user.screen();
            for line in screen.lines().filter(|line| line.starts_with('│')) {
                assert!(line.ends_with('│'), "{size:?} after {keys}: {screen}");
            }
        }
    }
}
