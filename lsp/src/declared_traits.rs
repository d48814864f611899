//! Search for the traits that a file declares.

/// Returns the names of the traits that a file declares at the beginning of a line.
pub(crate) fn traits_in(text: &str) -> Vec<String> {
    let words = |line: &str| {
        let (header, rest) = line.split_once("trait ")?;
        let name = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
        let is_declared = header.trim().is_empty()
            || header.split_whitespace().all(|word| word == "unsafe" || word.starts_with("pub"));
        (is_declared && !name.is_empty()).then(|| name.to_owned())
    };
    // The first line may follow a byte order mark.
    text.trim_start_matches('\u{feff}').lines().filter_map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trait_is_declared_at_the_beginning_of_a_line() {
        let text = "\u{feff}trait A: B {\n    pub(crate) unsafe trait C<T> {}\n/// A trait D is\nlet x = \"trait E\"; // trait F\n";
        assert_eq!(traits_in(text), ["A", "C"]);
    }
}
