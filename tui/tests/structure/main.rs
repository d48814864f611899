//! The screen of the structure: packages, types and methods that ran or did not run.
//!
//! Sites stay until the process ends, so these tests have their own process.

#[path = "../fixture/mod.rs"]
mod fixture;
mod town;
#[allow(dead_code, reason = "these tests use only a part of it")]
#[path = "../crawler/user.rs"]
mod user;

use std::path::PathBuf;
use std::sync::OnceLock;

use metaspy_core::arm::Mode;
use metaspy_tui::crawler::state::Request;

use user::User;

fn file() -> PathBuf {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| town::closed("town.spy", Mode::Full)).clone()
}

/// A user with the recording of the town.
fn user() -> User {
    user_of((80, 24))
}

fn user_of(size: (u16, u16)) -> User {
    User::with_size(fixture::open(&file()), size)
}

/// The path of the element under the cursor.
fn current(user: &User) -> String {
    let (view, store) = (&user.crawler.view.structure, &user.crawler.store);
    view.current().map_or(String::new(), |element| element.path(store).to_owned())
}

/// The keys that go to the town.
const TOWN: &str = "6 / \"town\" Enter";

#[test]
fn the_program_is_a_tree_and_methods_that_never_ran_stand_out() {
    let mut user = user();
    user.press(TOWN).press("Down Down / \"drive\" Enter");
    insta::assert_snapshot!("structure", user.screen());
}

#[test]
fn a_wide_screen_also_shows_lines_and_complexity() {
    let mut user = user_of((120, 40));
    user.press("6 End / \"roads::Road\" Enter");
    insta::assert_snapshot!("wide", user.screen());
}

#[test]
fn counts_alone_have_no_times() {
    let mut user = User::new(fixture::open(&town::closed("counted.spy", Mode::Tally)));
    user.press(TOWN).press("Down Down / \"drive\" Enter");
    insta::assert_snapshot!("counted", user.screen());
}

#[test]
fn a_hook_that_only_names_the_running_test_is_not_a_method() {
    let mut user = user();
    user.press("6 / \"a_test\" Enter");
    assert!(user.screen().contains("no row contains `a_test`"), "{}", user.screen());
}

#[test]
fn a_search_unfolds_what_it_finds() {
    let mut user = user();
    user.press(TOWN).press("Left");
    assert!(!user.screen().contains("roads"), "{}", user.screen());
    assert!(user.screen().contains("▸town "), "{}", user.screen());
    user.press("/ \"bridge\" Enter");
    assert_eq!(current(&user), "town::roads::bridges");
    user.press("Left Left");
    assert_eq!(current(&user), "town::roads");
    // The first key unfolds it, the others go into it.
    user.press("Left Right Right Right");
    assert_eq!(current(&user), "town::roads::cross");
    user.press("- Down");
    assert_eq!(current(&user), "town::roads::Road");
    user.press("Down + Down");
    assert_eq!(current(&user), "town::roads::Surface::is_wet");
}

#[test]
fn n_goes_from_method_to_method_that_never_ran() {
    let mut user = user();
    user.press(TOWN).press("Left");
    let found: Vec<String> = (0..6).map(|_| current(user.press("n"))).collect();
    assert_eq!(
        found[..5],
        [
            "town::roads::cross::inner",
            "town::roads::Road::turn",
            "town::roads::Toll::pay",
            "town::roads::bridges::Toll::raise",
            "town::roads::bridges::Bridge::open",
        ]
    );
    assert!(!found[5].starts_with("town::"), "{found:?}");
}

#[test]
fn each_column_sorts_the_elements_under_one_parent() {
    let mut user = user();
    user.press("6");
    let first_of_road = |user: &mut User| {
        user.press("Home / \"roads::Road\" Enter Down");
        current(user).rsplit("::").next().unwrap_or_default().to_owned()
    };
    let mut firsts = vec![first_of_road(&mut user)];
    for _ in 0..7 {
        user.press(">");
        firsts.push(first_of_road(&mut user));
    }
    assert_eq!(firsts, ["fmt", "drive", "turn", "drive", "drive", "drive", "turn", "turn"]);
    assert!(user.screen().contains("sort: complexity ▼"), "{}", user.screen());
    user.press("r");
    assert_eq!(first_of_road(&mut user), "new");
    assert_eq!(first_of_road(user.press("<")), "turn");
}

#[test]
fn rows_read_in_a_previous_order_are_sorted_on_arrival() {
    let order = |user: &User| {
        let elements = &user.crawler.view.structure.whole.as_ref().expect("it was read").elements;
        elements
            .iter()
            .map(|element| element.path(&user.crawler.store).to_owned())
            .collect::<Vec<_>>()
    };
    let (mut patient, mut hasty) = (user(), user());
    patient.press("6");
    let by_name = order(&patient);
    patient.press(">");
    hasty.hurry("6 >");
    assert!(hasty.screen().contains("sort: calls"), "{}", hasty.screen());
    assert_ne!(order(&patient), by_name);
    assert_eq!(order(&hasty), order(&patient));
}

#[test]
fn a_row_leads_to_its_events_and_back() {
    let mut user = user();
    user.press(TOWN).press("/ \"drive\" Enter");
    let before = user.screen();
    user.press("Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:drive");
    assert!(user.selected().contains("drive"), "{}", user.screen());
    user.press("Backspace");
    assert_eq!(user.screen(), before);
    user.press("Home / \"roads::Road\" Enter Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:town::roads::Road::**");
    assert!(user.screen().contains("16 of "), "{}", user.screen());
    user.press("Backspace / \"(functions\" Enter Enter");
    assert!(user.screen().contains("no filter selects exactly these events"), "{}", user.screen());
}

#[test]
fn a_type_with_methods_in_two_modules_is_one_element_that_no_pattern_selects() {
    let mut user = user();
    user.press("6 / \"roads::Toll\" Enter");
    assert_eq!(current(&user), "town::roads::Toll");
    assert!(user.screen().contains("2 methods, 2 not called"), "{}", user.screen());
    user.press("Enter");
    assert!(user.screen().contains("no filter selects exactly these events"), "{}", user.screen());
}

#[test]
fn receivers_that_cannot_be_distinguished_are_not_available() {
    let _turn = fixture::turn();
    let (recording, installed) = town::begin(&fixture::directory().join("toll.spy"), Mode::Full);
    town::pay();
    let mut user = User::new(recording.store());
    user.press("6 / \"pay\" Enter");
    let screen = user.screen();
    let row = screen.lines().find(|line| line.contains("pay ")).unwrap_or_default();
    assert!(row.contains(" n/a ") && screen.contains("1 call   receivers n/a"), "{screen}");
    drop(installed);
    recording.close();
}

#[test]
fn under_a_filter_only_matching_methods_are_listed_and_none_is_marked_uncovered() {
    let mut user = user();
    user.press("6 f \"site:Road::*\" Enter");
    let screen = user.screen();
    assert!(screen.contains(" 2 methods have calls that pass the filter "), "{screen}");
    assert!(
        !screen.contains("NEVER") && !screen.contains("turn") && !screen.contains("main"),
        "{screen}"
    );
    user.press("n");
    assert!(user.screen().contains("unknown under a filter"), "{}", user.screen());
    user.press("f \"x\" Enter");
    assert!(user.screen().contains("no method has calls that pass"), "{}", user.screen());
}

#[test]
fn inexact_numbers_put_a_question_mark_behind_never() {
    let mut user = user();
    user.press(TOWN);
    let whole = user.crawler.view.structure.whole.take().expect("it was read");
    let mut whole = (*whole).clone();
    whole.exact = false;
    whole.elements.iter_mut().for_each(|element| element.receivers.is_least = true);
    user.crawler.view.structure.whole = Some(whole.into());
    let screen = user.screen();
    assert!(screen.contains(" ≥ 6/") && screen.contains(" at least: "), "{screen}");
    assert!(screen.contains("NEVER RAN?") && screen.contains("≥4"), "{screen}");
}

#[test]
fn the_mouse_the_editor_and_the_help_work_as_on_the_other_screens() {
    let mut user = user();
    let names = user.screen().lines().nth(1).unwrap_or_default().to_owned();
    user.click(names.find('6').expect("the key of the screen is in the line") as u16, 1);
    assert_eq!(user.crawler.view.screen.name(), "Structure");
    user.press("/ \"turn\" Enter e");
    let edit = |line| Some(Request::Edit { file: "town/src/roads.rs".into(), line });
    assert_eq!(user.request, edit(42));
    let row = user.screen().lines().position(|line| line.contains("drive ")).expect("it is shown");
    user.click(10, row as u16).press("e");
    assert_eq!((current(&user), &user.request), ("town::roads::Road::drive".into(), &edit(26)));
    user.press("Home / \"roads::Road\" Enter e");
    assert!(user.screen().contains("no source is known for this row"), "{}", user.screen());
    let pages = ["?", "PageDown", "PageDown"].map(|key| user.press(key).screen()).concat();
    assert!(
        pages.contains("1 2 3 4 5 6 ") && pages.contains("next method that never ran"),
        "{pages}"
    );
}

#[test]
fn a_live_recording_is_counted_again_and_the_cursor_stays() {
    let _turn = fixture::turn();
    let (recording, installed) = town::begin(&fixture::directory().join("live.spy"), Mode::Full);
    town::drive(1);
    let mut user = User::new(recording.store());
    user.press(TOWN).press("/ \"drive\" Enter").tick(100);
    let seen = |user: &User, row: &str| assert!(user.screen().contains(row), "{}", user.screen());
    seen(&user, "on 3 receivers");
    let row = user.screen().lines().position(|line| line.contains("drive "));
    seen(&user, "│ 3 calls ");
    town::drive(2);
    user.tick(1500);
    seen(&user, "│ 9 calls ");
    assert_eq!(current(&user), "town::roads::Road::drive");
    assert_eq!(user.screen().lines().position(|line| line.contains("drive ")), row);
    drop(installed);
    recording.close();
}

#[test]
fn no_size_of_the_screen_is_a_problem() {
    for size in [(1, 1), (10, 3), (24, 6), (40, 10), (62, 12), (100, 20), (200, 60)] {
        let mut user = user_of(size);
        for keys in ["6", "n", "Enter Backspace", "PageDown", "Left", "-", "End", "?"] {
            let screen = user.press(keys).screen();
            assert_eq!(screen.split('\n').count(), size.1 as usize);
            let rows = screen.lines().filter(|line| line.starts_with('│'));
            assert!(
                rows.clone().all(|line| line.ends_with('│')),
                "{size:?} after {keys}: {screen}"
            );
        }
    }
}

#[test]
fn the_blueprint_is_a_tree_of_calls_that_a_method_can_head() {
    let mut user = user();
    user.press("b");
    insta::assert_snapshot!("blueprint", user.screen());
    user.press("/ \"drive\" Enter z");
    insta::assert_snapshot!("blueprint_from_here", user.screen());
    user.press("n");
    assert!(user.screen().contains("calls and coverage from"), "{}", user.screen());
    user.press("n");
    assert!(user.screen().contains("no returned values were recorded"), "{}", user.screen());
    user.press("Backspace");
    assert!(
        user.screen().contains("calls by time ──"),
        "the whole program again: {}",
        user.screen()
    );
}
