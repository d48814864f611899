//! A small domain, its recordings, and the command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::thread;

use metaspy::prelude::*;
use metaspy::recording::Policy;

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
}

/// A directory of a test.
pub fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&path).expect("the target directory is writable");
    path
}

/// Frames of the recording.
pub const FRAMES: u64 = 2_000;
/// Calls of a frame: 1 + 2 + 4 + 8 + 8 nodes are laid out and measured.
pub const OF_FRAME: u64 = 46;
/// Calls of the recording, one of them on another thread.
pub const CALLS: u64 = FRAMES * OF_FRAME + 1;

/// A recording of frames, with labels, a relation, a link, a call on another thread, and a call that still runs.
pub fn recording() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(record).clone()
}

fn record() -> PathBuf {
    let path = directory("recording").join("tree.spy");
    let recording = Recording::file(&path).budget(64 << 20).policy(Policy::Grow).start().expect("there is room");
    let profiler = Profiler::new("tree").observe(methods("NodeId::*")).install().expect("the methods are observed");
    metaspy::label(NodeId(0), "the \"root\", with a comma");
    metaspy::relate("below", NodeId(0), NodeId(1));
    for _ in 0..FRAMES {
        let _ = NodeId(0).layout(4);
    }
    let store = recording.store();
    let newest = store.backward(metaspy::store::Position::End, &metaspy::store::Filter::all(), 1, usize::MAX);
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

/// Runs the command.
pub fn metaspy(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_metaspy-scale")).args(arguments).output().expect("the command starts")
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
