//! A terminal that a test controls.

use std::io::Write;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The longest time until a screen shows a text: debug builds on busy machines are slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tmux server with one window of 80×24. Dropping it ends the server and the programs in it.
pub struct Tmux {
    socket: String,
}

impl Tmux {
    /// Starts a shell in it. Without tmux it prints a note and returns `None`.
    pub fn start(name: &str) -> Option<Tmux> {
        if Command::new("tmux").arg("-V").output().is_err() {
            // Written to the real standard error, because the test harness captures `eprintln!`.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: terminal: {name} needs tmux, which is not installed"
            );
            return None;
        }
        let tmux = Tmux { socket: format!("metaspy-{}-{name}", std::process::id()) };
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        // An editor that prints its arguments and waits for a key.
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

    /// Types a command; its end is printed.
    pub fn command(&mut self, command: &str) {
        // In two pieces, so that the typed line does not match the answer.
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

    /// A value that tmux reports.
    pub fn ask(&self, format: &str) -> String {
        self.run(&["display-message", "-p", format]).trim().to_owned()
    }

    /// Waits until the screen shows a text, and returns the screen.
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

    /// Waits until the screen no longer shows a text.
    pub fn wait_until_gone(&self, text: &str) {
        let began = Instant::now();
        while self.screen().contains(text) {
            assert!(
                began.elapsed() < PATIENCE,
                "the screen still shows `{text}`:\n{}",
                self.screen()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The screen as soon as it has not changed for a while; a live one after some time.
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

    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output: Output = Command::new("tmux")
            .args(["-u", "-L", &self.socket])
            .args(arguments)
            .output()
            .expect("tmux is there");
        assert!(
            output.status.success(),
            "tmux {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}
