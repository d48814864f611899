//! Publishers: each has a connection of its own, and waits for the answer to each PUBLISH.

use std::net::SocketAddr;
use std::sync::Arc;

use metaspy::carried;
use metaspy::prelude::*;
use mini_redis::client::{self, Client};

use crate::wire::{Announcement, CHANNELS, Kind, Letter};

/// Who publishes.
pub const PUBLISHERS: [&str; 3] = ["editor", "compiler", "debugger"];

/// What a publisher did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Published {
    /// Announcements on each channel.
    pub on: [u64; CHANNELS.len()],
    /// Receivers that the server reported, added up.
    pub receivers: u64,
}

pub struct Publisher {
    id: ObjectId,
    place: usize,
    client: Client,
    published: Published,
    recording: Arc<str>,
    payload: usize,
}

/// One method for each kind of announcement: what is sent within has its event as the cause.
#[observe(subject = self.id)]
impl Publisher {
    async fn node_selected(&mut self) -> mini_redis::Result<()> {
        self.send(Kind::NodeSelected).await
    }

    async fn node_changed(&mut self) -> mini_redis::Result<()> {
        self.send(Kind::NodeChanged).await
    }

    async fn command_run(&mut self) -> mini_redis::Result<()> {
        self.send(Kind::CommandRun).await
    }

    async fn panel_refreshed(&mut self) -> mini_redis::Result<()> {
        self.send(Kind::PanelRefreshed).await
    }
}

impl Publisher {
    pub async fn connect(
        server: SocketAddr,
        place: usize,
        recording: Arc<str>,
        payload: usize,
    ) -> mini_redis::Result<Self> {
        let (id, client) = (ObjectId::of::<Self>(), client::connect(server).await?);
        label(&id, PUBLISHERS[place]);
        Ok(Publisher { id, place, client, published: Published::default(), recording, payload })
    }

    /// Announces what is handed to it, one after the other.
    pub async fn publish(
        mut self,
        kinds: impl Iterator<Item = Kind>,
    ) -> mini_redis::Result<Published> {
        for kind in kinds {
            match kind {
                Kind::NodeSelected => self.node_selected().await?,
                Kind::NodeChanged => self.node_changed().await?,
                Kind::CommandRun => self.command_run().await?,
                Kind::PanelRefreshed => self.panel_refreshed().await?,
            }
        }
        Ok(self.published)
    }

    async fn send(&mut self, kind: Kind) -> mini_redis::Result<()> {
        let number = &mut self.published.on[kind.channel()];
        let letter = Letter::Announced(Announcement {
            sent: carried(),
            publisher: self.place,
            number: *number,
            kind,
        });
        *number += 1;
        let bytes = letter.write(&self.recording, self.payload).into();
        self.published.receivers += self.client.publish(CHANNELS[kind.channel()], bytes).await?;
        Ok(())
    }
}

/// Says on each channel that nothing comes any more. As the last message of its channel it cannot
/// be overwritten.
#[observe]
pub async fn end(server: SocketAddr, published: &[Published]) -> mini_redis::Result<()> {
    let mut client = client::connect(server).await?;
    for (place, channel) in CHANNELS.into_iter().enumerate() {
        let letter = Letter::End(published.iter().map(|published| published.on[place]).collect());
        client.publish(channel, letter.write("", 0).into()).await?;
    }
    Ok(())
}
