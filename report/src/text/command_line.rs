//! Commands as a person pastes them.

/// Writes words as a command line that a POSIX shell splits into the same words.
pub fn command_line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    // In some shells `#` begins a comment, and `=` at the beginning names a command.
    let is_plain_word = !word.is_empty()
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:=,@%+#".contains(c))
        && !word.starts_with(['#', '=']);
    if is_plain_word { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_into_the_same_words() {
        let line = command_line([
            "metaspy",
            "report",
            "a b.spy",
            "--filter",
            "site:Scene::*",
            "it's",
            "",
            "#5",
        ]);
        assert_eq!(line, r"metaspy report 'a b.spy' --filter 'site:Scene::*' 'it'\''s' '' '#5'");
    }
}
