//! What requests may take: time, and memory.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use datafusion::error::DataFusionError;
use futures::stream;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Failed;
use crate::panics::caught;

/// Queries of clients that are answered at once, and as many requests for other pages. Others wait.
const AT_ONCE: usize = 4;
/// Bytes of an answer at most.
pub const ANSWER: usize = 64 << 20;
/// Bytes of all answers that wait for their clients to read them.
const ANSWERS: usize = 4 * ANSWER;
/// Bytes of an answer that are written at once, and that a permit stands for.
const PIECE: usize = 64 << 10;

/// Where answers are made, and what they may take.
#[derive(Clone)]
pub struct Limits {
    /// Threads of their own: a query that computes does not give way, and then the others neither
    /// accept nor time out.
    engine: Handle,
    /// The time of an answer at most.
    most: Duration,
    queries: Arc<Semaphore>,
    pages: Arc<Semaphore>,
    /// A permit for each piece.
    answers: Arc<Semaphore>,
}

impl Limits {
    /// Answers are made on an engine, and take this time at most.
    pub fn new(engine: Handle, most: Duration) -> Self {
        Limits {
            engine,
            most,
            queries: Arc::new(Semaphore::new(AT_ONCE)),
            pages: Arc::new(Semaphore::new(AT_ONCE)),
            answers: Arc::new(Semaphore::new(ANSWERS / PIECE)),
        }
    }

    async fn answer(&self, request: Request, next: Next) -> Response {
        // Queries may take all of their time, and a scraper does not wait for them.
        let places = if request.uri().path() == "/query" { &self.queries } else { &self.pages };
        let _place = places.acquire().await.expect("it is never closed");
        let mut answer = JoinSet::new();
        // The task ends with this request.
        answer.spawn_on(caught(async { Ok(next.run(request).await) }), &self.engine);
        match answer.join_next().await {
            Some(Ok(Ok(answer))) => self.hold(answer).await,
            Some(Ok(Err(panic))) => Failed::from(panic).into_response(),
            ended => Failed::from(anyhow!("the query stopped: {ended:?}")).into_response(),
        }
    }

    /// The answer, whose memory counts until the client has read it.
    async fn hold(&self, answer: Response) -> Response {
        let (mut head, body) = answer.into_parts();
        let Ok(bytes) = to_bytes(body, usize::MAX).await else {
            return Failed::from(anyhow!("the answer is not complete")).into_response();
        };
        head.headers.insert(header::CONTENT_LENGTH, bytes.len().into());
        let pieces = bytes.len().div_ceil(PIECE).min(ANSWERS / PIECE) as u32;
        let place =
            self.answers.clone().acquire_many_owned(pieces).await.expect("it is never closed");
        let write = |(mut left, place): (bytes::Bytes, _)| async move {
            let piece = left.split_to(left.len().min(PIECE));
            (!piece.is_empty()).then_some((Ok::<_, Infallible>(piece), (left, place)))
        };
        Response::from_parts(head, Body::from_stream(stream::unfold((bytes, place), write)))
    }
}

/// Answers within the limits, or with an error.
pub async fn hold(State(limits): State<Limits>, request: Request, next: Next) -> Response {
    let answer = tokio::time::timeout(limits.most, limits.answer(request, next)).await;
    answer.unwrap_or_else(|_| {
        let seconds = limits.most.as_secs();
        let message =
            format!("the query takes more than {seconds} s: ask for less, or run metaspy query");
        Failed(StatusCode::SERVICE_UNAVAILABLE, message).into_response()
    })
}

/// The answer to a query that stopped.
pub fn stopped(error: DataFusionError) -> Failed {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => memory_spent(&error.to_string()),
        _ => Failed(StatusCode::BAD_REQUEST, error.to_string()),
    }
}

/// The answer to a query that needs more memory.
pub fn memory_spent(why: &str) -> Failed {
    let message =
        format!("the memory for queries is spent: ask for less, or run metaspy query ({why})");
    Failed(StatusCode::SERVICE_UNAVAILABLE, message)
}
