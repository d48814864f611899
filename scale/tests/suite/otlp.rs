//! `metaspy otlp`, received by the services that the official definitions generate, over gRPC and over HTTP.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

use crate::fixture::{CALLS, FRAMES, metaspy, recording};

/// A receiver that keeps what arrives.
#[derive(Clone, Default)]
pub struct Received {
    /// The spans.
    pub spans: Arc<Mutex<Vec<Span>>>,
    /// The sum of each metric.
    pub sums: Arc<Mutex<HashMap<String, f64>>>,
    /// It rejects spans whose name ends in this, and two data points.
    pub rejects: Option<&'static str>,
    /// The reason, or a warning.
    pub message: &'static str,
}

impl Received {
    fn keep_spans(&self, request: ExportTraceServiceRequest) -> ExportTraceServiceResponse {
        let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
        let is_rejected = |span: &Span| self.rejects.is_some_and(|end| span.name.ends_with(end));
        let (rejected, kept): (Vec<_>, Vec<_>) = scopes.flat_map(|scope| scope.spans).partition(is_rejected);
        self.spans.lock().expect("nothing panics").extend(kept);
        let (rejected_spans, error_message) = (rejected.len() as i64, self.message.to_owned());
        ExportTraceServiceResponse {
            partial_success: Some(ExportTracePartialSuccess { rejected_spans, error_message }),
        }
    }

    fn keep_metrics(&self, request: ExportMetricsServiceRequest) -> ExportMetricsServiceResponse {
        let mut sums = self.sums.lock().expect("nothing panics");
        let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
        for found in scopes.flat_map(|scope| scope.metrics) {
            let points = match found.data.expect("a metric has data") {
                metric::Data::Sum(sum) => sum.data_points,
                metric::Data::Gauge(gauge) => gauge.data_points,
                _ => continue,
            };
            let values = points.into_iter().map(|point| match point.value {
                Some(number_data_point::Value::AsDouble(value)) => value,
                other => panic!("{other:?} is no float"),
            });
            // The same values may arrive twice.
            sums.insert(found.name, values.sum());
        }
        let (rejected_data_points, error_message) = (self.rejects.map_or(0, |_| 2), self.message.to_owned());
        let partial_success = Some(ExportMetricsPartialSuccess { rejected_data_points, error_message });
        ExportMetricsServiceResponse { partial_success }
    }
}

#[async_trait::async_trait]
impl TraceService for Received {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        Ok(Response::new(self.keep_spans(request.into_inner())))
    }
}

#[async_trait::async_trait]
impl MetricsService for Received {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        Ok(Response::new(self.keep_metrics(request.into_inner())))
    }
}

/// Starts a receiver, and returns its address.
pub async fn listen(received: &Received, transport: &str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    let received = received.clone();
    if transport == "grpc" {
        let server = tonic::transport::Server::builder()
            .add_service(TraceServiceServer::new(received.clone()))
            .add_service(MetricsServiceServer::new(received))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(server);
    } else {
        let traces = |State(received): State<Received>, body: Bytes| async move {
            received.keep_spans(ExportTraceServiceRequest::decode(body).expect("protobuf")).encode_to_vec()
        };
        let metrics = |State(received): State<Received>, body: Bytes| async move {
            received.keep_metrics(ExportMetricsServiceRequest::decode(body).expect("protobuf")).encode_to_vec()
        };
        let router = Router::new().route("/v1/traces", post(traces)).route("/v1/metrics", post(metrics));
        tokio::spawn(async move { axum::serve(listener, router.with_state(received)).await });
    }
    address
}

#[test]
fn spans_links_and_metrics_arrive_over_grpc_and_http() {
    let runtime = tokio::runtime::Runtime::new().expect("threads can start");
    for transport in ["grpc", "http"] {
        let received = Received::default();
        let address = runtime.block_on(listen(&received, transport));
        let (spy, to) = (recording().display().to_string(), format!("http://{address}"));
        let output = metaspy(&["otlp", &spy, "--to", &to, "--transport", transport]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{transport}: {error}");
        let spans = received.spans.lock().expect("nothing panics");
        assert_eq!(spans.len() as u64, CALLS, "{transport}");
        let ids: HashSet<&[u8]> = spans.iter().map(|span| &span.span_id[..]).collect();
        assert_eq!(ids.len() as u64, CALLS, "spans have numbers of their own");
        let traces: HashSet<&[u8]> = spans.iter().map(|span| &span.trace_id[..]).collect();
        assert_eq!(traces.len() as u64, FRAMES, "a frame is a trace");
        let roots = spans.iter().filter(|span| span.parent_span_id.is_empty()).count();
        assert_eq!(roots as u64, FRAMES);
        let inner = spans.iter().filter(|span| !span.parent_span_id.is_empty());
        assert!(inner.into_iter().all(|span| ids.contains(&span.parent_span_id[..])), "parents are spans");
        let paint = spans.iter().find(|span| span.name.ends_with("::paint")).expect("it was painted");
        assert!(
            paint.start_time_unix_nano > 1_600_000_000_000_000_000
                && paint.end_time_unix_nano >= paint.start_time_unix_nano
        );
        let sums = received.sums.lock().expect("nothing panics");
        assert_eq!(sums.get("metaspy.calls"), Some(&(CALLS as f64)), "{transport}: {sums:?}");
    }
}
