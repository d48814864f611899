//! Parser of a line into terms.

use std::str::FromStr;

use crate::event::Outcome;
use crate::filter::{Compare, Condition, Filter, FilterError, SubjectCondition, Term};
use crate::units::parse_duration_ns;
use metaspy_probe::{KindId, Subject};

/// Names of all terms.
pub(super) const TERMS: [&str; 12] = [
    "site",
    "subject",
    "kind",
    "took",
    "outcome",
    "cause",
    "cause.site",
    "cause.subject",
    "lane",
    "level",
    "epoch",
    "kept",
];

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let terms: Vec<Term> = words(text)?.into_iter().map(term).collect::<Result<_, _>>()?;
        let text = if terms.is_empty() { "" } else { text.trim() };
        Ok(Filter { text: text.to_owned(), terms })
    }
}

/// Word of the line. Quoted words are never terms.
struct Word {
    negated: bool,
    term: Option<String>,
    value: String,
    /// Two sides of an unquoted `site=measure`, which is meant as a term.
    equated: Option<(String, String)>,
}

/// Splits the line into words at spaces. Spaces between `"…"` belong to the word, also after
/// `term:`.
fn words(text: &str) -> Result<Vec<Word>, FilterError> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        // A `-` alone is a word to search for.
        let negated = rest
            .strip_prefix('-')
            .is_some_and(|term| term.starts_with(|c: char| !c.is_whitespace()));
        rest = &rest[usize::from(negated)..];
        let mut term = None;
        if let Some((name, behind)) = rest.split_once(':')
            && is_term(name)
            && !behind.starts_with(':')
        {
            (term, rest) = (Some(name.to_owned()), behind);
        }
        let is_quoted = rest.starts_with('"');
        let (value, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or(FilterError::OpenQuote)?,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        let equated = value.split_once('=').filter(|(name, _)| !is_quoted && TERMS.contains(name));
        let compared =
            value.strip_prefix("took").filter(|span| !is_quoted && span.starts_with(['>', '<']));
        let equated = equated.or(compared.map(|span| ("took", span)));
        let equated = equated.map(|(name, value)| (name.to_owned(), value.to_owned()));
        words.push(Word { negated, term, value: value.to_owned(), equated });
        rest = behind.trim_start();
        // It selects every event, whatever the other terms select.
        let is_all = |word: &Word| word.term.is_none() && matches!(&*word.value, "*" | "**");
        words.pop_if(|word| !is_quoted && !word.negated && is_all(word));
    }
    Ok(words)
}

/// Returns true if the text before a colon names a term, known or not.
fn is_term(name: &str) -> bool {
    let last = name.strip_prefix("cause.").unwrap_or(name);
    !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn term(word: Word) -> Result<Term, FilterError> {
    let Word { negated, term, value, equated } = word;
    let Some(term) = term else {
        if let Some((term, equals)) = equated {
            return Err(FilterError::NoColon { term, value: equals, text: value });
        }
        return Ok(Term { negated, condition: Condition::Text(value.to_lowercase()) });
    };
    if !TERMS.contains(&term.as_str()) {
        return Err(FilterError::UnknownTerm(term));
    }
    if value.is_empty() {
        return Err(FilterError::NoValue(term));
    }
    let selector = || value.parse().map_err(FilterError::Selector);
    let condition = match term.as_str() {
        "site" => Condition::Site(selector()?),
        "cause" => Condition::Cause(selector()?),
        "cause.site" => Condition::DirectCause(Box::new(Condition::Site(selector()?))),
        "cause.subject" => Condition::DirectCause(Box::new(Condition::Subject(subject(&value)))),
        "subject" => Condition::Subject(subject(&value)),
        "kind" => Condition::Kind(value),
        "took" => duration(&value)?,
        "outcome" => Condition::Outcome(outcomes(&value)?),
        "lane" => Condition::Lane(value),
        "kept" => match value.as_str() {
            "yes" => Condition::Kept(true),
            "no" => Condition::Kept(false),
            _ => return Err(FilterError::YesOrNo { term, value }),
        },
        "level" => number(&value).map(|(compare, number)| Condition::Level(compare, number))?,
        _ => number(&value).map(|(compare, number)| Condition::Epoch(compare, number))?,
    };
    Ok(Term { negated, condition })
}

fn subject(value: &str) -> SubjectCondition {
    if let Some(Ok(key)) = value.strip_prefix('#').map(str::parse) {
        return SubjectCondition::Key(key);
    }
    if let Some(Ok(address)) = value.strip_prefix('@').map(|text| u64::from_str_radix(text, 16)) {
        return SubjectCondition::Address(address);
    }
    if let Some((kind, key)) = value.rsplit_once(':')
        && let Ok(key) = key.trim_start_matches('#').parse()
    {
        if let Ok(kind) = kind.parse() {
            return SubjectCondition::Exactly(Subject::new(KindId(kind), key));
        }
        return SubjectCondition::KindKey(kind.to_owned(), key);
    }
    SubjectCondition::Label(value.to_lowercase())
}

/// Splits off the comparison before a value; `otherwise` is the default.
fn compare(text: &str, otherwise: Compare) -> (Compare, &str) {
    let signs = [
        (">=", Compare::AtLeast),
        ("<=", Compare::AtMost),
        (">", Compare::More),
        ("<", Compare::Less),
        ("=", Compare::Equal),
    ];
    signs
        .iter()
        .find_map(|(sign, compare)| Some((*compare, text.strip_prefix(sign)?)))
        .unwrap_or((otherwise, text))
}

fn duration(text: &str) -> Result<Condition, FilterError> {
    let (compare, length) = compare(text, Compare::AtLeast);
    let ns = parse_duration_ns(length).map_err(|_| FilterError::Duration(text.to_owned()))?;
    Ok(Condition::Took(compare, ns))
}

fn number(text: &str) -> Result<(Compare, u64), FilterError> {
    let (compare, digits) = compare(text, Compare::Equal);
    let number = digits.parse().map_err(|_| FilterError::Number(text.to_owned()))?;
    Ok((compare, number))
}

fn outcomes(text: &str) -> Result<u8, FilterError> {
    let bit = |name: &str| {
        let outcome = Outcome::ALL.iter().find(|outcome| outcome.name() == name);
        outcome
            .map(|&outcome| 1 << outcome as u8)
            .ok_or_else(|| FilterError::Outcome(name.to_owned()))
    };
    text.split(',').try_fold(0, |bits, name| Ok(bits | bit(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<Term> {
        text.parse::<Filter>().expect(text).terms
    }

    #[test]
    fn a_line_is_taken_apart_into_terms() {
        let parsed = terms(
            "site:Scene::measure -subject:\"the quick\" took:>1.5ms Scene::x outcome:failed,panicked",
        );
        let selector = "Scene::measure".parse().expect("a selector");
        assert_eq!(parsed[0], Term { negated: false, condition: Condition::Site(selector) });
        let label = SubjectCondition::Label("the quick".into());
        assert_eq!(parsed[1], Term { negated: true, condition: Condition::Subject(label) });
        assert_eq!(parsed[2].condition, Condition::Took(Compare::More, 1_500_000));
        assert_eq!(parsed[3].condition, Condition::Text("scene::x".into()));
        assert_eq!(parsed[4].condition, Condition::Outcome(0b11000));
        let asked = terms("cause.subject:\"User 0\"").remove(0).condition;
        let label = Condition::Subject(SubjectCondition::Label("user 0".into()));
        assert_eq!(asked, Condition::DirectCause(Box::new(label)));
    }

    #[test]
    fn a_term_with_another_sign_is_no_text_unless_it_is_quoted() {
        let message =
            "site=measure".parse::<Filter>().expect_err("it is meant as a term").to_string();
        assert!(message.contains("write `site:measure`"), "{message}");
        let message = "took>1ms".parse::<Filter>().expect_err("it is meant as a term").to_string();
        assert!(message.starts_with("`took>1ms` is no term: write `took:>1ms`"), "{message}");
        assert_eq!(terms("\"site=measure\"")[0].condition, Condition::Text("site=measure".into()));
        assert_eq!(terms("width=3")[0].condition, Condition::Text("width=3".into()));
        let message = "outcome:none".parse::<Filter>().expect_err("it is no outcome").to_string();
        assert!(message.ends_with("`outcome:failed` selects err and none"), "{message}");
    }

    #[test]
    fn subjects_are_named_by_key_kind_address_or_label() {
        let subject = |text: &str| match terms(text).remove(0).condition {
            Condition::Subject(subject) => subject,
            other => panic!("{other:?}"),
        };
        assert_eq!(subject("subject:#412"), SubjectCondition::Key(412));
        assert_eq!(subject("subject:@7f"), SubjectCondition::Address(0x7f));
        assert_eq!(
            subject("subject:my::NodeId:5"),
            SubjectCondition::KindKey("my::NodeId".into(), 5)
        );
        let exactly = Subject::new(KindId(3), 5);
        assert_eq!(subject(Filter::subject(exactly).text()), SubjectCondition::Exactly(exactly));
        assert_eq!(subject("subject:Header"), SubjectCondition::Label("header".into()));
    }

    #[test]
    fn a_wrong_line_is_refused_with_an_example() {
        for (text, words) in [
            ("sight:x", "did you mean `site:`"),
            ("qq:x", "site: subject:"),
            ("cause.lane:x", "did you mean `cause.site:`"),
            ("cause.subject:", "`cause.subject:\"user 0\"`"),
            ("took:", "`took:>1ms`"),
            ("took:>fast", "ns, us, ms or s"),
            ("took:>5", "ns, us, ms or s"),
            ("outcome:bad", "panicked"),
            ("level:x", "level:0"),
            ("\"open", "not closed"),
            ("site:a::", "empty segment"),
        ] {
            let error = text.parse::<Filter>().expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn an_empty_line_lets_everything_pass() {
        for text in ["  ", "*", "* **"] {
            assert!(text.parse::<Filter>().expect("a filter").is_all(), "{text}");
        }
        assert_eq!(terms("* outcome:panicked"), terms("outcome:panicked *"));
        assert_eq!((terms("* outcome:panicked").len(), terms("\"*\"").len()), (1, 1));
        assert_eq!(terms("-").len(), 1);
    }
}
