//! Source of announcements from any `Stream`, which the tap takes over.

use std::pin::Pin;

use tokio_stream::{Stream, StreamExt};

use super::{Announcer, Received, Source};

/// Stream that belongs to the tap.
pub struct Streamed<S: Stream> {
    stream: Pin<Box<S>>,
    gaps: fn(&S::Item) -> Option<u64>,
}

impl<S: Stream> Streamed<S> {
    /// Wraps a stream, with a function that finds the items that report missed items.
    pub fn new(stream: S, gaps: fn(&S::Item) -> Option<u64>) -> Self {
        Streamed { stream: Box::pin(stream), gaps }
    }
}

impl<S: Stream<Item: 'static> + Send + 'static> Source for Streamed<S> {
    type Message = S::Item;
    // The state of a stream after a panic is unknown.
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
    const DISTURBS: &'static str = "the stream belongs to the tap";

    fn subscription(self) -> impl FnOnce() -> Option<Self> + Send + 'static {
        move || Some(self)
    }
}
