//! Errors in a filter. Each message states the correction.

use std::fmt;

use crate::debug_as_message;
use crate::event::Outcome;
use crate::filter::parse::TERMS;
use crate::filter::selector::SelectorError;

/// Reason why a line is not a filter. The message states the correction.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterError {
    /// Term with an unknown name.
    UnknownTerm(String),
    /// Term with another sign than `:`, as in `site=measure`.
    NoColon {
        /// Name of the term.
        term: String,
        /// Value after the sign.
        value: String,
        /// Name, sign and value, as they are written.
        text: String,
    },
    /// Term without a value.
    NoValue(String),
    /// Quotation mark that is not closed.
    OpenQuote,
    /// Text that is not a duration.
    Duration(String),
    /// Text that is not a number.
    Number(String),
    /// Text that is not an outcome.
    Outcome(String),
    /// Term that is answered with `yes` or `no`, with another value.
    YesOrNo {
        /// Name of the term.
        term: String,
        /// Value behind it.
        value: String,
    },
    /// Text that is not a selector.
    Selector(SelectorError),
    /// Selector that matches no site of the recording.
    NoSuchSite {
        /// Text of the selector.
        selector: String,
        /// Similar names in the recording.
        nearest: Vec<String>,
    },
    /// Kind that the recording does not have.
    NoSuchKind {
        /// Name of the kind.
        kind: String,
        /// Similar names in the recording, or some of its kinds.
        nearest: Vec<String>,
    },
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterError::UnknownTerm(term) => {
                let letters = if term.starts_with("cause.") { "cause.".len() } else { 2 };
                let start = &term[..term.len().min(letters)];
                let nearest = TERMS.iter().find(|known| known.get(..letters) == Some(start));
                write!(f, "there is no `{term}:`")?;
                match nearest {
                    Some(nearest) => write!(f, ": did you mean `{nearest}:`?"),
                    None => write!(
                        f,
                        ": a filter has {}, and bare words",
                        TERMS.map(|t| format!("{t}:")).join(" ")
                    ),
                }
            }
            FilterError::NoColon { term, value, text } => {
                write!(
                    f,
                    "`{text}` is no term: write `{term}:{value}`, or \"{text}\" to search for this text"
                )
            }
            FilterError::NoValue(term) => {
                write!(f, "`{term}:` needs a value behind it, such as {}", example(term))
            }
            FilterError::OpenQuote => write!(f, "a quotation mark is not closed: add a `\"`"),
            FilterError::Duration(text) => {
                write!(
                    f,
                    "`{text}` is no length of time: write `took:>1ms`, with ns, us, ms or s, and > >= < <= or ="
                )
            }
            FilterError::Number(text) => {
                write!(f, "`{text}` is no number: write `level:0`, `epoch:>=3`")
            }
            FilterError::Outcome(text) => {
                let names: Vec<&str> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
                write!(f, "`{text}` is no outcome: there are {}", names.join(", "))?;
                let is_failure = ["err", "none"].contains(&text.to_lowercase().as_str());
                if is_failure {
                    write!(f, "; `outcome:failed` selects err and none")
                } else {
                    Ok(())
                }
            }
            FilterError::YesOrNo { term, value } => {
                write!(f, "`{term}:{value}` asks nothing: write `{term}:yes` or `{term}:no`")
            }
            FilterError::Selector(error) => error.fmt(f),
            FilterError::NoSuchSite { selector, nearest } if nearest.is_empty() => {
                write!(f, "no site matches `{selector}`: the sites screen lists them all")
            }
            FilterError::NoSuchSite { selector, nearest } => {
                write!(f, "no site matches `{selector}`: did you mean {}?", nearest.join(", "))
            }
            FilterError::NoSuchKind { kind, nearest } if nearest.is_empty() => {
                write!(f, "the recording knows no subjects of the kind `{kind}`")
            }
            FilterError::NoSuchKind { kind, nearest } => {
                write!(
                    f,
                    "the recording knows no subjects of the kind `{kind}`: it has {}",
                    nearest.join(", ")
                )
            }
        }
    }
}

debug_as_message!(FilterError);

impl std::error::Error for FilterError {}

fn example(term: &str) -> &'static str {
    match term {
        "site" => "`site:Scene::measure`",
        "subject" => "`subject:#412`, `subject:NodeId:412` or a part of its label",
        "kind" => "`kind:NodeId`",
        "took" => "`took:>1ms`",
        "outcome" => "`outcome:panicked`",
        "cause" => "`cause:bus::*`",
        "cause.site" => "`cause.site:bus::send`",
        "cause.subject" => "`cause.subject:\"user 0\"`",
        "lane" => "`lane:main`",
        "level" => "`level:0`",
        "kept" => "`kept:yes`",
        _ => "`epoch:3`",
    }
}
