//! Panels of the crawler as widgets, for programs that draw their own screen with ratatui.
//!
//! ```text
//! the program's own screen ─┬ Panel::Events ──────────┐
//!                           │ Panel::Causes           │
//! ```

use std::time::{Duration, Instant};

use metaspy_reader::Store;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

use super::command::{Screen, Tab};
use super::draw;
use super::layout::Focus;
use super::state::{Crawler, Request};
use super::worker::Worker;

/// Time between two readings of a live recording.
const TICK: Duration = Duration::from_millis(100);
/// Smallest panel that is drawn: columns and rows.
const SMALLEST: (u16, u16) = (24, 4);

/// Panel of the crawler, with a border. It fills its area and draws nothing outside; an area below
/// 24×4 stays empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// Events, in a tree by cause.
    Events,
    /// Facts of the selected event.
    Detail,
    /// Causes and links of the selected event, as a tree.
    Causes,
    /// Effects of the selected event, as a tree.
    Effects,
    /// Table of subjects.
    Subjects,
    /// Table of sites.
    Sites,
}

/// State of the panels of a recording: the selection, the filter and the cursors.
///
/// Long readings run on separate threads. So a program redraws its screen from time to time, as for
/// any live content: each drawing shows the results that arrived since the previous drawing.
///
/// ```no_run
/// use metaspy_reader::Store;
/// use metaspy_tui::{Panel, Panels};
/// use ratatui::layout::{Constraint, Layout};
///
/// # fn frame(frame: &mut ratatui::Frame<'_>) -> Result<(), Box<dyn std::error::Error>> {
/// let mut panels = Panels::new(Store::open("run.spy".as_ref())?);
/// // In the program's loop:
/// let [left, right] = Layout::horizontal([Constraint::Fill(1); 2]).areas(frame.area());
/// frame.render_stateful_widget(Panel::Events, left, &mut panels);
/// frame.render_stateful_widget(Panel::Causes, right, &mut panels);
/// # Ok(())
/// # }
/// ```
pub struct Panels {
    crawler: Crawler,
    worker: Worker<Crawler>,
    began: Instant,
    read: Option<Instant>,
}

impl Panels {
    /// Creates the panels of a recording: of a file, or of a profile while the program runs.
    pub fn new(store: Store) -> Self {
        let crawler = Crawler::new(store, "", (80, 24));
        Panels { crawler, worker: Worker::new(), began: Instant::now(), read: None }
    }

    /// Applies a key of the crawler to a panel. Returns requests that the panel cannot fulfil
    /// itself, such as opening an editor. Keys that open a prompt or the help do nothing.
    pub fn key(&mut self, panel: Panel, key: KeyEvent) -> Option<Request> {
        self.focus(panel);
        let command = self.crawler.keys.command(key, self.crawler.mode())?;
        let request = self.crawler.apply(command);
        (self.crawler.prompt, self.crawler.palette, self.crawler.help) = (None, None, None);
        request
    }

    /// Returns true while a reading is under way whose result the next drawing may show.
    pub fn is_reading(&self) -> bool {
        self.crawler.is_waiting()
    }

    fn focus(&mut self, panel: Panel) {
        self.crawler.view.screen = panel.screen();
        self.crawler.view.pane.focus =
            if panel.tab().is_some() { Focus::Pane } else { Focus::List };
    }

    /// Shows the results that have arrived, and starts the readings that the panel needs.
    fn update(&mut self, panel: Panel, area: Rect) {
        self.focus(panel);
        for reply in self.worker.replies() {
            self.crawler.accept(reply);
        }
        self.crawler.fit_panel(panel.tab(), (area.width, area.height));
        if self.read.is_none_or(|read| read.elapsed() >= TICK) {
            self.read = Some(Instant::now());
            self.crawler.tick(self.began.elapsed().as_nanos() as u64);
        }
        for job in self.crawler.take_jobs() {
            self.worker.submit(&self.crawler.store, job);
        }
    }
}

impl Panel {
    fn screen(self) -> Screen {
        match self {
            Panel::Events | Panel::Detail | Panel::Causes | Panel::Effects => Screen::Events,
            Panel::Subjects => Screen::Subjects,
            Panel::Sites => Screen::Sites,
        }
    }

    /// Returns the tab that the panel shows; `None` for lists and tables.
    fn tab(self) -> Option<Tab> {
        match self {
            Panel::Detail => Some(Tab::Detail),
            Panel::Causes => Some(Tab::Causes),
            Panel::Effects => Some(Tab::Effects),
            Panel::Events | Panel::Subjects | Panel::Sites => None,
        }
    }
}

impl StatefulWidget for Panel {
    type State = Panels;

    fn render(self, area: Rect, buffer: &mut Buffer, panels: &mut Panels) {
        let area = area.intersection(buffer.area);
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            return;
        }
        panels.update(self, area);
        // The panel draws into a separate buffer, because its colours and borders depend on nothing
        // outside.
        let mut own = Buffer::empty(Rect::new(0, 0, area.width, area.height));
        draw::panel(&mut own, self, &panels.crawler);
        for (from, to) in own.area.rows().zip(area.rows()) {
            for (from, to) in from.columns().zip(to.columns()) {
                buffer[(to.x, to.y)] = own[(from.x, from.y)].clone();
            }
        }
    }
}
