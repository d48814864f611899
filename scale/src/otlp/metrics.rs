//! Tallies as OpenTelemetry metrics.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, MeterProvider};
use opentelemetry_otlp::MetricExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{SdkMeterProvider, Temporality};
use prometheus_client::metrics::MetricType;
use tokio::runtime::Handle;

use crate::metrics::{FAMILIES, Row, Values};
use crate::query::Source;

/// Sends the tallies of some recordings.
pub async fn send(source: &Source, exporter: MetricExporter) -> Result<()> {
    let mut all = Vec::new();
    for family in FAMILIES {
        all.push(Values::read(family, source).await?);
    }
    let exporter = OnRuntime { exporter, runtime: Handle::current() };
    let resource = Resource::builder().with_service_name("metaspy").build();
    let provider = SdkMeterProvider::builder().with_resource(resource).with_periodic_exporter(exporter).build();
    all.into_iter().for_each(|values| observe(&provider, values));
    // The reader has a thread of its own, which sends the same values once more when it ends.
    let sent = tokio::task::spawn_blocking(move || provider.force_flush());
    sent.await?.context("the receiver takes no metrics")
}

/// Makes an instrument for each metric.
fn observe(provider: &SdkMeterProvider, values: Values) {
    let meter = provider.meter("metaspy");
    let rows: Arc<[Row]> = values.rows.into();
    for (at, metric) in values.family.metrics.iter().enumerate() {
        let (name, unit) = (format!("metaspy.{}", metric.name), if metric.is_time { "s" } else { "1" });
        let rows = rows.clone();
        let callback = move |instrument: &dyn AsyncInstrument<f64>| {
            for row in rows.iter() {
                let Some(value) = row.values[at] else { continue };
                let labels: Vec<KeyValue> =
                    row.labels.iter().map(|(name, text)| KeyValue::new(*name, text.clone())).collect();
                instrument.observe(value, &labels);
            }
        };
        match metric.kind {
            MetricType::Counter => {
                let counter = meter.f64_observable_counter(name).with_description(metric.about).with_unit(unit);
                counter.with_callback(callback).build();
            }
            _ => {
                let gauge = meter.f64_observable_gauge(name).with_description(metric.about).with_unit(unit);
                gauge.with_callback(callback).build();
            }
        }
    }
}

/// An exporter whose connections belong to the runtime, for the reader's thread, which has none.
struct OnRuntime {
    exporter: MetricExporter,
    runtime: Handle,
}

impl PushMetricExporter for OnRuntime {
    fn export(&self, metrics: &ResourceMetrics) -> impl Future<Output = OTelSdkResult> + Send {
        let sent = self.runtime.block_on(self.exporter.export(metrics));
        std::future::ready(sent)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}
