//! Browsers: columns that depend on the selections before them.

use metaspy_tui::crawler::config::Browser;

use crate::fixture;
use crate::user::User;

fn user(name: &str) -> User {
    User::new(fixture::open(&fixture::closed(name, 40)))
}

/// The papers' question: which object is displayed too often?
#[test]
fn the_object_that_is_displayed_too_often_is_three_steps_away() {
    let mut user = user("too-often.spy");
    user.press(": \"often\" Enter");
    let screen = user.screen();
    assert!(screen.contains("┌ Too often: site") && screen.contains("measure"), "{screen}");
    insta::assert_snapshot!("browser", screen);
    // The first site, its first subject, and the events of both.
    user.press("/ \"measure\" Enter Right Down Right Down");
    assert!(user.screen().contains("measure #5"), "{}", user.screen());
    user.press("Enter");
    assert!(user.selected().contains("measure #5"), "{}", user.screen());
    user.press("Backspace Left Enter");
    assert_eq!(user.crawler.view.filter.text(), "site:measure subject:node:#5");
    assert!(user.screen().contains("40 of 760"), "{}", user.screen());
}

/// The papers' other question: what activated this cache?
#[test]
fn what_activated_a_cache_is_read_from_root_to_hit() {
    let mut user = user("activated.spy");
    user.press(": \"caused\" Enter");
    let screen = user.screen();
    assert!(screen.contains("root cause ─") && screen.contains("│▸frame"), "{screen}");
    user.press("Right / \"hit\" Enter Right Enter");
    assert!(user.selected().contains("hit #4"), "{}", user.screen());
    user.press("c");
    assert!(user.selected().contains("measure #4"), "{}", user.screen());
}

#[test]
fn each_object_that_causes_calls_has_a_row_in_a_browser() {
    let mut user = user("asked.spy");
    user.press(": \"asked\" Enter");
    let screen = user.screen();
    assert!(screen.contains("who asked ─") && screen.contains("#2 <div> …::layout"), "{screen}");
    user.press("Down Down Right Enter");
    let filter = user.crawler.view.filter.text().to_owned();
    assert_eq!(filter, "cause.site:layout cause.subject:node:#2 site:measure");
    // Two measures in each of forty frames.
    assert!(user.screen().contains("80 of 760"), "{}", user.screen());
}

/// The Tabulator scripts of the papers have events on the left and their model on the right.
#[test]
fn events_may_be_in_any_column_and_their_model_is_beside_them() {
    let text = "title = 'Mine'\n\
        [[column]]\nrows = 'event'\nquery = 'site:layout'\n\
        [[column]]\nrows = 'subject'\n\
        [[column]]\nrows = 'relation'\nrelation = 'owner'\nquery = '{2}'\n";
    let mut user = own("model.spy", 1, text);
    user.press(": \"mine\" Enter Down Down");
    let screen = user.screen();
    assert!(screen.contains("│▸layout #3") && screen.contains("│▸#3 <p>"), "{screen}");
    assert!(screen.contains("→ #1 <html>"), "{screen}");
}

#[test]
fn a_browser_of_the_user_is_in_the_palette_and_under_the_filter_of_the_screen() {
    let mut user = user("own-browser.spy");
    let text = "title = 'Slow layouts'\n[[column]]\nrows = 'subject'\nquery = 'site:layout'\nvalue = 'longest'\n";
    user.crawler.add_browser(Browser::parse("mine.toml", text).expect("a browser"));
    user.press("f \"took:>1ms\" Enter : \"slow\" Enter");
    let screen = user.screen();
    assert!(screen.contains("Slow layouts: subjects"), "{screen}");
    // Only the root takes longer than a millisecond.
    assert!(screen.contains("#1 <html>") && !screen.contains("#2 <div>"), "{screen}");
}

#[test]
fn a_query_that_names_no_site_of_the_recording_states_the_nearest_names() {
    let mut user = user("misspelt-query.spy");
    let text = "title = 'Slow layouts'\n[[column]]\nrows = 'subject'\nquery = 'site:layot'\n";
    user.crawler.add_browser(Browser::parse("mine.toml", text).expect("a browser"));
    user.press(": \"slow\" Enter");
    let screen = user.screen();
    assert!(
        screen.contains("no site matches `layot`: did you mean")
            && screen.contains("Scene::layout"),
        "{screen}"
    );
}

#[test]
fn a_browser_fits_every_size() {
    let file = fixture::closed("browser-sizes.spy", 3);
    for (width, height) in [(60, 15), (200, 60)] {
        let mut user = User::with_size(fixture::open(&file), (width, height));
        user.press(": \"often\" Enter Down Right");
        insta::assert_snapshot!(format!("browser_{width}x{height}"), user.screen());
    }
}

/// A browser of a user, as it is opened by its name.
fn own(name: &str, frames: usize, text: &str) -> User {
    let mut user = User::new(fixture::open(&fixture::closed(name, frames)));
    user.crawler.add_browser(Browser::parse("mine.toml", text).expect("a browser"));
    user
}

#[test]
fn a_column_has_tabs_and_several_values() {
    let text = "title = 'Mine'\n\
        [[column]]\n\
        [[column.tab]]\nrows = 'site'\nshow = ['count', 'bar', 'total']\n\
        [[column.tab]]\nrows = 'subject'\nvalue = 'max'\nshow = ['max', { show = 'count', title = 'calls' }]\n\
        [[column]]\nrows = 'event'\n";
    let mut user = own("tabs.spy", 3, text);
    user.press(": \"mine\" Enter");
    insta::assert_snapshot!("tabs_first", user.screen());
    user.press("Tab");
    insta::assert_snapshot!("tabs_second", user.screen());
    // The selection is that of the open tab.
    user.press("Down Right Enter");
    assert!(user.selected().contains("#1 <html>"), "{}", user.screen());
    user.press("Backspace Tab");
    assert!(user.screen().contains("this column has one tab"), "{}", user.screen());
    // The next tab after the last one is the first one.
    user.press("Left Tab");
    assert!(user.screen().contains("Mine: [sites] subjects"), "{}", user.screen());
}

#[test]
fn a_file_of_a_user_lays_out_a_screen() {
    let text = "title = 'Sites'\nscreen = 'sites'\n[[column]]\ntitle = 'place'\nrows = 'site'\n\
        show = ['max', { show = 'count', title = 'calls' }]\n";
    let mut user = own("laid-out.spy", 3, text);
    user.press("3");
    let screen = user.screen();
    let head = screen.lines().nth(3).unwrap_or_default();
    assert_eq!(
        head.split_whitespace().collect::<Vec<_>>(),
        ["│", "place", "max", "calls", "│"],
        "{screen}"
    );
    user.press("> >");
    assert!(user.screen().contains("sort: max"), "{}", user.screen());
}

#[test]
fn a_click_selects_the_column_under_the_mouse() {
    let mut user = user("click-browser.spy");
    user.press(": \"often\" Enter").click(30, 5);
    assert_eq!(user.crawler.view.browser.focus, 1);
    user.press("Enter");
    assert!(
        user.crawler.view.filter.text().ends_with("subject:node:#5"),
        "{}",
        user.crawler.view.filter.text()
    );
}
