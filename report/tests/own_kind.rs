//! The example of a kind of findings in Rust: what it finds, what it leaves alone, and its text in
//! the guide.

#[path = "../../tui/tests/fixture/mod.rs"]
mod fixture;
#[allow(dead_code, reason = "the test calls what `main` calls")]
#[path = "../examples/late_layout.rs"]
mod late_layout;

use std::thread;

use metaspy_core::{Outcome, Recording, Subject, clock, hook};
use metaspy_report::findings::{Config, Findings};

/// Records frames, each with these calls, and looks for findings in them.
fn found(name: &str, frame: fn()) -> Findings {
    let _turn = fixture::turn();
    let path = fixture::directory().join(format!("{name}.spy"));
    let (recording, installed) = fixture::begin(Recording::file(&path), 0);
    let record = move || {
        for _ in 0..30 {
            let call = hook::enter(&fixture::FRAME, Subject::NONE);
            frame();
            call.done(Outcome::Returned);
        }
    };
    thread::spawn(record).join().expect("recording does not fail");
    drop(installed);
    recording.close();
    late_layout::find(&fixture::open(&path), &Config::default())
}

fn layout() {
    let call = hook::enter(&fixture::LAYOUT, fixture::node(1));
    clock::advance(50_000);
    call.done(Outcome::Returned);
}

fn paint() {
    let call = hook::enter(&fixture::PAINT, Subject::NONE);
    clock::advance(50_000);
    call.done(Outcome::Returned);
}

#[test]
fn layouts_after_the_paint_of_their_frame_are_found_with_their_time() {
    let findings = found("late", || {
        layout();
        paint();
        layout();
    });
    let late = findings
        .listed()
        .find(|finding| finding.kind == "late-layout")
        .expect("each frame lays out late");
    assert_eq!(late.cost.events, 30);
    assert_eq!(late.cost.time_ns, Some(1_500_000));
    assert_eq!(late.evidence.filter, "site:page::Scene::layout");
    assert_eq!(late.evidence.events.len(), 10);
    // The built-in kinds were looked for in the same pass.
    assert!(findings.looked_for.iter().any(|kind| kind == "repeated"), "{:?}", findings.looked_for);
}

#[test]
fn layouts_before_the_paint_are_silent_and_so_is_a_paint_of_the_frame_before() {
    let findings = found("early", || {
        layout();
        layout();
        paint();
    });
    assert!(findings.looked_for.iter().any(|kind| kind == "late-layout"));
    assert_eq!(findings.found.iter().find(|finding| finding.kind == "late-layout"), None);
}

#[test]
fn the_guide_quotes_the_example() {
    let guide = include_str!("../../docs/findings.md");
    let (_, code) = guide.split_once("```rust\n").expect("the guide has the code");
    let (code, _) = code.split_once("```").expect("the code ends");
    let example = include_str!("../examples/late_layout.rs");
    assert!(
        example.contains(code.trim_end()),
        "docs/findings.md quotes another text than the example has:\n{code}"
    );
}
