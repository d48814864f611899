//! Where a body begins, behind what belongs to the function.

use syn::spanned::Spanned;
use syn::{Attribute, Block};

/// The byte of the source that a hook goes before: behind the brace, or behind the inner attributes.
pub(super) fn start(source: &str, attrs: &[Attribute], block: &Block) -> usize {
    let open = block.brace_token.span.open().byte_range().end;
    let inner = attrs.iter().filter(|attr| matches!(attr.style, syn::AttrStyle::Inner(_)));
    let Some(last) = inner.map(|attr| attr.span().byte_range().end).filter(|end| *end > open).max() else {
        return open;
    };
    let is_line = source[..last].rsplit(['\n', '{']).next().is_some_and(|line| line.trim_start().starts_with("//!"));
    if !is_line {
        return last;
    }
    // A comment takes the rest of its line.
    let next = block.stmts.first().map(|stmt| stmt.span().byte_range().start);
    next.unwrap_or_else(|| block.brace_token.span.close().byte_range().start)
}
