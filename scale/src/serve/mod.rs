//! `metaspy serve`: recordings over HTTP, to read: tallies for Prometheus, and tables, events and queries as JSON.
//!
//! It listens on loopback unless an address is given. On loopback, a request must name this machine in `Host`: a page in a
//! browser cannot reach the server under a name of its own.

mod json;
mod limits;
mod metrics;
mod of_client;
mod parameters;
mod recent;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::FutureExt;
use tokio::net::TcpListener;

use crate::arguments;
use crate::interrupt::interrupted;
use crate::query::print;
use crate::threads;
use limits::Limits;
use recent::Recent;

/// The time in which requests end after an interrupt.
const GRACE: Duration = Duration::from_secs(3);

/// Runs the command, until it is interrupted.
pub async fn run(options: &arguments::Serve) -> Result<bool> {
    let sources = Recent::open(options.sources.clone(), options.memory).await?;
    let cannot = || format!("cannot listen on {}: choose another address with --listen", options.listen);
    let listener = TcpListener::bind(options.listen).await.with_context(cannot)?;
    let address = listener.local_addr()?;
    print(&format!("http://{address}/ has the tables, http://{address}/metrics the tallies\n"))?;
    let interrupted = interrupted()?.shared();
    let engine = threads::runtime()?;
    let limits = Limits { engine: engine.handle().clone(), most: Duration::from_secs(options.timeout) };
    let router = router(sources, address, limits);
    let served = axum::serve(listener, router).with_graceful_shutdown(interrupted.clone()).into_future();
    let ended = tokio::select! {
        served = served => served.context("cannot serve"),
        // A client that hangs holds nothing up.
        () = interrupted.then(|()| tokio::time::sleep(GRACE)) => Ok(()),
    };
    engine.shutdown_background();
    ended.map(|()| true)
}

fn router(sources: Recent, address: SocketAddr, limits: Limits) -> Router {
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
        .layer(middleware::from_fn_with_state(address, only_this_machine))
}

async fn no_page() -> Failed {
    Failed(StatusCode::NOT_FOUND, "there is no such page: / lists them".to_owned())
}

async fn only_get() -> Failed {
    Failed(StatusCode::METHOD_NOT_ALLOWED, "recordings are only read: GET".to_owned())
}

/// Refuses requests for another host, if the server listens on loopback.
async fn only_this_machine(State(address): State<SocketAddr>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if address.ip().is_loopback() && !is_loopback(host) {
        let message = format!("`{host}` is not this machine: use http://{address}");
        return Failed(StatusCode::FORBIDDEN, message).into_response();
    }
    next.run(request).await
}

/// True for a loopback address or `localhost`, with or without a port.
fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
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

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn names_of_other_machines_are_refused() {
        for host in ["localhost", "localhost:9464", "127.0.0.1", "127.0.0.1:80", "[::1]:9464", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "evil.example", "evil.example:9464", "localhost.evil.example", "10.0.0.1:9464"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
