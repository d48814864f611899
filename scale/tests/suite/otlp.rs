//! `metaspy otlp`, received by the services that the official definitions generate, over gRPC and
//! over HTTP.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, ServerTlsConfig};
use tonic::{Request, Response, Status};

use crate::fixture::{CALLS, FRAMES, directory, metaspy, python_with, recording};
use crate::live::{Process, WORKER};
use crate::ship::text;

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
    /// The attributes of the last resource of spans, as `name=value`.
    pub resource: Arc<Mutex<HashSet<String>>>,
    /// The values of the header `x-tenant`, of all messages.
    pub tenants: Arc<Mutex<HashSet<String>>>,
}

/// A header that a receiver may need.
const TENANT: &str = "x-tenant";

impl Received {
    fn keep_tenant(&self, tenant: Option<&str>) {
        self.tenants.lock().expect("nothing panics").insert(tenant.unwrap_or_default().to_owned());
    }

    fn keep_spans(&self, request: ExportTraceServiceRequest) -> ExportTraceServiceResponse {
        for resource in request.resource_spans.iter().filter_map(|it| it.resource.as_ref()) {
            let text = |value: &AnyValue| match &value.value {
                Some(any_value::Value::StringValue(text)) => text.clone(),
                other => format!("{other:?}"),
            };
            let attributes = resource.attributes.iter();
            let texts = attributes.map(|it| {
                format!("{}={}", it.key, it.value.as_ref().map(text).unwrap_or_default())
            });
            *self.resource.lock().expect("nothing panics") = texts.collect();
        }
        let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
        let is_rejected = |span: &Span| self.rejects.is_some_and(|end| span.name.ends_with(end));
        let (rejected, kept): (Vec<_>, Vec<_>) =
            scopes.flat_map(|scope| scope.spans).partition(is_rejected);
        self.spans.lock().expect("nothing panics").extend(kept);
        let (rejected_spans, error_message) = (rejected.len() as i64, self.message.to_owned());
        ExportTraceServiceResponse {
            partial_success: Some(ExportTracePartialSuccess { rejected_spans, error_message }),
        }
    }

    fn keep_metrics(&self, request: ExportMetricsServiceRequest) -> ExportMetricsServiceResponse {
        let mut sums = self.sums.lock().expect("nothing panics");
        let scopes =
            request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
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
        let (rejected_data_points, error_message) =
            (self.rejects.map_or(0, |_| 2), self.message.to_owned());
        let partial_success =
            Some(ExportMetricsPartialSuccess { rejected_data_points, error_message });
        ExportMetricsServiceResponse { partial_success }
    }
}

#[async_trait::async_trait]
impl TraceService for Received {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.keep_tenant(request.metadata().get(TENANT).and_then(|it| it.to_str().ok()));
        Ok(Response::new(self.keep_spans(request.into_inner())))
    }
}

#[async_trait::async_trait]
impl MetricsService for Received {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.keep_tenant(request.metadata().get(TENANT).and_then(|it| it.to_str().ok()));
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
        let tenant = |headers: &HeaderMap| Some(headers.get(TENANT)?.to_str().ok()?.to_owned());
        let traces = move |State(received): State<Received>, headers: HeaderMap, body: Bytes| async move {
            received.keep_tenant(tenant(&headers).as_deref());
            received
                .keep_spans(ExportTraceServiceRequest::decode(body).expect("protobuf"))
                .encode_to_vec()
        };
        let metrics = |State(received): State<Received>, body: Bytes| async move {
            received
                .keep_metrics(ExportMetricsServiceRequest::decode(body).expect("protobuf"))
                .encode_to_vec()
        };
        let router =
            Router::new().route("/v1/traces", post(traces)).route("/v1/metrics", post(metrics));
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
        assert!(
            inner.into_iter().all(|span| ids.contains(&span.parent_span_id[..])),
            "parents are spans"
        );
        let paint =
            spans.iter().find(|span| span.name.ends_with("::paint")).expect("it was painted");
        assert!(
            paint.start_time_unix_nano > 1_600_000_000_000_000_000
                && paint.end_time_unix_nano >= paint.start_time_unix_nano
        );
        let sums = received.sums.lock().expect("nothing panics");
        assert_eq!(sums.get("metaspy.calls"), Some(&(CALLS as f64)), "{transport}: {sums:?}");
    }
}

#[test]
fn the_environment_of_opentelemetry_names_the_receiver_and_the_service() {
    let runtime = tokio::runtime::Runtime::new().expect("threads can start");
    for (transport, protocol) in [("grpc", "grpc"), ("http", "http/protobuf")] {
        let received = Received::default();
        let address = runtime.block_on(listen(&received, transport));
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        command.args(["otlp", &recording().display().to_string(), "--host", "rack-7"]).envs([
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{address}")),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=seven"),
            ("OTEL_SERVICE_NAME", "shop"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=prod"),
        ]);
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{transport}: {}", text(&output));
        assert!(
            text(&output).contains(&format!("spans sent to http://{address}")),
            "{}",
            text(&output)
        );
        assert_eq!(
            received.spans.lock().expect("nothing panics").len() as u64,
            CALLS,
            "{transport}"
        );
        assert_eq!(
            received.sums.lock().expect("nothing panics").get("metaspy.calls"),
            Some(&(CALLS as f64))
        );
        let resource = received.resource.lock().expect("nothing panics");
        for attribute in
            ["service.name=shop", "host.name=rack-7", "deployment.environment.name=prod"]
        {
            assert!(resource.contains(attribute), "{transport}: {attribute} in {resource:?}");
        }
        let tenants = received.tenants.lock().expect("nothing panics");
        assert_eq!(tenants.iter().collect::<Vec<_>>(), ["seven"], "{transport}");
    }
}

/// A receiver over HTTP with TLS: it prints its port, and then the path of each message.
const TLS_RECEIVER: &str = "\
import http.server, ssl, sys
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        print(self.path, flush=True)
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(('127.0.0.1', 0), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
";

#[test]
fn a_receiver_with_tls_needs_a_certificate_that_is_trusted() {
    let dir = directory("tls");
    let file = |name: &str| dir.join(name).display().to_string();
    let (certificate, key) = (file("certificate.pem"), file("key.pem"));
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]);
    openssl.args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]);
    openssl.args([
        "-addext",
        "basicConstraints=critical,CA:FALSE",
        "-keyout",
        &key,
        "-out",
        &certificate,
    ]);
    let (Ok(true), Some(python)) =
        (openssl.output().map(|output| output.status.success()), python_with("ssl"))
    else {
        println!(
            "SKIPPED: receiver with TLS: no openssl, or no Python with ssl; set METASPY_PYTHON"
        );
        return;
    };
    let send = |to: &str, transport: &str, trusted: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        command.args([
            "otlp",
            &recording().display().to_string(),
            "--to",
            to,
            "--transport",
            transport,
        ]);
        command.env("SSL_CERT_FILE", trusted).output().expect("it starts")
    };
    // Trusts nothing that this receiver has.
    let other = file("other.pem");
    let mut unlike = Command::new("openssl");
    unlike.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]);
    unlike.args(["-subj", "/CN=other", "-keyout", &file("other.key"), "-out", &other]);
    assert!(unlike.output().expect("it starts").status.success());

    let runtime = tokio::runtime::Runtime::new().expect("threads can start");
    let received = Received::default();
    let read = |path: &str| fs::read(path).expect("it was made");
    let identity = Identity::from_pem(read(&certificate), read(&key));
    let address = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let builder = tonic::transport::Server::builder()
            .tls_config(ServerTlsConfig::new().identity(identity));
        let server = builder
            .expect("it is a certificate")
            .add_service(TraceServiceServer::new(received.clone()))
            .add_service(MetricsServiceServer::new(received.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(server);
        address
    });
    let to = format!("https://{address}");
    let output = send(&to, "grpc", &certificate);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(received.spans.lock().expect("nothing panics").len() as u64, CALLS);
    assert_eq!(send(&to, "grpc", &other).status.code(), Some(2));

    let mut receiver = Command::new(python)
        .args(["-c", TLS_RECEIVER, &certificate, &key])
        .stdout(Stdio::piped())
        .spawn();
    let receiver = receiver.as_mut().expect("it starts");
    let mut lines =
        BufReader::new(receiver.stdout.take().expect("it is a pipe")).lines().map_while(Result::ok);
    let to = format!("https://127.0.0.1:{}", lines.next().expect("it prints its port"));
    assert_eq!(send(&to, "http", &other).status.code(), Some(2));
    let output = send(&to, "http", &certificate);
    assert!(output.status.success(), "{}", text(&output));
    receiver.kill().expect("it runs");
    receiver.wait().expect("it ends");
    let paths: HashSet<String> = lines.collect();
    assert_eq!(paths, ["/v1/traces", "/v1/metrics"].map(str::to_owned).into());
    fs::remove_dir_all(dir).expect("it is ours");
}

/// The command that follows a directory, until it is dropped.
struct Follower(Child);

impl Follower {
    fn start(dir: &Path, address: SocketAddr, state: &Path) -> Self {
        let (dir, to, state) =
            (dir.display().to_string(), format!("http://{address}"), state.display().to_string());
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        command.args(["otlp", &dir, "--to", &to, "--follow", "--state", &state]);
        Follower(command.stdout(Stdio::piped()).spawn().expect("it starts"))
    }

    /// Waits until it has noted what it has sent.
    fn has_noted(&mut self) {
        let lines = BufReader::new(self.0.stdout.as_mut().expect("it is a pipe")).lines();
        let is_said = lines.map_while(Result::ok).any(|line| line.contains("spans sent to"));
        assert!(is_said, "it ended before");
    }

    /// Ends it as an interrupt does, and waits.
    fn interrupt(mut self) {
        let interrupt = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        assert!(interrupt.expect("there is kill").success());
        assert!(self.0.wait().expect("it is a child").success());
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_is_new_is_sent_once_also_after_restarts_and_while_the_receiver_is_away() {
    let runtime = tokio::runtime::Runtime::new().expect("threads can start");
    let dir = directory("followed");
    let (path, state) = (dir.display().to_string(), dir.join("state/sent"));
    let mut process = Process::start(WORKER, &[("METASPY_RECORD", "live"), ("METASPY_DIR", &path)]);
    let received = Received::default();
    let address = runtime.block_on(listen(&received, "grpc"));
    // Waits until the receiver has all spans, each of them once.
    let has_all = |calls: u64| {
        let end = Instant::now() + Duration::from_secs(120);
        let count = || received.spans.lock().expect("nothing panics").len() as u64;
        while count() < calls && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
        let spans = received.spans.lock().expect("nothing panics");
        let ids: HashSet<&[u8]> = spans.iter().map(|span| &span.span_id[..]).collect();
        assert_eq!((spans.len() as u64, ids.len() as u64), (calls, calls));
    };
    let mut calls = process.work(20);
    let follower = Follower::start(&dir, address, &state);
    has_all(calls);
    let second = metaspy(&["otlp", &path, "--follow", "--state", &state.display().to_string()]);
    assert!(
        second.status.code() == Some(2) && text(&second).contains("another metaspy otlp --follow")
    );
    calls = process.work(30);
    has_all(calls);
    // What happens while it does not run is sent by the next one, and nothing else. A kill is no
    // loss.
    follower.interrupt();
    calls = process.work(40);
    let mut follower = Follower::start(&dir, address, &state);
    has_all(calls);
    // A kill before would repeat a message.
    follower.has_noted();
    drop(follower);
    calls = process.work(10);
    // An entry that a loss of power cut is none.
    let mut bytes = fs::read(&state).expect("it is there");
    bytes.extend([1; 17]);
    fs::write(&state, bytes).expect("it is ours");
    let follower = Follower::start(&dir, address, &state);
    has_all(calls);
    process.end();
    // A recording that appears later.
    fs::copy(recording(), dir.join("later.spy")).expect("there is room");
    has_all(calls + CALLS);
    follower.interrupt();
    fs::remove_dir_all(dir).expect("it is ours");
}
