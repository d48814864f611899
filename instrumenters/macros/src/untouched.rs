//! Without the feature `record`: items are handed back as they were written.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{ItemFn, ItemImpl, ItemTrait, Result};

use crate::observe::Verdict;
use crate::options::Options;

pub fn lone(function: ItemFn, _: &Options) -> Result<TokenStream> {
    Ok(function.into_token_stream())
}

pub fn implementation(item: ItemImpl, _: Vec<Verdict>, _: &Options) -> Result<TokenStream> {
    Ok(item.into_token_stream())
}

pub fn declaration(item: ItemTrait, _: Vec<Verdict>, _: &Options) -> Result<TokenStream> {
    Ok(item.into_token_stream())
}
