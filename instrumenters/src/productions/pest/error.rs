//! Why a grammar cannot be used.

use std::fmt;

/// Why a grammar cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrammarError {
    /// It does not compile; pest says where and why.
    Invalid(String),
    /// Two files define the same rule.
    Twice {
        /// The rule.
        name: String,
        /// File and line where it is first defined.
        first: (String, u32),
        /// File and line where it is defined again.
        second: (String, u32),
    },
    /// There is no rule with the name that was asked for.
    NoRule {
        /// That name.
        asked: String,
        /// Names like it, the nearest first.
        nearest: Vec<String>,
    },
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GrammarError::Invalid(message) => f.write_str(message.trim_end()),
            GrammarError::Twice { name, first, second } => {
                write!(f, "the rule `{name}` is defined twice: {}:{} and {}:{}", first.0, first.1, second.0, second.1)
            }
            GrammarError::NoRule { asked, nearest } if nearest.is_empty() => {
                write!(f, "the grammar has no rule `{asked}`")
            }
            GrammarError::NoRule { asked, nearest } => {
                write!(f, "the grammar has no rule `{asked}`; there is {}", nearest.join(", "))
            }
        }
    }
}

impl std::error::Error for GrammarError {}
