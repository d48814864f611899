//! Any `Stream`, given to the tap.

use std::pin::Pin;

use tokio_stream::{Stream, StreamExt};

use super::{Announcer, Received, Source};

/// A stream that nobody but the tap listens to.
pub struct Streamed<S: Stream> {
    stream: Pin<Box<S>>,
    gaps: fn(&S::Item) -> Option<u64>,
}

impl<S: Stream> Streamed<S> {
    /// A stream, and which of its items say that others were missed.
    pub fn new(stream: S, gaps: fn(&S::Item) -> Option<u64>) -> Self {
        Streamed { stream: Box::pin(stream), gaps }
    }
}

impl<S: Stream<Item: 'static> + Send + 'static> Source for Streamed<S> {
    type Message = S::Item;
    // What state a stream is in after a panic is its own affair.
    const SURVIVES_PANICS: bool = false;

    async fn receive(&mut self) -> Received<S::Item> {
        match self.stream.next().await {
            Some(item) => match (self.gaps)(&item) {
                Some(missed) => Received::Lost(missed),
                None => Received::Message(item),
            },
            None => Received::Ended,
        }
    }

    fn waiting(&self) -> Option<u64> {
        None
    }
}

impl<S: Stream<Item: 'static> + Send + 'static> Announcer for Streamed<S> {
    type Message = S::Item;
    type Source = Self;
    const DISTURBS: &'static str = "the stream is polled by the tap, and by nobody else";

    fn subscription(self) -> impl FnOnce() -> Option<Self> + Send + 'static {
        move || Some(self)
    }
}
