//! [`Parameters`]: those of a request, without others.

use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::form_urlencoded;

use super::Failed;

/// The parameters of a request. One that the page does not have is an error: a typo would otherwise
/// select other rows.
pub(super) struct Parameters<T>(pub T);

/// What a page has as parameters.
pub(super) trait Named: DeserializeOwned {
    /// Their names.
    const NAMES: &[&str];
}

/// No parameters.
#[derive(Deserialize)]
pub(super) struct Nothing {}

impl Named for Nothing {
    const NAMES: &[&str] = &[];
}

impl<T: Named, S: Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failed;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failed> {
        let names = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes())
            .map(|(name, _)| name);
        match names.into_iter().find(|name| !T::NAMES.contains(&&**name)) {
            Some(unknown) => Err(Failed(StatusCode::BAD_REQUEST, message::<T>(&unknown))),
            None => Ok(Parameters(Query::try_from_uri(&parts.uri)?.0)),
        }
    }
}

fn message<T: Named>(unknown: &str) -> String {
    let names = if T::NAMES.is_empty() { "none".to_owned() } else { T::NAMES.join(", ") };
    format!("there is no parameter `{unknown}`: this page has {names}")
}
