//! The connections of clients: a bounded number, each with one request and a bounded time.
//!
//! A client that sends half a request, or that does not read its answer, would otherwise hold a
//! connection for ever.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Connections at once. Others wait in the system.
const CONNECTIONS: usize = 256;
/// The time in which a client sends the head of its request.
const HEAD: Duration = Duration::from_secs(10);
/// The time in which a client reads its answer.
const READ: Duration = Duration::from_secs(60);
/// The time after which a listener that failed is tried again: the process may have too many files
/// open.
const AGAIN: Duration = Duration::from_millis(100);
/// The time in which requests end after an interrupt.
const GRACE: Duration = Duration::from_secs(3);

/// Answers requests, each of them within some time, until it is interrupted.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    answer: Duration,
    interrupted: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut interrupted = pin!(interrupted);
    let next = || async {
        let place = places.clone().acquire_owned().await.expect("it is never closed");
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return (place, stream),
                Err(_) => sleep(AGAIN).await,
            }
        }
    };
    loop {
        let (place, stream) = tokio::select! {
            next = next() => next,
            () = &mut interrupted => break,
        };
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD).keep_alive(false);
        let connection =
            http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        tokio::spawn(async move {
            // The client may be gone.
            let _ = timeout(HEAD + answer + READ, connection).await;
            drop(place);
        });
    }
    drop(listener);
    // A client that hangs holds nothing up.
    let _ = timeout(GRACE, places.acquire_many(CONNECTIONS as u32)).await;
}
