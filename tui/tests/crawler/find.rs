//! Search as it is typed, completion of a filter, saved filters, and facets.

use crate::fixture;
use crate::user::User;
use metaspy_tui::crawler::state::Request;

fn user(name: &str) -> User {
    User::new(fixture::open(&fixture::closed(name, 40)))
}

#[test]
fn a_search_shows_its_first_match_while_it_is_typed() {
    let mut user = user("typed.spy");
    let before = user.screen();
    user.press("/ \"pain\"");
    let first = user.selected();
    assert!(first.contains("paint"), "{}", user.screen());
    user.press("Down");
    let second = user.selected();
    assert!(second.contains("paint") && second != first, "{}", user.screen());
    user.press("Up");
    assert_eq!(user.selected(), first);
    // A text without a match is marked, and the search is where it began.
    user.press("\"x\"");
    assert!(user.screen().contains("nothing below matches `painx`"), "{}", user.screen());
    assert!(before.contains(&user.selected()), "{}", user.screen());
    user.press("Esc");
    assert_eq!(user.screen(), before);
    user.press("/ \"paint\" Enter");
    assert_eq!(user.selected(), first);
    user.press("Backspace");
    assert_eq!(user.screen(), before);
}

#[test]
fn a_search_in_a_table_goes_both_ways() {
    let mut user = user("rows.spy");
    user.press("3 / \"scene::\"");
    let row = |user: &User| user.crawler.view.sites.cursor.row;
    let first = row(&user);
    user.press("Down");
    let second = row(&user);
    assert_ne!(first, second);
    user.press("Up");
    assert_eq!(row(&user), first);
    user.press("Esc");
    assert_eq!(row(&user), 0);
}

#[test]
fn a_filter_is_completed_from_the_names_of_the_recording() {
    let mut user = user("completed.spy");
    user.press("f \"si\"");
    assert!(user.screen().contains("site:"), "{}", user.screen());
    user.press("Tab");
    let screen = user.screen();
    assert!(
        screen.contains("page::Scene::measure") && screen.contains("page::cache::hit"),
        "{screen}"
    );
    user.press("\"mea\" Tab Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:measure");
    user.press("f Space \"-outcome:fa\" Tab Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:measure -outcome:failed");
    // A name without its term, and a label in the middle of a line.
    user.press("f Ctrl-u \"hit\" Tab Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:hit");
    user.press("f \"subject:qui\" Tab Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:hit subject:node:#3");
    user.press("f Space \"lane:\" Tab Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:hit subject:node:#3 lane:page");
}

#[test]
fn the_caret_moves_in_the_line() {
    let mut user = user("caret.spy");
    user.press("f \"ite:measure\" Home \"s\" End Left Right Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:measure");
    user.press("f Ctrl-w \"site:hit\" Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:hit");
}

#[test]
fn facets_lead_to_filters_and_their_numbers_state_what_they_cover() {
    let mut user = user("facets.spy");
    user.press("f \"site:Scene::measure\" Enter BackTab BackTab");
    let screen = user.screen();
    assert!(screen.contains("outcomes  exact, of all calls"), "{screen}");
    assert!(screen.contains("failed") && screen.contains(" 40 "), "{screen}");
    user.press("Enter Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:Scene::measure outcome:failed");
    assert!(user.screen().contains("40 of 760"), "{}", user.screen());
    user.press("Backspace");
    // The first subject is left out.
    user.press("Home Down Down Down Down -");
    let filter = user.crawler.view.filter.text().to_owned();
    assert!(filter.starts_with("site:Scene::measure -"), "{filter}: {}", user.screen());
}

#[test]
fn a_filter_is_saved_under_a_name_and_found_in_the_palette() {
    let mut user = user("saved.spy");
    user.press("f \"took:>100us\" Enter : \"save\" Space \"filter\" Space \"slow\" Enter");
    let Some(Request::SaveFilters(saved)) = user.request.take() else {
        panic!("{}", user.screen())
    };
    assert_eq!(saved.get("slow").map(String::as_str), Some("took:>100us"));
    user.press("Esc : \"slow\" Enter");
    assert_eq!(user.crawler.view.filter.text(), "took:>100us");
    user.press(": \"forget\" Space \"filter\" Space \"fast\" Enter");
    assert!(
        user.screen().contains("no filter is named `fast`: saved are slow"),
        "{}",
        user.screen()
    );
    user.press(": \"forget\" Space \"filter\" Space \"slow\" Enter");
    assert!(user.crawler.saved_filters.is_empty());
}

#[test]
fn a_table_of_many_rows_is_searched_beside_the_screen() {
    use metaspy_tui::crawler::command::Command;
    use metaspy_tui::crawler::jobs::Slot;
    let mut user = User::new(fixture::open(&fixture::crowded("many-rows.spy", 21_000)));
    user.press("2 / \"#2000\" Enter");
    let row = |user: &User| user.crawler.view.subjects.cursor.row;
    let first = row(&user);
    assert!(first > 0, "{}", user.screen());
    // The key only begins the search.
    user.crawler.apply(Command::NextMatch);
    assert!(user.crawler.progress(Slot::Search).is_some());
    assert_eq!(row(&user), first);
    user.press("Esc");
    assert!(user.screen().contains("search stopped"), "{}", user.screen());
    user.press("/ Enter");
    assert!(row(&user) != first, "{}", user.screen());
    user.press("/ \"nowhere\" Enter");
    assert!(user.screen().contains("no row contains `nowhere`"), "{}", user.screen());
}
