//! Objects on the heap of programs that know nothing of metaspy.

use crate::common::schemas::assert_changes_are_noticed;
use crate::common::{Package, manifest};

/// Boxes, which a program allocates in one function and frees in another one.
const BOXES: &str = "fn make(number: u64) -> Box<u64> {
    Box::new(number)
}

fn keep(boxes: &mut Vec<Box<u64>>) {
    boxes.push(make(7));
}

fn main() {
    let mut boxes = Vec::with_capacity(10);
    for _ in 0..10 {
        keep(&mut boxes);
    }
    drop((0..1_000).map(make).last());
    println!(\"{}\", boxes.len());
}
";

fn package(name: &str, main: &str) -> Package {
    Package::new(name, &[("Cargo.toml", &manifest(name, "2021", "")), ("src/main.rs", main)])
}

#[test]
fn a_program_gets_an_allocator_that_counts_its_objects() {
    let boxes = package("boxes", BOXES);
    let did = boxes.metaspy(&["run", "--allocations", "--contexts"]);
    assert!(did.stdout.starts_with("10\n"), "{}", did.stdout);
    assert!(did.stdout.contains("  1,010  8,080  "), "{}", did.stdout);
    assert!(did.stderr.contains("browse the run:  metaspy open "), "{}", did.stderr);
    let run = boxes.runs().join("1");
    for more in [
        &["--allocations"][..],
        &["--allocations", "--by", "type"],
        &["--contexts", "--allocations"],
    ] {
        let line = [&["report"], more, &["--json"]].concat();
        let output = boxes
            .clean_command(env!("CARGO_BIN_EXE_metaspy").as_ref())
            .args(&line)
            .arg(&run)
            .output();
        let json = serde_json::from_slice(&output.expect("it was built for this test").stdout)
            .expect("it is JSON");
        assert_changes_are_noticed(&[&["metaspy"], &line[..]].concat(), &json);
    }
}

#[test]
fn a_program_keeps_an_allocator_of_its_own() {
    let own = format!(
        "#[global_allocator]\nstatic OWN: std::alloc::System = std::alloc::System;\n\n{BOXES}"
    );
    let did = package("own_boxes", &own).metaspy(&["run", "--allocations"]);
    assert!(did.stderr.contains("own_boxes has a global allocator of its own"), "{}", did.stderr);
    assert!(
        did.stdout.starts_with("10\n") && did.stdout.contains("3 of 3 methods ran"),
        "{}",
        did.stdout
    );
}
