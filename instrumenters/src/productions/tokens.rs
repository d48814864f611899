//! Tokens of a lexer as productions.

use std::ops::Range;
use std::panic::Location;

use super::activation::{ActivationEnd, IntoProduction};
use super::activation_stack::ActivationStack;

/// Makes an activation of each token, at the production that `production` selects.
///
/// The items are those of logos' `lexer.spanned()`; an error counts as not matched.
///
/// ```
/// use metaspy::prelude::*;
/// use metaspy::productions::spied_tokens;
///
/// let tokens = [(Ok('a'), 0..1), (Err("?"), 1..2), (Ok('b'), 2..3)];
/// let (letters, profile) = Profiler::new("tokens").observe(productions("**::letter")).profile(|| {
///     let tokens = spied_tokens(tokens.into_iter(), |_| production!("letter"));
///     tokens.filter_map(|(token, _)| token.ok()).collect::<String>()
/// })?;
/// let measure = profile.counts().by_site().rows[0].measure;
/// assert_eq!((letters.as_str(), measure.count, measure.failed), ("ab", 3, 1));
/// # Ok::<(), InstallError>(())
/// ```
#[track_caller]
pub fn spied_tokens<T, E, P: IntoProduction>(
    tokens: impl Iterator<Item = (Result<T, E>, Range<usize>)>,
    mut production: impl FnMut(&Result<T, E>) -> P,
) -> impl Iterator<Item = (Result<T, E>, Range<usize>)> {
    let at = Location::caller();
    let mut stack = ActivationStack::new();
    tokens.inspect(move |(token, place)| {
        let ended = if token.is_ok() { ActivationEnd::Matched } else { ActivationEnd::Backtracked };
        stack.leaf(production(token).site(at), place.start, ended, place.end);
    })
}
