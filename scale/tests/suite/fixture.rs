//! A small domain, its recordings, and the command.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use metaspy::prelude::*;
use metaspy::recording::Policy;
use metaspy_reader::Store;

/// A node of a tree, by number.
#[derive(Clone, Copy, Identify)]
pub struct NodeId(pub u64);

#[observe]
impl NodeId {
    /// Lays out this node and those below it. Every seventh node fails.
    fn layout(&self, depth: u64) -> Result<(), ()> {
        self.measure();
        for below in 0..depth.min(2) {
            let _ = NodeId(self.0 * 2 + below + 1).layout(depth - 1);
        }
        if self.0 % 7 == 3 { Err(()) } else { Ok(()) }
    }

    fn measure(&self) {}

    fn paint(&self) {}

    /// Runs something as a call of this node.
    pub fn hold(&self, then: impl FnOnce()) {
        then();
    }
}

impl NodeId {
    /// Lays out a frame.
    pub fn frame(self) {
        let _ = self.layout(4);
    }
}

/// A directory of a test.
pub fn directory(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&path).expect("the target directory is writable");
    path
}

/// Frames of the recording.
pub const FRAMES: u64 = 2_000;
/// Calls of a frame: 1 + 2 + 4 + 8 + 8 nodes are laid out and measured.
pub const OF_FRAME: u64 = 46;
/// Calls of the recording, one of them on another thread.
pub const CALLS: u64 = FRAMES * OF_FRAME + 1;

/// A recording of frames, with labels, a relation, a link, a call on another thread, and a call
/// that still runs.
pub fn recording() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(record).clone()
}

/// One recording at a time.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    recording();
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record() -> PathBuf {
    let path = directory("recording").join("tree.spy");
    let recording = Recording::file(&path)
        .budget(64 << 20)
        .policy(Policy::Grow)
        .start()
        .expect("there is room");
    let profiler = Profiler::new("tree")
        .observe(methods("NodeId::*"))
        .install()
        .expect("the methods are observed");
    metaspy::label(NodeId(0), "the \"root\", with a comma");
    metaspy::relate("below", NodeId(0), NodeId(1));
    for _ in 0..FRAMES {
        let _ = NodeId(0).layout(4);
    }
    let store = recording.store();
    let newest = store.backward(
        metaspy::store::Position::End,
        &metaspy::store::Filter::all(),
        1,
        usize::MAX,
    );
    let cause = newest.events.last().expect("frames were recorded").id;
    let painter = thread::Builder::new().name("painter".into());
    let painted = painter.spawn(move || {
        let _because = metaspy::because(cause);
        NodeId(5).paint();
    });
    painted.expect("a thread can start").join().expect("it paints");
    drop(profiler);
    recording.close();
    path
}

/// A recording that is too small for its events: most are folded into counts.
pub fn record_folded(path: &Path) {
    let _turn = turn();
    let recording = Recording::file(path).budget(1 << 20).start().expect("there is room");
    let profiler =
        Profiler::new("folded").observe(methods("NodeId::*")).install().expect("they are observed");
    (0..FRAMES).for_each(|_| NodeId(0).frame());
    drop(profiler);
    recording.close();
}

/// A recording with details, links, and a call that runs when it is closed.
pub fn record_odd(path: &Path) {
    let _turn = turn();
    let recording = Recording::file(path).budget(8 << 20).start().expect("there is room");
    let profiler = Profiler::new("odd")
        .observe(methods("NodeId::*").details())
        .install()
        .expect("they are observed");
    for node in 0..500 {
        let before = metaspy::current();
        let _ = NodeId(node).layout(2);
        NodeId(node).hold(|| {
            let effect = metaspy::current().expect("the call is observed");
            before.into_iter().chain(metaspy::EventId::from_raw(effect.raw() - 1)).for_each(
                |cause| {
                    metaspy::link(effect, cause);
                },
            );
        });
    }
    NodeId(7).hold(|| recording.close());
    drop(profiler);
}

/// A directory with copies of the recording, which differ by the number of their process.
pub fn spool(name: &str, copies: u64) -> PathBuf {
    let dir = directory(name);
    let bytes = fs::read(recording()).expect("it was recorded");
    let pid = Store::open(&recording()).expect("it was recorded").header().pid;
    let at = metaspy_core::format::superblock::PID * 8;
    assert_eq!(bytes[at..at + 4], pid.to_le_bytes());
    for copy in 0..copies {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&(1_000_000 + copy as u32).to_le_bytes());
        fs::write(dir.join(format!("tree-{copy}.spy")), bytes).expect("there is room");
    }
    dir
}

/// Runs the command.
pub fn metaspy(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_metaspy-scale"))
        .args(arguments)
        .output()
        .expect("the command starts")
}

/// Standard output of a command that must succeed.
pub fn printed(arguments: &[&str]) -> String {
    let output = metaspy(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

/// The rows of a query on the recording as CSV, without the header.
pub fn rows(sql: &str) -> Vec<String> {
    rows_of(sql, &recording())
}

/// The rows of a query on a recording or a sealed set.
pub fn rows_of(sql: &str, source: &Path) -> Vec<String> {
    let text = printed(&["query", "--format", "csv", sql, &source.display().to_string()]);
    text.lines().skip(1).map(str::to_owned).collect()
}

/// A Python with a module.
pub fn python_with(module: &str) -> Option<PathBuf> {
    let python = PathBuf::from(std::env::var_os("METASPY_PYTHON").unwrap_or("python3".into()));
    let import = format!("import {module}");
    let found =
        Command::new(&python).args(["-c", &import]).output().is_ok_and(|it| it.status.success());
    found.then_some(python)
}

/// Starts moto, which speaks S3, with an empty bucket `spies`, until its standard input closes.
const MOTO: &str = "\
import boto3, sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
url = 'http://%s:%s' % server.get_host_and_port()
boto3.client('s3', endpoint_url=url, region_name='us-east-1').create_bucket(Bucket='spies')
print(url, flush=True)
sys.stdin.read()
";
/// The keys of a bucket, of the shape that Garage wants.
const KEY: &str = "GK0123456789abcdef01234567";
const SECRET: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/// A number of 32 bytes, with which the nodes of Garage know each other.
const RPC_SECRET: &str = SECRET;

/// A server that speaks S3, until it is dropped.
pub struct S3 {
    url: String,
    process: Option<Child>,
}

impl S3 {
    /// Starts a server with an empty bucket `spies`: Garage if `METASPY_GARAGE` is the path of its
    /// command, otherwise Python's moto. Without either, `None`, and the test counts as skipped.
    pub fn start() -> Option<Self> {
        if let Some(garage) = std::env::var_os("METASPY_GARAGE") {
            return Some(S3::garage(Path::new(&garage)));
        }
        let Some(python) = python_with("moto") else {
            println!("SKIPPED: s3: no Garage and no Python with moto; set METASPY_GARAGE");
            return None;
        };
        let mut command = Command::new(python);
        command.args(["-c", MOTO]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.envs(S3::away().variables()).spawn().expect("it starts");
        let mut url = String::new();
        let out = process.stdout.take().expect("it is a pipe");
        BufReader::new(out).read_line(&mut url).expect("it prints its address");
        Some(S3 { url: url.trim().to_owned(), process: Some(process) })
    }

    fn garage(garage: &Path) -> Self {
        let free = || {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            listener.local_addr().expect("it listens")
        };
        let (api, rpc) = (free(), free());
        let home = directory(&format!("garage {}", api.port()));
        let config = home.join("garage.toml");
        let text = format!(
            "metadata_dir = '{home}/meta'\ndata_dir = '{home}/data'\ndb_engine = 'sqlite'\n\
             replication_factor = 1\nrpc_bind_addr = '{rpc}'\nrpc_public_addr = '{rpc}'\n\
             rpc_secret = '{RPC_SECRET}'\n[s3_api]\ns3_region = 'us-east-1'\n\
             api_bind_addr = '{api}'\n",
            home = home.display()
        );
        fs::write(&config, text).expect("there is room");
        let log = fs::File::create(home.join("log")).expect("there is room");
        let process = Command::new(garage)
            .arg("-c")
            .arg(&config)
            .args(["server", "--single-node", "--default-bucket"])
            .env("GARAGE_DEFAULT_ACCESS_KEY", KEY)
            .env("GARAGE_DEFAULT_SECRET_KEY", SECRET)
            .env("GARAGE_DEFAULT_BUCKET", "spies")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("it starts");
        let server = S3 { url: format!("http://{api}"), process: Some(process) };
        let began = Instant::now();
        // Its bucket is there some time after it listens.
        while !server.run(&["query", "SELECT 1", "s3://spies/none"]).1.contains("no sealed") {
            assert!(began.elapsed() < Duration::from_secs(120), "see {}", home.display());
        }
        server
    }

    /// The address of none.
    pub fn away() -> Self {
        S3::at("http://127.0.0.1:9")
    }

    /// What is at an address.
    pub fn at(url: &str) -> Self {
        S3 { url: url.to_owned(), process: None }
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.url
    }

    /// The variables of the environment with its address and keys.
    pub fn variables(&self) -> [(&'static str, &str); 5] {
        [
            ("AWS_ACCESS_KEY_ID", KEY),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ENDPOINT", &self.url),
            ("AWS_ALLOW_HTTP", "true"),
        ]
    }

    /// Runs the command with keys for this server. Returns its exit code and its output.
    pub fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
        let output =
            command.args(arguments).envs(self.variables()).output().expect("the command starts");
        (
            output.status.code(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended.
            let _ = (process.kill(), process.wait());
        }
    }
}
