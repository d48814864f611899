//! `metaspy serve`: recordings over HTTP, to read: tallies for Prometheus, and tables, events and
//! queries as JSON.
//!
//! It listens on loopback unless an address is given, and elsewhere requests need a token. A page
//! in a browser cannot reach it, neither from another site nor under a name of its own. Time,
//! memory and connections are bounded.

mod access;
mod connections;
mod json;
mod limits;
mod metrics;
mod of_client;
mod parameters;
mod recent;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;

use crate::arguments;
use crate::interrupt::interrupted;
use crate::stdout::print;
use crate::threads;
use access::{Access, Token};
use limits::Limits;
use recent::Recent;

/// Runs the command, until it is interrupted.
pub async fn run(options: &arguments::Serve) -> Result<bool> {
    let sources = Recent::open(options.sources.clone(), options.memory).await?;
    let listener = TcpListener::bind(options.listen).await.with_context(|| {
        format!("cannot listen on {}: choose another address with --listen", options.listen)
    })?;
    let address = listener.local_addr()?;
    let token = match &options.token_file {
        Some(path) => Some(Token::read(path)?),
        None if address.ip().is_loopback() => None,
        None => Some(Token::random()?),
    };
    print(&format!("http://{address}/ has the tables, http://{address}/metrics the tallies\n"))?;
    if let Some(token) = token.as_ref().filter(|_| options.token_file.is_none()) {
        print(&format!("requests have the header `Authorization: Bearer {}`\n", token.text()))?;
    }
    let interrupted = interrupted()?;
    let engine = threads::runtime()?;
    let most = Duration::from_secs(options.timeout);
    let router = router(
        sources,
        Arc::new(Access { address, token }),
        Limits::new(engine.handle().clone(), most),
    );
    connections::serve(listener, router, most, interrupted).await;
    engine.shutdown_background();
    Ok(true)
}

fn router(sources: Recent, access: Arc<Access>, limits: Limits) -> Router {
    Router::new()
        .route("/", get(json::contents))
        .route("/metrics", get(metrics::all))
        .route("/tables/{name}", get(json::table))
        .route("/events/{event}", get(json::event))
        .route("/query", get(json::query))
        .fallback(no_page)
        .method_not_allowed_fallback(only_get)
        .with_state(sources)
        .layer(middleware::from_fn_with_state(limits, limits::hold))
        .layer(middleware::from_fn_with_state(access, access::check))
}

async fn no_page() -> Failed {
    Failed(StatusCode::NOT_FOUND, "there is no such page: / lists them".to_owned())
}

async fn only_get() -> Failed {
    Failed(StatusCode::METHOD_NOT_ALLOWED, "recordings are only read: GET".to_owned())
}

/// An answer that is an error, with its message as JSON.
struct Failed(StatusCode, String);

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        (self.0, axum::Json(serde_json::json!({ "error": self.1 }))).into_response()
    }
}

impl From<QueryRejection> for Failed {
    fn from(rejection: QueryRejection) -> Self {
        Failed(rejection.status(), rejection.body_text())
    }
}

impl From<PathRejection> for Failed {
    fn from(rejection: PathRejection) -> Self {
        Failed(rejection.status(), rejection.body_text())
    }
}

impl From<anyhow::Error> for Failed {
    fn from(error: anyhow::Error) -> Self {
        Failed(StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}"))
    }
}
