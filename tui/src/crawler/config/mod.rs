//! Configuration of a user: the theme, the editor, the keys, and filters with names.
//!
//! ```toml
//! # ~/.config/metaspy/config.toml
//! theme = "light"      # terminal, dark, light, colour-blind, plain
//! editor = "code -g"   # in place of $VISUAL and $EDITOR
//!
//! [keys]
//! filter = ["f3", "ctrl-l"]
//! ```
//!
//! The crawler itself writes `filters.toml` beside it: a name and a filter on each line.

pub mod browser;
mod files;
mod place;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::keys::{Key, Keys, Rebinding};
use super::theme::Theme;

pub use browser::Browser;
pub use files::{Files, directory};
pub(crate) use place::with_place;

/// Settings from `config.toml`.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Theme; `None` if the file does not set it.
    pub theme: Option<Theme>,
    /// Editor with its arguments; `None` if the file does not set it.
    pub editor: Option<String>,
    /// Keys: the defaults, with the changes from the file.
    pub keys: Keys,
}

/// Returns the browsers that are built into the crawler.
pub(crate) fn shipped_browsers() -> Vec<Browser> {
    let texts = [
        include_str!("../../../browsers/too-often.toml"),
        include_str!("../../../browsers/who-caused.toml"),
        include_str!("../../../browsers/who-asked.toml"),
        include_str!("../../../browsers/failures.toml"),
    ];
    parsed(&texts)
}

/// Returns the built-in layouts of the screens that are tables.
pub(crate) fn shipped_screens() -> Vec<Browser> {
    let texts = [
        include_str!("../../../browsers/screens/sites.toml"),
        include_str!("../../../browsers/screens/subjects.toml"),
        include_str!("../../../browsers/screens/productions.toml"),
        include_str!("../../../browsers/screens/structure.toml"),
    ];
    parsed(&texts)
}

fn parsed(texts: &[&str]) -> Vec<Browser> {
    texts.iter().filter_map(|text| Browser::parse("", text).ok()).collect()
}

/// Filters by name.
pub type Filters = BTreeMap<String, String>;

impl Config {
    /// Parses the text of `file`. An error names the file, the line and the column.
    pub fn parse(file: &str, text: &str) -> Result<Config, String> {
        let written: Written =
            toml::from_str(text).map_err(|error| with_place(file, text, &error))?;
        let theme = written
            .theme
            .map(|name| Theme::named(name.get_ref()).map_err(|error| (name.span().start, error)));
        let theme =
            theme.transpose().map_err(|(at, error)| place::sentence(file, text, at, &error))?;
        let mut keys = Keys::default();
        for (command, chosen) in written.keys {
            let at = chosen.span().start;
            let chosen = match chosen.into_inner() {
                WrittenKeys::One(key) => vec![key],
                WrittenKeys::Several(keys) => keys,
            };
            let chosen = chosen.iter().map(|key| Key::named(key)).collect::<Result<_, _>>();
            let bound = chosen.and_then(|chosen| keys.rebind(&Rebinding { command, keys: chosen }));
            bound.map_err(|error| place::sentence(file, text, at, &error))?;
        }
        Ok(Config { theme, editor: written.editor, keys })
    }

    /// Selects the theme: from the environment, from the configuration, or no colours if `NO_COLOR`
    /// is set. A terminal with few colours keeps its own colours, and a terminal that reports a
    /// light background gets the light theme.
    pub(crate) fn chosen_theme(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Theme, String> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(name) = variable("METASPY_THEME") {
            return Theme::named(&name);
        }
        let many = variable("COLORTERM").is_some()
            || variable("TERM").is_some_and(|term| {
                ["256", "kitty", "direct"].iter().any(|word| term.contains(word))
            });
        Ok(match (self.theme, variable("NO_COLOR")) {
            (Some(theme), _) if many || theme == Theme::Plain => theme,
            (None, Some(_)) => Theme::Plain,
            (None, None)
                if many && variable("COLORFGBG").is_some_and(|colours| is_light(&colours)) =>
            {
                Theme::Light
            }
            _ => Theme::Terminal,
        })
    }
}

/// Returns true if the background is a light colour among the sixteen. rxvt and others set
/// `COLORFGBG` to `0;15`, or with a colour between both. Vim has the same rule: 0 to 6 and 8 are
/// dark.
fn is_light(colours: &str) -> bool {
    let background = colours.rsplit(';').next().and_then(|number| number.parse::<u8>().ok());
    background.is_some_and(|number| matches!(number, 7 | 9..=15))
}

/// Configuration file, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    theme: Option<toml::Spanned<String>>,
    editor: Option<String>,
    #[serde(default)]
    keys: BTreeMap<String, toml::Spanned<WrittenKeys>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "write a key, or several: `[\"n\", \"f3\"]`")]
enum WrittenKeys {
    One(String),
    Several(Vec<String>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theme(config: &str, variables: &[(&str, &str)]) -> Result<Theme, String> {
        let config = Config::parse("config.toml", config)?;
        config.chosen_theme(|name| {
            variables.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).into())
        })
    }

    #[test]
    fn the_environment_precedes_the_file_and_no_color_gives_way_to_both() {
        let many = ("TERM", "xterm-256color");
        assert_eq!(theme("", &[many]), Ok(Theme::Terminal));
        assert_eq!(theme("", &[many, ("NO_COLOR", "1")]), Ok(Theme::Plain));
        assert_eq!(theme("", &[many, ("NO_COLOR", "")]), Ok(Theme::Terminal));
        assert_eq!(theme("theme = 'light'", &[many, ("NO_COLOR", "1")]), Ok(Theme::Light));
        assert_eq!(theme("theme = 'light'", &[many, ("METASPY_THEME", "dark")]), Ok(Theme::Dark));
        assert_eq!(theme("theme = 'light'", &[("TERM", "linux")]), Ok(Theme::Terminal));
        assert_eq!(theme("", &[many, ("COLORFGBG", "0;default;15")]), Ok(Theme::Light));
        assert_eq!(theme("", &[many, ("COLORFGBG", "15;0")]), Ok(Theme::Terminal));
        assert_eq!(theme("theme = 'dark'", &[many, ("COLORFGBG", "0;15")]), Ok(Theme::Dark));
    }

    #[test]
    fn a_wrong_line_is_reported_with_its_place() {
        let error = |text: &str| Config::parse("config.toml", text).expect_err("it is wrong");
        assert_eq!(
            error("editor = 'vi'\ntheme = 'dusk'"),
            "config.toml:2:9: no theme is named `dusk`: choose one of terminal, dark, light, colour-blind, plain"
        );
        assert!(
            error("\ncolour = 1").starts_with("config.toml:2:1: unknown field `colour`"),
            "{}",
            error("\ncolour = 1")
        );
        assert_eq!(
            error("[keys]\nfilter = 'f3'\nfliter = 'f'"),
            "config.toml:3:10: no command is named `fliter`: `:` lists all"
        );
        assert!(
            error("keys.filter = ['f3', 'hyper-x']")
                .starts_with("config.toml:1:15: `hyper-x` is no key: write")
        );
        assert!(error("theme = ").starts_with("config.toml:1:9: "), "{}", error("theme = "));
    }
}
