//! Views: each hears of every announcement, and refreshes itself.

use std::net::SocketAddr;
use std::sync::Arc;

use async_stream::try_stream;
use metaspy::Carried;
use metaspy::channels::SpiedStream;
use metaspy::prelude::*;
use metaspy::{Site, Subject};
use mini_redis::client::{self, Message, Subscriber};
use tokio::sync::watch;
use tokio_stream::{Stream, StreamExt};

use crate::wire::{Announcement, CHANNELS, KINDS, Letter, Order};

const NAMES: [&str; 4] = ["tree", "list", "text", "versions"];

pub struct View {
    id: ObjectId,
}

#[observe(subject = self.id)]
impl View {
    /// Opens the view: from now on it hears of everything.
    pub async fn open(&self, server: SocketAddr) -> mini_redis::Result<Subscriber> {
        subscribe(server).await
    }

    /// Brings the view to the front, whatever happened to it before.
    pub async fn show(&self, server: SocketAddr) -> mini_redis::Result<Subscriber> {
        // The bug of this story: an open view hears of everything already.
        subscribe(server).await
    }

    /// Something was announced.
    fn refresh(&self, announcement: Announcement) {
        std::hint::black_box(announcement);
    }
}

impl View {
    pub fn new(place: usize) -> Self {
        let id = ObjectId::of::<Self>();
        label(
            &id,
            NAMES
                .get(place)
                .map_or_else(|| format!("view {}", place + 1), |name| (*name).to_owned()),
        );
        View { id }
    }

    /// Listens to a subscription until all channels have ended. A slow one begins when everything
    /// is published.
    pub async fn listen(
        self: Arc<Self>,
        subscriber: Subscriber,
        order: Order,
        recording: Arc<str>,
        slow_until: Option<watch::Receiver<bool>>,
    ) -> mini_redis::Result<()> {
        if let Some(mut published) = slow_until {
            published.wait_for(|published| *published).await?;
        }
        let mut heard =
            spied(self.id.identify(), heard(subscriber.into_stream(), order, recording));
        while let Some(next) = heard.next().await {
            if let Heard::Announced(announcement) = next? {
                let _because = heard.because();
                self.refresh(announcement);
            }
        }
        Ok(())
    }
}

/// Waits for the server to have acknowledged every channel.
async fn subscribe(server: SocketAddr) -> mini_redis::Result<Subscriber> {
    let client = client::connect(server).await?;
    client.subscribe(CHANNELS.map(str::to_owned).into()).await
}

/// What comes in through a subscription.
enum Heard {
    Announced(Announcement),
    Missed(u64),
}

/// What the messages of a subscription say, with the gaps that their numbers show: mini-redis
/// passes over what a slow subscriber missed, without a report.
fn heard(
    messages: impl Stream<Item = mini_redis::Result<Message>> + Send,
    mut order: Order,
    recording: Arc<str>,
) -> impl Stream<Item = mini_redis::Result<Heard>> + Send {
    try_stream! {
        let mut messages = Box::pin(messages);
        while !order.has_ended() {
            let message = messages.next().await.ok_or("a subscription was closed before its end")??;
            let text = String::from_utf8_lossy(&message.content);
            let letter = Letter::read(&text, &recording).ok_or_else(|| format!("no publisher sends this: {text}"))?;
            let channel = CHANNELS.into_iter().position(|channel| channel == message.channel);
            let missed = channel.and_then(|channel| order.missed_before(channel, &letter));
            match missed.ok_or_else(|| format!("this cannot come now, on {}: {text}", message.channel))? {
                0 => {}
                missed => yield Heard::Missed(missed),
            }
            if let Letter::Announced(announcement) = letter {
                yield Heard::Announced(announcement);
            }
        }
    }
}

/// The stream. Each item is an event whose cause is the PUBLISH in its envelope.
fn spied<S>(
    view: Subject,
    heard: S,
) -> SpiedStream<S, impl metaspy::channels::KindOf<S::Item> + Unpin>
where
    S: Stream<Item = mini_redis::Result<Heard>>,
{
    SpiedStream::new(RECEIVED, heard)
        .kind(|heard: &S::Item| match heard {
            Ok(Heard::Announced(announcement)) => announcement.kind.path(),
            Ok(Heard::Missed(_)) => "missed",
            Err(_) => "broken",
        })
        .subject(move |_| view)
        .gaps(|heard| match heard {
            Ok(Heard::Missed(missed)) => Some(*missed),
            _ => None,
        })
        .caused_by(|heard| match heard {
            Ok(Heard::Announced(announcement)) => announcement.sent,
            _ => Carried::NOTHING,
        })
}

/// What the sites of receipts are called.
pub const RECEIVED: &str = "received";

/// The sites of what is received and what was missed, before anything is.
pub fn sites() -> [&'static Site; KINDS.len() + 1] {
    let stream = SpiedStream::new(RECEIVED, tokio_stream::empty::<()>());
    let [a, b, c, d] = KINDS.map(|kind| stream.site(kind.path()));
    [a, b, c, d, stream.site("missed")]
}
