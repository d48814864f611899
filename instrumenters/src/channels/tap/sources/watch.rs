//! Source of announcements from `tokio::sync::watch`. It keeps only the last announcement, so the
//! tap counts the changes that it sees.

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
            // The value is cloned at once, because a borrow blocks the sender.
            Ok(()) => Received::Message(self.borrow_and_update().clone()),
            Err(_) => Received::Ended,
        }
    }

    fn waiting(&self) -> Option<u64> {
        // An error means that the sender is gone, but there may be a last change. Another attempt
        // does no harm.
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

/// Marks the value at installation as seen, and returns the subscription.
fn subscription<T>(mut receiver: Receiver<T>) -> impl FnOnce() -> Option<Receiver<T>> {
    move || {
        receiver.mark_unchanged();
        Some(receiver)
    }
}
