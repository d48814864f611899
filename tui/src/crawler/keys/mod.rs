//! Keys, which become commands. One table feeds dispatch, the help, the hints at the bottom, the
//! palette and the documents.

mod rebind;
mod table;

use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};

use super::command::{Command, Screen, Screens};

pub use rebind::{Keys, Rebinding};
pub use table::BINDINGS;

/// Rows for each step of the wheel.
const WHEEL: isize = 3;

/// Part of the crawler that the keys act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Open screen, and the screens that the recording has.
    Screen(Screen, Screens),
    /// The prompt.
    Prompt,
    /// The palette of commands.
    Palette,
    /// The help.
    Help,
    /// The guide. A key without a command in it is one of the screen.
    Guide,
}

/// Key, alone or together with Control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Code of the key; `Null` for a command without a key.
    pub code: KeyCode,
    /// True together with Control.
    pub control: bool,
}

/// Part of the crawler in which a binding is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyScope {
    /// On every screen.
    Screens,
    /// On the screen of events.
    Events,
    /// On all other screens.
    Rows,
    /// On the screens with columns of method profilers.
    Tables,
    /// On the screens whose rows can be sorted.
    Sorted,
    /// On the screens with rows that unfold.
    Trees,
    /// On the screen of subjects.
    Subjects,
    /// On the screens of events and of subjects.
    WithSubjects,
    /// On the screen of lanes.
    Lanes,
    /// On the screen of browsers.
    Browser,
    /// On the screen of productions.
    Productions,
    /// On every screen, if the recording has productions.
    IfProductions,
    /// On the screen of the structure.
    Structure,
    /// On every screen, if the recording has methods.
    IfStructure,
    /// On the screen of the blueprint.
    Blueprint,
    /// In the prompt.
    Prompt,
    /// In the palette.
    Palette,
    /// In the help.
    Help,
    /// While a guide is open.
    Guide,
}

/// Key and its command.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Part of the crawler in which the binding is active.
    pub place: KeyScope,
    /// Key that runs the command.
    pub key: Key,
    /// Command that the key runs.
    pub command: Command,
    /// Name of the command in the palette; empty for a further key of the previous command.
    pub name: &'static str,
    /// Sentence for the help; empty if the line of the previous command covers it.
    pub help: &'static str,
    /// Word for the argument of the command in the palette, such as a name or a file; empty if
    /// there is none.
    pub argument: &'static str,
    /// Word for the bottom line; empty if it is not shown there.
    pub hint: &'static str,
}

impl KeyScope {
    /// Describes the place in words: `on every screen`.
    pub fn name(self) -> &'static str {
        match self {
            KeyScope::Screens => "on every screen",
            KeyScope::Events => "on the screen of events",
            KeyScope::Rows => "on the other screens",
            KeyScope::Tables => "on a screen with columns of profilers",
            KeyScope::Sorted => "on a screen with a table",
            KeyScope::Trees => "on the screens of the structure and of functions",
            KeyScope::Subjects => "on the screen of subjects",
            KeyScope::WithSubjects => "on the screens of events and of subjects",
            KeyScope::Lanes => "on the screen of lanes",
            KeyScope::Browser => "on the screen of browsers",
            KeyScope::Productions => "on the screen of productions",
            KeyScope::IfProductions => "the recording has no productions",
            KeyScope::Structure => "on the screen of the structure",
            KeyScope::IfStructure => "the recording has no methods",
            KeyScope::Blueprint => "on the screen of the blueprint",
            KeyScope::Prompt => "in the prompt",
            KeyScope::Palette => "among the commands",
            KeyScope::Help => "in the help",
            KeyScope::Guide => "in the guide",
        }
    }

    /// Returns true for the screens, and false for the panels that open over them.
    pub(crate) fn is_on_screens(self) -> bool {
        !matches!(self, KeyScope::Prompt | KeyScope::Palette | KeyScope::Help | KeyScope::Guide)
    }

    /// Returns true if a binding of this place is active in a mode.
    pub fn contains(self, mode: Mode) -> bool {
        match (self, mode) {
            (KeyScope::Prompt, Mode::Prompt)
            | (KeyScope::Palette, Mode::Palette)
            | (KeyScope::Help, Mode::Help) => true,
            (KeyScope::Guide, Mode::Guide) => true,
            (KeyScope::Screens, Mode::Screen(..))
            | (KeyScope::Events, Mode::Screen(Screen::Events, _)) => true,
            (KeyScope::Rows, Mode::Screen(screen, _)) => screen != Screen::Events,
            (KeyScope::Tables, Mode::Screen(screen, _)) => {
                matches!(screen, Screen::Subjects | Screen::Sites | Screen::Structure)
            }
            (KeyScope::Sorted, Mode::Screen(screen, _)) => {
                matches!(
                    screen,
                    Screen::Subjects | Screen::Sites | Screen::Structure | Screen::Functions
                )
            }
            (KeyScope::Trees, Mode::Screen(screen, _)) => {
                matches!(screen, Screen::Structure | Screen::Functions)
            }
            (KeyScope::Subjects, Mode::Screen(screen, _)) => screen == Screen::Subjects,
            (KeyScope::WithSubjects, Mode::Screen(screen, _)) => {
                matches!(screen, Screen::Events | Screen::Subjects)
            }
            (KeyScope::Lanes, Mode::Screen(screen, _)) => screen == Screen::Lanes,
            (KeyScope::Browser, Mode::Screen(screen, _)) => screen == Screen::Browser,
            (KeyScope::Productions, Mode::Screen(screen, _)) => screen == Screen::Productions,
            (KeyScope::IfProductions, Mode::Screen(_, screens)) => {
                screens.contains(&Screen::Productions)
            }
            (KeyScope::Structure, Mode::Screen(screen, _)) => screen == Screen::Structure,
            (KeyScope::Blueprint, Mode::Screen(screen, _)) => screen == Screen::Blueprint,
            (KeyScope::IfStructure, Mode::Screen(_, screens)) => {
                screens.contains(&Screen::Structure)
            }
            _ => false,
        }
    }
}

/// Returns the command of a mouse event; `None` if it has none.
pub fn mouse(event: MouseEvent) -> Option<Command> {
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            Some(Command::Click { column: event.column, row: event.row })
        }
        MouseEventKind::ScrollUp => {
            Some(Command::Wheel { column: event.column, row: event.row, by: -WHEEL })
        }
        MouseEventKind::ScrollDown => {
            Some(Command::Wheel { column: event.column, row: event.row, by: WHEEL })
        }
        _ => None,
    }
}

/// Line of the help: the keys of a command, and its description.
pub struct HelpLine {
    /// Keys, as they are shown.
    pub keys: String,
    /// Description of the command.
    pub help: String,
}

/// Returns the name of a key on screen: `↑`, `^D`. A command without a key has an empty name.
pub fn name(key: Key) -> String {
    match key.code {
        KeyCode::Char(c) if key.control => format!("^{}", c.to_ascii_uppercase()),
        KeyCode::Up => "↑".into(),
        KeyCode::Down => "↓".into(),
        KeyCode::Left => "←".into(),
        KeyCode::Right => "→".into(),
        KeyCode::Enter => "↵".into(),
        KeyCode::Backspace => "⌫".into(),
        KeyCode::Char(' ') => "␣".into(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Tab => "Tab".into(),
        KeyCode::BackTab => "⇧Tab".into(),
        KeyCode::PageUp => "PgUp".into(),
        KeyCode::PageDown => "PgDn".into(),
        KeyCode::F(number) => format!("F{number}"),
        KeyCode::Null => String::new(),
        code => format!("{code:?}"),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::{KeyEvent, KeyModifiers};

    use super::*;

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    #[test]
    fn no_key_has_two_commands_in_one_place() {
        for screen in Screen::ALL {
            let mode = Mode::Screen(screen, &Screen::ALL);
            let held: Vec<_> = BINDINGS.iter().filter(|b| b.place.contains(mode)).collect();
            for (at, binding) in held.iter().enumerate() {
                assert!(
                    held[..at].iter().all(|b| b.key != binding.key || b.key.code == KeyCode::Null),
                    "{:?} on {screen:?}",
                    binding.key
                );
            }
        }
    }

    #[test]
    fn a_letter_is_typed_into_the_prompt_and_a_command_elsewhere() {
        assert_eq!(
            Keys::default()
                .command(key(KeyCode::Char('c')), Mode::Screen(Screen::Events, &Screen::ALL)),
            Some(Command::GoToCause)
        );
        assert_eq!(
            Keys::default()
                .command(key(KeyCode::Char('c')), Mode::Screen(Screen::Sites, &Screen::ALL)),
            None
        );
        assert_eq!(
            Keys::default().command(key(KeyCode::Char('c')), Mode::Prompt),
            Some(Command::Type('c'))
        );
    }

    #[test]
    fn every_command_has_a_name_of_its_own_in_each_place() {
        for screen in Screen::ALL {
            let mode = Mode::Screen(screen, &Screen::ALL);
            let named: Vec<_> =
                BINDINGS.iter().filter(|b| b.place.contains(mode) && !b.name.is_empty()).collect();
            for (at, binding) in named.iter().enumerate() {
                assert!(
                    named[..at].iter().all(|b| b.name != binding.name),
                    "{} on {screen:?}",
                    binding.name
                );
            }
        }
    }

    #[test]
    fn a_key_is_offered_only_where_it_does_something() {
        let on = |c, screen| {
            Keys::default().command(key(KeyCode::Char(c)), Mode::Screen(screen, &Screen::ALL))
        };
        assert_eq!(on('>', Screen::Sites), Some(Command::SortNext));
        assert_eq!(on('>', Screen::Lanes), None);
        assert_eq!(on('n', Screen::Subjects), Some(Command::NeverObserved));
        assert_eq!(on('n', Screen::Sites), None);
        assert_eq!(on('n', Screen::Productions), Some(Command::NextUncovered));
        assert_eq!(on('n', Screen::Structure), Some(Command::NextUncovered));
    }

    #[test]
    fn only_recordings_with_productions_have_a_key_for_them() {
        let eight = |screens| {
            Keys::default().command(key(KeyCode::Char('8')), Mode::Screen(Screen::Events, screens))
        };
        assert_eq!(eight(&Screen::ALL), Some(Command::Show(Screen::Productions)));
        assert_eq!(eight(&[Screen::Events, Screen::Sites]), None);
    }

    #[test]
    fn a_screen_has_the_key_before_its_name() {
        for screen in Screen::ALL {
            let mode = Mode::Screen(Screen::Events, &Screen::ALL);
            assert_eq!(
                Keys::default().command(key(KeyCode::Char(screen.digit())), mode),
                Some(Command::Show(screen))
            );
        }
    }

    #[test]
    fn every_key_of_a_screen_is_in_its_help() {
        for screen in Screen::ALL {
            let shown: String = Keys::default()
                .help(screen, &Screen::ALL)
                .iter()
                .map(|line| format!("{} ", line.keys))
                .collect();
            let active =
                BINDINGS.iter().filter(|b| b.place.contains(Mode::Screen(screen, &Screen::ALL)));
            for binding in active.filter(|b| b.key.code != KeyCode::Null) {
                assert!(
                    shown.split(' ').any(|key| key == name(binding.key).trim()),
                    "{:?}",
                    binding.key
                );
            }
        }
    }
}
