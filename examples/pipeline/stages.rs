//! The pipeline itself. It is watched by its queues and its tasks; what they do is in three
//! observed functions.

use std::time::Duration;

use metaspy::channels::Bus;
use metaspy::channels::mpsc::{Receiver, Sender};
use metaspy::prelude::*;
use metaspy::tasks::{self, FutureExt};
use tokio::runtime::Builder;

/// A picture on its way.
#[derive(Clone, Copy, Debug)]
struct Picture(u64);

/// Takes so many pictures through.
pub fn run(pictures: u64) -> std::io::Result<()> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    runtime.block_on(async {
        let (pictures_in, pictures_out) = Bus::new("pictures").mpsc(4);
        let (decoded_in, decoded_out) = Bus::new("decoded").mpsc(64);
        let (resized_in, resized_out) = Bus::new("resized").mpsc(64);
        let stages = [
            tasks::spawn(decoding(pictures_out, decoded_in)),
            tasks::spawn(resizing(decoded_out, resized_in)),
            tasks::spawn(storing(resized_out)),
        ];
        for number in 0..pictures {
            take(&pictures_in, Picture(number)).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(pictures_in);
        for stage in stages {
            stage.await?;
        }
        Ok(())
    })
}

/// A picture begins its way here.
#[observe(subject = picture.0)]
async fn take(pictures: &Sender<Picture>, picture: Picture) {
    // The other end is there as long as this one.
    let _ = pictures.send(picture).await;
}

async fn decoding(mut pictures: Receiver<Picture>, decoded: Sender<Picture>) {
    while let Some(picture) = pictures.recv().await {
        let received = pictures.received();
        decode(picture).caused_by(received).await;
        let _ = decoded.send(picture).caused_by(received).await;
    }
}

async fn resizing(mut decoded: Receiver<Picture>, resized: Sender<Picture>) {
    while let Some(picture) = decoded.recv().await {
        let received = decoded.received();
        resize(picture).caused_by(received).await;
        let _ = resized.send(picture).caused_by(received).await;
    }
}

async fn storing(mut resized: Receiver<Picture>) {
    while let Some(picture) = resized.recv().await {
        store(picture).caused_by(resized.received()).await;
    }
}

#[observe(subject = picture.0)]
async fn decode(picture: Picture) {
    tokio::time::sleep(Duration::from_micros(200)).await;
}

#[observe(subject = picture.0)]
async fn resize(picture: Picture) {
    tokio::time::sleep(Duration::from_micros(100)).await;
}

/// Every sixteenth picture is flushed with those before it.
#[observe(subject = picture.0)]
async fn store(picture: Picture) {
    if picture.0 % 16 == 15 {
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
}
