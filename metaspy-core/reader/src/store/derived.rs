//! A value that a module above the store derives from it, and keeps there.

use std::any::Any;
use std::sync::OnceLock;

/// Derived value, of a type that the store does not know. It is made when it is first needed.
#[derive(Default)]
pub(crate) struct Derived(OnceLock<Box<dyn Any + Send + Sync>>);

impl Derived {
    /// Returns the value. All callers name one type.
    pub fn get<T: Any + Default + Send + Sync>(&self) -> &T {
        let value = self.0.get_or_init(|| Box::new(T::default()));
        value.downcast_ref().expect("all callers name one type")
    }
}
