//! Source of announcements from `tokio::sync::broadcast`.

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, WeakSender};

use super::{Announcer, Received, Source};

const DISTURBS: &str = "the bus has one receiver more: receiver_count() says one more, send() succeeds where the \
    application has no receiver of its own, each message is cloned once more, one that the tap has not received stays in \
    its slot until it is overwritten, and a send may have to wake the tap's thread";

impl<T: Clone + Send + 'static> Source for Receiver<T> {
    type Message = T;
    // A message whose clone panics counts as taken.
    const SURVIVES_PANICS: bool = true;

    async fn receive(&mut self) -> Received<T> {
        match self.recv().await {
            Ok(message) => Received::Message(message),
            Err(RecvError::Lagged(missed)) => Received::Lost(missed),
            Err(RecvError::Closed) => Received::Ended,
        }
    }

    fn waiting(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<T: Clone + Send + 'static> Announcer for &Sender<T> {
    type Message = T;
    type Source = Receiver<T>;
    const DISTURBS: &'static str = DISTURBS;

    fn subscription(self) -> impl FnOnce() -> Option<Receiver<T>> + Send + 'static {
        subscription(self.downgrade())
    }
}

impl<T: Clone + Send + 'static> Announcer for &WeakSender<T> {
    type Message = T;
    type Source = Receiver<T>;
    const DISTURBS: &'static str = DISTURBS;

    fn subscription(self) -> impl FnOnce() -> Option<Receiver<T>> + Send + 'static {
        subscription(self.clone())
    }
}

/// The tap receives messages from its installation on, without those that still wait in this
/// receiver.
impl<T: Clone + Send + 'static> Announcer for &Receiver<T> {
    type Message = T;
    type Source = Receiver<T>;
    const DISTURBS: &'static str = DISTURBS;

    fn subscription(self) -> impl FnOnce() -> Option<Receiver<T>> + Send + 'static {
        let receiver = self.resubscribe();
        move || Some(receiver.resubscribe())
    }
}

fn subscription<T>(sender: WeakSender<T>) -> impl FnOnce() -> Option<Receiver<T>> {
    move || Some(sender.upgrade()?.subscribe())
}
