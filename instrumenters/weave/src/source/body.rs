//! Where a body begins, behind what belongs to the function.

use syn::spanned::Spanned;
use syn::{Attribute, Block};

/// The byte of the source that a hook goes before: behind the brace, or behind the inner attributes.
pub(super) fn start(source: &str, attrs: &[Attribute], block: &Block) -> usize {
    let open = block.brace_token.span.open().byte_range().end;
    let inner = attrs.iter().filter(|attr| matches!(attr.style, syn::AttrStyle::Inner(_)));
    let inner = inner.map(|attr| attr.span().byte_range()).filter(|bytes| bytes.end > open);
    let Some(last) = inner.max_by_key(|bytes| bytes.end) else { return open };
    if !source[last.clone()].starts_with("//!") {
        return last.end;
    }
    // A comment takes the rest of its line.
    let next = block.stmts.first().map(|stmt| stmt.span().byte_range().start);
    next.unwrap_or_else(|| block.brace_token.span.close().byte_range().start)
}
