//! Themes, by name.

/// Choice of colours. `draw/theme.rs` has the colours of each theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The sixteen colours of the terminal, as its user has chosen them.
    #[default]
    Terminal,
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
    /// Colours that people with any kind of colour vision can distinguish.
    ColourBlind,
    /// No colours: bold and reversed text only.
    Plain,
}

impl Theme {
    /// All themes.
    pub const ALL: [Theme; 5] =
        [Theme::Terminal, Theme::Dark, Theme::Light, Theme::ColourBlind, Theme::Plain];

    /// Returns the name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Terminal => "terminal",
            Theme::Dark => "dark",
            Theme::Light => "light",
            Theme::ColourBlind => "colour-blind",
            Theme::Plain => "plain",
        }
    }

    /// Finds the theme with this name. The error lists the names.
    pub fn named(name: &str) -> Result<Theme, String> {
        let found = Theme::ALL.into_iter().find(|theme| theme.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Theme::ALL.iter().map(|theme| theme.name()).collect();
            format!("no theme is named `{name}`: choose one of {}", names.join(", "))
        })
    }
}
