//! The load: a server, publishers and views in one process, over loopback.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mini_redis::server;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::options::Options;
use crate::publisher::{self, PUBLISHERS, Published, Publisher};
use crate::view::View;
use crate::wire::{KINDS, Order};

/// Runs it to its end: when this returns everything was heard, and the server is gone. What takes
/// too long is an error.
///
/// Returns the number of receivers that the server reported to the publishers.
pub fn run(options: &Options, recording: Arc<str>) -> mini_redis::Result<u64> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let receipts = options.publishes.saturating_mul(options.subscribers as u64);
    let patience =
        Duration::from_secs(60) + Duration::from_millis(options.publishes.saturating_add(receipts));
    runtime.block_on(async {
        let load = timeout(patience, serve(options, recording)).await;
        load.unwrap_or_else(|_| Err(format!("not everything was heard within {patience:?}").into()))
    })
}

/// The server, for as long as the others run.
async fn serve(options: &Options, recording: Arc<str>) -> mini_redis::Result<u64> {
    let listener = listen(options.slow > 0)?;
    let address = listener.local_addr()?;
    let (shut_down, shutting_down) = oneshot::channel::<()>();
    let server = tokio::spawn(server::run(listener, shutting_down));
    let receivers = talk(address, options, recording).await?;
    drop(shut_down);
    // It waits for all its connections.
    server.await??;
    Ok(receivers)
}

/// What slow subscribers have not read is to wait in the server, which may overwrite it, and not in
/// the kernel.
fn listen(with_small_buffers: bool) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    if with_small_buffers {
        socket.set_send_buffer_size(16 << 10)?;
    }
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    socket.listen(1024)
}

async fn talk(
    server: SocketAddr,
    options: &Options,
    recording: Arc<str>,
) -> mini_redis::Result<u64> {
    let (published, wait) = watch::channel(false);
    let mut listening = JoinSet::new();
    let mut listen = |view: &Arc<View>, subscriber| {
        let is_slow = listening.len() < options.slow;
        let (order, wait) = (Order::new(PUBLISHERS.len()), is_slow.then(|| wait.clone()));
        listening.spawn(Arc::clone(view).listen(subscriber, order, Arc::clone(&recording), wait));
    };
    // Where there are two subscriptions or more, the first view has two of them.
    let views = if options.subscribers > 1 { options.subscribers - 1 } else { options.subscribers };
    let views: Vec<Arc<View>> = (0..views).map(|place| Arc::new(View::new(place))).collect();
    for view in &views {
        listen(view, view.open(server).await?);
    }
    if options.subscribers > 1 {
        listen(&views[0], views[0].show(server).await?);
    }

    let mut publishing = JoinSet::new();
    for place in 0..PUBLISHERS.len() {
        let publisher =
            Publisher::connect(server, place, Arc::clone(&recording), options.payload).await?;
        let own = (place as u64..options.publishes).step_by(PUBLISHERS.len());
        let kinds = own.map(|number| KINDS[(number % KINDS.len() as u64) as usize]);
        publishing.spawn(async move { (place, publisher.publish(kinds).await) });
    }
    let mut each = [Published::default(); PUBLISHERS.len()];
    while let Some(done) = publishing.join_next().await {
        let (place, done) = done?;
        each[place] = done?;
    }
    publisher::end(server, &each).await?;
    published.send_replace(true);
    while let Some(done) = listening.join_next().await {
        done??;
    }
    Ok(each.iter().map(|published| published.receivers).sum())
}
