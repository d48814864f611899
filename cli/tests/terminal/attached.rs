//! Processes that record while the crawler is attached to them.

use std::fs;

use crate::fixture;
use crate::session::quits;
use crate::shows_that_it_is_killed;
use crate::tmux::Tmux;

/// The story as another process, killed while the crawler is open.
#[test]
fn the_end_of_an_attached_process_is_reported_and_its_recording_stays_open() {
    let Some(mut terminal) = Tmux::start("attached") else { return };
    let live = fixture::directory().join("attached");
    let mut story = live_story(&live);
    wait_until(&|| recordings(&live) > 0);
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    terminal.command(&format!("METASPY_DIR={} {metaspy} attach {}", live.display(), story.id()));
    terminal.wait_for("live ●");
    // There is an event.
    terminal.wait_for("▶");
    shows_that_it_is_killed(&mut terminal, &mut story);
}

/// Two processes as one.
#[test]
fn attached_processes_are_read_again_until_all_have_ended() {
    let Some(mut terminal) = Tmux::start("several") else { return };
    let live = fixture::directory().join("several");
    let mut stories = [live_story(&live), live_story(&live)];
    wait_until(&|| recordings(&live) == 2);
    let [one, other] = [stories[0].id(), stories[1].id()];
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    terminal.command(&format!("METASPY_DIR={} {metaspy} attach {one} {other}", live.display()));
    terminal.wait_for("live ●");
    terminal.keys(&["4"]);
    terminal.wait_for("2 lanes");
    let lane =
        || terminal.screen().lines().find(|line| line.contains("/layout")).map(str::to_owned);
    let first = lane();
    assert!(first.is_some(), "{}", terminal.screen());
    wait_until(&|| lane() != first);
    for story in &mut stories {
        terminal.wait_for("live ●");
        story.kill().expect("it can be killed");
        story.wait().expect("it was killed");
    }
    terminal.wait_for("the process is gone");
    quits(&mut terminal);
}

/// The story as another process that records live. What its end is merged from stays small, however
/// long it ran.
fn live_story(live: &std::path::Path) -> std::process::Child {
    std::process::Command::new(env!("CARGO_BIN_EXE_metaspy"))
        .arg("__story")
        .env("METASPY_RECORD", "live")
        .env("METASPY_DIR", live)
        .env("METASPY_BUDGET", "4MiB")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the story can be started")
}

fn wait_until(what: &dyn Fn() -> bool) {
    let began = std::time::Instant::now();
    while !what() {
        assert!(began.elapsed().as_secs() < 240, "it does not happen");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

pub fn recordings(live: &std::path::Path) -> usize {
    fs::read_dir(live).map_or(0, Iterator::count)
}
