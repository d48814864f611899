//! Causes that cross processes: one process passes a cause to another.

use std::path::PathBuf;
use std::process::Command;

use metaspy::prelude::*;
use metaspy::store::{By, Filter, Origin, Position, Scope};
use metaspy::{Event, Store};

const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

struct Client;
struct Server;

#[observe]
impl Client {
    /// Starts a server in a process of its own, and passes it the cause.
    fn request(&self) {
        let parent = TraceParent::current().expect("this thread is in an event, and is recorded");
        assert!(child("server", &parent.to_string()).status().expect("it starts").success());
    }
}

#[observe]
impl Server {
    fn handle(&self) {
        self.step();
        let cause = metaspy::current().expect("this thread is in an event");
        let helper = move || {
            let _because = because(cause);
            self.passed_on();
        };
        std::thread::scope(|scope| scope.spawn(helper).join().expect("it does not panic"));
    }
    fn step(&self) {}
    fn passed_on(&self) {
        let parent = TraceParent::current().expect("this thread is in an event");
        println!("passed on {parent}");
    }
    fn alone(&self) {}
}

fn recording(role: &str) -> PathBuf {
    let test = std::env::var("METASPY_TEST").unwrap_or_else(|_| std::process::id().to_string());
    std::env::temp_dir().join(format!("metaspy-remote-{test}-{role}.spy"))
}

/// This program in a role, as a process of its own that is recorded.
fn child(role: &str, parent: &str) -> Command {
    let test = std::env::var("METASPY_TEST").unwrap_or_else(|_| std::process::id().to_string());
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command
        .args(["other_processes::plays", "--exact", "--nocapture"])
        .env("METASPY_RECORD", recording(role))
        .env("METASPY_TEST", test);
    command.env("METASPY_ROLE", role).env("TRACEPARENT", parent).env_remove("METASPY_OBSERVE");
    command.env("METASPY_BUDGET", "4000000");
    command
}

/// What the children of these tests do; as a test of its own, next to nothing.
#[test]
fn plays() {
    let parent = std::env::var("TRACEPARENT").unwrap_or_default();
    match std::env::var("METASPY_ROLE").as_deref() {
        Ok("client") => Client.request(),
        Ok(_) => {
            let cause = from_remote(&parent);
            Server.handle();
            drop(cause);
            Server.alone();
        }
        Err(_) => assert!(TraceParent::current().is_none(), "nothing is recorded here"),
    }
}

fn event(store: &Store, site: &str) -> Event {
    let filter: Filter = format!("site:{site}").parse().expect("a selector is a filter");
    let found = store.forward(Position::Start, &filter, 10, usize::MAX).events;
    assert_eq!(found.len(), 1, "{site}");
    found[0]
}

fn origin(store: &Store, event: &Event) -> Origin {
    store.causes(event.id).origin()
}

#[test]
fn a_cause_in_another_process_names_its_event() {
    let (client, server) = (recording("client"), recording("server"));
    let output = child("client", "").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    let (client, server) =
        [client, server].map(|path| (Store::open(&path).expect("it was recorded"), path)).into();
    let ((client, client_path), (server, server_path)) = (client, server);

    let request = event(&client, "Client::request");
    let sent = client.sent(request.id);
    assert_eq!(sent.len(), 1);
    assert!(sent[0].tick >= request.start, "it was sent while the event ran");
    let handle = event(&server, "Server::handle");
    let remote = server.remote_cause(&handle).expect("another process caused it");
    assert_eq!(remote.span, sent[0].span);
    assert_eq!(client.event_of_span(remote.span).map(|event| event.id), Some(request.id));

    // Whatever followed from it ends there, in any thread; what came after the guard does not.
    for site in ["Server::step", "Server::passed_on"] {
        assert_eq!(origin(&server, &event(&server, site)), Origin::Remote(remote), "{site}");
    }
    assert_eq!(origin(&server, &event(&server, "Server::alone")), Origin::Root);
    assert_eq!(server.remote_cause(&event(&server, "Server::alone")), None);

    // The trace goes along: what the server passes on has another span of the same trace.
    let told = server.sent(event(&server, "Server::passed_on").id)[0].span;
    assert_eq!(
        server.event_of_span(told).map(|found| found.id),
        Some(event(&server, "Server::passed_on").id)
    );

    // In its own recording it is a root.
    let rows = server.tally(By::RootCause, &Scope::default()).rows;
    let mut roots: Vec<(&str, u64)> = (rows.iter())
        .map(|row| {
            (server.site_path(row.site.expect("no root left the window")), row.measure.count)
        })
        .collect();
    roots.sort_unstable();
    let is = |at: usize, name: &str, count| roots[at].0.ends_with(name) && roots[at].1 == count;
    assert!(roots.len() == 2 && is(0, "alone", 1) && is(1, "handle", 3), "{roots:?}");
    assert!(server.verify().is_sound(), "{:?}", server.verify());
    for path in [client_path, server_path] {
        let _ = std::fs::remove_file(path);
    }
}

#[test]
fn a_traceparent_that_is_passed_on_is_a_span_of_the_same_trace() {
    let path = recording("pass");
    let output = child("pass", GOOD).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let passed = said
        .split("passed on ")
        .nth(1)
        .and_then(|rest| rest.get(..GOOD.len()))
        .expect("it was printed");
    assert_eq!((&passed[..36], &passed[52..]), (&GOOD[..36], "-01"), "{said}");
    assert_ne!(&passed[36..52], &GOOD[36..52]);
    let parsed = TraceParent::parse(passed).expect("what is written can be read");
    let store = Store::open(&path).expect("it was recorded");
    assert_eq!(store.event_of_span(parsed.span_id()), Some(event(&store, "Server::passed_on")));
    let _ = std::fs::remove_file(path);
}

#[test]
fn a_malformed_traceparent_is_ignored_and_counted() {
    for (role, parent) in [
        ("upper", GOOD.to_uppercase()),
        ("zero", GOOD.replace("00f067aa0ba902b7", "0000000000000000")),
    ] {
        let path = recording(role);
        assert!(child(role, &parent).output().expect("it starts").status.success());
        let store = Store::open(&path).expect("it was recorded");
        let handle = event(&store, "Server::handle");
        assert_eq!((handle.cause, store.remote_cause(&handle)), (None, None), "{role}");
        assert_eq!(store.header().remote_malformed, 1, "{role}");
        assert_eq!(store.verify().malformed_traceparents, 1, "{role}");
        let _ = std::fs::remove_file(path);
    }
}
