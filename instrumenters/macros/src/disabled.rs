//! Expansion without the feature `record`, which returns each item unchanged.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{ItemFn, ItemImpl, ItemTrait, Result};

use crate::options::Options;
use crate::verdict::Verdict;

pub fn function(function: ItemFn, _: &Options) -> Result<TokenStream> {
    Ok(function.into_token_stream())
}

pub fn implementation(item: ItemImpl, _: Vec<Verdict>, _: &Options) -> Result<TokenStream> {
    Ok(item.into_token_stream())
}

pub fn declaration(item: ItemTrait, _: Vec<Verdict>, _: &Options) -> Result<TokenStream> {
    Ok(item.into_token_stream())
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;

    use crate::verdict::observe;

    fn check(options: &str, item: &str, expected: &str) {
        let tokens = |text: &str| text.parse::<TokenStream>().expect("a test is written in tokens");
        // Blanks between tokens depend on the printer, so they are removed.
        let text = |tokens: TokenStream| tokens.to_string().replace(' ', "");
        assert_eq!(text(observe(tokens(options), tokens(item))), text(tokens(expected)));
    }

    #[test]
    fn the_expansion_equals_the_input() {
        for item in [
            "#[inline] pub fn f<'a, T: Fn(&'a u8) -> u8>(&self, (a, b): (u8, u8), c: impl Send) -> impl Sized + use<'a, T> \
             where T: Copy { #![allow(unused)] let x = a?; return b; }",
            "pub async unsafe fn f(mut self: Pin<&mut Self>) -> ! { loop {} }",
            "unsafe impl<T: ?Sized, const N: usize> Trait<[T; N]> for &'_ mut Type<T> { const A: u8 = 1; type B = T; \
             made!(); pub const fn f() {} default fn g() {} extern \"C\" fn h(); }",
            "pub trait Trait<T = u8>: Super + 'static { #![doc = \"inner\"] type A: Copy; fn required(&self); \
             fn default(&self) -> Self::A { self.a() } }",
        ] {
            check("", item, item);
        }
    }

    #[test]
    fn options_of_single_methods_are_taken_away() {
        check(
            "subject = self.id",
            "impl T { #[doc = \"f\"] #[observe(skip)] fn f() {} #[metaspy::observe(args(a))] #[cfg(x)] fn g(a: u8) {} \
             #[cfg_attr(x, observe)] fn h() {} #[cfg_attr(x, inline, observe(ret))] fn i() {} }",
            "impl T { #[doc = \"f\"] fn f() {} #[cfg(x)] fn g(a: u8) {} fn h() {} #[cfg_attr(x, inline)] fn i() {} }",
        );
    }
}
