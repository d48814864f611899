//! Grammars of [pest](https://pest.rs), any of them, without a line of code: the optimised rules that `pest_meta` makes
//! of a `.pest` file are run by a machine of our own, with a hook in one place.
//!
//! It calls the same `ParserState` as pest's own parsers do, in the same order: token streams and errors are theirs.
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
