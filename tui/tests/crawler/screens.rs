//! Every screen at 80×24, and the main ones at 60×15 and 200×60, compared with snapshots.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::fixture;
use crate::user::User;

/// The smallest screen that shows everything, and a large one.
const SIZES: [(u16, u16); 2] = [(60, 15), (200, 60)];

/// One recording for all of them.
fn user() -> User {
    sized((80, 24))
}

fn sized(size: (u16, u16)) -> User {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    User::with_size(fixture::open(FILE.get_or_init(|| fixture::closed("screens.spy", 3))), size)
}

/// Compares the screen after these keys with a snapshot.
fn check(name: &str, keys: &str) {
    let mut user = user();
    if !keys.is_empty() {
        user.press(keys);
    }
    insta::assert_snapshot!(name, user.screen());
}

/// The same on a small and on a large screen.
fn check_sizes(name: &str, keys: &str) {
    for (width, height) in SIZES {
        let mut user = sized((width, height));
        user.press(keys);
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), user.screen());
    }
}

#[test]
fn every_screen_fits_a_small_and_a_large_terminal() {
    check_sizes("events", "Down Down Down");
    check_sizes("effects", "Down Down Right");
    check_sizes("subjects", "2");
    check_sizes("sites", "3");
    check_sizes("lanes", "4");
    check_sizes("help", "?");
    check_sizes("commands", ":");
    check_sizes("completion", "f \"site:\"");
    check_sizes("facets", "BackTab BackTab Enter");
    check_sizes("object", "Down Down Down Down o");
    check_sizes("times", "t");
}

#[test]
fn events_are_in_order_of_time_under_their_causes() {
    check("events", "Down Down Down");
}

#[test]
fn the_chain_of_causes_goes_up_to_the_root() {
    check("causes", "Down Down Down Down Tab");
}

#[test]
fn the_tree_of_effects_goes_down_to_the_last_of_them() {
    check("effects", "Down Down Right");
}

#[test]
fn events_of_the_same_subject_are_listed_together() {
    check("same", "Down Down Down Tab Tab Tab");
}

#[test]
fn effects_of_the_same_cause_are_listed() {
    check("siblings", "Down Down Down BackTab BackTab BackTab BackTab");
}

#[test]
fn a_subject_has_numbers_owners_siblings_and_relations() {
    check("object", "Down Down Down Down o");
}

#[test]
fn a_filter_shows_only_matching_events() {
    check("filtered", "f \"site:measure\" Enter");
}

#[test]
fn an_invalid_filter_shows_how_to_correct_it() {
    check("wrong_filter", "f \"took:>1x\" Enter");
    check("misspelt_site", "f \"site:measur\" Enter");
    check("site_without_colon", "f \"site=measur\" Enter");
}

#[test]
fn an_empty_list_under_a_filter_shows_which_key_helps() {
    check("nothing_passes", "f \"took:>1s\" Enter");
}

#[test]
fn subjects_have_bars() {
    check("subjects", "2 Down");
}

#[test]
fn subjects_that_were_never_observed_can_be_listed() {
    check("never_observed", "2 n");
}

#[test]
fn sites_include_those_that_were_never_called_or_skipped() {
    check("sites", "3");
}

#[test]
fn lanes_lie_over_time() {
    check("lanes", "Down Down Down 4");
}

#[test]
fn the_help_shows_the_keys_of_the_screen() {
    check("help", "?");
}

#[test]
fn the_palette_lists_every_command() {
    check("commands", ": \"the\" Down");
}

#[test]
fn a_filter_is_completed_above_its_line() {
    check("completion", "f \"site:\" Tab Tab");
}

#[test]
fn facets_count_what_is_listed() {
    check("facets", "BackTab BackTab Enter");
}

#[test]
fn durations_have_percentiles_a_histogram_and_the_slowest() {
    check("times", "3 Down Down t");
}

#[test]
fn an_empty_recording_shows_the_reason() {
    let file = fixture::closed("empty.spy", 0);
    insta::assert_snapshot!("empty", User::new(fixture::open(&file)).screen());
}

#[test]
fn a_recording_without_productions_has_no_screen_for_them() {
    let mut user = user();
    let before = user.screen();
    // Neither by its key nor where its name would stand.
    user.press("8").click(78, 1);
    assert_eq!(user.screen(), before);
    assert!(!before.contains("Productions"), "{before}");
}

#[test]
fn no_size_of_the_screen_is_a_problem() {
    let file = fixture::closed("sizes.spy", 2);
    for (width, height) in [(1, 1), (10, 3), (24, 6), (40, 10), (69, 12), (70, 24), (200, 60)] {
        let mut user = User::with_size(fixture::open(&file), (width, height));
        for keys in ["Down Down Right", "Enter Tab Tab Tab", "2", "n", "3", "4", "5", "6", "?"] {
            user.press(keys);
            assert_eq!(user.screen().split('\n').count(), height as usize);
        }
    }
}

#[test]
fn control_characters_of_a_recording_do_not_reach_the_terminal() {
    let mut user = user();
    for keys in ["PageDown", "2", "3", "1 / \"evil\" Enter", "Tab", "Tab Tab Tab"] {
        user.press(keys);
        let screen = user.screen();
        assert!(
            !screen.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{screen}"
        );
    }
    assert!(user.screen().contains("evil"), "{}", user.screen());
}
