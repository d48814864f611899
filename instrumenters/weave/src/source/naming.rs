//! What functions are called: `Scene::measure`, `Scene::Layout::measure`, as `#[observe]` calls them.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Ident, Path, Type, TypeParamBound};

/// A name, without the `r#` of a raw one.
pub fn ident(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// The last segment of a path, without its arguments.
pub fn path(path: &Path) -> String {
    path.segments.last().map(|last| ident(&last.ident)).unwrap_or_default()
}

/// A type without paths, parameters and lifetimes, so that it is one segment of a path. `source` is the text that it
/// was read from.
pub fn ty(it: &Type, source: &str) -> String {
    match it {
        Type::Path(of) => path(&of.path),
        Type::Reference(reference) => ty(&reference.elem, source),
        Type::Paren(inner) => ty(&inner.elem, source),
        Type::Group(inner) => ty(&inner.elem, source),
        Type::Slice(slice) => format!("[{}]", ty(&slice.elem, source)),
        Type::Array(array) => format!("[{}]", ty(&array.elem, source)),
        Type::Tuple(tuple) => {
            let elems: Vec<String> = tuple.elems.iter().map(|elem| ty(elem, source)).collect();
            format!("({})", elems.join(","))
        }
        Type::TraitObject(object) => object.bounds.iter().find_map(bound).unwrap_or_default(),
        other => {
            let text = source.get(other.span().byte_range()).unwrap_or_default();
            text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ':' | '"' | '\\')).collect()
        }
    }
}

fn bound(bound: &TypeParamBound) -> Option<String> {
    match bound {
        TypeParamBound::Trait(bound) => Some(path(&bound.path)),
        _ => None,
    }
}
