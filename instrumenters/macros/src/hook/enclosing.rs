//! What stands around a function whose `impl` has no attribute.
//!
//! An attribute on one method is given that method and nothing else, neither its type nor whether the `impl` is of a
//! trait. So the source is looked at, as far as the method. Where there is none (an editor's preview, a macro), the
//! answer is that nothing is known, and the site is called like the function.

use proc_macro2::Span;
use syn::{Item, ItemImpl, Signature};

use crate::hook::owner::Owner;
use crate::hook::scan::Scan;
use crate::naming;

/// What stands around a function.
pub enum Enclosing {
    /// A module, or another function's body.
    Module,
    /// An `impl` without a trait.
    Inherent(Box<ItemImpl>),
    /// An `impl` of a trait, or a trait; and what its sites' names begin with.
    Other { prefix: String, owner: Owner },
    /// Nobody knows.
    Unknown,
}

/// What stands around the function with this signature.
pub fn of(sig: &Signature) -> Enclosing {
    match header(sig.fn_token.span) {
        None => Enclosing::Unknown,
        Some(None) => Enclosing::Module,
        Some(Some(header)) => of_header(&header),
    }
}

/// The text before the innermost brace around a function; `Some(None)` if there is none.
fn header(function: Span) -> Option<Option<String>> {
    let function = function.unwrap();
    let source = std::fs::read_to_string(function.local_file()?).ok()?;
    let at = source.split_inclusive('\n').take(function.line().checked_sub(1)?).map(str::len).sum::<usize>();
    let column = function.column().checked_sub(1)?;
    let at = at + source.get(at..)?.char_indices().nth(column)?.0;
    source[at..].starts_with("fn").then(|| Scan::new(&source[..at]).innermost())
}

fn of_header(header: &str) -> Enclosing {
    match syn::parse_str(&format!("{header} {{}}")) {
        Ok(Item::Mod(_) | Item::Fn(_)) => Enclosing::Module,
        Ok(Item::Trait(item)) => Enclosing::Other { prefix: item.ident.to_string(), owner: Owner::Generic },
        Ok(Item::Impl(item)) => match &item.trait_ {
            None => Enclosing::Inherent(Box::new(item)),
            Some((path, ..)) => Enclosing::Other {
                prefix: format!("{}::{}", naming::type_name(&item.self_ty), naming::path_name(path)),
                owner: Owner::of(&item.generics, &item.self_ty),
            },
        },
        _ => Enclosing::Unknown,
    }
}
