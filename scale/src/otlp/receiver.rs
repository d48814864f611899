//! [`Receiver`]: destination of spans and metrics, from the options of the command or the standard
//! variables of the environment.

use std::env;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;
use opentelemetry_otlp::{
    MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig, WithTonicConfig,
};

use crate::arguments::{self, Transport};

/// Maximum time of a message, unless the environment sets one.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Receiver of OTLP messages.
pub struct Receiver {
    transport: Transport,
    /// Address from the command; `None` if the environment or the standard defines it.
    to: Option<String>,
}

impl Receiver {
    /// Returns the receiver that a command names.
    pub fn of(options: &arguments::Otlp) -> Result<Self> {
        let transport = match options.transport {
            Some(transport) => transport,
            None => match variable("OTEL_EXPORTER_OTLP_PROTOCOL").as_deref() {
                None | Some("grpc") => Transport::Grpc,
                Some("http/protobuf") => Transport::Http,
                Some(other) => {
                    bail!("OTEL_EXPORTER_OTLP_PROTOCOL is {other}: set grpc or http/protobuf")
                }
            },
        };
        let to = options.to.as_ref().map(|to| to.trim_end_matches('/').to_owned());
        if let Some(to) =
            to.as_ref().filter(|to| !to.starts_with("http://") && !to.starts_with("https://"))
        {
            bail!("{to} is no address: write http://HOST:PORT or https://HOST:PORT");
        }
        Ok(Receiver { transport, to })
    }

    /// Returns the address of the receiver for messages.
    pub fn address(&self) -> String {
        let standard = match self.transport {
            Transport::Grpc => "http://localhost:4317",
            Transport::Http => "http://localhost:4318",
        };
        let named = || {
            variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
                .or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT"))
        };
        self.to.clone().or_else(named).unwrap_or_else(|| standard.to_owned())
    }

    /// Returns the exporters that send to the receiver. Headers, timeout and compression come from
    /// the environment, as do the addresses for spans and metrics unless the command names one.
    pub fn exporters(&self) -> Result<(SpanExporter, MetricExporter)> {
        Ok(match self.transport {
            Transport::Grpc => {
                let tls = || ClientTlsConfig::new().with_native_roots();
                let (mut spans, mut metrics) =
                    (SpanExporter::builder().with_tonic(), MetricExporter::builder().with_tonic());
                if self.address().starts_with("https://") {
                    (spans, metrics) =
                        (spans.with_tls_config(tls()), metrics.with_tls_config(tls()));
                }
                if let Some(to) = &self.to {
                    (spans, metrics) = (spans.with_endpoint(to), metrics.with_endpoint(to));
                }
                (spans.build()?, metrics.build()?)
            }
            Transport::Http => {
                let binary = Protocol::HttpBinary;
                let mut spans = SpanExporter::builder()
                    .with_http()
                    .with_protocol(binary)
                    .with_http_client(https_client()?);
                let mut metrics = MetricExporter::builder()
                    .with_http()
                    .with_protocol(binary)
                    .with_http_client(https_client()?);
                if let Some(to) = &self.to {
                    spans = spans.with_endpoint(format!("{to}/v1/traces"));
                    metrics = metrics.with_endpoint(format!("{to}/v1/metrics"));
                }
                (spans.build()?, metrics.build()?)
            }
        })
    }
}

/// Returns an HTTP client that trusts the certificates of the system, or the certificates in
/// `SSL_CERT_FILE`.
fn https_client() -> Result<HyperClient<HttpsConnector<HttpConnector>>> {
    let builder =
        HttpsConnectorBuilder::new().with_native_roots().context("there are no certificates")?;
    let connector = builder.https_or_http().enable_http1().build();
    let milliseconds = variable("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|text| text.parse().ok());
    Ok(HyperClient::new(connector, milliseconds.map_or(TIMEOUT, Duration::from_millis), None))
}

/// Returns the value of an environment variable that is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
