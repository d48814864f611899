//! The crawler on a recording: how a test begins and ends it.

use std::fs;

use crate::fixture;
use crate::tmux::Tmux;

/// A terminal with the crawler on a recording. Without tmux it prints a note and returns `None`.
pub fn crawl(name: &str) -> Option<(Tmux, std::path::PathBuf)> {
    // A copy, because the test changes the file, which this process has mapped.
    let path = fixture::directory().join(format!("copy-of-{name}"));
    fs::copy(fixture::closed(name, 40), &path).expect("the test's directory can be written");
    let mut terminal = Tmux::start(name.trim_end_matches(".spy"))?;
    let (pid, metaspy) = (path.with_extension("pid"), env!("CARGO_BIN_EXE_metaspy"));
    terminal.command(&format!(
        "sh -c 'echo $$ > {}; exec {metaspy} open {}'",
        pid.display(),
        path.display()
    ));
    terminal.wait_for("1 Events");
    Some((terminal, path))
}

/// Quits. The crawler succeeds, and the terminal is as it was before.
pub fn quits(terminal: &mut Tmux) {
    terminal.keys(&["q"]);
    ended(terminal);
}

/// Waits for the end that a key or a signal has caused.
pub fn ended(terminal: &mut Tmux) {
    terminal.wait_for("ended with 0");
    assert_eq!(
        terminal.ask("#{alternate_on}#{mouse_any_flag}"),
        "00",
        "the screen and the mouse are restored"
    );
    terminal.command("stty -a");
    let screen = terminal.wait_for(" icanon");
    assert!(!screen.contains("-icanon") && !screen.contains("-echo "), "{screen}");
}
