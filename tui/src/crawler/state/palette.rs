//! Palette: every command by name, filtered as the user types.
//!
//! A command that cannot run now is listed with the reason. A command may take the rest of the
//! line: `mark slow`.

use std::cmp::Reverse;
use std::sync::Arc;

use metaspy_reader::EventId;

use super::cursor::Cursor;
use super::line::Line;
use super::prompt::Prompt;
use super::{Crawler, Request};
use crate::crawler::command::{Command, Step};
use crate::crawler::config::Browser;
use crate::crawler::keys::{self, Binding};

/// Palette, while it is open.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    /// Text that the user has typed.
    pub line: Line,
    /// Commands that match the text.
    pub entries: Vec<Entry>,
    /// Cursor over the entries.
    pub cursor: Cursor,
}

/// Effect of an entry of the palette.
#[derive(Clone, Debug)]
pub enum Action {
    /// Runs the command of a binding.
    Run(Binding),
    /// Goes to a marked event.
    GoTo {
        /// Marked event to go to.
        id: EventId,
        /// Name of the entry.
        title: String,
        /// Event in words.
        event: String,
    },
    /// Opens a browser.
    Browse {
        /// Browser to open.
        browser: Arc<Browser>,
        /// Name of the entry.
        title: String,
    },
    /// Filters by a saved filter.
    Filter {
        /// Name under which the filter was saved.
        name: String,
        /// Text of the filter.
        text: String,
    },
}

/// Entry of the palette.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Effect of the entry.
    pub action: Action,
    /// All keys of the command, as they are shown.
    pub keys: String,
    /// Rest of the line, if the command takes an argument.
    pub argument: Option<String>,
    /// Reason why the command cannot run now.
    pub refusal: Option<String>,
}

impl Entry {
    /// Describes the effect, unless the name states it.
    pub fn description(&self) -> &str {
        match &self.action {
            Action::Filter { text, .. } => text,
            Action::GoTo { event, .. } => event,
            Action::Browse { .. } => "opens the browser",
            Action::Run(Binding { command: Command::Show(_), .. }) => "opens the screen",
            Action::Run(binding) if binding.help == binding.name => "",
            Action::Run(binding) => binding.help,
        }
    }

    /// Returns the name, with which the line begins.
    pub fn name(&self) -> &str {
        match &self.action {
            Action::Filter { name, .. } => name,
            Action::GoTo { title, .. } | Action::Browse { title, .. } => title,
            Action::Run(binding) => binding.name,
        }
    }

    /// Returns the word for the argument; empty if the command takes none.
    pub fn takes(&self) -> &'static str {
        match &self.action {
            Action::Filter { .. } | Action::GoTo { .. } | Action::Browse { .. } => "",
            Action::Run(binding) => binding.argument,
        }
    }

    /// Returns the rank among the matches of `text`; lower is better. `None` if the entry does not
    /// match.
    fn rank(&self, text: &str) -> Option<u8> {
        let refused = 4 * u8::from(self.refusal.is_some());
        let name = self.name().to_lowercase();
        let help = self.description().to_lowercase();
        let rank = match () {
            () if self.argument.is_some() => 0,
            () if name.starts_with(text) => 1,
            () if text.split_whitespace().all(|word| name.contains(word)) => 2,
            () if text
                .split_whitespace()
                .all(|word| name.contains(word) || help.contains(word)) =>
            {
                3
            }
            () => return None,
        };
        Some(rank + refused)
    }
}

impl Crawler {
    /// Opens the palette.
    pub(super) fn open_palette(&mut self) {
        self.palette = Some(Palette::default());
        self.read_palette();
    }

    /// Applies a command while the palette is open.
    pub(super) fn apply_to_palette(&mut self, command: Command) -> Option<Request> {
        let palette = self.palette.as_mut()?;
        let count = palette.entries.len();
        match command {
            Command::Quit => return Some(Request::Quit),
            Command::Leave => self.palette = None,
            Command::Erase if palette.line.text().is_empty() => self.palette = None,
            Command::Move(step) => palette.cursor.step(step, count),
            Command::Wheel { by, .. } => palette.cursor.scroll(by, count),
            Command::Enter => return self.run_entry(),
            Command::Complete => {
                if let Some(entry) = palette.entries.get(palette.cursor.row) {
                    let space = if entry.takes().is_empty() { "" } else { " " };
                    palette.line = Line::new(format!("{}{space}", entry.name()));
                    self.read_palette();
                }
            }
            command if palette.line.apply(command) => self.read_palette(),
            _ => {}
        }
        None
    }

    /// Finds the commands that match the line.
    fn read_palette(&mut self) {
        let Some(palette) = &self.palette else { return };
        let typed = palette.line.text().trim_start().to_lowercase();
        let mut ranked: Vec<(u8, Entry)> = self
            .all_commands()
            .into_iter()
            .filter_map(|mut entry| {
                let rest = typed.strip_prefix(entry.name()).and_then(|rest| rest.strip_prefix(' '));
                if rest.is_some() && !entry.takes().is_empty() {
                    // The argument keeps the upper and lower case that was typed.
                    let rest = palette.line.text().trim_start()[entry.name().len()..].trim();
                    entry.argument = Some(rest.to_owned());
                }
                Some((entry.rank(typed.trim_end())?, entry))
            })
            .collect();
        // `arm only X` means that command, and not `arm` with an argument.
        let named = |entry: &Entry| entry.argument.as_ref().map_or(0, |_| entry.name().len());
        ranked.sort_by_key(|(rank, entry)| (*rank, Reverse(named(entry))));
        let entries: Vec<Entry> = ranked.into_iter().map(|(_, entry)| entry).collect();
        let height = self.view.list.height;
        if let Some(palette) = &mut self.palette {
            palette.cursor = Cursor { height, ..Cursor::default() };
            palette.cursor.step(Step::First, entries.len());
            palette.entries = entries;
        }
    }

    /// Returns every command that has a name, with all of its keys.
    fn all_commands(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for binding in self.keys.bindings().iter().filter(|binding| binding.place.is_on_screens()) {
            if !binding.name.is_empty() {
                let refusal = self.refusal(binding);
                let action = Action::Run(*binding);
                entries.push(Entry {
                    action,
                    keys: keys::name(binding.key),
                    argument: None,
                    refusal,
                });
            } else if let Some(entry) = entries.last_mut() {
                entry.keys.push_str(&format!(" {}", keys::name(binding.key)));
            }
        }
        // Moving the cursor by a command's name would be of no use.
        entries.retain(|entry| match &entry.action {
            Action::Run(binding) => !matches!(binding.command, Command::Palette | Command::Move(_)),
            Action::Filter { .. } | Action::GoTo { .. } | Action::Browse { .. } => true,
        });
        entries.extend(self.saved_filters.iter().map(|(name, text)| Entry {
            action: Action::Filter { name: name.clone(), text: text.clone() },
            keys: String::new(),
            argument: None,
            refusal: None,
        }));
        entries.extend(self.all_browsers().into_iter().map(|browser| Entry {
            action: Action::Browse { title: format!("browse {}", browser.title), browser },
            keys: String::new(),
            argument: None,
            refusal: None,
        }));
        entries.extend(self.named_marks().into_iter().map(|(id, title, event)| Entry {
            action: Action::GoTo { id, title, event },
            keys: String::new(),
            argument: None,
            refusal: None,
        }));
        entries
    }

    /// Returns the reason why a command cannot run now.
    fn refusal(&self, binding: &Binding) -> Option<String> {
        if !binding.place.contains(self.screen_mode()) {
            return Some(binding.place.name().into());
        }
        let is_live = self.store.grows();
        match binding.command {
            Command::Pause | Command::Follow if !is_live => Some("the recording has ended".into()),
            Command::Control(_) | Command::Rule if !is_live => {
                Some("the recording has ended".into())
            }
            Command::Back if self.history.depth() == 0 => Some("no earlier view".into()),
            _ => None,
        }
    }

    fn run_entry(&mut self) -> Option<Request> {
        let palette = self.palette.take()?;
        let Some(entry) = palette.entries.get(palette.cursor.row) else {
            self.message = Some(format!("no command is named `{}`", palette.line.text().trim()));
            return None;
        };
        if let Some(refusal) = &entry.refusal {
            self.message = Some(format!("`{}` cannot run: {refusal}", entry.name()));
            return None;
        }
        match (&entry.action, entry.argument.as_deref()) {
            (Action::Browse { browser, .. }, _) => {
                self.open_browser(Arc::clone(browser));
                None
            }
            (Action::GoTo { id, .. }, _) => {
                self.go_to_mark(*id);
                None
            }
            (Action::Filter { text, .. }, _) => self.apply_with(Command::EditFilter, text),
            (Action::Run(binding), Some(argument)) if !argument.is_empty() => {
                self.apply_with(binding.command, argument)
            }
            (Action::Run(binding), _) => self.apply_to_screen(binding.command),
        }
    }

    /// Applies a command with the rest of the line.
    fn apply_with(&mut self, command: Command, argument: &str) -> Option<Request> {
        match command {
            Command::EditFilter => {
                // A wrong filter is corrected in its own prompt.
                self.prompt = Some(Prompt::filter(&self.store, argument));
                self.submit_filter();
            }
            Command::Search => self.search_for(argument.to_owned()),
            Command::Export => {
                if let Err(error) = self.export(argument) {
                    self.message = Some(error);
                }
            }
            Command::Control(change) => self.control(change, argument),
            Command::Rule => self.rule(argument),
            Command::NameMark => return self.mark_as(argument),
            Command::SaveFilter => return self.save_filter(argument),
            Command::ForgetFilter => return self.forget_filter(argument),
            command => return self.apply_to_screen(command),
        }
        None
    }
}
