//! Reasons why functions cannot have a hook, as the list of skipped functions prints them.

use syn::{Attribute, Meta, Signature};

/// Reason of a method that a macro expands to.
pub const MADE_BY_A_MACRO: &str =
    "a macro makes it, and an attribute runs before that macro is expanded";
/// Reason of a method that its author left out.
pub const LEFT_OUT: &str = "left out by #[observe(skip)]";
/// Reason of a function with `#[observe]`, where a weaver would add a second hook.
pub const OBSERVED: &str = "it has a hook of #[observe] already";
/// Reason of the methods of a global allocator.
pub const ALLOCATOR: &str = "hooks allocate, so an allocator would call itself";

/// Returns the reason why a function cannot have a hook, or `None` if it can.
pub fn reason(sig: &Signature, attrs: &[Attribute]) -> Option<&'static str> {
    if sig.constness.is_some() {
        return Some("a `const fn` also runs at compile time, where a hook cannot");
    }
    if attrs.iter().any(|attr| is_marked(attr, "naked")) {
        return Some("a naked function has no prologue");
    }
    if attrs.iter().any(|attr| is_marked(attr, "panic_handler")) {
        return Some("a panic in a hook would call the panic handler again");
    }
    if sig.variadic.is_some() {
        return Some("the arguments of a variadic function have no names");
    }
    // `extern "Rust"` is the ordinary ABI.
    let is_foreign = sig
        .abi
        .as_ref()
        .is_some_and(|abi| abi.name.as_ref().is_none_or(|name| name.value() != "Rust"));
    is_foreign.then_some(
        "a function with a foreign ABI is called by code outside Rust, where a hook may not run",
    )
}

/// Returns true if an item has the attribute `#[observe]`, by any path.
pub fn is_observed(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == "observe"))
}

/// Returns true for `#[mark]` and `#[unsafe(mark)]`.
fn is_marked(attr: &Attribute, mark: &str) -> bool {
    let is_mark = |meta: &Meta| meta.path().is_ident(mark);
    is_mark(&attr.meta)
        || attr.path().is_ident("unsafe")
            && attr.parse_args::<Meta>().is_ok_and(|meta| is_mark(&meta))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(function: &str, expected: Option<&str>) {
        let function: syn::ItemFn = syn::parse_str(function).expect("a function");
        let found = reason(&function.sig, &function.attrs);
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()), "{found:?}");
    }

    #[test]
    fn a_refused_function_has_a_reason() {
        check("const fn f() {}", Some("compile time"));
        check("#[unsafe(naked)] fn f() {}", Some("prologue"));
        check("#[panic_handler] fn f() {}", Some("panic handler"));
        check("unsafe extern \"C\" fn f(a: u8, ...) {}", Some("variadic"));
        check("extern fn f() {}", Some("foreign ABI"));
        check("extern \"Rust\" fn f() {}", None);
        check("#[inline] async unsafe fn f() {}", None);
    }
}
