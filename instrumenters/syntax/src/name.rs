//! Names of sites: `Scene::measure`, `Scene::Layout::measure`, `Layout::measure`, `compute`.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Ident, Meta, Path, Type, TypeParamBound};

/// Returns an identifier without the `r#` of raw identifiers.
pub fn of_ident(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// Returns the last segment of a path, without its arguments.
pub fn of_path(path: &Path) -> String {
    path.segments.last().map(|last| of_ident(&last.ident)).unwrap_or_default()
}

/// Returns the last segments of the paths of attributes. For `#[unsafe(naked)]` it is `naked`.
pub fn of_attributes(attrs: &[Attribute]) -> Vec<String> {
    let name = |attr: &Attribute| {
        let inner =
            attr.path().is_ident("unsafe").then(|| attr.parse_args::<Meta>().ok()).flatten();
        of_path(inner.as_ref().map_or(attr.path(), Meta::path))
    };
    attrs.iter().map(name).collect()
}

/// Returns a type without paths, parameters and lifetimes, as a single segment of a site's path.
pub fn of_type(ty: &Type) -> String {
    match ty {
        Type::Path(path) => of_path(&path.path),
        Type::Reference(reference) => of_type(&reference.elem),
        Type::Paren(inner) => of_type(&inner.elem),
        Type::Group(inner) => of_type(&inner.elem),
        Type::Slice(slice) => format!("[{}]", of_type(&slice.elem)),
        Type::Array(array) => format!("[{}]", of_type(&array.elem)),
        Type::Tuple(tuple) => {
            let elems: Vec<String> = tuple.elems.iter().map(of_type).collect();
            format!("({})", elems.join(","))
        }
        Type::TraitObject(object) => object.bounds.iter().find_map(of_bound).unwrap_or_default(),
        other => without_separators(&other.to_token_stream().to_string()),
    }
}

/// Returns the trait of a bound, or `None` for lifetimes.
fn of_bound(bound: &TypeParamBound) -> Option<String> {
    match bound {
        TypeParamBound::Trait(bound) => Some(of_path(&bound.path)),
        _ => None,
    }
}

/// Removes spaces and `::` from a segment, and characters that would end a string literal.
fn without_separators(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ':' | '"' | '\\')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_one_segment() {
        for (written, name) in [
            ("a::b::Scene<'a, T>", "Scene"),
            ("&'a mut r#type", "type"),
            ("[Vec<u8>; 4]", "[Vec]"),
            ("(a::A, &[B])", "(A,[B])"),
            ("dyn fmt::Debug + Send", "Debug"),
            ("fn(u8) -> a::B", "fn(u8)->aB"),
            ("unsafe extern \"C\" fn()", "unsafeexternCfn()"),
            ("*const u8", "*constu8"),
        ] {
            assert_eq!(of_type(&syn::parse_str(written).expect("a type")), name, "{written}");
        }
    }
}
