//! Buckets that are slow, or that vanish while something is written, and sets of another version.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use metaspy_scale::seal::LAYOUT_VERSION;
use metaspy_scale::tables::SCHEMA_VERSION;

use crate::fixture::{CALLS, S3, directory, metaspy, printed, recording, spool};
use crate::seal::partitions;
use crate::ship::{recordings, unchecked};

/// Listens, and gives each connection to a function with a thread of its own. Returns the address.
fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let serve = serve.clone();
            thread::spawn(move || serve(stream));
        }
    });
    format!("http://{address}")
}

/// Copies until either side ends, or the bytes that may be sent are spent.
fn copy(mut from: TcpStream, mut to: TcpStream, left: &AtomicI64) {
    let mut bytes = [0; 4096];
    while let Ok(read) = from.read(&mut bytes) {
        if read == 0 || left.fetch_sub(read as i64, Ordering::Relaxed) < read as i64 {
            break;
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    // They may be closed.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// The address of a server that vanishes when this many bytes were sent to it.
fn vanishing(server: &S3, after: i64) -> String {
    let behind = server.address().trim_start_matches("http://").to_owned();
    let left = Arc::new(AtomicI64::new(after));
    listen(move |client| {
        if left.load(Ordering::Relaxed) > 0 {
            copy(client.try_clone().expect("a socket"), answering(&behind, client), &left);
        }
    })
}

/// Connects a client with a server, whose answers it gets.
fn answering(server: &str, client: TcpStream) -> TcpStream {
    let server = TcpStream::connect(server).expect("the server runs");
    let answers = server.try_clone().expect("a socket");
    thread::spawn(move || copy(answers, client, &AtomicI64::new(i64::MAX)));
    server
}

/// The address of a server that takes this many bytes and then waits for the second party of the
/// barrier, twice: when it pauses, and when it goes on.
fn pausing(server: &S3, after: i64) -> (String, Arc<Barrier>) {
    let behind = server.address().trim_start_matches("http://").to_owned();
    let left = AtomicI64::new(after);
    let barrier = Arc::new(Barrier::new(2));
    let gate = barrier.clone();
    let address = listen(move |mut client| {
        let mut server = answering(&behind, client.try_clone().expect("a socket"));
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = client.read(&mut bytes) {
            let before = left.fetch_sub(read as i64, Ordering::Relaxed);
            if before > 0 && before <= read as i64 {
                gate.wait();
                gate.wait();
            }
            if server.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        // It may be closed.
        let _ = server.shutdown(Shutdown::Both);
    });
    (address, barrier)
}

#[test]
fn a_bucket_that_vanishes_at_any_byte_loses_and_duplicates_nothing() {
    let Some(server) = S3::start() else { return };
    let dir = spool("vanishing", 2);
    let arguments = ["ship", &dir.display().to_string(), "--to", "s3://spies/vanishing", "--once"];
    for after in [1_000, 30_000, 200_000] {
        let (code, text) = S3::at(&vanishing(&server, after)).run(&arguments);
        assert!(code == Some(2) && recordings(&dir) > 0, "{code:?}: {text}");
    }
    let (code, text) = server.run(&arguments);
    assert!(code == Some(0) && recordings(&dir) == 0, "{text}");
    let query = "SELECT count(*) FROM events GROUP BY process";
    let (code, rows) = server.run(&["query", "--format", "csv", query, "s3://spies/vanishing"]);
    let calls = CALLS.to_string();
    assert_eq!(
        (code, rows.lines().skip(1).collect::<Vec<_>>()),
        (Some(0), vec![&*calls; 2]),
        "{rows}"
    );
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_slow_seal_of_a_cut_copy_leaves_what_a_faster_one_has_sealed() {
    let Some(server) = S3::start() else { return };
    let (dir, slow) = (spool("faster", 1), directory("slower"));
    let whole = fs::read(dir.join("tree-0.spy")).expect("it is there");
    let cut = slow.join("tree-0.spy");
    fs::write(&cut, &whole[..whole.len() / 2]).expect("there is room");
    let (address, gate) = pausing(&server, 10_000);
    let (cut, whole) = (cut.display().to_string(), dir.display().to_string());
    let set = "s3://spies/slow";
    let slower =
        thread::spawn(move || S3::at(&address).run(&["seal", &cut, "--to", set, "--host", "one"]));
    gate.wait();
    let (code, said) = server.run(&["ship", &whole, "--to", set, "--once", "--host", "one"]);
    assert!(code == Some(0) && recordings(&dir) == 0, "{said}");
    gate.wait();
    let (code, said) = slower.join().expect("it ends");
    assert_eq!(code, Some(1), "the copy is damaged: {said}");
    let query = "SELECT count(*) FROM events";
    let (code, rows) = server.run(&["query", "--format", "csv", query, set]);
    assert_eq!((code, rows.lines().nth(1)), (Some(0), Some(&*CALLS.to_string())), "{rows}");
    [dir, slow].iter().for_each(|dir| fs::remove_dir_all(dir).expect("it is ours"));
}

#[test]
fn what_an_interrupted_seal_into_a_bucket_left_is_removed() {
    let dir = directory("temporary files");
    let left = dir.join(".sealing-tree-1-1-0");
    fs::create_dir(&left).expect("there is room");
    fs::write(dir.join(".sealing-tree-1-1-0.lock"), "").expect("there is room");
    let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| (name, "x"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
    command
        .args(["seal", &recording().display().to_string(), "--to", "s3://spies/away"])
        .env("TMPDIR", &dir);
    command.envs(keys).envs([("AWS_ENDPOINT", "http://127.0.0.1:9"), ("AWS_ALLOW_HTTP", "true")]);
    assert_eq!(command.output().expect("it starts").status.code(), Some(2), "there is no bucket");
    assert_eq!(fs::read_dir(&dir).expect("it is there").count(), 0);
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_bucket_that_does_not_answer_is_reported() {
    let silent = listen(|mut client| {
        let _ = client.read_to_end(&mut Vec::new());
    });
    let (code, text) = S3::at(&silent).run(&[
        "seal",
        &recording().display().to_string(),
        "--to",
        "s3://spies/silent",
    ]);
    assert!(code == Some(2) && text.contains("cannot read s3://spies/silent"), "{code:?}: {text}");
}

#[test]
fn a_set_of_a_newer_version_is_refused_with_its_version() {
    let dir = directory("newer");
    let set = dir.display().to_string();
    printed(&["seal", &recording().display().to_string(), "--to", &set, "--host", "old"]);
    printed(&["seal", &recording().display().to_string(), "--to", &set, "--host", "new"]);
    let places = partitions(&dir).into_iter();
    let mut new = places.filter(|place| place.display().to_string().contains("host=new"));
    let manifest = new.next().expect("it was sealed").join("sealed.json");
    let text = fs::read_to_string(&manifest).expect("it is there");
    for (field, known) in [("schema_version", SCHEMA_VERSION), ("layout_version", LAYOUT_VERSION)] {
        let version = |number: u32| format!("\"{field}\": {number}");
        let newer = text.replace(&version(known), &version(known + 1));
        assert_ne!(newer, text);
        fs::write(&manifest, unchecked(&newer)).expect("it is ours");
        let output = metaspy(&["query", "SELECT count(*) FROM events", &set]);
        let error = String::from_utf8_lossy(&output.stderr);
        let version = format!("version {}", known + 1);
        assert!(
            error.contains("host=new") && error.contains(&version) && error.contains("newer one"),
            "{error}"
        );
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    }
    fs::remove_dir_all(dir).expect("it is ours");
}
