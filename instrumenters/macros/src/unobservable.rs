//! Functions that cannot be observed, and why.

use syn::{Attribute, Signature};

/// Why a function cannot be observed; `None` if it can.
pub fn reason(sig: &Signature, attrs: &[Attribute]) -> Option<&'static str> {
    if sig.constness.is_some() {
        return Some("a const fn runs in the compiler too, where nobody can look");
    }
    if attrs.iter().any(is_naked) {
        return Some("a naked function has no room for a hook");
    }
    if sig.variadic.is_some() {
        return Some("a variadic function has arguments that nobody can name");
    }
    // `extern "Rust"` is the ordinary ABI.
    if sig.abi.as_ref().is_some_and(|abi| abi.name.as_ref().is_none_or(|name| name.value() != "Rust")) {
        return Some("a function with a foreign ABI is called from code that metaspy knows nothing about");
    }
    None
}

/// Why a method made by a macro cannot be observed.
pub const MADE_BY_A_MACRO: &str = "what a macro makes is not there yet when an attribute looks";

/// The reason of a method that its author left out.
pub const LEFT_OUT: &str = "left out by #[observe(skip)]";

/// `#[naked]` and `#[unsafe(naked)]`.
fn is_naked(attr: &Attribute) -> bool {
    let path = attr.path();
    path.is_ident("naked")
        || path.is_ident("unsafe") && attr.parse_args::<syn::Ident>().is_ok_and(|inner| inner == "naked")
}
