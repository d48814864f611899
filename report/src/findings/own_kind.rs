//! Kinds that a user defines, as the section `[[findings.own]]` of `metaspy.toml` states them.

use serde::Deserialize;

use crate::condition::Condition;

/// Kind of findings that a user defines.
#[derive(Clone, Debug)]
pub struct OwnKind {
    name: String,
    pub(super) by: Vec<GroupBy>,
    pub(super) when: Condition,
    pub(super) title: String,
    pub(super) advice: String,
}

/// Section `[[findings.own]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnSection {
    kind: String,
    #[serde(default)]
    by: Vec<GroupBy>,
    when: String,
    title: String,
    #[serde(default)]
    advice: String,
}

/// Property that the events of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GroupBy {
    Site,
    Subject,
    /// Unit of work: the same frame, request or message.
    Unit,
    /// Direct cause of the events.
    Cause,
}

/// Words in braces that a title may have.
pub(super) const PLACEHOLDERS: [&str; 7] =
    ["site", "subject", "unit", "cause", "count", "total", "self"];

impl OwnKind {
    /// Returns the word of the kind.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl TryFrom<OwnSection> for OwnKind {
    type Error = String;

    fn try_from(section: OwnSection) -> Result<OwnKind, String> {
        let OwnSection { kind: name, by, when, title, advice } = section;
        let is_word = |letter: char| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-+".contains(letter)
        };
        if name.is_empty() || !name.chars().all(is_word) {
            return Err(format!(
                "own: the kind `{name}` is no word: write small letters, digits and `-`"
            ));
        }
        let wrong = |what: String| format!("own: {name}: {what}");
        let when: Condition = when.parse().map_err(wrong)?;
        let opened = title
            .split('{')
            .skip(1)
            .map(|rest| rest.split_once('}').map_or(rest, |(word, _)| word));
        if let Some(unknown) = opened.into_iter().find(|word| !PLACEHOLDERS.contains(word)) {
            let known: Vec<String> =
                PLACEHOLDERS.iter().map(|word| format!("{{{word}}}")).collect();
            return Err(wrong(format!(
                "title: there is no {{{unknown}}}: write one of {}",
                known.join(", ")
            )));
        }
        let by = if by.is_empty() { vec![GroupBy::Site] } else { by };
        Ok(OwnKind { name, by, when, title, advice })
    }
}
