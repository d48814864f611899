//! `metaspy otlp`: events as spans, further reasons as span links, and tallies as metrics, sent over OTLP.

mod advice;
mod metrics;
mod rejected;
mod spans;

use anyhow::{Context, Result, bail};
use metaspy_reader::text::print_message;
use metaspy_reader::units::grouped;
use opentelemetry::KeyValue;
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig};

use opentelemetry_sdk::Resource;

use crate::arguments::{self, Transport};
use crate::query::{Source, print};
use crate::recordings::Recording;
use spans::Sent;

/// Runs the command.
pub async fn run(options: &arguments::Otlp) -> Result<bool> {
    let source = Source::open(&options.recordings).await?;
    if source.recordings().is_empty() {
        bail!("a sealed set has no causes to send: name recordings");
    }
    let (mut span_exporter, metric_exporter) = exporters(options).context("cannot send")?;
    let mut sent = Sent::default();
    for recording in source.recordings().iter() {
        spans::send(recording, &mut span_exporter, &mut sent).await?;
    }
    let Sent { spans, running, rejected } = sent;
    report(rejected.report("spans"));
    let rejected_points = metrics::send(&source, metric_exporter).await?;
    report(rejected_points.report("data points"));
    let left_out =
        if running > 0 { format!("; {} that still run have no span", grouped(running)) } else { String::new() };
    print(&format!("{} spans sent to {}{left_out}\n", grouped(spans), options.to))?;
    report(source.warnings());
    Ok(!source.is_damaged() && rejected.count == 0 && rejected_points.count == 0)
}

fn report(warnings: impl IntoIterator<Item = String>) {
    for warning in warnings {
        print_message(&format_args!("metaspy otlp: {warning}"));
    }
}

/// The service of a recording's spans.
fn resource(recording: &Recording) -> Resource {
    let (program, header) = (recording.store.program(), recording.store.header());
    let service = recording.process.rsplit_once('-').map_or(recording.process.as_str(), |(name, _)| name);
    let attributes = [
        KeyValue::new("service.instance.id", recording.process.clone()),
        KeyValue::new("process.pid", i64::from(header.pid)),
        KeyValue::new("process.executable.path", program.path.clone()),
        KeyValue::new("metaspy.run", recording.run.clone()),
    ];
    Resource::builder().with_service_name(service.to_owned()).with_attributes(attributes).build()
}

fn exporters(options: &arguments::Otlp) -> Result<(SpanExporter, MetricExporter)> {
    let base = options.to.trim_end_matches('/');
    if !base.starts_with("http://") {
        bail!("{base} is no address without TLS: write http://HOST:PORT");
    }
    Ok(match options.transport {
        Transport::Grpc => (
            SpanExporter::builder().with_tonic().with_endpoint(base).build()?,
            MetricExporter::builder().with_tonic().with_endpoint(base).build()?,
        ),
        Transport::Http => {
            let path = |signal: &str| format!("{base}/v1/{signal}");
            let binary = Protocol::HttpBinary;
            (
                SpanExporter::builder().with_http().with_protocol(binary).with_endpoint(path("traces")).build()?,
                MetricExporter::builder().with_http().with_protocol(binary).with_endpoint(path("metrics")).build()?,
            )
        }
    })
}
