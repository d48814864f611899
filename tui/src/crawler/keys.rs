//! Keys become commands. One table feeds dispatch, the help screen and the hints at the bottom.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::command::{Command, Screen, Screens, Step};

/// Rows for each step of the wheel.
const WHEEL: isize = 3;

/// What the keys act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A screen, out of these.
    Screen(Screen, Screens),
    /// The prompt.
    Prompt,
    /// The help.
    Help,
}

/// Where a binding is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On every screen.
    Screens,
    /// On the screen of events.
    Events,
    /// On all other screens.
    Rows,
    /// On the screens with a table that can be sorted.
    Tables,
    /// On the screen of subjects.
    Subjects,
    /// On the screen of productions.
    Productions,
    /// On every screen, if the recording has productions.
    IfProductions,
    /// On the screen of the structure.
    Structure,
    /// On every screen, if the recording has methods.
    IfStructure,
    /// In the prompt.
    Prompt,
    /// In the help.
    Help,
}

/// A key and its command.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Where it is active.
    pub place: Place,
    /// The key.
    pub key: KeyCode,
    /// The command.
    pub command: Command,
    /// The sentence for the help; empty for a second key of the previous command.
    pub help: &'static str,
    /// The word for the bottom line; empty if it is not shown there.
    pub hint: &'static str,
}

const fn bind(place: Place, key: KeyCode, command: Command, help: &'static str, hint: &'static str) -> Binding {
    Binding { place, key, command, help, hint }
}

/// The bindings, in the order in which the help shows them.
pub const BINDINGS: &[Binding] = {
    use Command::*;
    use KeyCode::{
        BackTab, Backspace, Char, Down, End, Enter as Return, Esc, Home, Left, PageDown, PageUp, Right, Tab, Up,
    };
    use Place::{
        Events, Help as InHelp, IfProductions, IfStructure, Productions, Prompt, Rows, Screens, Structure, Subjects,
        Tables,
    };
    &[
        bind(Screens, Up, Move(Step::Up), "up, down", "↓ move"),
        bind(Screens, Down, Move(Step::Down), "", ""),
        bind(Screens, Char('k'), Move(Step::Up), "", ""),
        bind(Screens, Char('j'), Move(Step::Down), "", ""),
        bind(Screens, PageUp, Move(Step::PageUp), "a page up, a page down", ""),
        bind(Screens, PageDown, Move(Step::PageDown), "", ""),
        bind(Screens, Home, Move(Step::First), "first row, last row", ""),
        bind(Screens, End, Move(Step::Last), "", ""),
        bind(Screens, Char('g'), Move(Step::First), "", ""),
        bind(Screens, Char('G'), Move(Step::Last), "", ""),
        bind(Tables, Char('p'), NextProfile, "columns of the next method profiler", "profile"),
        bind(Events, Right, GoToEffects, "effects; in the pane: the event of the row", "effects"),
        bind(Events, Left, GoToCause, "cause; in the pane: back to the list", "cause"),
        bind(Events, Char('c'), GoToCause, "", ""),
        bind(Structure, Right, Unfold, "unfold; if unfolded: first child", "unfold"),
        bind(Structure, Left, Fold, "fold; if folded: parent", "fold"),
        bind(Structure, Char('+'), UnfoldAll, "unfold all, fold all methods", ""),
        bind(Structure, Char('-'), FoldAll, "", ""),
        bind(Screens, Backspace, Back, "back to the previous view, as it was", "back"),
        bind(Screens, Char('['), Back, "", ""),
        bind(Screens, Char(']'), Forward, "forward", ""),
        bind(Events, Char('s'), GoToSubject, "all events of this subject", "subject"),
        bind(Rows, Return, Enter, "events of this row", "its events"),
        bind(Events, Return, Enter, "into the pane; there: the event of the row", ""),
        bind(Events, Tab, NextTab, "next tab of the pane", ""),
        bind(Events, BackTab, PreviousTab, "previous tab", ""),
        bind(Screens, Char('1'), Show(Screen::Events), "screens", ""),
        bind(Screens, Char('2'), Show(Screen::Subjects), "", ""),
        bind(Screens, Char('3'), Show(Screen::Sites), "", ""),
        bind(Screens, Char('4'), Show(Screen::Lanes), "", ""),
        bind(IfProductions, Char('5'), Show(Screen::Productions), "", ""),
        bind(IfStructure, Char('6'), Show(Screen::Structure), "", ""),
        bind(Screens, Char('/'), Search, "search; empty: repeat the last search", "search"),
        bind(Events, Char('n'), NextMatch, "next match", ""),
        bind(Events, Char('N'), PreviousMatch, "previous match", ""),
        bind(Screens, Char('f'), EditFilter, "filter: site: subject: took: outcome: cause: lane:", "filter"),
        bind(Events, Char('m'), Mark, "set or remove a mark", "mark"),
        bind(Events, Char('\''), NextMark, "next mark", ""),
        bind(Screens, Char(' '), Pause, "pause or continue a live recording", "pause"),
        bind(Events, Char('F'), Follow, "follow: select the newest event as it arrives", ""),
        bind(Screens, Char('e'), OpenSource, "open the source in $EDITOR", ""),
        bind(Tables, Char('>'), SortNext, "sort by the next column", "sort"),
        bind(Tables, Char('<'), SortPrevious, "sort by the previous column", ""),
        bind(Tables, Char('r'), SortReverse, "reverse the order", ""),
        bind(Subjects, Char('n'), NeverObserved, "list the subjects that were never observed", "never observed"),
        bind(Productions, Char('n'), NextUncovered, "next rule that never matched", "uncovered"),
        bind(Structure, Char('n'), NextUncovered, "next method that never ran", "never ran"),
        bind(Screens, Esc, Leave, "leave the pane; then remove the filter", ""),
        bind(Screens, Char('?'), Help, "keys of this screen", "help"),
        bind(Screens, Char('q'), Quit, "quit", "quit"),
        bind(Prompt, Return, Enter, "", "accept"),
        bind(Prompt, Esc, Leave, "", "cancel"),
        bind(Prompt, Backspace, Erase, "", ""),
        bind(InHelp, Up, Move(Step::Up), "", "↓ move"),
        bind(InHelp, Down, Move(Step::Down), "", ""),
        bind(InHelp, PageUp, Move(Step::PageUp), "", ""),
        bind(InHelp, PageDown, Move(Step::PageDown), "", ""),
        bind(InHelp, Home, Move(Step::First), "", ""),
        bind(InHelp, End, Move(Step::Last), "", ""),
        bind(InHelp, Esc, Leave, "", "close"),
        bind(InHelp, Char('?'), Leave, "", ""),
        bind(InHelp, Char('q'), Leave, "", ""),
    ]
};

impl Place {
    fn contains(self, mode: Mode) -> bool {
        match (self, mode) {
            (Place::Prompt, Mode::Prompt) | (Place::Help, Mode::Help) => true,
            (Place::Screens, Mode::Screen(..)) | (Place::Events, Mode::Screen(Screen::Events, _)) => true,
            (Place::Rows, Mode::Screen(screen, _)) => screen != Screen::Events,
            (Place::Tables, Mode::Screen(screen, _)) => {
                matches!(screen, Screen::Subjects | Screen::Sites | Screen::Structure)
            }
            (Place::Subjects, Mode::Screen(screen, _)) => screen == Screen::Subjects,
            (Place::Productions, Mode::Screen(screen, _)) => screen == Screen::Productions,
            (Place::IfProductions, Mode::Screen(_, screens)) => screens.contains(&Screen::Productions),
            (Place::Structure, Mode::Screen(screen, _)) => screen == Screen::Structure,
            (Place::IfStructure, Mode::Screen(_, screens)) => screens.contains(&Screen::Structure),
            _ => false,
        }
    }
}

/// The command of a key in this mode.
pub fn command(key: KeyEvent, mode: Mode) -> Option<Command> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match (key.code, mode) {
            (KeyCode::Char('c'), _) => Some(Command::Quit),
            (KeyCode::Char('u'), Mode::Prompt) => Some(Command::ClearPrompt),
            (KeyCode::Char('u'), _) => Some(Command::Move(Step::PageUp)),
            (KeyCode::Char('d'), _) => Some(Command::Move(Step::PageDown)),
            _ => None,
        };
    }
    let bound = BINDINGS.iter().find(|binding| binding.place.contains(mode) && binding.key == key.code);
    match (bound, key.code, mode) {
        (Some(binding), _, _) => Some(binding.command),
        (None, KeyCode::Char(c), Mode::Prompt) => Some(Command::Type(c)),
        _ => None,
    }
}

/// The command of a mouse event.
pub fn mouse(event: MouseEvent) -> Option<Command> {
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Command::Click { column: event.column, row: event.row }),
        MouseEventKind::ScrollUp => Some(Command::Wheel { column: event.column, row: event.row, by: -WHEEL }),
        MouseEventKind::ScrollDown => Some(Command::Wheel { column: event.column, row: event.row, by: WHEEL }),
        _ => None,
    }
}

/// The bindings for the bottom line of this mode.
pub fn hints(mode: Mode) -> impl Iterator<Item = &'static Binding> {
    BINDINGS.iter().filter(move |binding| binding.place.contains(mode) && !binding.hint.is_empty())
}

/// A line of the help: the keys of a command, and what it does.
pub struct HelpLine {
    /// The keys, as they are shown.
    pub keys: String,
    /// What the command does.
    pub help: &'static str,
}

/// The help for a screen: every active binding, with all keys of one sentence together.
pub fn help(screen: Screen, screens: Screens) -> Vec<HelpLine> {
    let mut lines: Vec<HelpLine> = Vec::new();
    for binding in BINDINGS.iter().filter(|binding| binding.place.contains(Mode::Screen(screen, screens))) {
        match lines.last_mut() {
            Some(line) if binding.help.is_empty() => {
                line.keys.push(' ');
                line.keys.push_str(&name(binding.key));
            }
            _ => lines.push(HelpLine { keys: name(binding.key), help: binding.help }),
        }
    }
    lines
}

/// The name of a key on screen.
pub fn name(key: KeyCode) -> String {
    match key {
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
        key => format!("{key:?}"),
    }
}

#[cfg(test)]
mod tests {
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
                assert!(held[..at].iter().all(|b| b.key != binding.key), "{:?} on {screen:?}", binding.key);
            }
        }
    }

    #[test]
    fn a_letter_is_typed_into_the_prompt_and_a_command_elsewhere() {
        assert_eq!(
            command(key(KeyCode::Char('c')), Mode::Screen(Screen::Events, &Screen::ALL)),
            Some(Command::GoToCause)
        );
        assert_eq!(command(key(KeyCode::Char('c')), Mode::Screen(Screen::Sites, &Screen::ALL)), None);
        assert_eq!(command(key(KeyCode::Char('c')), Mode::Prompt), Some(Command::Type('c')));
    }

    #[test]
    fn a_key_is_offered_only_where_it_does_something() {
        let on = |c, screen| command(key(KeyCode::Char(c)), Mode::Screen(screen, &Screen::ALL));
        assert_eq!(on('>', Screen::Sites), Some(Command::SortNext));
        assert_eq!(on('>', Screen::Lanes), None);
        assert_eq!(on('n', Screen::Subjects), Some(Command::NeverObserved));
        assert_eq!(on('n', Screen::Sites), None);
        assert_eq!(on('n', Screen::Productions), Some(Command::NextUncovered));
        assert_eq!(on('n', Screen::Structure), Some(Command::NextUncovered));
    }

    #[test]
    fn only_recordings_with_productions_have_a_key_for_them() {
        let five = |screens| command(key(KeyCode::Char('5')), Mode::Screen(Screen::Events, screens));
        assert_eq!(five(&Screen::ALL), Some(Command::Show(Screen::Productions)));
        assert_eq!(five(&[Screen::Events, Screen::Sites]), None);
    }

    #[test]
    fn a_screen_has_the_key_before_its_name() {
        for screen in Screen::ALL {
            let mode = Mode::Screen(Screen::Events, &Screen::ALL);
            assert_eq!(command(key(KeyCode::Char(screen.digit())), mode), Some(Command::Show(screen)));
        }
    }

    #[test]
    fn every_key_of_a_screen_is_in_its_help() {
        for screen in Screen::ALL {
            let shown: String = help(screen, &Screen::ALL).iter().map(|line| format!("{} ", line.keys)).collect();
            for binding in BINDINGS.iter().filter(|b| b.place.contains(Mode::Screen(screen, &Screen::ALL))) {
                assert!(shown.split(' ').any(|key| key == name(binding.key).trim()), "{:?}", binding.key);
            }
        }
    }
}
