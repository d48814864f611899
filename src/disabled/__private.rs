//! What `#[derive(Identify)]` writes. It may change in any version.

use crate::{Identify, Subject};

pub trait DirectIdentity: Identify {}
pub trait GuardedIdentity {}

pub struct Receiver<'a, T: ?Sized>(pub &'a T);

impl<T: Identify + ?Sized> Receiver<'_, T> {
    #[inline(always)]
    pub fn identity(&self) -> Subject {
        self.0.identify()
    }
}
