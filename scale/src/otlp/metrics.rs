//! Tallies as OpenTelemetry metrics.

use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, MeterProvider};
use opentelemetry_otlp::MetricExporter;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{SdkMeterProvider, Temporality};
use prometheus_client::metrics::MetricType;
use tokio::runtime::Handle;

use super::rejected::Rejected;
use super::resource::Named;
use crate::metrics::{FAMILIES, Row, Values};
use crate::query::Source;

/// Sends the tallies of some recordings, and returns the data points that the receiver rejected.
pub async fn send(source: &Source, exporter: MetricExporter, named: &Named) -> Result<Rejected> {
    let mut all = Vec::new();
    for family in FAMILIES {
        all.push(Values::read(family, source).await?);
    }
    let (answers, answer) = channel();
    let exporter = OnRuntime { exporter, runtime: Handle::current(), answers };
    let provider = SdkMeterProvider::builder()
        .with_resource(named.of_metrics())
        .with_periodic_exporter(exporter)
        .build();
    all.into_iter().for_each(|values| observe(&provider, values));
    // The reader has a thread of its own, which sends the same values once more when it ends. Only
    // the first answer counts.
    let flushed = tokio::task::spawn_blocking(move || provider.force_flush()).await?;
    let rejected = answer.try_recv().unwrap_or_else(|_| flushed.map(|()| Rejected::default()));
    rejected.context("the receiver takes no metrics")
}

/// Makes an instrument for each metric.
fn observe(provider: &SdkMeterProvider, values: Values) {
    let meter = provider.meter("metaspy");
    let rows: Arc<[Row]> = values.rows.into();
    for (at, metric) in values.family.metrics.iter().enumerate() {
        let (name, unit) =
            (format!("metaspy.{}", metric.name), if metric.is_time { "s" } else { "1" });
        let rows = rows.clone();
        let callback = move |instrument: &dyn AsyncInstrument<f64>| {
            for row in rows.iter() {
                let Some(value) = row.values[at] else { continue };
                let labels: Vec<KeyValue> = row
                    .labels
                    .iter()
                    .map(|(name, text)| KeyValue::new(*name, text.clone()))
                    .collect();
                instrument.observe(value, &labels);
            }
        };
        match metric.kind {
            MetricType::Counter => {
                let counter = meter
                    .f64_observable_counter(name)
                    .with_description(metric.about)
                    .with_unit(unit);
                counter.with_callback(callback).build();
            }
            _ => {
                let gauge =
                    meter.f64_observable_gauge(name).with_description(metric.about).with_unit(unit);
                gauge.with_callback(callback).build();
            }
        }
    }
}

/// Exporter whose connections belong to the runtime. The thread of the reader has no runtime of its
/// own.
struct OnRuntime {
    exporter: MetricExporter,
    runtime: Handle,
    answers: Sender<Result<Rejected, OTelSdkError>>,
}

impl PushMetricExporter for OnRuntime {
    fn export(&self, metrics: &ResourceMetrics) -> impl Future<Output = OTelSdkResult> + Send {
        let answer = self.runtime.block_on(Rejected::by(self.exporter.export(metrics)));
        let sent = match &answer {
            Ok(_) => Ok(()),
            Err(error) => Err(OTelSdkError::InternalFailure(error.to_string())),
        };
        // The second answer has no receiver.
        let _ = self.answers.send(answer);
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
