//! Keys of a crawler: the keys of the table, and the keys that a user chose instead.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{BINDINGS, Binding, HelpLine, Key, KeyScope, Mode, name};
use crate::crawler::command::{Command, Screen, Screens};

/// Keys that a user chose for a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebinding {
    /// Name of the command, as in the palette.
    pub command: String,
    /// Keys that replace the keys of the table.
    pub keys: Vec<Key>,
}

/// Bindings of a crawler, in the order in which the help shows them.
#[derive(Clone, Debug)]
pub struct Keys(Vec<Binding>);

impl Default for Keys {
    fn default() -> Self {
        Keys(BINDINGS.to_vec())
    }
}

impl Keys {
    /// Returns all bindings.
    pub fn bindings(&self) -> &[Binding] {
        &self.0
    }

    /// Returns the command of a key in this mode.
    pub fn command(&self, key: KeyEvent, mode: Mode) -> Option<Command> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let pressed = Key { code: key.code, control };
        let is_bound = |binding: &&Binding| binding.place.contains(mode) && binding.key == pressed;
        let bound = self.0.iter().find(is_bound).filter(|_| key.code != KeyCode::Null);
        match (bound, key.code, mode) {
            (Some(binding), _, _) => Some(binding.command),
            (None, KeyCode::Char(c), Mode::Prompt | Mode::Palette) if !control => {
                Some(Command::Type(c))
            }
            _ => None,
        }
    }

    /// Iterates over the bindings for the bottom line of this mode.
    pub fn hints(&self, mode: Mode) -> impl Iterator<Item = &Binding> {
        self.0
            .iter()
            .filter(|binding| binding.key.code != KeyCode::Null)
            .filter(move |it| it.place.contains(mode) && !it.hint.is_empty())
    }

    /// Builds the help for a screen: every active binding, with all keys of a sentence together.
    pub fn help(&self, screen: Screen, screens: Screens) -> Vec<HelpLine> {
        let mut lines: Vec<HelpLine> = Vec::new();
        for binding in
            self.0.iter().filter(|binding| binding.place.contains(Mode::Screen(screen, screens)))
        {
            match lines.last_mut() {
                Some(line) if binding.help.is_empty() => {
                    line.keys = format!("{} {}", line.keys, name(binding.key)).trim().to_owned();
                }
                _ => lines.push(HelpLine { keys: name(binding.key), help: binding.help.into() }),
            }
        }
        lines.retain(|line| !line.keys.is_empty());
        lines
    }

    /// Explains why a key has no command on a screen. Returns `None` in a prompt, in the palette
    /// and in the help.
    pub fn refusal(&self, key: KeyEvent, mode: Mode) -> Option<String> {
        let Mode::Screen(..) = mode else { return None };
        let pressed =
            Key { code: key.code, control: key.modifiers.contains(KeyModifiers::CONTROL) };
        let elsewhere = self.0.iter().find(|it| it.key == pressed && it.place.is_on_screens());
        let key = name(pressed);
        Some(match elsewhere {
            Some(Binding {
                place: place @ (KeyScope::IfProductions | KeyScope::IfStructure),
                ..
            }) => {
                format!("`{key}`: {}", place.name())
            }
            Some(binding) => format!("`{key}` works {}", binding.place.name()),
            None => format!("no command has the key `{key}`: ? lists the keys"),
        })
    }

    /// Gives a command other keys. A key that another command of the same screens uses moves to
    /// this command.
    ///
    /// # Errors
    ///
    /// If no command has this name, or if a screen could not be left without the old key.
    pub(crate) fn rebind(&mut self, rebinding: &Rebinding) -> Result<(), String> {
        let is_named =
            |binding: &Binding| binding.name == rebinding.command && binding.place.is_on_screens();
        if !self.0.iter().any(is_named) {
            return Err(format!("no command is named `{}`: `:` lists all", rebinding.command));
        }
        if rebinding.keys.contains(&Key { code: KeyCode::Char('c'), control: true }) {
            return Err("`^C` always quits: choose another key".to_owned());
        }
        let mut at = 0;
        while let Some(place) = self.0[at..].iter().position(is_named).map(|found| at + found) {
            let named = self.0[place];
            let behind = place + 1;
            // Further keys of the same command follow it. `^C` stays.
            let further = self.0[behind..]
                .iter()
                .take_while(|it| it.name.is_empty() && it.command == named.command);
            let kept = further
                .clone()
                .copied()
                .filter(|it| it.key.control && it.key.code == KeyCode::Char('c'));
            let (kept, end): (Vec<Binding>, usize) = (kept.collect(), behind + further.count());
            for other in &mut self.0 {
                if rebinding.keys.contains(&other.key) && overlap(other.place, named.place) {
                    other.key = Key { code: KeyCode::Null, control: false };
                }
            }
            let none = Key { code: KeyCode::Null, control: false };
            let first = Binding { key: rebinding.keys.first().copied().unwrap_or(none), ..named };
            let more = rebinding
                .keys
                .iter()
                .skip(1)
                .map(|key| Binding { key: *key, ..further_key(named) });
            let new: Vec<Binding> = std::iter::once(first).chain(more).chain(kept).collect();
            at = place + new.len();
            self.0.splice(place..end, new);
        }
        Ok(())
    }
}

/// Makes the binding of a further key of a command.
fn further_key(of: Binding) -> Binding {
    Binding { name: "", help: "", hint: "", argument: "", ..of }
}

/// Returns true if a screen has bindings of both places.
fn overlap(a: KeyScope, b: KeyScope) -> bool {
    let modes = Screen::ALL.map(|screen| Mode::Screen(screen, &Screen::ALL));
    modes.into_iter().any(|mode| a.contains(mode) && b.contains(mode))
}

impl Key {
    /// Parses the name of a key: as it is shown (`n`, `^D`, `↵`, `Tab`), or in words (`ctrl-d`,
    /// `enter`, `space`, `f5`).
    ///
    /// # Errors
    ///
    /// If no key has this name.
    pub fn named(text: &str) -> Result<Key, String> {
        let lower = text.to_lowercase();
        let letter =
            lower.strip_prefix("ctrl-").or(lower.strip_prefix('^')).filter(|rest| !rest.is_empty());
        let key = |code, control| Ok(Key { code, control });
        if let Some(Ok(letter)) = letter.map(one_letter) {
            return key(KeyCode::Char(letter), true);
        }
        match lower.as_str() {
            "enter" | "↵" => key(KeyCode::Enter, false),
            "backspace" | "⌫" => key(KeyCode::Backspace, false),
            "space" | "␣" => key(KeyCode::Char(' '), false),
            "up" | "↑" => key(KeyCode::Up, false),
            "down" | "↓" => key(KeyCode::Down, false),
            "left" | "←" => key(KeyCode::Left, false),
            "right" | "→" => key(KeyCode::Right, false),
            "tab" => key(KeyCode::Tab, false),
            "shift-tab" | "⇧tab" => key(KeyCode::BackTab, false),
            "esc" => key(KeyCode::Esc, false),
            "home" => key(KeyCode::Home, false),
            "end" => key(KeyCode::End, false),
            "pageup" | "pgup" => key(KeyCode::PageUp, false),
            "pagedown" | "pgdn" => key(KeyCode::PageDown, false),
            "insert" => key(KeyCode::Insert, false),
            "delete" => key(KeyCode::Delete, false),
            other => match (
                other.strip_prefix('f').and_then(|number| number.parse::<u8>().ok()),
                one_letter(text),
            ) {
                (Some(number @ 1..=12), _) => key(KeyCode::F(number), false),
                (_, Ok(letter)) => key(KeyCode::Char(letter), false),
                _ => Err(format!(
                    "`{text}` is no key: write `n`, `ctrl-d`, `enter`, `space` or `f5`"
                )),
            },
        }
    }
}

/// Returns the only character of a text.
fn one_letter(text: &str) -> Result<char, ()> {
    let mut letters = text.chars();
    letters.next().filter(|_| letters.next().is_none()).ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(command: &str, chosen: &[&str]) -> Keys {
        let mut keys = Keys::default();
        let chosen = chosen.iter().map(|key| Key::named(key).expect("a key")).collect();
        keys.rebind(&Rebinding { command: command.into(), keys: chosen }).expect("a command");
        keys
    }

    fn on(keys: &Keys, code: KeyCode, screen: Screen) -> Option<Command> {
        keys.command(KeyEvent::new(code, KeyModifiers::NONE), Mode::Screen(screen, &Screen::ALL))
    }

    #[test]
    fn a_command_has_the_chosen_keys_only_and_others_lose_them() {
        let keys = keys("filter", &["f3", "k"]);
        assert_eq!(on(&keys, KeyCode::F(3), Screen::Sites), Some(Command::EditFilter));
        assert_eq!(on(&keys, KeyCode::Char('k'), Screen::Sites), Some(Command::EditFilter));
        assert_eq!(on(&keys, KeyCode::Char('f'), Screen::Sites), None);
        assert_eq!(
            on(&keys, KeyCode::Up, Screen::Sites),
            Some(Command::Move(crate::crawler::command::Step::Up)),
            "the other key of the command stays"
        );
        let line = |help| {
            keys.help(Screen::Sites, &Screen::ALL).into_iter().find(|line| line.help == help)
        };
        assert_eq!(
            line("filter: site: subject: took: outcome: cause: lane:").map(|line| line.keys),
            Some("F3 k".into())
        );
        assert_eq!(line("up, down").map(|line| line.keys), Some("↑ ↓ j".into()));
    }

    #[test]
    fn a_key_is_taken_only_on_the_screens_of_the_command() {
        let keys = keys("next tab", &["n"]);
        assert_eq!(on(&keys, KeyCode::Char('n'), Screen::Events), Some(Command::NextTab));
        assert_eq!(on(&keys, KeyCode::Char('n'), Screen::Browser), Some(Command::NextTab));
        assert_eq!(on(&keys, KeyCode::Char('n'), Screen::Subjects), Some(Command::NeverObserved));
    }

    #[test]
    fn control_c_quits_whatever_is_chosen() {
        let quit = keys("quit", &["f10"]);
        let pressed = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(
            quit.command(pressed, Mode::Screen(Screen::Events, &Screen::ALL)),
            Some(Command::Quit)
        );
        assert_eq!(on(&quit, KeyCode::Char('q'), Screen::Events), None);
        let taken =
            Rebinding { command: "filter".into(), keys: vec![Key::named("^c").expect("a key")] };
        assert_eq!(
            Keys::default().rebind(&taken),
            Err("`^C` always quits: choose another key".into())
        );
    }

    #[test]
    fn every_key_is_read_as_it_is_shown() {
        for binding in BINDINGS.iter().filter(|binding| binding.key.code != KeyCode::Null) {
            assert_eq!(Key::named(&name(binding.key)), Ok(binding.key));
        }
        assert!(Key::named("").is_err() && Key::named("hyper-x").is_err());
    }
}
