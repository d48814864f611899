//! Names and lines of paths.

use proc_macro2::Span;
use syn::Path;
use syn::ext::IdentExt;

/// Maximum number of characters that are kept of a name.
const NAME: usize = 200;

/// The last name of a path, and the one before it.
pub fn names(path: &Path) -> Option<(String, Option<String>)> {
    let mut names = path.segments.iter().rev().map(|segment| segment.ident.unraw().to_string());
    Some((names.next()?, names.next()))
}

/// A path as it is written, without type arguments.
pub fn written(path: &Path) -> String {
    let names: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
    short(&names.join("::"))
}

pub fn short(name: &str) -> String {
    name.chars().take(NAME).collect()
}

pub fn line_of_path(path: &Path) -> u32 {
    path.segments.last().map_or(0, |last| line_of(last.ident.span()))
}

pub fn line_of(span: Span) -> u32 {
    span.start().line as u32
}
