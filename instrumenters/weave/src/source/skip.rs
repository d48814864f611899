//! Functions that cannot be woven, and why. The reasons are for people: they stand in the list.

use syn::{Attribute, Meta, Signature};

/// Of a function whose item says `#[observe]`.
pub const OBSERVED: &str = "it is observed by #[observe] already";
/// Of the methods of a global allocator.
pub const ALLOCATOR: &str = "an allocator is called by the hooks themselves";

/// Why a function cannot be woven; `None` if it can.
pub fn reason(sig: &Signature, attrs: &[Attribute]) -> Option<&'static str> {
    if sig.constness.is_some() {
        return Some("a const fn runs in the compiler too, where nobody can look");
    }
    if attrs.iter().any(|attr| is_marked(attr, "naked")) {
        return Some("a naked function has no room for a hook");
    }
    if attrs.iter().any(|attr| is_marked(attr, "panic_handler")) {
        return Some("a panic handler runs where nothing may go wrong again");
    }
    if is_observed(attrs) {
        return Some(OBSERVED);
    }
    if sig.variadic.is_some() {
        return Some("a variadic function has arguments that nobody can name");
    }
    // `extern "Rust"` is the ordinary ABI.
    let is_foreign = sig.abi.as_ref().is_some_and(|abi| abi.name.as_ref().is_none_or(|name| name.value() != "Rust"));
    is_foreign.then_some("a function with a foreign ABI is called from code that metaspy knows nothing about")
}

/// Whether an item says `#[observe]`, by whatever path.
pub fn is_observed(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == "observe"))
}

/// `#[mark]` and `#[unsafe(mark)]`.
fn is_marked(attr: &Attribute, mark: &str) -> bool {
    let is_mark = |meta: &Meta| meta.path().is_ident(mark);
    is_mark(&attr.meta) || attr.path().is_ident("unsafe") && attr.parse_args::<Meta>().is_ok_and(|meta| is_mark(&meta))
}
