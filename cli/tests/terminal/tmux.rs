//! A terminal that a test sits in front of.

use std::io::Write;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// How long a screen may take to show what is waited for: debug builds on busy machines are slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tmux server with one window of 80×24. Dropping it ends it, with whatever runs in it.
pub struct Tmux {
    socket: String,
}

impl Tmux {
    /// Starts a shell in it; `None`, loudly, where there is no tmux.
    pub fn start(name: &str) -> Option<Tmux> {
        if Command::new("tmux").arg("-V").output().is_err() {
            // Written past the test's own capture, so that it is seen.
            let _ = writeln!(std::io::stderr(), "SKIPPED: terminal: {name} needs tmux, which is not installed");
            return None;
        }
        let tmux = Tmux { socket: format!("metaspy-{}-{name}", std::process::id()) };
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        // An editor that says what it was asked for and waits for a key.
        let editor = "EDITOR=cli/tests/terminal/editor.sh";
        let shell = "env PS1='$ ' sh";
        tmux.run(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "24",
            "-c",
            root,
            "-e",
            editor,
            "-e",
            "VISUAL=",
            shell,
        ]);
        tmux.wait_for("$");
        Some(tmux)
    }

    /// Types a command, and lets its end be told.
    pub fn command(&mut self, command: &str) {
        // In two pieces, so that the typed line itself is not taken for the answer.
        self.line(&format!("clear; {command}; echo ended \"with\" $?"));
    }

    /// Types a line.
    pub fn line(&mut self, text: &str) {
        self.run(&["send-keys", "-l", text]);
        self.keys(&["Enter"]);
    }

    /// Presses keys.
    pub fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            self.run(&["send-keys", key]);
        }
    }

    /// Another size of the window.
    pub fn resize(&mut self, width: u16, height: u16) {
        self.run(&["resize-window", "-x", &width.to_string(), "-y", &height.to_string()]);
    }

    /// What tmux itself knows.
    pub fn ask(&self, format: &str) -> String {
        self.run(&["display-message", "-p", format]).trim().to_owned()
    }

    /// Waits until the screen shows this, and gives the screen.
    pub fn wait_for(&self, text: &str) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return self.settled();
            }
            assert!(began.elapsed() < PATIENCE, "the screen never showed `{text}`:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The screen, once it has not changed for a while; of a live one, as it is after some time.
    pub fn settled(&self) -> String {
        let mut screen = self.screen();
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(50));
            let next = self.screen();
            if next == screen {
                break;
            }
            screen = next;
        }
        screen
    }

    fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output: Output =
            Command::new("tmux").args(["-u", "-L", &self.socket]).args(arguments).output().expect("tmux is there");
        assert!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}
