//! What a request may take: time, and memory.

use std::time::Duration;

use anyhow::anyhow;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use datafusion::error::DataFusionError;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::Failed;
use crate::panics::caught;

/// Where answers are made, and how long that may take.
#[derive(Clone)]
pub struct Limits {
    /// Threads of their own: a query that computes does not give way, and then the others neither accept nor time out.
    pub engine: Handle,
    /// The time of an answer at most.
    pub most: Duration,
}

/// Answers within the limits, or with an error.
pub async fn hold(State(Limits { engine, most }): State<Limits>, request: Request, next: Next) -> Response {
    let mut answer = JoinSet::new();
    // The task ends with this request.
    answer.spawn_on(caught(async { Ok(next.run(request).await) }), &engine);
    match tokio::time::timeout(most, answer.join_next()).await {
        Ok(Some(Ok(Ok(answer)))) => answer,
        Ok(Some(Ok(Err(panic)))) => Failed::from(panic).into_response(),
        Ok(ended) => Failed::from(anyhow!("the query stopped: {ended:?}")).into_response(),
        Err(_) => {
            let message = format!("the query takes more than {} s: ask for less, or run metaspy query", most.as_secs());
            Failed(StatusCode::SERVICE_UNAVAILABLE, message).into_response()
        }
    }
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
    let message = format!("the memory for queries is spent: ask for less, or run metaspy query ({why})");
    Failed(StatusCode::SERVICE_UNAVAILABLE, message)
}
