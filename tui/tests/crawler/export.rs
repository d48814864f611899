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
    user.press("Esc x Enter");
    assert!(
        !user.screen().contains("export to:") && !user.screen().contains("no format"),
        "{}",
        user.screen()
    );
    user.press("Ctrl-l");
    assert!(matches!(user.request.take(), Some(Request::Redraw)));
    user.press(": \"export\" Space \"csv\" Space \"/no/such/directory/x.csv\" Enter");
    assert!(user.screen().contains("/no/such/directory/x.csv: "), "{}", user.screen());
}

/// A live recording: what the window holds now is sealed into a file, and the program goes on.
#[test]
fn the_window_of_a_live_recording_is_kept_as_a_recording_of_its_own() {
    let turn = fixture::turn();
    let path = fixture::directory().join("live-kept.spy");
    let (recording, installed) = fixture::begin(metaspy_core::Recording::file(&path), 2);
    let mut user = User::new(fixture::open(&path));
    let kept = fixture::directory().join("kept.spy");
    user.press("K");
    assert!(user.screen().contains("export to: spy run-kept-1.spy"), "{}", user.screen());
    user.press("Ctrl-u \"spy\" Space").press(&format!("\"{}\" Enter", kept.display()));
    assert!(user.screen().contains("written to"), "{}", user.screen());
    fixture::measure(fixture::node(77));
    drop(installed);
    recording.close();
    drop(turn);
    let sealed = fixture::open(&kept);
    assert!(!sealed.is_live());
    assert_eq!(sealed.totals().stored, 38);
    let user = User::new(sealed);
    assert!(user.screen().contains("38 events"), "{}", user.screen());
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
