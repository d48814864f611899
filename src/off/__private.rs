//! What `#[derive(Identify)]` writes. It may change in any version.

use crate::{Identify, Subject};

/// Values whose identity can be asked without care.
pub trait PlainIdentity: Identify {}

/// Values whose identity is asked with care; there are none.
pub trait AskedIdentity {}

/// A value.
pub struct Who<'a, T: ?Sized>(pub &'a T);

impl<T: Identify + ?Sized> Who<'_, T> {
    /// What the value says.
    #[inline(always)]
    pub fn identity(&self) -> Subject {
        self.0.identify()
    }
}
