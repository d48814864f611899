//! The palette of commands.

use crate::fixture;
use crate::user::User;
use metaspy_tui::crawler::theme::Theme;

fn user(name: &str) -> User {
    User::new(fixture::open(&fixture::closed(name, 3)))
}

#[test]
fn a_command_is_found_by_a_part_of_its_name_and_runs() {
    let mut user = user("palette.spy");
    user.press(": \"lane\"");
    assert!(user.screen().contains("┌ commands"), "{}", user.screen());
    user.press("Enter");
    assert_eq!(user.crawler.view.screen.name(), "Lanes");
    user.press(": \"theme\" Down Down Enter");
    assert_eq!(user.crawler.theme, Theme::Light);
}

#[test]
fn a_command_takes_the_rest_of_the_line() {
    let mut user = user("argument.spy");
    user.press(": \"filter\" Space \"site:measure\" Enter");
    assert!(user.screen().contains("18 of 57"), "{}", user.screen());
    user.press(": \"search\" Space \"#7\" Enter");
    assert!(user.selected().contains("#7"), "{}", user.screen());
    user.press(": \"filter\" Space \"took:1x\" Enter");
    assert!(
        user.screen().contains("took:>1ms"),
        "an error states what to write: {}",
        user.screen()
    );
}

#[test]
fn a_command_that_cannot_run_shows_why() {
    let mut user = user("refused.spy");
    user.press(": \"pause\"");
    assert!(user.screen().contains("the recording has ended"), "{}", user.screen());
    user.press("Enter");
    assert!(
        user.screen().contains("`pause` cannot run: the recording has ended"),
        "{}",
        user.screen()
    );
    user.press(": \"never\"");
    assert!(user.screen().contains("on the screen of subjects"), "{}", user.screen());
    user.press("Esc : \"nosuchcommand\"");
    assert!(user.screen().contains("no command matches"), "{}", user.screen());
    user.press("Enter");
    assert!(user.screen().contains("no command is named `nosuchcommand`"), "{}", user.screen());
}

#[test]
fn the_mouse_and_the_keys_reach_every_command() {
    let mut user = user("scrolled.spy");
    user.press(": PageDown PageDown");
    let last = user.screen();
    user.wheel(10, 8, -3);
    assert_ne!(user.screen(), last);
    user.press("Esc");
    assert!(user.screen().contains("57 events"), "{}", user.screen());
}

#[test]
fn a_key_without_a_command_shows_the_reason() {
    let mut user = user("refused-keys.spy");
    user.press("8");
    assert!(user.screen().contains("`8`: the recording has no productions"), "{}", user.screen());
    user.press(">");
    assert!(user.screen().contains("`>` works on a screen with a table"), "{}", user.screen());
    user.press("9");
    assert!(
        user.screen().contains("no command has the key `9`: ? lists the keys"),
        "{}",
        user.screen()
    );
    user.press("Down");
    assert!(
        !user.screen().contains("no command"),
        "the next key removes the message: {}",
        user.screen()
    );
}
