//! What a site is called: `Scene::measure`, `Scene::Layout::measure`, `Layout::measure`, `compute`.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Ident, Path, Signature, Type, TypeParamBound};

use crate::options::Options;

/// The last segment of a path, without its arguments.
pub fn path_name(path: &Path) -> String {
    path.segments.last().map(|last| ident_name(&last.ident)).unwrap_or_default()
}

/// A name, without the `r#` of a raw one.
pub fn ident_name(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// A type without paths, parameters and lifetimes, so that it is one segment of a site's path.
pub fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path_name(&path.path),
        Type::Reference(reference) => type_name(&reference.elem),
        Type::Paren(inner) => type_name(&inner.elem),
        Type::Group(inner) => type_name(&inner.elem),
        Type::Slice(slice) => format!("[{}]", type_name(&slice.elem)),
        Type::Array(array) => format!("[{}]", type_name(&array.elem)),
        Type::Tuple(tuple) => {
            let elems: Vec<String> = tuple.elems.iter().map(type_name).collect();
            format!("({})", elems.join(","))
        }
        Type::TraitObject(object) => object.bounds.iter().find_map(trait_name).unwrap_or_default(),
        other => other.to_token_stream().to_string().replace([' ', ':'], ""),
    }
}

fn trait_name(bound: &TypeParamBound) -> Option<String> {
    match bound {
        TypeParamBound::Trait(bound) => Some(path_name(&bound.path)),
        _ => None,
    }
}

/// The name of the hidden function that knows the site of a function.
pub fn sibling(function: &Ident) -> String {
    format!("__metaspy_site_{}", ident_name(function))
}

/// What the site of a function is called. A name with `::` in it is the whole name.
pub fn of_function(prefix: &str, options: &Options, sig: &Signature) -> String {
    let own = options.name.as_ref().map_or_else(|| ident_name(&sig.ident), |name| name.value());
    if prefix.is_empty() || own.contains("::") { own } else { format!("{prefix}::{own}") }
}
