//! The guide of the demo: from the page to its finding in three steps, each a view of the live
//! recording.

use metaspy_core::Store;
use metaspy_reader::{By, Measure, Scope};
use metaspy_report::text::grouped;
use metaspy_tui::crawler::Card;
use metaspy_tui::crawler::command::Screen;

/// The cards, in their order.
pub fn cards() -> Vec<Card> {
    vec![
        Card { title: "a layout engine at work", view: None, lines: introduction },
        Card {
            title: "which nodes?",
            view: Some((Screen::Subjects, "site:Scene::needless")),
            lines: which_nodes,
        },
        Card {
            title: "why so often?",
            view: Some((Screen::Subjects, "site:Scene::store outcome:failed")),
            lines: why_so_often,
        },
        Card {
            title: "which change?",
            view: Some((Screen::Events, "site:Scene::change")),
            lines: which_change,
        },
        Card { title: "the finding", view: None, lines: finding },
    ]
}

fn lines<const N: usize>(lines: [String; N]) -> Vec<String> {
    lines.into()
}

fn introduction(_store: &Store) -> Vec<String> {
    lines([
        "taffy lays out a web page. People type, point, fold and resize, and each".into(),
        "request to a node of the page is an event: live, above. Much of it is vain.".into(),
        "Which nodes are laid out in vain, why so often, and which change causes it?".into(),
    ])
}

fn which_nodes(store: &Store) -> Vec<String> {
    lines([
        format!(
            "{} were needless: nothing had",
            share(&calls(store, "needless"), &calls(store, "layout"), "layouts")
        ),
        "changed at, below or above the node, and it had answered the same before.".into(),
        "The nodes are nearly all empty boxes that end a page. (Keys: `2`, then `f`.)".into(),
    ])
}

fn why_so_often(store: &Store) -> Vec<String> {
    let stores = calls(store, "store");
    let failed = Measure { count: stores.failed, ..stores };
    lines([
        format!("{} were not kept by the cache,", share(&failed, &stores, "answers")),
        "and they are of the same nodes: taffy keeps no size of a box whose margins".into(),
        "may collapse, so the row around the page asks them again, at every change.".into(),
    ])
}

fn which_change(store: &Store) -> Vec<String> {
    let changes = calls(store, "change");
    let layouts = calls(store, "layout");
    lines([
        format!("Any: {} changes led to {} layouts.", sized(&changes), sized(&layouts)),
        "The list has them: a typed letter, a new row, a pointer that moves. `←` goes".into(),
        "to the frame of a change, `→` from there to all that was laid out for it.".into(),
    ])
}

/// The finding in the numbers of a recording.
pub(crate) fn finding_of(store: &Store) -> [String; 2] {
    let stores = calls(store, "store");
    let failed = Measure { count: stores.failed, ..stores };
    let needless = share(&calls(store, "needless"), &calls(store, "layout"), "layouts");
    let unkept = share(&failed, &stores, "answers");
    [
        format!("{needless} were needless: nothing had changed at, below or above the node."),
        format!("{unkept} were not kept by the cache: they are of the same nodes, empty boxes."),
    ]
}

fn finding(_store: &Store) -> Vec<String> {
    lines([
        "One letter changes 8 nodes, and 901 are laid out: 888 in vain, because".into(),
        "the cache keeps no size of an empty box. A list of functions says: `layout`.".into(),
        "Yours: cargo metaspy run        As text: metaspy demo --record run.spy".into(),
    ])
}

/// The calls of a method of the scene.
fn calls(store: &Store, method: &str) -> Measure {
    let rows = store.tally(By::Site, &Scope::default()).rows;
    let is_it = |path: &str| path.ends_with(&format!("::Scene::{method}"));
    let found =
        rows.into_iter().find(|row| row.site.is_some_and(|site| is_it(store.site_path(site))));
    found.map(|row| row.measure).unwrap_or_default()
}

/// The number of calls, marked if it may be too small.
fn sized(measure: &Measure) -> String {
    format!("{}{}", if measure.at_least { "≥" } else { "" }, grouped(measure.count))
}

/// `31,968 of 48,539 layouts (66 %)`.
fn share(part: &Measure, whole: &Measure, noun: &str) -> String {
    let percent = part.count as f64 * 100.0 / whole.count.max(1) as f64;
    format!("{} of {} {noun} ({percent:.0} %)", sized(part), sized(whole))
}
