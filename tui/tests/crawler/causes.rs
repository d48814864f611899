//! Reasons: links in the tree of causes, marks, paths between two events, the graph, and the way
//! back.

use std::path::PathBuf;

use metaspy_core::Recording;
use metaspy_tui::crawler::state::Request;

use crate::fixture;
use crate::user::User;

/// A recording of a frame, and of a change with a layout that is linked to it.
fn linked(name: &str) -> PathBuf {
    let path = fixture::directory().join(name);
    let _turn = fixture::turn();
    let (recording, installed) = fixture::begin(Recording::file(&path), 1);
    fixture::linked_layout();
    drop(installed);
    recording.close();
    path
}

#[test]
fn the_links_of_every_cause_are_reasons_too() {
    let mut user = User::new(fixture::open(&linked("reasons.spy")));
    // The last event: a measure, caused by the layout, which is linked to the change.
    user.press("End Tab");
    let screen = user.screen();
    let line = |text: &str| {
        screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{screen}"))
    };
    assert!(line("└ layout #1 <html>") < line("├ link resize"), "{screen}");
    assert!(line("├ link resize") < line("└ frame  "), "{screen}");
    insta::assert_snapshot!("reasons", screen);
}

#[test]
fn a_path_leads_from_a_mark_over_links_to_the_selected_event() {
    let mut user = User::new(fixture::open(&linked("path.spy")));
    user.press("P");
    assert!(user.screen().contains("press m on another event first"), "{}", user.screen());
    user.press("f \"site:resize\" Enter End M \"typed\" Enter Esc End P");
    let screen = user.screen();
    assert!(screen.contains("◆ typed leads here in 2 steps"), "{screen}");
    assert!(
        screen.contains("↓ link layout #1 <html>") && screen.contains("↓ measure #2"),
        "{screen}"
    );
    insta::assert_snapshot!("path", screen);
    // The other way, and two events with a reason in common.
    user.press("Esc m ' P");
    assert!(user.screen().contains("this leads to"), "{}", user.screen());
    user.press("Esc Home Down Down Down Down m Down Down P");
    assert!(user.screen().contains("in common with ◆"), "{}", user.screen());
    user.press("Esc End P");
    assert!(user.screen().contains("no path to"), "{}", user.screen());
}

#[test]
fn marks_have_names_and_are_kept_beside_the_recording() {
    let mut user = User::new(fixture::open(&linked("named.spy")));
    user.press("Down M \"the\" Space \"change\" Enter");
    assert!(user.screen().contains("mark    the change"), "{}", user.screen());
    let Some(Request::SaveMarks(marks)) = user.request.take() else { panic!("nothing to save") };
    assert_eq!(marks.all().map(|(_, name)| name).collect::<Vec<_>>(), ["the change"]);
    let marked = user.selected();
    user.press("End : \"change\" Enter");
    assert_eq!(user.selected(), marked);
    // A second name replaces the first; m removes the mark.
    user.press("M Ctrl-u \"x\" Enter");
    assert!(user.screen().contains("mark    x"), "{}", user.screen());
    user.press("m '");
    assert!(user.screen().contains("no marks"), "{}", user.screen());
}

#[test]
fn the_graph_has_reasons_above_and_effects_below() {
    let mut user = User::new(fixture::open(&linked("graph.spy")));
    user.press("f \"site:layout\" Enter End Tab Tab Tab Tab Tab Tab");
    let screen = user.screen();
    let line = |text: &str| {
        screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{screen}"))
    };
    assert!(line("▐ layout #1 <html> ▌") < line("measure #2"), "{screen}");
    assert!(screen.contains('╎') && screen.contains('┄'), "a link is dashed: {screen}");
    insta::assert_snapshot!("graph", screen);
    // Down to the effect, and there.
    user.press("Enter Down Enter");
    assert!(user.selected().contains("measure #2"), "{}", user.screen());
}

#[test]
fn direct_effects_have_rows_before_deeper_ones() {
    let path = fixture::directory().join("large.spy");
    {
        let _turn = fixture::turn();
        let (recording, installed) = fixture::begin(Recording::file(&path), 0);
        fixture::large_frame();
        drop(installed);
        recording.close();
    }
    let mut user = User::new(fixture::open(&path));
    user.press("Right");
    let screen = user.screen();
    let line = |text: &str| {
        screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{screen}"))
    };
    assert!(
        line("│ ├ resize") < line("│ ├ layout #1 <html>"),
        "caused by the frame, not linked to it: {screen}"
    );
    assert!(line("│ │ └ … 500 further effects ") < line("│ └ paint"), "{screen}");
}

#[test]
fn a_graph_with_many_neighbours_shows_those_that_fit() {
    let file = fixture::closed("wide.spy", 1);
    for (width, height) in [(60, 15), (80, 24), (200, 60)] {
        let mut user = User::with_size(fixture::open(&file), (width, height));
        user.press("Down Down Tab Tab Tab Tab Tab Tab Enter");
        insta::assert_snapshot!(format!("graph_{width}x{height}"), user.screen());
    }
}

#[test]
fn the_way_here_is_below_the_list() {
    let mut user = User::new(fixture::open(&linked("crumbs.spy")));
    user.press("2 Down Enter End c");
    let screen = user.screen();
    assert!(screen.contains("└ ⌫ Subjects › "), "{screen}");
    user.press("Backspace Backspace");
    assert!(
        !user.screen().contains('⌫')
            || user.screen().lines().last().is_some_and(|line| line.contains('⌫'))
    );
}
