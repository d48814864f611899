//! `metaspy cluster`: a scheduler and executors of Ballista, on which `metaspy query --cluster`
//! runs.
//!
//! Each executor is a process of the same program. Further executors join from other machines that
//! have the files at the same paths. The cluster is a feature, not a package of its own:
//! `metaspy query` then has one meaning of a query, and users without a cluster do not build it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use metaspy_reader::text::print_message;
use url::Url;

use crate::arguments;
use crate::query::with_distinct_projections;

/// Seconds between two signs of life of an executor.
const HEARTBEAT_S: u64 = 2;
/// Seconds without a sign of life after which an executor counts as lost, and its work is done
/// again.
const LOST_AFTER_S: u64 = 10;

/// Runs the command.
pub async fn run(options: &arguments::Cluster) -> Result<bool> {
    match &options.join {
        Some(scheduler) => {
            if options.with_input {
                std::thread::spawn(end_with_input);
            }
            execute(scheduler).await?;
        }
        None => schedule(options).await?,
    }
    Ok(true)
}

/// Runs a scheduler and its executors until the process is interrupted.
async fn schedule(options: &arguments::Cluster) -> Result<()> {
    if options.listen.ip().is_unspecified() {
        bail!(
            "{} is no address that executors and queries can connect to: give this machine's own",
            options.listen
        );
    }
    // Bound once, so that a taken address is reported before anything starts.
    let listen = free_address(options.listen)
        .with_context(|| format!("cannot listen on {}", options.listen))?;
    let config = SchedulerConfig {
        bind_host: listen.ip().to_string(),
        external_host: listen.ip().to_string(),
        bind_port: listen.port(),
        executor_timeout_seconds: LOST_AFTER_S,
        no_executors_grace_period_seconds: LOST_AFTER_S,
        expire_dead_executor_interval_seconds: 1,
        override_session_builder: Some(Arc::new(|config| {
            default_session_builder(config).map(with_distinct_projections)
        })),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let server = tokio::spawn(start_server(cluster, listen, Arc::new(config)));
    let url = format!("http://{listen}");
    let executors: Vec<Executor> =
        (0..options.executors).map(|_| Executor::start(&url)).collect::<Result<_>>()?;
    let processes: Vec<String> =
        executors.iter().map(|executor| executor.0.id().to_string()).collect();
    println!("scheduler: {url}\nexecutors: processes {}", processes.join(", "));
    print_message(&format_args!(
        "metaspy query --cluster {url} 'SELECT …' SET    ^C ends the cluster"
    ));
    tokio::select! {
        ended = server => ended?.context("the scheduler failed"),
        interrupted = tokio::signal::ctrl_c() => interrupted.context("cannot wait for a signal"),
    }
}

/// Process of an executor. Its input is a pipe of this process, so it ends with this process, even
/// if this process is killed.
struct Executor(Child);

impl Executor {
    fn start(scheduler: &str) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(program);
        command
            .args(["cluster", "--with-input", "--join", scheduler])
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        command.spawn().map(Executor).context("cannot start an executor")
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // The executor may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs an executor until the process is interrupted.
async fn execute(scheduler: &Url) -> Result<()> {
    let Some(host) = scheduler.host_str() else {
        bail!("{scheduler} names no host: write http://HOST:PORT")
    };
    let port = scheduler.port().unwrap_or(arguments::CLUSTER_PORT);
    let address =
        own_address(host, port).with_context(|| format!("no way leads to {scheduler}"))?;
    let own = || anyhow::Ok(free_address(SocketAddr::new(address, 0))?.port());
    let config = ExecutorProcessConfig {
        bind_host: address.to_string(),
        external_host: Some(address.to_string()),
        scheduler_host: host.to_owned(),
        scheduler_port: port,
        scheduler_connect_timeout_seconds: LOST_AFTER_S as u16,
        port: own()?,
        grpc_port: own()?,
        executor_heartbeat_interval_seconds: HEARTBEAT_S,
        ..ExecutorProcessConfig::default()
    };
    Ok(start_executor_process(Arc::new(config)).await?)
}

/// Waits for the end of the input, and ends the process.
fn end_with_input() {
    // A failed read counts as the end of the input.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    std::process::exit(0)
}

/// Returns the address with which this machine reaches a host: loopback for itself. Sends nothing.
fn own_address(host: &str, port: u16) -> io::Result<IpAddr> {
    let unknown = || io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"));
    let other = (host, port).to_socket_addrs()?.next().ok_or_else(unknown)?;
    let any: IpAddr =
        if other.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(other)?;
    Ok(socket.local_addr()?.ip())
}

/// Returns an address on which nothing listens. Port 0 becomes a free port.
fn free_address(wanted: SocketAddr) -> std::io::Result<SocketAddr> {
    TcpListener::bind(wanted)?.local_addr()
}
