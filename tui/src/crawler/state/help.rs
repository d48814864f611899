//! Help: the keys of the open screen, and the reason why another key has no command there.

use metaspy_report::text::wrap;
use ratatui::crossterm::event::KeyEvent;

use super::{Crawler, Request};
use crate::crawler::command::Step;
use crate::crawler::keys::{HelpLine, Mode};
use crate::crawler::layout::HELP_KEYS;

impl Crawler {
    /// Applies the command of a key. A key without a command on this screen shows the reason.
    pub fn press(&mut self, key: KeyEvent) -> Option<Request> {
        let mode = self.mode();
        let is_guided = self.guide.is_some() && matches!(mode, Mode::Screen(..));
        let of_guide = if is_guided { self.keys.command(key, Mode::Guide) } else { None };
        match of_guide.or_else(|| self.keys.command(key, mode)) {
            Some(command) => self.apply(command),
            None => {
                self.message = self.keys.refusal(key, mode).or(self.message.take());
                None
            }
        }
    }

    /// Returns the lines of the help. A long sentence continues on the next line, without keys.
    pub(crate) fn help_lines(&self) -> Vec<HelpLine> {
        let room = self.size.0.saturating_sub(HELP_KEYS + 3).max(1).into();
        let lines = |line: HelpLine| {
            let mut keys = line.keys;
            wrap(&line.help, room)
                .into_iter()
                .map(move |help| HelpLine { keys: std::mem::take(&mut keys), help })
        };
        self.keys.help(self.view.screen, self.screens()).into_iter().flat_map(lines).collect()
    }

    /// Moves the help, whose first visible line is `at`.
    pub(super) fn step_help(&mut self, at: usize, step: Step) {
        let height = self.view.list.height.max(1);
        self.help = Some(step.apply(at, self.help_lines_beyond(height) + 1, height));
    }

    /// Scrolls the help.
    pub(super) fn scroll_help(&mut self, by: isize) {
        let most = self.help_lines_beyond(self.view.list.height.max(1));
        self.help = self.help.map(|at| at.saturating_add_signed(by).min(most));
    }

    /// Counts the lines of the help that do not fit into `height` lines.
    fn help_lines_beyond(&self, height: usize) -> usize {
        self.help_lines().len().saturating_sub(height)
    }
}
