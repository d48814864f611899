//! What a function drops, and when: parameters last, in reverse order, whatever its hook is.

use crate::common::{Did, Package, manifest};

const MAIN: &str = r#"#![allow(unused_variables)]
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

struct D(&'static str);
impl Drop for D {
    fn drop(&mut self) {
        println!("  {}", self.0);
    }
}
struct Pair {
    left: D,
    right: D,
}
impl Pair {
    fn look(&self, at: D) -> usize {
        at.0.len() + self.left.0.len()
    }
    fn moved(self, first: D, second: D) -> usize {
        let local = D("local");
        first.0.len() + self.right.0.len()
    }
    async fn later(mut self, first: D, second: D) -> usize {
        self.left = D("other left");
        second.0.len() + first.0.len()
    }
}
fn used(a: D, b: D, c: D) -> usize {
    let local = D("local");
    a.0.len() + c.0.len() + b.0.len()
}
fn unused(a: D, b: D, c: D) -> usize {
    b.0.len()
}
fn given(a: D, b: D, c: D) -> D {
    b
}
fn parts(a: Pair, b: Pair) -> usize {
    drop(a.right);
    b.left.0.len()
}
fn patterns(ref three: D, Pair { left, right: r#in }: Pair, (one, mut two): (D, D), [four @ .., five]: [D; 3]) -> usize {
    two = D("two again");
    one.0.len() + left.0.len()
}
fn early(a: D, b: D) -> Option<usize> {
    let none: Option<usize> = if b.0.len() > 9 { Some(1) } else { None };
    Some(none? + a.0.len())
}
fn panics(a: D, b: D) -> usize {
    let local = D("local");
    [1, 2][a.0.len() + 7]
}
async fn polled(a: D, b: D, c: D) -> usize {
    let local = D("local");
    a.0.len() + b.0.len()
}
async fn pending(_: &str, a: D, b: D) {
    let local = D("local");
    drop(a);
    std::future::pending::<()>().await;
    drop(b);
}
fn done<F: Future>(case: &str, it: F) {
    println!("{case}");
    let is_ready = matches!(pin!(it).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(_));
    println!("  {is_ready}");
}
fn pair() -> Pair {
    Pair { left: D("left"), right: D("right") }
}
fn main() {
    println!("look");
    pair().look(D("at"));
    println!("moved");
    pair().moved(D("first"), D("second"));
    println!("used");
    used(D("a"), D("b"), D("c"));
    println!("unused");
    unused(D("a"), D("b"), D("c"));
    println!("given");
    given(D("a"), D("b"), D("c"));
    println!("parts");
    parts(pair(), pair());
    println!("patterns");
    patterns(D("three"), pair(), (D("one"), D("two")), [D("4"), D("5"), D("6")]);
    println!("early");
    early(D("a"), D("b"));
    println!("panics");
    let _ = std::panic::catch_unwind(|| panics(D("a"), D("b")));
    done("later", pair().later(D("first"), D("second")));
    done("polled", polled(D("a"), D("b"), D("c")));
    done("pending", pending("x", D("a"), D("b")));
    println!("never polled");
    drop(polled(D("a"), D("b"), D("c")));
}
"#;

#[test]
fn parameters_are_dropped_in_the_order_of_the_plain_function() {
    for edition in ["2018", "2024"] {
        let name = format!("dropping_{edition}");
        let package = Package::new(
            &name,
            &[("Cargo.toml", &manifest(&name, edition, "")), ("src/main.rs", MAIN)],
        );
        let plain = package.cargo(&["run", "--offline", "--quiet"]);
        assert!(
            plain.stdout.contains("used\n  local\n  c\n  b\n  a\n"),
            "{}{}",
            plain.stderr,
            plain.stdout
        );
        for line in [&["run"][..], &["run", "--returns"], &["run", "--returns", "--args"]] {
            let did = package.metaspy(line);
            let printed = did
                .stdout
                .lines()
                .take(plain.stdout.lines().count())
                .collect::<Vec<_>>()
                .join("\n")
                + "\n";
            assert_eq!(printed, plain.stdout, "{edition}: {line:?}");
            assert_eq!(
                did.json["light"].as_array().map(Vec::len),
                Some(0),
                "{edition}: {line:?}: {}",
                did.json["light"]
            );
            assert_eq!(did.calls(&format!("{name}::Pair::later")), Some(1), "{}", did.json);
        }
    }
}

#[test]
fn parameters_that_are_not_used_are_warned_of() {
    let text = "async fn later(a: u8, b: u8) -> u8 {\n    b\n}\nfn now(c: u8, d: u8) -> u8 {\n    d\n}\nfn main() {\n    drop(later(now(1, 2), 3));\n}\n";
    let package = Package::new(
        "warning",
        &[("Cargo.toml", &manifest("warning", "2021", "")), ("src/main.rs", text)],
    );
    let warnings = |did: &Did| did.stderr.matches("unused variable").count();
    for line in [&["build"][..], &["build", "--returns"]] {
        let did = package.metaspy(line);
        assert_eq!(warnings(&did), 2, "{line:?}: {}", did.stderr);
    }
    package.write("src/main.rs", &text.replace("(a: u8", "(_a: u8"));
    for line in [&["build"][..], &["build", "--returns"]] {
        assert_eq!(warnings(&package.metaspy(line)), 1, "{line:?}");
    }
}
