//! Errors in a grammar.

use std::fmt;

/// Error in a grammar.
#[derive(Clone, PartialEq, Eq)]
pub enum GrammarError {
    /// The grammar does not compile. The text is pest's message.
    Invalid(String),
    /// Two files define the same rule.
    Twice {
        /// Name of the rule.
        name: String,
        /// File and line of the first definition.
        first: (String, u32),
        /// File and line of the second definition.
        second: (String, u32),
    },
    /// There is no rule with the requested name.
    NoRule {
        /// The requested name.
        name: String,
        /// Similar names, the nearest first.
        nearest: Vec<String>,
    },
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GrammarError::Invalid(message) => f.write_str(message.trim_end()),
            GrammarError::Twice { name, first, second } => {
                write!(
                    f,
                    "the rule `{name}` is defined twice: {}:{} and {}:{}",
                    first.0, first.1, second.0, second.1
                )
            }
            GrammarError::NoRule { name, nearest } if nearest.is_empty() => {
                write!(f, "the grammar has no rule `{name}`")
            }
            GrammarError::NoRule { name, nearest } => {
                write!(f, "the grammar has no rule `{name}`; there is {}", nearest.join(", "))
            }
        }
    }
}

metaspy_core::store::debug_as_message!(GrammarError);

impl std::error::Error for GrammarError {}
