//! Built-in rules that every grammar has.

use pest::{ParseResult, ParserState};

use super::machine::{EOI, Id};

/// Built-in rule of pest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    Any,
    EndOfInput,
    StartOfInput,
    Peek,
    PeekAll,
    Pop,
    PopAll,
    Drop,
    Newline,
    /// Matches a character in up to three ranges.
    Ascii(&'static [(char, char)]),
}

type State<'i> = Box<ParserState<'i, Id>>;

impl Builtin {
    pub fn by_name(name: &str) -> Option<Builtin> {
        Some(match name {
            "ANY" => Builtin::Any,
            "EOI" => Builtin::EndOfInput,
            "SOI" => Builtin::StartOfInput,
            "PEEK" => Builtin::Peek,
            "PEEK_ALL" => Builtin::PeekAll,
            "POP" => Builtin::Pop,
            "POP_ALL" => Builtin::PopAll,
            "DROP" => Builtin::Drop,
            "NEWLINE" => Builtin::Newline,
            "ASCII_DIGIT" => Builtin::Ascii(&[('0', '9')]),
            "ASCII_NONZERO_DIGIT" => Builtin::Ascii(&[('1', '9')]),
            "ASCII_BIN_DIGIT" => Builtin::Ascii(&[('0', '1')]),
            "ASCII_OCT_DIGIT" => Builtin::Ascii(&[('0', '7')]),
            "ASCII_HEX_DIGIT" => Builtin::Ascii(&[('0', '9'), ('a', 'f'), ('A', 'F')]),
            "ASCII_ALPHA_LOWER" => Builtin::Ascii(&[('a', 'z')]),
            "ASCII_ALPHA_UPPER" => Builtin::Ascii(&[('A', 'Z')]),
            "ASCII_ALPHA" => Builtin::Ascii(&[('a', 'z'), ('A', 'Z')]),
            "ASCII_ALPHANUMERIC" => Builtin::Ascii(&[('a', 'z'), ('A', 'Z'), ('0', '9')]),
            "ASCII" => Builtin::Ascii(&[('\x00', '\x7f')]),
            _ => return None,
        })
    }

    /// Returns true if the rule reads pest's stack.
    pub fn uses_stack(self) -> bool {
        matches!(
            self,
            Builtin::Peek | Builtin::PeekAll | Builtin::Pop | Builtin::PopAll | Builtin::Drop
        )
    }

    pub fn run(self, state: State<'_>) -> ParseResult<State<'_>> {
        match self {
            Builtin::Any => state.skip(1),
            Builtin::EndOfInput => state.rule(EOI, |state| state.end_of_input()),
            Builtin::StartOfInput => state.start_of_input(),
            // Pest's own parsers panic on an empty stack; here, the rule does not match.
            Builtin::Peek => not_empty(state).and_then(|state| state.stack_peek()),
            Builtin::PeekAll => state.stack_match_peek(),
            Builtin::Pop => not_empty(state).and_then(|state| state.stack_pop()),
            Builtin::PopAll => state.stack_match_pop(),
            Builtin::Drop => state.stack_drop(),
            Builtin::Newline => {
                let state = state.match_string("\n").or_else(|state| state.match_string("\r\n"));
                state.or_else(|state| state.match_string("\r"))
            }
            Builtin::Ascii(ranges) => {
                let mut result = Err(state);
                for &(from, to) in ranges {
                    result = result.or_else(|state| state.match_range(from..to));
                }
                result
            }
        }
    }
}

/// Fails on an empty stack. It pops an element to find out, and restores it.
fn not_empty(state: State<'_>) -> ParseResult<State<'_>> {
    let mut is_empty = true;
    let looked = state.restore_on_err(|state| {
        let state = state.stack_drop()?;
        is_empty = false;
        Err(state)
    });
    match looked {
        Ok(state) | Err(state) if !is_empty => Ok(state),
        Ok(state) | Err(state) => Err(state),
    }
}
