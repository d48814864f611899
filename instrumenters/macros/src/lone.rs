//! `#[observe]` on one function: a free one, or a method whose `impl` has no attribute.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{ItemFn, Result};

use crate::hook;
use crate::observe::unobservable_error;
use crate::options::Options;
use crate::unobservable;

pub fn observe(options: Options, function: ItemFn) -> Result<TokenStream> {
    options.check_function()?;
    if options.skip.is_some() {
        return Ok(function.into_token_stream());
    }
    if let Some(reason) = unobservable::reason(&function.sig, &function.attrs) {
        return Err(unobservable_error(&function.sig, reason));
    }
    hook::lone(function, &options)
}
