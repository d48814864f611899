//! Interpreter for any grammar of [pest](https://pest.rs), without generated code.
//!
//! `pest_meta` reads and optimises a `.pest` file. A machine of this crate runs the optimised
//! rules, with a single hook. It calls
//! pest's `ParserState` in the same order as pest's own parsers, so tokens and errors are the same.
//!
//! ```
//! use metaspy::productions::{State, pest::{Grammar, Source, Suite}};
//!
//! let text = r#"number = @{ float | integer } float = @{ digit+ ~ ("." ~ digit+)? } integer = @{ digit+ } digit = _{ '0'..'9' }"#;
//! let source = Source { name: "number.pest".into(), text: text.into() };
//! let grammar = Grammar::new(&[source], "number")?;
//! let mut suite = Suite::new(&grammar);
//! for input in ["1.5", "42"] {
//!     suite.parse(input.into(), input);
//! }
//! // `float` takes every integer.
//! assert_eq!(suite.coverage().productions[2].state(), State::NeverEntered);
//! suite.explain(|input| Some(["1.5", "42"][input].to_owned()));
//! let shadow = suite.coverage().shadows[1].expect("it is tried at the same places");
//! assert_eq!((shadow.by, shadow.would_match), (0, 2));
//! # Ok::<(), metaspy::productions::pest::GrammarError>(())
//! ```

mod bounds;
mod builtin;
mod compile;
mod error;
mod grammar;
mod machine;
mod program;
mod reachability;
mod shadows;
mod suite;
#[cfg(test)]
mod tests;

pub use error::GrammarError;
pub use grammar::{Grammar, Source};
pub use suite::{Limits, Suite};
