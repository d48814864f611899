//! Doors in small pieces of source.

use metaspy_format::facts::{Facts, SelfKind};

use super::visitor::SourceVisitor;
use super::{Entry, SourceFile, parse};

/// The doors of a function `kit::check` in a file in which no function has a hook, as
/// `door < function around it`.
fn check(facts: Facts, text: &str, expected: &[&str]) {
    let entry = Entry {
        file: "main.rs".to_owned(),
        lines: (1, 1),
        name: "check".to_owned(),
        qualifiers: ["kit", "Check"].map(str::to_owned).into(),
        facts,
    };
    let file = SourceFile { name: "main.rs".to_owned(), sites: &[] };
    let found = SourceVisitor::visit(&parse(text).expect("it is Rust"));
    let doors = found.mentions.iter().filter_map(|mention| entry.door(mention, &file));
    let doors: Vec<String> =
        doors.map(|it| format!("{} < {}", it.door.unwrap_or_default(), it.within)).collect();
    assert_eq!(doors, expected, "{text}");
}

#[track_caller]
fn receivers(text: &str, expected: &[&str]) {
    let found = SourceVisitor::visit(&parse(text).expect("it is Rust"));
    let receivers: Vec<&str> = found.receivers.iter().map(|(door, _)| &**door).collect();
    assert_eq!(receivers, expected, "{text}");
}

#[test]
fn a_door_is_given_a_closure_that_calls_or_the_name() {
    let plain = Facts::default;
    check(plain(), "fn f(p: Pool) { p.queue(move || { log(check(1)) }); }", &[".queue < f"]);
    check(
        plain(),
        "impl S { fn f(&self) { jobs::push(Box::new(|| check(1))) } }",
        &["jobs::push < S::f"],
    );
    check(plain(), "fn f() { router.route(\"/\", get(kit::check)) }", &["get < f"]);
    check(plain(), "fn f() { a(|| b(|| check())); c(async { check() }) }", &["b < f", "c < f"]);
    check(plain(), "fn f() { check(1); }", &[" < f"]);
    // Of another type, of tests, of an argument, and in a closure that is given to nothing.
    check(plain(), "fn f() { other::check(1); queue(Other::check); value.check() }", &[]);
    check(plain(), "#[cfg(test)] mod tests { fn f() { queue(check) } }", &[]);
    check(plain(), "fn f(check: fn()) { queue(check) }", &[]);
}

#[test]
fn a_method_is_called_on_a_value_and_a_future_is_given() {
    let method = Facts { self_kind: SelfKind::Ref, ..Facts::default() };
    check(method, "fn f() { p.queue(move || it.check()) }", &[".queue < f"]);
    let future = Facts { is_async: true, ..Facts::default() };
    check(
        future.clone(),
        "fn f() { drive(Box::pin(check(1))); set.push(check(2).boxed()) }",
        &["drive < f", ".push < f"],
    );
    let closure = Facts { is_closure: true, ..Facts::default() };
    check(closure, "fn f() { p.queue(|| 1) }\nfn g() { p.queue(|| 2) }", &[".queue < f"]);
    // The value of a plain function is no work.
    check(Facts::default(), "fn f() { p.queue(|| drive(check(1))) }", &[".queue < f"]);
}

#[test]
fn loops_take_messages_and_single_answers_are_none() {
    receivers("fn f() { while let Ok(job) = jobs.recv() { job() } }", &[".recv"]);
    receivers(
        "async fn f() { loop { select! { Some(job) = jobs.recv() => job(), } } }",
        &[".recv"],
    );
    receivers("fn f() { let (tx, rx) = mpsc::channel(); for job in rx { job() } }", &["for"]);
    receivers("fn f(jobs: &Receiver<Job>) { jobs.iter().for_each(run) }", &[".iter"]);
    receivers(
        "struct S { jobs: Receiver<Job> } fn f(s: &S) { for job in &s.jobs { job() } }",
        &["for"],
    );
    receivers("fn f() { done.recv(); for one in list {} list.iter().for_each(run) }", &[]);
}
