//! A user of the crawler, who presses keys and reads the screen.

use metaspy_core::Store;
use metaspy_report::findings::Findings;
use metaspy_tui::crawler::command::Command;
use metaspy_tui::crawler::draw::draw;
use metaspy_tui::crawler::jobs::{Change, Job, Slot};
use metaspy_tui::crawler::keys;
use metaspy_tui::crawler::state::{Crawler, Request};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A user with a crawler. Jobs run at once, and time passes only in `tick`.
pub struct User {
    pub crawler: Crawler,
    pub request: Option<Request>,
    /// False if no file may be written.
    pub writes: bool,
    /// Findings that a search returns, in place of those of all kinds that exist.
    pub findings: Option<Findings>,
    size: (u16, u16),
}

impl User {
    /// A user with a screen of 80×24.
    pub fn new(store: Store) -> Self {
        Self::with_size(store, (80, 24))
    }

    /// A user with a screen of this size.
    pub fn with_size(store: Store, size: (u16, u16)) -> Self {
        let crawler = Crawler::new(store, "run.spy", size);
        let mut user = User { crawler, request: None, writes: true, findings: None, size };
        user.work();
        user
    }

    /// Presses keys, written with spaces between them: `Down Enter f` or, for a line,
    /// `"site:measure"`.
    pub fn press(&mut self, keys: &str) -> &mut Self {
        for word in keys.split(' ') {
            match word.strip_prefix('"').and_then(|word| word.strip_suffix('"')) {
                Some(text) => {
                    text.chars().for_each(|c| self.key(KeyCode::Char(c), KeyModifiers::NONE))
                }
                None => match word.strip_prefix("Ctrl-") {
                    Some(word) => self.key(code(word), KeyModifiers::CONTROL),
                    None => self.key(code(word), KeyModifiers::NONE),
                },
            }
        }
        self
    }

    /// Presses keys, all before the job of the first one is done.
    #[allow(dead_code, reason = "not all tests need it")]
    pub fn hurry(&mut self, keys: &str) -> &mut Self {
        let mut jobs = Vec::new();
        for word in keys.split(' ') {
            self.apply(code(word), KeyModifiers::NONE);
            jobs.extend(self.crawler.take_jobs());
        }
        self.answer(jobs);
        self.work();
        self
    }

    /// Presses one key.
    pub fn press_key(&mut self, key: keys::Key) {
        self.key(key.code, if key.control { KeyModifiers::CONTROL } else { KeyModifiers::NONE });
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.apply(code, modifiers);
        self.work();
    }

    fn apply(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.request = self.crawler.press(KeyEvent::new(code, modifiers)).or(self.request.take());
    }

    /// Presses the mouse on a cell.
    pub fn click(&mut self, column: u16, row: u16) -> &mut Self {
        self.request = self.crawler.apply(Command::Click { column, row }).or(self.request.take());
        self.work();
        self
    }

    /// Turns the wheel of the mouse over a cell.
    pub fn wheel(&mut self, column: u16, row: u16, by: isize) {
        self.crawler.apply(Command::Wheel { column, row, by });
        self.work();
    }

    /// Another size of the screen.
    pub fn resize(&mut self, width: u16, height: u16) -> &mut Self {
        self.size = (width, height);
        self.crawler.resize(width, height);
        self.work();
        self
    }

    /// Lets time pass.
    pub fn tick(&mut self, now_ms: u64) -> &mut Self {
        self.crawler.tick(now_ms * 1_000_000);
        self.work();
        self
    }

    fn work(&mut self) {
        loop {
            let jobs = self.crawler.take_jobs();
            if jobs.is_empty() {
                return;
            }
            self.answer(jobs);
        }
    }

    /// Runs jobs, and gives their results to the crawler.
    pub fn answer(&mut self, jobs: Vec<Job<Crawler>>) {
        for job in jobs {
            let reply = match (job.slot, self.findings.clone()) {
                (Slot::Findings, Some(findings)) => {
                    let change: Change<Crawler> =
                        Box::new(|crawler| crawler.view.findings.accept(findings));
                    job.answered(Some(change))
                }
                (Slot::Export, _) if !self.writes => job.answered(None),
                _ => job.run(&self.crawler.store),
            };
            self.crawler.accept(reply);
        }
    }

    /// The screen as text, without what differs from run to run.
    pub fn screen(&self) -> String {
        let mut terminal =
            Terminal::new(TestBackend::new(self.size.0, self.size.1)).expect("a test screen");
        terminal.draw(|frame| draw(frame, &self.crawler)).expect("a test screen");
        let text = terminal.backend().to_string();
        let program = self.crawler.status.name.clone();
        // The backend adds to a line with wide characters which cells they cover.
        let lines = text.lines().map(|line| line.split("\" Hidden by").next().unwrap_or(line));
        let lines = lines.map(|line| blot(line.trim_matches('"')).replace(&program, "page"));
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// The line of the screen with the selected event.
    pub fn selected(&self) -> String {
        let screen = self.screen();
        let line =
            screen.lines().find(|line| line.contains(['▶', '◈'])).unwrap_or("nothing is selected");
        // The list ends where the pane begins.
        line.chars().take(43).collect()
    }
}

/// Replaces the number of the test's thread by as many blanks.
fn blot(line: &str) -> String {
    let Some((before, rest)) = line.split_once("(thread ") else { return line.to_owned() };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let rest = rest[digits..].strip_prefix(')').unwrap_or(&rest[digits..]);
    format!("{before}(thread #){}{rest}", " ".repeat(digits.saturating_sub(1)))
}

fn code(word: &str) -> KeyCode {
    match word {
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Backspace" => KeyCode::Backspace,
        "Tab" => KeyCode::Tab,
        "BackTab" => KeyCode::BackTab,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        "Space" => KeyCode::Char(' '),
        key => {
            assert_eq!(key.chars().count(), 1, "no key is called {key}");
            KeyCode::Char(key.chars().next().expect("one character"))
        }
    }
}
