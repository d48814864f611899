//! Values that hooks see, and code of the program that runs on them.

use serde_json::{Value, json};

use crate::common::{Did, Package, manifest};

/// A library whose private functions return values that their callers complete. Any code of the
/// type that runs before aborts, as it does where a pointer is followed.
const LIBRARY: &str = r#"use std::fmt;
use std::hash::{Hash, Hasher};

mod raw {
    pub fn begin() -> super::Node {
        super::Node(0)
    }
}

#[derive(Clone, Copy, Eq)]
pub struct Node(u64);

impl Node {
    fn complete(&self) -> u64 {
        if self.0 == 0 {
            std::process::abort();
        }
        self.0
    }
}
impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.complete())
    }
}
impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.complete() == other.complete()
    }
}
impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.complete().hash(state);
    }
}

fn begin() -> Node {
    raw::begin()
}

fn step(node: Node) -> Option<Node> {
    Some(Node(node.0 + 1))
}

async fn later() -> Node {
    begin()
}

pub unsafe fn unchecked() -> Node {
    begin()
}

fn number() -> Result<u64, String> {
    Ok(7)
}

pub fn make() -> Node {
    let (_, _) = (std::pin::pin!(later()).poll(&mut std::task::Context::from_waker(std::task::Waker::noop())), unsafe { unchecked() });
    number().unwrap();
    step(begin()).unwrap()
}
"#;

fn package(name: &str) -> Package {
    let library = format!("{name}_library");
    Package::new(
        name,
        &[
            (
                "Cargo.toml",
                &manifest(
                    name,
                    "2024",
                    &format!("[dependencies]\n{library} = {{ path = \"library\" }}"),
                ),
            ),
            (
                "src/main.rs",
                &format!(
                    "fn main() {{\n    for _ in 0..3 {{\n        {library}::make();\n    }}\n    println!(\"done\");\n}}\n"
                ),
            ),
            (
                "library/Cargo.toml",
                &format!(
                    "[package]\nname = \"{library}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"
                ),
            ),
            ("library/src/lib.rs", LIBRARY),
        ],
    )
}

#[test]
fn values_that_a_caller_completes_are_not_looked_into() {
    let package = package("completing");
    let line = [
        "run",
        "--weave",
        "completing_library::**",
        "--without",
        "Node::**",
        "--returns",
        "--args",
    ];
    let did = package.metaspy(&line);
    assert!(did.stdout.starts_with("done"), "{}", did.stderr);
    let returns = |did: &Did, name: &str| -> Value {
        let methods = did.json["methods"].as_array().expect("there is a list");
        let path = format!("completing_library::{name}");
        methods
            .iter()
            .find(|method| method["path"] == path)
            .unwrap_or_else(|| panic!("{name}: {}", did.json))["returns"]
            .clone()
    };
    assert_eq!(returns(&did, "begin"), "not-comparable");
    assert_eq!(returns(&did, "make"), "constant", "other crates see the value, too");
    assert_eq!(returns(&did, "number"), "constant", "it is made of types of std");

    // Details are values as `Debug` prints them.
    let file = package.dir.join("run.spy");
    let details = [("METASPY_RECORD", file.as_os_str()), ("METASPY_DETAILS", "1".as_ref())];
    let did = package.metaspy_in(&line, &details);
    assert!(did.code == 0 && did.stdout.starts_with("done"), "{}", did.stderr);
    let recorded = std::fs::read(&file).expect("it was recorded");
    let holds = |text: &str| recorded.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds("node 1") && holds("Ok(7)"));

    // By request they are looked into.
    let did = package.try_metaspy(&[&line[..], &["--trust", "completing_library::begin"]].concat());
    assert_ne!(did.code, 0);
    let did = package.try_metaspy(&[&line[..], &["--trust", "begun"]].concat());
    assert!(
        did.code == 2 && did.stderr.contains("--trust `begun`") && did.stderr.contains("begin"),
        "{}",
        did.stderr
    );
    assert_eq!(did.json, json!(null));
}

/// What a cart computes depends on its items, and on an argument.
const CART: &str = r#"use std::sync::Mutex;

#[derive(Debug)]
pub struct Cart {
    items: Vec<u32>,
}

#[derive(Debug)]
pub struct Shared {
    cart: Mutex<Cart>,
}

impl Cart {
    pub fn add(&mut self, item: u32) -> usize {
        self.items.push(item);
        self.count() + self.count()
    }
    pub fn count(&self) -> usize {
        self.items.len()
    }
    pub fn tax(&self, rate: u32) -> u32 {
        self.items.iter().map(|item| item * rate).sum::<u32>() + (self.count() + self.count()) as u32
    }
    pub fn pair(&self, (first, second): (u32, u32)) -> u32 {
        self.tax(first) + self.tax(second)
    }
    pub fn whole(&self, text: &str) -> usize {
        text.len() + self.count() + self.count()
    }
    fn private(&self, rate: u32) -> u32 {
        self.tax(rate) + self.tax(rate)
    }
}

impl Shared {
    pub fn tax(&self, rate: u32) -> u32 {
        let cart = self.cart.lock().unwrap();
        cart.tax(rate) + cart.tax(rate)
    }
}

fn main() {
    let mut cart = Cart { items: vec![1] };
    for rate in [1, 2, 1, 1, 2] {
        cart.tax(rate);
    }
    cart.add(7);
    cart.tax(1);
    cart.pair((1, 2));
    cart.pair((1, 2));
    cart.private(5);
    cart.private(5);
    let long = "x".repeat(2_000);
    for text in ["a", "a", &long, &long] {
        cart.whole(text);
    }
    let shared = Shared { cart: Mutex::new(cart) };
    shared.tax(9);
    shared.tax(9);
}
"#;

#[test]
fn calls_with_equal_arguments_on_an_unchanged_receiver_are_counted() {
    let name = "repeating";
    let package =
        Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/main.rs", CART)]);
    let did = package.metaspy(&[
        "run",
        "--args",
        "--trust",
        "Cart::*",
        "--trust",
        "Shared::*",
        "--without",
        "main",
    ]);
    let columns = |did: &Did, method: &str| {
        let methods = did.json["methods"].as_array().expect("there is a list");
        let path = format!("{name}::{method}");
        let of = methods
            .iter()
            .find(|of| of["path"] == path)
            .unwrap_or_else(|| panic!("{path}: {}", did.json));
        ["inputs", "repeated", "not compared"]
            .map(|column| of["profiles"]["repeats"][column].as_u64().unwrap_or(0))
    };
    // The rates 1 and 2 before the change of the cart, and 1, 2, 5 and 9 after it.
    assert_eq!(columns(&did, "Cart::tax"), [6, 12, 0], "{}", did.stdout);
    assert_eq!(columns(&did, "Cart::add"), [1, 0, 0]);
    assert_eq!(columns(&did, "Cart::private"), [1, 1, 0]);
    // Parts of a pattern are not seen, long texts are not kept, and a lock hides fields.
    assert_eq!(columns(&did, "Cart::pair"), [0, 0, 0]);
    assert_eq!(columns(&did, "Cart::whole"), [1, 1, 2]);
    assert_eq!(columns(&did, "Shared::tax"), [0, 0, 2]);
    let listed = did.json["repeated"].as_array().expect("there is a list");
    let found =
        |method: &str| listed.iter().find(|of| of["path"] == format!("{name}::{method}")).cloned();
    let whole =
        json!({ "path": "repeating::Cart::whole", "repeated": 1, "not_compared": 2, "of": 4 });
    assert_eq!(found("Cart::whole"), Some(whole), "{listed:?}");
    assert!(found("Cart::tax").is_some() && found("Cart::count").is_none(), "{listed:?}");
    assert!(
        did.stdout.contains("called again with equal arguments on an unchanged receiver"),
        "{}",
        did.stdout
    );
    assert!(
        did.stdout.contains("Cart::tax  test a cache with: cargo metaspy test --weave"),
        "{}",
        did.stdout
    );

    // Without `--trust`, nothing is known about the receiver of a private method.
    let did = package.metaspy(&["run", "--args", "--without", "main"]);
    assert_eq!(columns(&did, "Cart::private"), [0, 0, 2], "{}", did.stdout);
    assert_eq!(columns(&did, "Cart::tax"), [6, 12, 0]);
    let did = package.metaspy(&["run", "--returns", "--without", "main"]);
    assert_eq!(did.json["repeated"], json!(null), "{}", did.stdout);
}
