//! Who may ask: programs of this machine on loopback, and elsewhere whoever has the token. No page
//! of another site.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use metaspy_reader::files;

use super::Failed;

/// The least length of a token.
const SHORTEST: usize = 16;
/// Random bytes of a token that the server makes.
const RANDOM: usize = 16;

/// What a request must have.
pub struct Access {
    /// The address of the server.
    pub address: SocketAddr,
    /// What requests send as `Authorization: Bearer …`; `None` if they need none.
    pub token: Option<Token>,
}

/// A secret of the server and its clients.
pub struct Token(String);

impl Token {
    /// Reads it from a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path)
            .with_context(|| format!("cannot read the token in {}", path.display()))?;
        let token = text.trim();
        if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!("{} has no token: write {SHORTEST} or more letters and digits", path.display());
        }
        Ok(Token(token.to_owned()))
    }

    /// Makes a random one.
    pub fn random() -> Result<Self> {
        let mut bytes = [0; RANDOM];
        let filled = getrandom::fill(&mut bytes);
        filled
            .context("cannot make a token: write one into a file, and name it with --token-file")?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// True for this header. Hashes are compared, which takes the same time for every wrong token.
    fn is(&self, authorization: Option<&HeaderValue>) -> bool {
        let sent =
            authorization.and_then(|it| it.to_str().ok()).and_then(|it| it.strip_prefix("Bearer "));
        sent.is_some_and(|sent| {
            blake3::hash(sent.trim().as_bytes()) == blake3::hash(self.0.as_bytes())
        })
    }
}

/// Lets a request pass, or refuses it.
pub async fn check(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    match access.refusal(request.headers()) {
        None => next.run(request).await,
        Some(refusal) => refusal.into_response(),
    }
}

impl Access {
    fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let host = text(headers, header::HOST);
        if self.address.ip().is_loopback() && !is_loopback(host) {
            let message = format!("`{host}` is not this machine: use http://{}", self.address);
            return Some(Failed(StatusCode::FORBIDDEN, message).into_response());
        }
        if is_from_another_site(headers) {
            let message = "a page of another site asks: requests come from programs, or from pages of this server";
            return Some(Failed(StatusCode::FORBIDDEN, message.to_owned()).into_response());
        }
        let token = self.token.as_ref()?;
        if token.is(headers.get(header::AUTHORIZATION)) {
            return None;
        }
        let message =
            "the token is missing or wrong: send the header `Authorization: Bearer TOKEN`"
                .to_owned();
        let mut refusal = Failed(StatusCode::UNAUTHORIZED, message).into_response();
        refusal.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        Some(refusal)
    }
}

/// True if a browser sends the request for a page of another origin. A link that somebody follows
/// is none.
fn is_from_another_site(headers: &HeaderMap) -> bool {
    let host = text(headers, header::HOST);
    let is_own = |origin: &str| {
        origin.split_once("://").is_some_and(|(_, name)| name.eq_ignore_ascii_case(host))
    };
    // Images and forms send no `Origin`.
    let is_part_of_page = || {
        let is_other = matches!(
            text(headers, HeaderName::from_static("sec-fetch-site")),
            "cross-site" | "same-site"
        );
        is_other && text(headers, HeaderName::from_static("sec-fetch-mode")) != "navigate"
    };
    headers.contains_key(header::ORIGIN) && !is_own(text(headers, header::ORIGIN))
        || is_part_of_page()
}

fn text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// True for a loopback address or `localhost`, with or without a port.
fn is_loopback(host: &str) -> bool {
    let name = host
        .rsplit_once(':')
        .filter(|(_, port)| port.parse::<u16>().is_ok())
        .map_or(host, |(name, _)| name);
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(access: &Access, headers: &[(&'static str, &'static str)]) -> Option<u16> {
        let value = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        Some(access.refusal(&headers.iter().map(value).collect())?.status().as_u16())
    }

    #[test]
    fn names_of_other_machines_are_refused() {
        for host in
            ["localhost", "localhost:9464", "127.0.0.1", "127.0.0.1:80", "[::1]:9464", "[::1]"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["", "evil.example", "evil.example:9464", "localhost.evil.example", "10.0.0.1:9464"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let access = Access { address: ([127, 0, 0, 1], 9464).into(), token: None };
        let host = ("host", "localhost:9464");
        assert_eq!(status(&access, &[host]), None);
        assert_eq!(status(&access, &[host, ("origin", "http://localhost:9464")]), None);
        assert_eq!(
            status(
                &access,
                &[host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]
            ),
            None
        );
        assert_eq!(status(&access, &[host, ("sec-fetch-site", "same-origin")]), None);
        for origin in
            ["null", "", "http://localhost", "http://localhost:3000", "https://evil.example"]
        {
            assert_eq!(status(&access, &[host, ("origin", origin)]), Some(403), "{origin}");
        }
        for mode in ["no-cors", "cors"] {
            let headers = [host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode)];
            assert_eq!(status(&access, &headers), Some(403), "{mode}");
        }
    }

    #[test]
    fn requests_without_the_token_are_refused() {
        let token = Some(Token("0123456789abcdef".to_owned()));
        let access = Access { address: ([10, 0, 0, 1], 9464).into(), token };
        let host = ("host", "metrics.example");
        assert_eq!(status(&access, &[host, ("authorization", "Bearer 0123456789abcdef")]), None);
        for wrong in
            ["Bearer 0123456789abcdeF", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef"]
        {
            assert_eq!(status(&access, &[host, ("authorization", wrong)]), Some(401), "{wrong}");
        }
        assert_eq!(status(&access, &[host]), Some(401));
    }
}
