//! `tokio::sync::watch`: a bus that keeps the last announcement only, so changes are counted as they are seen.

use tokio::sync::watch::{Receiver, Sender};

use super::{Announcer, Received, Source};

const DISTURBS: &str = "the watch has one receiver more: receiver_count() says one more, send() succeeds where the \
    application has no receiver of its own, the value is cloned under the watch's read lock, and a send may have to wake \
    the tap's thread. Changes that follow each other faster than they are seen are one change to any receiver, this one \
    included";

impl<T: Clone + Send + Sync + 'static> Source for Receiver<T> {
    type Message = T;
    const SURVIVES_PANICS: bool = true;

    async fn receive(&mut self) -> Received<T> {
        match self.changed().await {
            // Cloned at once: while it is borrowed the sender cannot send.
            Ok(()) => Received::Message(self.borrow_and_update().clone()),
            Err(_) => Received::Ended,
        }
    }

    fn waiting(&self) -> Option<u64> {
        // An error says that the sender is gone, and nothing of a last change: one try more does no harm.
        Some(u64::from(self.has_changed().unwrap_or(true)))
    }
}

impl<T: Clone + Send + Sync + 'static> Announcer for &Sender<T> {
    type Message = T;
    type Source = Receiver<T>;
    const DISTURBS: &'static str = DISTURBS;

    fn subscription(self) -> impl FnOnce() -> Option<Receiver<T>> + Send + 'static {
        subscription(self.subscribe())
    }
}

impl<T: Clone + Send + Sync + 'static> Announcer for &Receiver<T> {
    type Message = T;
    type Source = Receiver<T>;
    const DISTURBS: &'static str = DISTURBS;

    fn subscription(self) -> impl FnOnce() -> Option<Receiver<T>> + Send + 'static {
        subscription(self.clone())
    }
}

/// What is there when it is installed is no change.
fn subscription<T>(mut receiver: Receiver<T>) -> impl FnOnce() -> Option<Receiver<T>> {
    move || {
        receiver.mark_unchanged();
        Some(receiver)
    }
}
