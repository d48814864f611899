//! The callbacks that the framework offers: it has them for its own tools, and does not depend on
//! metaspy.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::graph::SignalId;

/// A value that is replaced by another.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    /// The signal.
    pub id: SignalId,
    /// True if something has read the old value.
    pub was_read: bool,
}

type Callback = Arc<dyn Fn(&Replaced) + Send + Sync>;

/// A list of callbacks. Clones are the same list.
#[derive(Clone, Default)]
pub struct Listeners(Arc<Mutex<Vec<Callback>>>);

/// A callback in the list, until this is dropped.
pub struct Listening {
    listeners: Listeners,
    callback: Callback,
}

impl Listeners {
    /// Adds a callback.
    pub fn listen(&self, callback: impl Fn(&Replaced) + Send + Sync + 'static) -> Listening {
        let callback: Callback = Arc::new(callback);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&callback));
        Listening { listeners: self.clone(), callback }
    }

    /// Calls all callbacks.
    pub fn call(&self, replaced: &Replaced) {
        let callbacks = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        callbacks.iter().for_each(|callback| callback(replaced));
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut callbacks = self.listeners.0.lock().unwrap_or_else(PoisonError::into_inner);
        callbacks.retain(|callback| !Arc::ptr_eq(callback, &self.callback));
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listeners").finish_non_exhaustive()
    }
}
