//! Decision about each item of an `impl` or a trait.

use metaspy_syntax::refusal::{self, LEFT_OUT};
use syn::{Attribute, Error, Result, Signature};

use crate::options::Options;

/// Decision about an item of an `impl` or a trait.
pub enum Verdict {
    Observe(Box<Options>),
    /// The item is listed with this reason, and never observed.
    Skip(&'static str),
    /// The item is not a function, or is not selected.
    Leave,
}

/// Decides about a method, and removes its `#[observe]` attribute.
pub fn judge(outer: &Options, attrs: &mut Vec<Attribute>, sig: &Signature) -> Result<Verdict> {
    let own = Options::take(attrs)?;
    let is_selected = own.is_some();
    let own = own.unwrap_or_default();
    own.check_function()?;
    if own.skip.is_some() {
        return Ok(Verdict::Skip(LEFT_OUT));
    }
    if outer.only.is_some() && !is_selected {
        return Ok(Verdict::Leave);
    }
    match refusal::reason(sig, attrs) {
        Some(reason) if is_selected => Err(refused(sig, reason)),
        Some(reason) => Ok(Verdict::Skip(reason)),
        None => Ok(Verdict::Observe(Box::new(own.within(outer, sig)))),
    }
}

/// Returns the error of an attribute directly on a function that cannot be observed.
pub fn refused(sig: &Signature, reason: &str) -> Error {
    Error::new(sig.ident.span(), format!("`{}` cannot be observed: {reason}", sig.ident))
}
