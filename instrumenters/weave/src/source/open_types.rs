//! Types of parameters that leave open which type arrives.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    GenericParam, Generics, Ident, Type, TypeImplTrait, TypeParamBound, TypeTraitObject,
    WherePredicate,
};

/// The type as declared, with `impl Trait` for a type parameter; empty for a type that leaves
/// nothing open.
pub(super) fn declared(ty: &Type, generics: &Generics, source: &str) -> String {
    let (before, plain) = behind_references(ty);
    if let Some(bounds) = parameter(plain).and_then(|ident| bounds(ident, generics)) {
        let bounds: Vec<String> = bounds.into_iter().map(|bound| text(bound, source)).collect();
        let named = if bounds.is_empty() {
            text(plain, source)
        } else {
            format!("impl {}", bounds.join(" + "))
        };
        return before + &named;
    }
    let mut open = Open(false);
    open.visit_type(ty);
    if open.0 { text(ty, source) } else { String::new() }
}

fn behind_references(ty: &Type) -> (String, &Type) {
    match ty {
        Type::Reference(reference) => {
            let (before, plain) = behind_references(&reference.elem);
            (
                format!("&{}{before}", if reference.mutability.is_some() { "mut " } else { "" }),
                plain,
            )
        }
        Type::Paren(inner) => behind_references(&inner.elem),
        Type::Group(inner) => behind_references(&inner.elem),
        _ => (String::new(), ty),
    }
}

fn parameter(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.get_ident(),
        _ => None,
    }
}

/// The traits of a type parameter; `None` if it is none.
fn bounds<'g>(ident: &Ident, generics: &'g Generics) -> Option<Vec<&'g TypeParamBound>> {
    let param = generics.params.iter().find_map(|param| match param {
        GenericParam::Type(param) if param.ident == *ident => Some(param),
        _ => None,
    })?;
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let further = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(of) if parameter(&of.bounded_ty) == Some(ident) => Some(&of.bounds),
        _ => None,
    });
    Some(param.bounds.iter().chain(further.flatten()).collect())
}

/// The source of a type, in one line.
fn text(of: &impl Spanned, source: &str) -> String {
    let text = source.get(of.span().byte_range()).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Open(bool);

impl<'ast> Visit<'ast> for Open {
    fn visit_type_impl_trait(&mut self, _: &'ast TypeImplTrait) {
        self.0 = true;
    }

    fn visit_type_trait_object(&mut self, _: &'ast TypeTraitObject) {
        self.0 = true;
    }

    fn visit_type(&mut self, ty: &'ast Type) {
        // A function that is called is no value that arrives.
        if !matches!(ty, Type::FnPtr(_)) {
            visit::visit_type(self, ty);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn open_types_are_written_with_their_traits() {
        let check = |signature: &str, expected: &[&str]| {
            let parsed =
                crate::source::parse(&format!("fn f{signature} {{}}")).expect("it is Rust");
            assert_eq!(parsed.functions.all[0].signature.open, expected, "{signature}");
        };
        check(
            "(a: u8, b: &dyn a::Shape, c: impl Fn(u8) -> u8)",
            &["", "&dyn a::Shape", "impl Fn(u8) -> u8"],
        );
        check("<T: A, U>(t: &mut T, u: U, v: Vec<T>) where T: B", &["&mut impl A + B", "U", ""]);
        check("(a: Vec<Box<dyn A>>)", &["Vec<Box<dyn A>>"]);
    }
}
