//! What `#[derive(Identify)]` writes. It may change in any version.

use crate::{Identify, Subject};

/// Values whose identity can be asked without care.
pub trait DirectIdentity: Identify {}

/// Values whose identity is asked with care; there are none.
pub trait GuardedIdentity {}

/// A value.
pub struct Receiver<'a, T: ?Sized>(pub &'a T);

impl<T: Identify + ?Sized> Receiver<'_, T> {
    /// What the value says.
    #[inline(always)]
    pub fn identity(&self) -> Subject {
        self.0.identify()
    }
}
