//! Explanations of the kinds of findings: the statement of each kind, its importance and its
//! errors, from the sections of `docs/findings.md`.

/// Text of `docs/findings.md`. The included file is a link to it, so both have the same text.
const DOCUMENT: &str = include_str!("explain.md");

/// Returns the section of a kind, without its heading.
pub fn explain(kind: &str) -> Option<&'static str> {
    sections().find(|(found, _)| *found == kind).map(|(_, text)| text)
}

/// Returns the statement of a kind, which is the first paragraph of its section.
pub fn statement(kind: &str) -> Option<&'static str> {
    explain(kind)?.split("\n\n").next()
}

/// Iterates over the kinds that the document explains, with their sections.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    DOCUMENT.split("\n## `").skip(1).filter_map(|section| {
        let (kind, text) = section.split_once("`\n")?;
        let end = text.find("\n## ").unwrap_or(text.len());
        Some((kind, text[..end].trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_explained_in_the_same_parts() {
        const PARTS: [&str; 5] = [
            "**Why it matters.**",
            "**Example.**",
            "**What to do.**",
            "**When it is wrong.**",
            "**To record.**",
        ];
        let explained: Vec<&str> = sections().map(|(kind, _)| kind).collect();
        for detector in super::super::detectors() {
            let kind = detector.kind();
            assert!(explained.contains(&kind), "docs/findings.md: write a section `{kind}`");
        }
        for (kind, text) in sections() {
            let places: Vec<Option<usize>> = PARTS.iter().map(|part| text.find(part)).collect();
            assert!(
                places.iter().all(Option::is_some) && places.is_sorted(),
                "`{kind}` has {PARTS:?} in this order"
            );
        }
    }
}
