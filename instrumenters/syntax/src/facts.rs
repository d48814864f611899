//! The facts of a function, as its text shows them: what a site carries into the recording.

use std::fmt::Write;

use quote::ToTokens;
use serde::{Deserialize, Serialize};
use syn::{FnArg, ReceiverKind, ReturnType, Signature, Type};

/// What is known of a function before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Its cyclomatic complexity.
    pub complexity: u32,
    /// How it takes `self`.
    pub receiver: Receiver,
    /// The type of its `impl`.
    pub ty: Option<String>,
    /// The trait that it implements, or, without a type, the trait whose default method it is.
    pub of_trait: Option<String>,
    /// The supertraits of the trait, for a default method.
    pub supertraits: Vec<String>,
    /// Who may call it.
    pub seen: Seen,
    /// True for an async function.
    pub is_async: bool,
    /// True for a closure.
    pub is_closure: bool,
    /// True for a test.
    pub is_test: bool,
    /// True if it returns nothing.
    pub is_unit: bool,
    /// True if it takes `self` by value and returns a `Self`.
    pub is_chain: bool,
    /// True if it is inside another function.
    pub is_nested: bool,
}

/// How a function takes `self`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Receiver {
    /// Not at all.
    #[default]
    None,
    /// `&self`
    Ref,
    /// `&mut self`
    Mut,
    /// `self`
    Value,
    /// `self: Rc<Self>` and the like.
    Other,
}

/// Who may call a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seen {
    /// Everybody: `pub`, and methods of implemented traits.
    Pub,
    /// `pub(crate)` and the like.
    Restricted,
    /// Its module.
    #[default]
    Private,
}

impl Facts {
    /// As words with a space between them.
    pub fn to_text(&self) -> String {
        let mut text = format!("c={} self={}", self.complexity, self.receiver.word());
        let named = [("type", &self.ty), ("trait", &self.of_trait), ("super", &self.joined_supertraits())];
        for (word, name) in named {
            if let Some(name) = name.as_ref().filter(|name| !name.is_empty()) {
                let _ = write!(text, " {word}={}", name.replace(char::is_whitespace, ""));
            }
        }
        let _ = write!(text, " vis={}", self.seen.word());
        let flags = [
            (self.is_async, " async"),
            (self.is_closure, " closure"),
            (self.is_test, " test"),
            (self.is_unit, " unit"),
            (self.is_chain, " chain"),
            (self.is_nested, " nested"),
        ];
        text.extend(flags.iter().filter(|(is_so, _)| *is_so).map(|(_, word)| *word));
        text
    }

    fn joined_supertraits(&self) -> Option<String> {
        (!self.supertraits.is_empty()).then(|| self.supertraits.join("+"))
    }
}

impl Receiver {
    /// The receiver of a function with this signature.
    pub fn of(sig: &Signature) -> Self {
        let Some(FnArg::Receiver(receiver)) = sig.inputs.first() else { return Receiver::None };
        let is_self = |ty: &Type| matches!(ty, Type::Path(of) if of.path.is_ident("Self"));
        match &receiver.kind {
            ReceiverKind::Value => Receiver::Value,
            ReceiverKind::Reference(_, _, None) => Receiver::Ref,
            ReceiverKind::Reference(_, _, Some(_)) => Receiver::Mut,
            ReceiverKind::Typed(_, ty) => match &**ty {
                Type::Reference(to) if is_self(&to.elem) && to.mutability.is_some() => Receiver::Mut,
                Type::Reference(to) if is_self(&to.elem) => Receiver::Ref,
                ty if is_self(ty) => Receiver::Value,
                _ => Receiver::Other,
            },
            _ => Receiver::Other,
        }
    }

    /// True if `self` stays at one place while the call lasts.
    pub fn has_place(self) -> bool {
        matches!(self, Receiver::Ref | Receiver::Mut)
    }

    /// As one word.
    pub fn word(self) -> &'static str {
        match self {
            Receiver::None => "none",
            Receiver::Ref => "ref",
            Receiver::Mut => "mut",
            Receiver::Value => "value",
            Receiver::Other => "other",
        }
    }
}

impl Seen {
    /// The visibility that is written before an item.
    pub fn of(vis: &syn::Visibility) -> Self {
        match vis {
            syn::Visibility::Public(_) => Seen::Pub,
            syn::Visibility::Restricted(_) => Seen::Restricted,
            syn::Visibility::Inherited => Seen::Private,
        }
    }

    /// As one word.
    pub fn word(self) -> &'static str {
        match self {
            Seen::Pub => "pub",
            Seen::Restricted => "restricted",
            Seen::Private => "private",
        }
    }
}

/// True if nothing is returned. The type that a closure without `->` returns is unknown.
pub fn is_unit(output: &ReturnType, is_closure: bool) -> bool {
    match output {
        ReturnType::Default => !is_closure,
        ReturnType::Type(_, ty) => matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty()),
    }
}

/// The tokens of an item as text, without spaces.
pub(crate) fn written(item: &impl ToTokens) -> String {
    item.to_token_stream().to_string().replace(char::is_whitespace, "")
}
