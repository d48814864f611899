//! The `impl` or the trait around an observed function, and the facts of its site.

use metaspy_syntax::{Facts, Owner, fingerprint};
use quote::quote;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Block, Ident, ItemImpl, ItemTrait, Lifetime, Signature, Type, Visibility};

use crate::hook::self_type::SelfType;
use crate::options::Options;

/// The `impl` or the trait around a function.
pub struct Within {
    /// Names and facts of the owner.
    pub owner: Owner,
    /// Type of `Self` in the functions.
    pub self_type: SelfType,
    /// Type of the `impl`, if it has no type parameters. Its definition is then found at compile
    /// time.
    pub defined: Option<Type>,
    /// Path of a trait, or of a type with parameters if its beginning is in the source. Without it
    /// and without `defined`, the definition is unresolved.
    written: Option<String>,
}

impl Within {
    /// Stands for no `impl` and no trait: a free function, or a method with a separate attribute.
    pub fn module() -> Self {
        Within {
            owner: Owner::default(),
            self_type: SelfType::Unknown,
            defined: None,
            written: None,
        }
    }

    /// Reads an `impl`.
    pub fn implementation(item: &ItemImpl, options: &Options) -> Self {
        let mut owner = Owner::of_impl(item);
        if let Some(name) = &options.name {
            owner.ty = Some(name.value());
        }
        let self_type = SelfType::of(&item.generics, &item.self_ty);
        let mut defined = None;
        let mut written = None;
        if self_type == SelfType::Generic {
            written = written_path(&item.self_ty);
        } else {
            let mut ty = (*item.self_ty).clone();
            Elide(item.generics.lifetimes().map(|param| param.lifetime.clone()).collect())
                .visit_type_mut(&mut ty);
            defined = Some(ty);
        }
        Within { owner, self_type, defined, written }
    }

    /// Reads a trait.
    pub fn declaration(item: &ItemTrait, options: &Options) -> Self {
        let mut owner = Owner::of_trait(item);
        if let Some(name) = &options.name {
            owner.of_trait = Some(name.value());
        }
        Within {
            owner,
            self_type: SelfType::Generic,
            defined: None,
            written: Some(format!("self::{}", item.ident)),
        }
    }

    /// Returns the facts of a function inside. `kind` is the kind of its site.
    pub fn facts(
        &self,
        sig: &Signature,
        attrs: &[Attribute],
        vis: &Visibility,
        body: &Block,
        kind: &str,
    ) -> Facts {
        let facts = self.owner.facts(sig, attrs, vis, body);
        let fingerprint = fingerprint::of_tokens(quote!(#sig #body));
        Facts { is_async: kind == "Async", owner: self.written.clone(), fingerprint, ..facts }
    }
}

/// Returns the path of a type, if it begins at `crate`, `self` or `super`.
fn written_path(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let mut segments = path.path.segments.iter().map(|segment| segment.ident.to_string());
    let first =
        segments.next().filter(|first| ["crate", "self", "super"].contains(&first.as_str()))?;
    Some(segments.fold(first, |path, segment| path + "::" + &segment))
}

/// Visitor that replaces these lifetimes by `'_`, because a static has no names for them.
struct Elide(Vec<Lifetime>);

impl VisitMut for Elide {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if self.0.contains(lifetime) {
            lifetime.ident = Ident::new("_", lifetime.ident.span());
        }
    }
}
