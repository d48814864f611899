//! Why was this frame slow? A program with a screen of its own answers it beside its own content.
//!
//! A page viewer lays out one frame after another, and draws the time of each. Below are two panels
//! of the crawler over the viewer's own recording: the events, and the causes of the selected one.
//! Both share the selection, and have the keys of `metaspy open`.
//!
//! Tab changes the panel that receives keys, Space stops and continues the page, `q` quits.
//!
//! Run it with `cargo run --release --example panels [PAGE]`.

use std::collections::VecDeque;
use std::error::Error;
use std::time::{Duration, Instant};

use metaspy::{Recording, Store};
use metaspy_layout_story::{Limits, Page, Story, profiler};
use metaspy_tui::{Panel, Panels};
use ratatui::Frame;
use ratatui::crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::{Block, Sparkline};

/// Time between two frames of the page.
const PAUSE: Duration = Duration::from_millis(100);
/// Frames in the history of times.
const HISTORY: usize = 200;

/// The screen of the viewer: its own content, and panels of the crawler.
struct Viewer {
    story: Story,
    times_us: VecDeque<u64>,
    panels: Panels,
    focused: Panel,
    stopped: bool,
}

impl Viewer {
    fn new(story: Story, recording: Store) -> Self {
        let panels = Panels::new(recording);
        Viewer { story, times_us: VecDeque::new(), panels, focused: Panel::Events, stopped: false }
    }

    /// Changes the page and lays it out.
    fn frame(&mut self) -> Result<(), Box<dyn Error>> {
        let began = Instant::now();
        self.story.frame()?;
        self.times_us.push_front(began.elapsed().as_micros() as u64);
        self.times_us.truncate(HISTORY);
        Ok(())
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        let [own, below, help] =
            Layout::vertical([Constraint::Length(6), Constraint::Fill(1), Constraint::Length(1)])
                .areas(frame.area());
        let [left, right] =
            Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)]).areas(below);
        let title = match self.times_us.front() {
            Some(newest) => format!(" the last frame took {newest} µs "),
            None => " no frame yet ".into(),
        };
        let times = Sparkline::default().block(Block::bordered().title(title)).data(&self.times_us);
        frame.render_widget(times, own);
        frame.render_stateful_widget(Panel::Events, left, &mut self.panels);
        frame.render_stateful_widget(Panel::Causes, right, &mut self.panels);
        let focused = if self.focused == Panel::Events { "Events" } else { "Causes" };
        frame.render_widget(
            Line::from(format!(" keys go to {focused}   Tab other panel   ␣ stop   q quit")).dim(),
            help,
        );
    }

    /// Applies a key. False if it ends the program.
    fn key(&mut self, key: KeyEvent) -> bool {
        match key.code {
            KeyCode::Char('q') => return false,
            KeyCode::Char(' ') => self.stopped = !self.stopped,
            KeyCode::Tab if self.focused == Panel::Events => self.focused = Panel::Causes,
            KeyCode::Tab => self.focused = Panel::Events,
            _ => {
                self.panels.key(self.focused, key);
            }
        }
        true
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let page = match std::env::args_os().nth(1) {
        Some(path) => Page::open(path, Limits::default())?,
        None => Page::shipped(),
    };
    let recording = Recording::memory().start()?;
    let _profiler = profiler().install()?;
    let mut viewer = Viewer::new(Story::open(&page, 1)?, recording.store());
    ratatui::run(|terminal| {
        loop {
            if !viewer.stopped {
                viewer.frame()?;
            }
            terminal.draw(|frame| viewer.draw(frame))?;
            let pressed = if event::poll(PAUSE)? { event::read()?.as_key_event() } else { None };
            if let Some(key) = pressed.filter(|key| key.kind == KeyEventKind::Press)
                && !viewer.key(key)
            {
                return Ok(());
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn screen(viewer: &mut Viewer) -> String {
        let mut terminal = Terminal::new(TestBackend::new(120, 30)).expect("a test screen");
        let began = Instant::now();
        loop {
            terminal.draw(|frame| viewer.draw(frame)).expect("a test screen");
            if !viewer.panels.is_reading() || began.elapsed() > Duration::from_secs(60) {
                return terminal.backend().to_string();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn the_viewer_shows_its_own_frames_and_why_they_happened() {
        let recording = Recording::memory().start().expect("nothing else records");
        let profiler = profiler().install().expect("the profiler fits");
        let mut viewer = Viewer::new(
            Story::open(&Page::shipped(), 1).expect("the page can be laid out"),
            recording.store(),
        );
        viewer.frame().expect("the page can be laid out");
        assert!(viewer.key(KeyCode::Home.into()), "a key of the panel does not end the program");
        let text = screen(&mut viewer);
        assert!(
            text.contains("the last frame took ") && text.contains("keys go to Events"),
            "{text}"
        );
        assert!(text.contains("Causes") && text.contains("layout #"), "{text}");
        assert!(
            viewer.key(KeyCode::Tab.into()) && screen(&mut viewer).contains("keys go to Causes")
        );
        assert!(!viewer.key(KeyCode::Char('q').into()), "q ends the program");
        drop(profiler);
        recording.close();
    }
}
