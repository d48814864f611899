//! The metrics in the text format of Prometheus (OpenMetrics 1.0).

use std::fmt;

use anyhow::Context;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use super::{Failed, Recent};
use crate::metrics::{FAMILIES, Values};

/// The media type of the text.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers a scrape. A scraper may send parameters of its own.
pub async fn all(State(recent): State<Recent>) -> Result<impl IntoResponse, Failed> {
    let source = recent.source().await;
    let mut registry = Registry::with_prefix("metaspy");
    for family in FAMILIES {
        registry.register_collector(Box::new(Values::read(family, &source).await?));
    }
    let mut text = String::new();
    text::encode(&mut text, &registry).context("the metrics are no text")?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text))
}

impl Collector for Values {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        for (at, metric) in self.family.metrics.iter().enumerate() {
            let unit = metric.is_time.then_some(&Unit::Seconds);
            let mut of_metric =
                encoder.encode_descriptor(metric.name, metric.about, unit, metric.kind)?;
            for row in &self.rows {
                let Some(value) = row.values[at] else { continue };
                let mut of_row = of_metric.encode_family(&row.labels)?;
                match metric.kind {
                    MetricType::Counter => {
                        of_row.encode_counter::<NoLabelSet, f64, u64>(&value, None)?
                    }
                    _ => of_row.encode_gauge(&value)?,
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}
