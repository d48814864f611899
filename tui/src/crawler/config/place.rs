//! Error messages about a TOML file, with line and column.

/// Formats an error of the parser: `config.toml:2:9: …`.
pub(crate) fn with_place(file: &str, text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start);
    sentence(file, text, at, error.message())
}

/// Formats an error at a byte of the text.
pub fn sentence(file: &str, text: &str, at: usize, error: &str) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("{file}:{line}:{column}: {}", error.trim().replace('\n', ", "))
}
