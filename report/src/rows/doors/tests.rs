//! Doors and loops in small pieces of source.

use std::collections::HashSet;

use metaspy_format::facts::{Facts, SelfKind};
use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::RecordedSite;

use super::visitor::{SourceVisitor, Wanted};
use super::{Entry, RecordedFile, parse};

const WANTED: [&str; 1] = ["check"];

fn visited(text: &str, read: impl FnOnce(SourceVisitor<'_>)) {
    let wanted = Wanted { names: HashSet::from(WANTED), closures: true };
    let parsed = parse(text, 100).expect("it is Rust");
    read(SourceVisitor::visit(&parsed, &wanted));
}

/// The doors of a function `check` of the module `kit`, as `door < function around it`. These
/// functions are observed.
#[track_caller]
fn check_among(observed: &[&RecordedSite], facts: Facts, text: &str, expected: &[&str]) {
    let entry = Entry {
        id: SiteId(7),
        file: "kit.rs".to_owned(),
        lines: (1, 1),
        name: "check".to_owned(),
        qualifiers: ["kit", "Check"].map(str::to_owned).into(),
        facts,
    };
    let file = RecordedFile { sites: Vec::new(), observed: observed.to_vec() };
    visited(text, |found| {
        let is_hidden = found.definitions.iter().any(|one| one.is_free && one.name == "check");
        let meant = found.mentions.iter().filter(|mention| entry.is_meant(mention, is_hidden));
        let doors: Vec<String> = meant
            .filter_map(|mention| entry.door(mention, "main.rs", &file))
            .map(|found| format!("{} < {}", found.door.unwrap_or_default(), found.within))
            .collect();
        assert_eq!(doors, expected, "{text}");
    });
}

fn site(id: u32, path: &str, lines: (u32, u32)) -> RecordedSite {
    RecordedSite {
        id: SiteId(id),
        kind: SiteKind::Method,
        path: path.to_owned(),
        file: "main.rs".to_owned(),
        lines,
        skipped: None,
        module: 3,
        facts: String::new(),
    }
}

/// The same in a file in which no function is observed.
#[track_caller]
fn check(facts: Facts, text: &str, expected: &[&str]) {
    check_among(&[], facts, text, expected);
}

fn method() -> Facts {
    Facts { self_kind: SelfKind::Ref, of_type: Some("Check".to_owned()), ..Facts::default() }
}

#[track_caller]
fn loops(text: &str, expected: &[&str]) {
    visited(text, |found| {
        let loops: Vec<&str> = found.receives.iter().map(|receive| &*receive.call).collect();
        assert_eq!(loops, expected, "{text}");
    });
}

#[test]
fn a_door_is_given_a_closure_that_calls_or_the_name() {
    let plain = Facts::default;
    check(plain(), "fn f(p: Pool) { p.queue(move || { log(check(1)) }); }", &[".queue < f"]);
    check(plain(), "impl S { fn f(&self) { push(Box::new(|| check(1))) } }", &["push < S::f"]);
    check(plain(), "fn f() { router.route(\"/\", get(kit::check)) }", &["get < f"]);
    check(plain(), "fn f() { a(|| b(|| check())); c(async { check() }) }", &["b < f", "c < f"]);
    check(plain(), "fn f() { p.queue({ let x = x.clone(); move || check(x) }) }", &[".queue < f"]);
    check(
        plain(),
        "fn f() { p.queue(&|| check()); Timer::new(5, || check()) }",
        &[".queue < f", "Timer::new < f"],
    );
    check(plain(), "fn f() { p.add(async { check() }.instrument(span)) }", &[".add < f"]);
    check(plain(), "static X: Lazy = Lazy::new(|| check());", &["Lazy::new < "]);
    check(plain(), "fn f() { check(1); }", &[" < f"]);
    check(plain(), "fn f() { get(|| async { check().await }) }", &["get < f"]);
    check(
        plain(),
        "fn f() { p.queue(move || list.iter().for_each(|x| check(x))) }",
        &[".queue < f"],
    );
    check(plain(), "fn f() { if let Some(check) = check(1) { let check = check(2); } }", &[" < f"]);
    // In a closure that is given to nothing, of tests, and of what is no function.
    check(plain(), "fn f() { let job = move || check(1); p.queue(job) }", &[]);
    check(plain(), "#[cfg(all(test, unix))] mod tests { fn f() { queue(check) } }", &[]);
    check(plain(), "fn f(check: fn()) { queue(check); check() }", &[]);
}

#[test]
fn other_functions_of_the_name_have_other_doors() {
    let plain = Facts::default;
    check(plain(), "fn f() { other::check(1); queue(Other::check); value.check() }", &[]);
    check(method(), "fn f() { p.queue(move || it.check()); check(1) }", &[".queue < f"]);
    check(method(), "impl Check { fn f() { p.queue(Self::check) } }", &[".queue < Check::f"]);
    check(method(), "impl Other { fn f() { p.queue(Self::check) } }", &[]);
    check(
        plain(),
        "fn check() {} fn f() { get(check); get(self::check); get(kit::check) }",
        &["get < f"],
    );
}

#[test]
fn a_future_is_given_and_the_value_of_a_plain_function_is_no_work() {
    let future = Facts { is_async: true, ..Facts::default() };
    let text = "fn f() { drive(Box::pin(check(1))); set.push(check(2).boxed()) }";
    check(future, text, &["drive < f", ".push < f"]);
    check(Facts::default(), "fn f() { p.queue(|| drive(check(1))) }", &[".queue < f"]);
    let closure = Facts { is_closure: true, ..Facts::default() };
    check(closure, "fn f() { p.queue(|| 1) }\nfn g() { p.queue(|| 2) }", &[".queue < f"]);
}

#[test]
fn an_observed_function_keeps_the_cause_of_work_that_runs_on_the_spot_or_is_spawned() {
    let observed = site(1, "kit::f", (1, 1));
    let text = "fn f() { check(1); list.iter().map(|x| check(x)); result.map_err(check); \
        tokio::spawn(async { check(1) }); pool.execute(|| check(1)); pool.queue(|| check(1)) }";
    check_among(&[&observed], Facts::default(), text, &[".queue < f"]);
    let text = "fn f() { list.par_iter().map(|x| check(x)).map(check); pool.execute(check); \
        catch_unwind(AssertUnwindSafe(|| check(1))); tx.send(Job(Box::new(|| check(1)))) }";
    check_among(&[&observed], Facts::default(), text, &[".map < f", ".execute < f", ".send < f"]);
    // The closure itself is no function around it.
    let closure = site(7, "kit::f::{closure#1}", (1, 1));
    let facts = Facts { is_closure: true, ..Facts::default() };
    check_among(&[&closure], facts, "fn f() { thread::spawn(|| 1) }", &["thread::spawn < f"]);
}

#[test]
fn loops_take_messages_and_single_answers_are_none() {
    loops("fn f() { while let Ok(job) = jobs.recv() { job() } }", &[".recv"]);
    loops("async fn f() { loop { select! { Some(job) = jobs.recv() => job(), } } }", &[".recv"]);
    loops("fn f() { let (tx, rx) = mpsc::channel(); for job in rx { job() } }", &["for"]);
    loops("fn f(jobs: &Receiver<Job>) { jobs.iter().for_each(run) }", &[".iter"]);
    loops(
        "struct S { jobs: Receiver<Job> } fn f(s: &S) { for job in &s.jobs { job() } }",
        &["for"],
    );
    loops(
        "fn f() { loop { match jobs.recv_timeout(second) { Ok(job) => job() } } }",
        &[".recv_timeout"],
    );
    loops("fn f() { done.recv(); for one in list {} list.iter().for_each(run) }", &[]);
    loops("fn f() { loop { socket.recv(&mut buffer); println!(\"{}\", stats.recv) } }", &[]);
    loops("fn a(jobs: Receiver<Job>) {} fn b(jobs: Vec<Job>) { for job in jobs {} }", &[]);
    loops("fn f() { for _ in 0..4 { spawn(|| rx.recv()); } for x in rx.recv().unwrap() {} }", &[]);
}

#[test]
fn a_file_is_that_of_the_recording_if_its_functions_stand_where_they_were() {
    let sites = [
        site(1, "kit::f", (1, 1)),
        site(2, "kit::S::g", (2, 3)),
        site(3, "kit::f::{closure#1}", (1, 1)),
    ];
    let file = RecordedFile { sites: sites.iter().collect(), observed: Vec::new() };
    let is_as_recorded = |text: &str, expected: bool| {
        visited(text, |found| {
            assert_eq!(file.is_as_recorded(&found.definitions), expected, "{text}")
        });
    };
    is_as_recorded("fn f() {}\nimpl S {\n#[test] fn g() {} }", true);
    is_as_recorded("\n\n\nfn f() {}\nimpl S { fn g() {} }", false);
    is_as_recorded("fn main() {}", false);
}
