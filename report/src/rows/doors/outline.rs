//! What is known of a whole file before a place in it is visited.

use std::collections::HashSet;

use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Field, ImplItemFn, ItemFn, Signature, TraitItemFn, Type};

use super::names::{line_of, names};

/// A function.
pub struct Definition {
    pub name: String,
    pub line: u32,
    /// True if the function is no method.
    pub is_free: bool,
}

/// Collects the functions of a file, and its fields that are the end of a channel.
#[derive(Default)]
pub struct OutlineVisitor {
    /// Names of fields that are the end of a channel.
    pub end_fields: HashSet<String>,
    /// All functions of the file, also tests.
    pub definitions: Vec<Definition>,
}

impl<'ast> Visit<'ast> for OutlineVisitor {
    fn visit_field(&mut self, field: &'ast Field) {
        if is_channel_end(&field.ty) {
            self.end_fields.extend(field.ident.as_ref().map(ToString::to_string));
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.define(&item.sig, true);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.define(&item.sig, false);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.define(&item.sig, false);
        visit::visit_trait_item_fn(self, item);
    }
}

impl OutlineVisitor {
    fn define(&mut self, signature: &Signature, is_free: bool) {
        let name = signature.ident.unraw().to_string();
        self.definitions.push(Definition { name, line: line_of(signature.fn_token.span), is_free });
    }
}

/// `Receiver<Job>`, `&mut mpsc::UnboundedReceiver<Job>`.
pub fn is_channel_end(typed: &Type) -> bool {
    match typed {
        Type::Path(path) => names(&path.path).is_some_and(|(name, _)| name.ends_with("Receiver")),
        Type::Reference(reference) => is_channel_end(&reference.elem),
        _ => false,
    }
}
