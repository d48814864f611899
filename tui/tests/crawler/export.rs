//! Findings leave the crawler: as files of other tools, and on the clipboard.

use metaspy_tui::crawler::state::Request;

use crate::fixture;
use crate::user::User;

#[test]
fn the_listed_events_are_written_in_the_format_of_another_tool() {
    let mut user = User::new(fixture::open(&fixture::closed("exported.spy", 40)));
    let file = fixture::directory().join("slow.jsonl");
    user.press("f \"site:Scene::measure\" Enter x");
    assert!(user.screen().contains("trace JSON"), "{}", user.screen());
    user.press("\"js\" Tab Space").press(&format!("\"{}\" Enter", file.display()));
    assert!(user.screen().contains("240 events"), "{}", user.screen());
    let text = std::fs::read_to_string(&file).expect("it was written");
    assert_eq!(text.lines().count(), 240);
    assert!(text.lines().all(|line| line.contains("Scene::measure")));
    // A second time it would be overwritten.
    user.press("x \"jsonl\" Space").press(&format!("\"{}\" Enter", file.display()));
    assert!(user.screen().contains("exists: choose another name"), "{}", user.screen());
    user.press("Ctrl-u \"xlsx\" Enter");
    assert!(user.screen().contains("no format is named `xlsx`"), "{}", user.screen());
    user.press("Esc : \"export\" Space \"csv\" Space \"/no/such/directory/x.csv\" Enter");
    assert!(user.screen().contains("/no/such/directory/x.csv: "), "{}", user.screen());
}

#[test]
fn an_event_and_its_causes_go_to_the_clipboard() {
    let mut user = User::new(fixture::open(&fixture::closed("copied.spy", 3)));
    user.press("Down Down Down y");
    let Some(Request::Copy(event)) = user.request.take() else { panic!("{}", user.screen()) };
    assert!(event.contains("page::Scene::layout") && event.contains("#2 <div>"), "{event}");
    user.press("Y");
    let Some(Request::Copy(chain)) = user.request.take() else { panic!("{}", user.screen()) };
    assert!(chain.contains("page::frame") && chain.lines().count() >= 3, "{chain}");
}
