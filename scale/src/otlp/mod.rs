//! `metaspy otlp`: events as spans, further reasons as span links, and tallies as metrics, sent
//! over OTLP.

mod advice;
mod follow;
mod journal;
mod metrics;
mod receiver;
mod rejected;
mod resource;
mod spans;

use anyhow::{Context, Result, bail};
use metaspy_reader::text::print_message;
use metaspy_reader::units::grouped;

use crate::arguments;
use crate::query::Source;
use crate::stdout::print;
use receiver::Receiver;
use resource::Named;
use spans::Sent;

/// Runs the command.
pub async fn run(options: &arguments::Otlp) -> Result<bool> {
    if options.follow {
        return follow::run(options).await;
    }
    let source = source(options).await?;
    let receiver = Receiver::of(options)?;
    let named = Named::of(options);
    let (mut span_exporter, metric_exporter) = receiver.exporters().context("cannot send")?;
    let mut sent = Sent::default();
    for recording in source.recordings().iter() {
        spans::send(recording, &mut span_exporter, &mut sent, &named, None).await?;
    }
    let Sent { spans, running, rejected } = sent;
    report(rejected.report("spans"));
    let rejected_points = metrics::send(&source, metric_exporter, &named).await?;
    report(rejected_points.report("data points"));
    let left_out = if running > 0 {
        format!("; {} that still run have no span", grouped(running))
    } else {
        String::new()
    };
    print(&format!("{} spans sent to {}{left_out}\n", grouped(spans), receiver.address()))?;
    report(source.warnings());
    Ok(!source.is_damaged() && rejected.count == 0 && rejected_points.count == 0)
}

async fn source(options: &arguments::Otlp) -> Result<Source> {
    let source = Source::open(&options.recordings).await?;
    if source.recordings().is_empty() {
        bail!("a sealed set has no causes to send: name recordings");
    }
    Ok(source)
}

fn report(warnings: impl IntoIterator<Item = String>) {
    for warning in warnings {
        print_message(&format_args!("metaspy otlp: {warning}"));
    }
}
