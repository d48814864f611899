//! The command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use metaspy_reader::units::parse_size;

/// Recordings as tables, on engines that exist. `metaspy query` is `metaspy-scale query`.
#[derive(Debug, Parser)]
#[command(
    name = "metaspy",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs SQL on recordings, in place
    #[command(
        override_usage = "metaspy query [OPTIONS] SQL RECORDING…",
        after_help = "Examples:\n  metaspy query 'SELECT site, count(*) FROM events GROUP BY site' run.spy\n  \
        metaspy query 'SELECT * FROM subjects ORDER BY calls DESC LIMIT 10' client.spy server.spy\n  \
        metaspy query --json 'SELECT * FROM recordings' layout\n  \
        metaspy query --format parquet -o events.parquet 'SELECT * FROM events' run.spy\n  \
        metaspy query --examples\n  metaspy query --schema run.spy\n\n\
        Exit codes: 0 fine; 1 a recording is damaged but readable; 2 usage, or the query or a recording cannot be read.\n\
        The tables are described in docs/scale.md."
    )]
    Query(Query),
    /// Writes recordings as partitioned Parquet, into a directory or a bucket
    #[command(after_help = "Examples:\n  metaspy seal run.spy --to sealed\n  \
        metaspy seal /var/spool/metaspy --to s3://bucket/prefix --host web-7\n  \
        metaspy query 'SELECT site, count(*) FROM events GROUP BY site' sealed\n\n\
        A recording that is sealed already is left as it is. The files are described in docs/scale.md.\n\n\
        Exit codes: 0 fine; 1 a recording is damaged, still grows, or is sealed in part; 2 usage, or the target fails.")]
    Seal(Seal),
    /// Makes recordings of a sealed set again, and prints their paths
    #[command(
        after_help = "Examples:\n  metaspy restore sealed\n  metaspy restore sealed/run=20260131T235959.123456789Z\n  \
        metaspy restore s3://bucket/prefix --to recordings\n\n\
        `metaspy open`, `report`, `diff` and `export` do this themselves. Times are rounded to ns.\n\n\
        Exit codes: 0 fine; 1 some recordings cannot be restored, and the others are; 2 usage, or none can be restored."
    )]
    Restore(Restore),
    /// Seals the recordings of a directory as they end, and removes each one when it is sealed
    #[command(
        after_help = "Examples:\n  METASPY_RECORD=live METASPY_DIR=/var/spool/metaspy METASPY_ROTATE=256MiB,1h app\n  \
        metaspy ship /var/spool/metaspy --to s3://bucket/prefix --most 8GiB\n  \
        metaspy ship /var/spool/metaspy --to sealed --once\n\n\
        Recordings of running processes stay until they end or rotate. If the store fails, the recordings wait, and \
        another trial follows.\n\n\
        Exit codes: 0 fine; 1 a recording is damaged, or was lost to keep the bound; 2 usage, or the store fails."
    )]
    Ship(Ship),
    /// Serves recordings over HTTP, to read: tallies for Prometheus, tables and events as JSON
    #[command(
        after_help = "Examples:\n  metaspy serve layout                            # a recorded process, by name\n  \
        metaspy serve run.spy --listen 127.0.0.1:0      # prints the address it chose\n  \
        curl localhost:9464/metrics\n  curl localhost:9464/tables/subjects?limit=10\n\n\
        The paths are described in docs/scale.md. It ends when it is interrupted."
    )]
    Serve(Serve),
    /// Starts a scheduler and executors, on which `metaspy query --cluster` runs
    #[command(after_help = "Examples:\n  metaspy cluster --executors 2\n  \
        metaspy query --cluster http://127.0.0.1:50050 'SELECT site, count(*) FROM events GROUP BY site' sealed\n  \
        metaspy cluster --join http://127.0.0.1:50050    # one more executor\n\n\
        It needs the feature `cluster`: cargo install --locked --path scale --features cluster.")]
    Cluster(Cluster),
    /// Sends events as OpenTelemetry spans and tallies as metrics, over OTLP
    #[command(
        after_help = "Examples:\n  metaspy otlp run.spy                                 # to http://localhost:4317\n  \
        metaspy otlp client.spy server.spy --to https://collector:4318 --transport http\n  \
        OTEL_SERVICE_NAME=shop OTEL_EXPORTER_OTLP_HEADERS=x-tenant=7 metaspy otlp /var/spool/metaspy --follow\n\n\
        OTEL_EXPORTER_OTLP_ENDPOINT, …_HEADERS, …_TIMEOUT and …_PROTOCOL, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES \
        are those of the standard. The spans are described in docs/scale.md.\n\n\
        Exit codes: 0 fine; 1 a recording is damaged, or the receiver rejects a part; 2 usage, or the receiver fails."
    )]
    Otlp(Otlp),
}

/// Default port of a scheduler.
pub const CLUSTER_PORT: u16 = 50050;

/// Arguments of `metaspy cluster`.
#[derive(Args, Debug)]
pub struct Cluster {
    /// The number of executors, each a process
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub executors: u16,
    /// The address of the scheduler: loopback, because everybody who reaches it can read files
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    pub listen: SocketAddr,
    /// Runs one executor for this scheduler instead
    #[arg(long, value_name = "URL", conflicts_with_all = ["executors", "listen"])]
    pub join: Option<url::Url>,
    /// Ends with its input: a scheduler's own executors end with it
    #[arg(long, hide = true, requires = "join")]
    pub with_input: bool,
}

/// Arguments of `metaspy otlp`.
#[derive(Args, Debug)]
pub struct Otlp {
    /// Files, directories of them, the names or the numbers of recorded processes
    #[arg(required = true, value_name = "RECORDING")]
    pub recordings: Vec<PathBuf>,
    /// The receiver, without a path [default: OTEL_EXPORTER_OTLP_ENDPOINT, or port 4317 or 4318 of
    /// this machine]
    #[arg(long, value_name = "URL")]
    pub to: Option<String>,
    /// The protocol of the receiver [default: OTEL_EXPORTER_OTLP_PROTOCOL, or grpc]
    #[arg(long, value_enum)]
    pub transport: Option<Transport>,
    /// The machine on which they were recorded, as `host.name` [default: this one]
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Sends what is new, once, until it is interrupted
    #[arg(long)]
    pub follow: bool,
    /// The file that notes what the receiver has [default: one for each receiver, in the user's
    /// directory of states]
    #[arg(long, value_name = "FILE", requires = "follow")]
    pub state: Option<PathBuf>,
}

/// A protocol of OTLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// gRPC, by custom at port 4317
    Grpc,
    /// HTTP with protobuf, by custom at port 4318
    Http,
}

/// Arguments of `metaspy ship`.
#[derive(Args, Debug)]
pub struct Ship {
    /// The directory of the recordings; it may have directories of runs
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// A directory, or s3://bucket/prefix, as of `metaspy seal`
    #[arg(long, value_name = "DIR|URL")]
    pub to: String,
    /// The machine on which they were recorded [default: this one]
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// The bound of what waits on the disk: beyond it, the oldest recordings are removed unsealed,
    /// and reported
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub most: Option<u64>,
    /// Removes partitions of this host from the target, once an hour: those whose run began longer
    /// ago than an age, as 30d, and the oldest ones beyond a size, as 500GiB. Both are separated by
    /// a comma
    #[arg(long, value_name = "AGE|SIZE", value_delimiter = ',', value_parser = parse_keep)]
    pub keep: Vec<Keep>,
    /// Ends when all recordings are sealed that have ended
    #[arg(long)]
    pub once: bool,
}

/// Limit for the partitions of a host that stay in the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Partitions whose run began at most this time ago.
    Age(Duration),
    /// Newest partitions that have room in this number of bytes, and the newest partition in any
    /// case.
    Bytes(u64),
}

/// Parses an age in days or hours, or a size.
fn parse_keep(text: &str) -> Result<Keep, String> {
    let (number, hours) = match (text.strip_suffix('d'), text.strip_suffix('h')) {
        (Some(days), _) => (days, 24),
        (_, Some(hours)) => (hours, 1),
        _ => (text, 0),
    };
    match number.parse::<u32>() {
        Ok(number @ 1..) if hours > 0 => {
            Ok(Keep::Age(Duration::from_secs(u64::from(number) * hours * 60 * 60)))
        }
        Err(_) if hours == 0 && parse_size(text).is_ok_and(|bytes| bytes > 0) => {
            parse_size(text).map(Keep::Bytes)
        }
        _ => {
            Err("write a number of days or hours, such as 30d or 12h, or a size, such as 500GiB"
                .into())
        }
    }
}

/// Arguments of `metaspy serve`.
#[derive(Args, Debug)]
pub struct Serve {
    /// Files, directories of them, the names or the numbers of recorded processes, or sealed sets
    #[arg(required = true, value_name = "RECORDING")]
    pub sources: Vec<PathBuf>,
    /// The address: loopback, because every reader of it reads the recordings. Elsewhere requests
    /// need a token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9464")]
    pub listen: SocketAddr,
    /// A file with the token that requests send as `Authorization: Bearer TOKEN` [default: none on
    /// loopback; elsewhere a random one, which is printed]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The memory of a query of a client at most
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_size)]
    pub memory: u64,
    /// The time of an answer at most
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
}

/// Arguments of `metaspy seal`.
#[derive(Args, Debug)]
pub struct Seal {
    /// Files, directories of them, or the names or the numbers of recorded processes that have
    /// ended
    #[arg(required = true, value_name = "RECORDING")]
    pub recordings: Vec<PathBuf>,
    /// A directory, or s3://bucket/prefix: keys and endpoint of a bucket are those of
    /// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT, AWS_REGION and AWS_ALLOW_HTTP
    #[arg(long, value_name = "DIR|URL")]
    pub to: String,
    /// The machine on which they were recorded [default: this one]
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
}

/// Arguments of `metaspy restore`.
#[derive(Args, Debug)]
pub struct Restore {
    /// Sealed sets, directories or s3://bucket/prefix, whole or a run, a host or a process of them
    #[arg(required = true, value_name = "SET")]
    pub sets: Vec<String>,
    /// The directory of the recordings [default: metaspy/restored in the user's cache]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
}

/// Arguments of `metaspy query`.
#[derive(Args, Debug)]
pub struct Query {
    /// The query, and the recordings: files, directories of them, the names or the numbers of
    /// recorded processes; and sealed sets, directories or s3://bucket/prefix
    #[arg(value_name = "SQL RECORDING…", required_unless_present = "examples")]
    words: Vec<OsString>,
    /// The format of the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// JSON: an array of objects, as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Runs on a cluster, over sealed sets in directories that all of its machines have: metaspy
    /// cluster
    #[arg(long, value_name = "URL")]
    pub cluster: Option<url::Url>,
    /// The memory of the query: what needs more goes on in temporary files, or is an error
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_size)]
    pub memory: u64,
    /// Further memory of the process, by whatever it is taken: beyond it, the system ends the
    /// process
    #[arg(long, value_name = "SIZE", hide = true, value_parser = parse_size)]
    pub address_space: Option<u64>,
    /// A file for the result, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Prints queries that answer common questions
    #[arg(long)]
    pub examples: bool,
    /// Prints the tables of the recordings, with their columns
    #[arg(long)]
    pub schema: bool,
}

impl Query {
    /// Returns the query, if there is one, and the recordings.
    pub fn sql_and_sources(&self) -> Result<(Option<&str>, Vec<PathBuf>)> {
        let (sql, sources) = match (self.schema, &self.words[..]) {
            (false, [sql, sources @ ..]) => {
                (Some(sql.to_str().context("the query is not UTF-8")?), sources)
            }
            (_, sources) => (None, sources),
        };
        Ok((sql, sources.iter().map(PathBuf::from).collect()))
    }

    /// Returns the format of the result.
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// The format of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Text,
    /// An array of objects
    Json,
    /// An object on each line
    Jsonl,
    /// Comma-separated values
    Csv,
    /// A stream of Arrow IPC
    Arrow,
    /// A Parquet file
    Parquet,
}

impl Format {
    /// Returns true if the format is no text.
    pub fn is_binary(self) -> bool {
        matches!(self, Format::Arrow | Format::Parquet)
    }
}
