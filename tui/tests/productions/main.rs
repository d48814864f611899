//! The screen of productions: a grammar as a tree, and the rules that no input reached.
//!
//! The productions of a grammar stay sites until the process ends, so these tests have their own
//! process.

#[path = "../fixture/mod.rs"]
mod fixture;
#[allow(dead_code, reason = "these tests use only a part of it")]
#[path = "../crawler/user.rs"]
mod user;

use std::path::PathBuf;
use std::sync::OnceLock;

use metaspy_core::{Installed, Profiler, Recording, clock};
use metaspy_instrumenters::productions::pest::{Grammar, Source, Suite};
use metaspy_instrumenters::productions::productions;
use metaspy_tui::crawler::state::Request;

use user::User;

/// Cargo runs tests in the directory of their package.
const FILE: &str = "tests/productions/lists.pest";

fn grammar() -> &'static Grammar {
    static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
    GRAMMAR.get_or_init(|| {
        let text = std::fs::read_to_string(FILE).expect("the grammar is beside the test");
        Grammar::new(&[Source { name: FILE.into(), text }], "list").expect("it is a grammar")
    })
}

/// Begins a recording that ends when `installed` is dropped.
fn begin(path: &PathBuf) -> (Recording, Installed) {
    clock::set_manual(1_000_000);
    // It begins before the sites are made, so that it records the references in their order.
    let recording =
        Recording::file(path).budget(4 << 20).collector(false).start().expect("a small recording");
    let installed =
        Profiler::new("page").observe(productions(grammar())).install().expect("they are observed");
    (recording, installed)
}

fn parse(inputs: &[&str]) {
    let mut suite = Suite::new(grammar());
    inputs.iter().for_each(|input| suite.parse((*input).into(), input));
}

/// A user with a recording of three inputs; the last one is not in the language.
fn user() -> User {
    user_of((80, 24))
}

fn user_of(size: (u16, u16)) -> User {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let path = PATH.get_or_init(|| {
        let _turn = fixture::turn();
        let path = fixture::directory().join("lists.spy");
        let (recording, installed) = begin(&path);
        let (mut suite, inputs) = (Suite::new(grammar()), ["(1 2.5 (3))", "()", "(x)"]);
        inputs.iter().for_each(|input| suite.parse((*input).into(), input));
        drop(installed);
        suite.explain(|input| Some(inputs[input].to_owned()));
        recording.close();
        path
    });
    User::with_size(fixture::open(path), size)
}

/// The production under the cursor.
fn current(user: &User) -> String {
    let crawler = &user.crawler;
    let site = crawler.view.productions.current().map(|production| production.site);
    site.map_or(String::new(), |site| crawler.store.site_path(site).to_owned())
}

#[test]
fn rules_form_a_tree_and_uncovered_ones_stand_out() {
    let mut user = user();
    user.press("8 Down");
    insta::assert_snapshot!("productions", user.screen());
}

#[test]
fn the_reason_why_a_rule_never_matched_is_below_its_source() {
    let mut user = user();
    user.press("8");
    let rows = user.crawler.view.productions.cursor.height;
    user.press("n");
    assert_eq!(current(&user), "lists::integer");
    let screen = user.screen();
    let lines: Vec<&str> = screen.lines().collect();
    let source = lines
        .iter()
        .position(|line| line.contains("integer = @{ digits }"))
        .expect("its source is shown");
    let why = "`float` matches where it would: 3 times, 2 of them taking no more";
    assert!(lines[source + 1].contains(why) && lines[source + 2].starts_with('└'), "{screen}");
    assert_eq!(rows, 16, "of the 19 lines in the frame the head takes one and the foot two");
    // The line is empty for other rules.
    assert!(!user.press("Up Up").screen().contains("matches where it would"));
}

#[test]
fn the_keys_of_the_screen_are_in_its_help() {
    let mut user = user();
    user.press("8 ?");
    assert!(user.screen().contains("1 2 3 4 5"), "{}", user.screen());
    user.press("PageDown");
    assert!(user.screen().contains("next rule that never matched"), "{}", user.screen());
}

#[test]
fn n_goes_from_rule_to_rule_that_never_matched() {
    let mut user = user();
    user.press("8");
    let found: Vec<String> = (0..4).map(|_| current(user.press("n"))).collect();
    assert_eq!(found, ["lists::integer", "lists::word", "lists::letters", "lists::integer"]);
}

#[test]
fn a_row_leads_to_its_events_and_back() {
    let mut user = user();
    user.press("8 n");
    let before = user.screen();
    user.press("Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:integer");
    assert!(
        user.screen().contains("1 Events") && user.selected().contains("integer"),
        "{}",
        user.screen()
    );
    user.press("Backspace");
    assert_eq!(user.screen(), before);
}

#[test]
fn under_a_filter_nothing_is_marked_as_uncovered() {
    let mut user = user();
    user.press("8 f \"site:float\" Enter");
    let screen = user.screen();
    assert!(
        screen.contains(" rules 1/9 matched by what passes the filter ")
            && !screen.contains("NEVER"),
        "{screen}"
    );
    user.press("n");
    assert!(user.screen().contains("unknown under a filter"), "{}", user.screen());
    user.press("Esc n");
    assert_eq!(current(&user), "lists::integer");
}

#[test]
fn inexact_numbers_put_a_question_mark_behind_never() {
    let mut user = user();
    let tree = user.press("8").crawler.view.productions.tree.as_mut().expect("it was read");
    std::sync::Arc::make_mut(tree).exact = false;
    let screen = user.screen();
    assert!(screen.contains(" rules ≥ 6/9 matched ") && screen.contains(" at least: "), "{screen}");
    assert!(screen.contains("NEVER MATCHED?") && screen.contains("NEVER ENTERED?"), "{screen}");
}

#[test]
fn a_search_the_mouse_and_the_editor_work_as_on_the_other_screens() {
    let mut user = user();
    let names = user.screen().lines().nth(1).unwrap_or_default().to_owned();
    user.click(names.find('8').expect("the key of the screen is in the line") as u16, 1);
    assert_eq!(user.crawler.view.screen.name(), "Productions");
    user.press("/ \"digits\" Enter e");
    assert_eq!((current(&user), &user.request), ("lists::digits".into(), &Some(edit(7))));
    user.click(10, 5).press("e");
    assert_eq!((current(&user), &user.request), ("lists::value".into(), &Some(edit(3))));
}

fn edit(line: u32) -> Request {
    Request::Edit { file: FILE.into(), line }
}

#[test]
fn a_live_recording_is_counted_again_and_the_cursor_stays() {
    // Only the first recording has the order of references.
    user();
    let _turn = fixture::turn();
    let (recording, installed) = begin(&fixture::directory().join("live.spy"));
    parse(&["1"]);
    let mut user = User::new(recording.store());
    // The second `value`, below the group.
    user.press("8 / \"value\" Enter / Enter").tick(100);
    let seen = |user: &User, row: &str| assert!(user.screen().contains(row), "{}", user.screen());
    let before = user.crawler.view.productions.cursor.row;
    seen(&user, "│ list                                1         1         0 ");
    parse(&["2", "3"]);
    user.tick(1500);
    seen(&user, "│ list                                3         3         0 ");
    assert_eq!(
        (current(&user).as_str(), user.crawler.view.productions.cursor.row),
        ("lists::value", before)
    );
    assert!(user.crawler.view.productions.productions()[before].again);
    drop(installed);
    recording.close();
}

#[test]
fn no_size_of_the_screen_is_a_problem() {
    for size in [(1, 1), (10, 3), (24, 6), (40, 10), (62, 12), (200, 60)] {
        let mut user = user_of(size);
        for keys in ["8", "n", "PageDown", "End", "?"] {
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
