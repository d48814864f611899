//! The types that arrive at methods, checked against the program's own sums and against a debugger.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::common::schemas::assert_changes_are_noticed;
use crate::common::{Did, Package, manifest};

const SHAPES: &str = r#"#![cfg_attr(any(), no_std)]
use std::cell::RefCell;
use std::rc::Rc;
pub trait Shape { fn area(&self) -> u64; }
pub trait Tall: Shape { fn height(&self) -> u64 { self.area() } }
pub struct Circle(u64);
pub struct Square(Box<u64>);
pub mod r#type { pub struct Unit; pub fn r#fn() -> u64 { 0 } pub enum Step { Go(u8), Never(std::convert::Infallible), Stop, Back } }
use r#type::{Step, Unit};
pub trait Lit { fn lit(&self) -> u64 { 0 } }
#[allow(dead_code)]
pub enum Lamp { Off, On }
impl Lit for Lamp {}
impl Lit for u8 {}
impl Lit for std::time::Duration {}
#[allow(dead_code)]
pub enum Way { Left, Right }
fn walk(way: &&mut Way) -> u64 { struct Leg(u64); impl Leg { fn one(&self) -> u64 { self.0 } } Leg(0).one() + match way { Way::Left => 1, Way::Right => 2 } }
pub struct Never;
pub struct Inch;
impl Shape for Circle { fn area(&self) -> u64 { self.0 * 3 } }
impl Shape for Square { fn area(&self) -> u64 { *self.0 * *self.0 } }
impl Shape for Unit { fn area(&self) -> u64 { 1 } }
impl Shape for Never { fn area(&self) -> u64 { 0 } }
impl Tall for Circle {}
impl Tall for Square {}
pub trait Scale { fn one() -> u64 { 1 } }
impl Scale for Circle {}
impl Scale for Inch {}
impl Scale for Square { fn one() -> u64 { 2 } }
impl Scale for Never { fn one() -> u64 { 3 } }
pub trait Corners { const CORNERS: u64; }
impl Corners for Square { const CORNERS: u64 = 4; }
impl Corners for Inch { const CORNERS: u64 = 0; }
#[derive(Clone, Copy)]
pub enum Color { Red, Green = 7, Blue, Grey }
#[cfg(windows)]
mod hidden { pub struct Region; impl super::Shape for Region { fn area(&self) -> u64 { 2 } } }
#[cfg(feature = "large")]
mod large { pub struct Sphere; impl super::Shape for Sphere { fn area(&self) -> u64 { 4 } } }
#[cfg(feature = "small")]
mod small { pub struct Point; impl super::Shape for Point { fn area(&self) -> u64 { 0 } } }
#[cfg(test)]
mod tests;
fn step(step: &Step) -> u64 { match step { Step::Go(by) => u64::from(*by), Step::Never(_) | Step::Stop => 0, Step::Back => 1 } }
impl Drop for Circle { fn drop(&mut self) { std::hint::black_box(self.0); } }
fn total(shapes: &[Box<dyn Shape>]) -> u64 { shapes.iter().map(|shape| measure(&**shape)).sum() }
fn measure(shape: &dyn Shape) -> u64 { shape.area() }
fn owned(shape: Box<dyn Shape>) -> u64 { shape.area() }
fn shared(shape: Rc<RefCell<dyn Shape>>) -> u64 { shape.borrow().area() }
fn maybe(shape: Option<&dyn Shape>) -> Option<u64> { shape.map(|shape| shape.area()) }
fn any<T: Shape>(shape: &T) -> u64 { shape.area() }
fn paint(color: Color, on: &Color) -> Result<(), String> {
    match (color, on) { (Color::Red, _) => Ok(()), _ => Err("no".into()) }
}
async fn later(shape: &dyn Shape) -> Option<u64> { Some(shape.area()) }
fn main() {
    let shapes: Vec<Box<dyn Shape>> =
        vec![Box::new(Circle(2)), Box::new(Square(Box::new(3))), Box::new(Unit), Box::new(Circle(5))];
    let mut sum: u64 = (0..10).map(|_| total(&shapes)).sum();
    sum += std::thread::scope(|scope| scope.spawn(|| measure(&Unit)).join().unwrap());
    sum += owned(Box::new(Square(Box::new(2)))) + shared(Rc::new(RefCell::new(Unit)));
    sum += maybe(None).unwrap_or(1) + maybe(Some(&Circle(2))).unwrap();
    sum += any(&Circle(1)) + any(&Square(Box::new(1))) + any(&Square(Box::new(1))) + Circle(1).height();
    for (color, on) in [(Color::Red, Color::Green), (Color::Blue, Color::Green), (Color::Green, Color::Red)] {
        sum += u64::from(paint(color, &on).is_ok());
    }
    sum += Lamp::On.lit() + std::time::Duration::ZERO.lit() + r#type::r#fn() + walk(&&mut Way::Right) + step(&Step::Go(1)) + step(&Step::Back) + Circle::one() + Square::one() + Inch::CORNERS;
    let mut later = std::pin::pin!(later(&Unit));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::future::Future::poll(later.as_mut(), &mut context).is_ready());
    println!("{sum}");
}
"#;

fn shapes(name: &str) -> Package {
    let tests = "pub struct Fake;\nimpl super::Shape for Fake { fn area(&self) -> u64 { 2 } }\n\
                 #[test]\nfn area() { crate::measure(&crate::Unit); }\n";
    let manifest =
        manifest(name, "2024", "[features]\ndefault = [\"small\"]\nsmall = []\nlarge = []");
    Package::new(
        name,
        &[("Cargo.toml", &manifest), ("src/main.rs", SHAPES), ("src/tests.rs", tests)],
    )
}

/// The types of a value, as `type` or `type::variant`, with their counts.
fn arrived(did: &Did, method: &str, value: &str) -> BTreeMap<String, u64> {
    let methods = did.json["types"]["methods"].as_array().expect("types are requested");
    let is_method = |one: &&Value| {
        one["path"].as_str().is_some_and(|path| path.ends_with(&format!("::{method}")))
    };
    let values = methods
        .iter()
        .find(is_method)
        .map(|method| method["values"].as_array().expect("it has values"));
    let value = values.into_iter().flatten().find(|one| one["name"] == value);
    let types = value.unwrap_or_else(|| panic!("{method} has {value:?}"))["types"]
        .as_array()
        .expect("it has types");
    let last = |text: &str| text.rsplit("::").next().unwrap_or(text).to_owned();
    let text = |one: &Value| match one["variant"].as_str() {
        Some(variant) => variant.to_owned(),
        None => last(one["type"].as_str().unwrap_or("?")),
    };
    types.iter().map(|one| (text(one), one["count"].as_u64().expect("it is a number"))).collect()
}

fn counts<const N: usize>(expected: [(&str, u64); N]) -> BTreeMap<String, u64> {
    expected.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

/// With debug information and without, the program does the same, and every type is known.
fn check(name: &str, more: &[&str]) {
    let package = shapes(name);
    let plain = package.cargo(&["run", "--quiet"]).stdout;
    let did = package.metaspy(&[&["run", "--types", "--timed"][..], more].concat());
    assert!(did.stdout.starts_with(&plain), "{}", did.stdout);
    assert_changes_are_noticed(&["cargo", "metaspy", "run", "--json"], &did.json);
    let types = &did.json["types"];
    assert_changes_are_noticed(&["metaspy", "report", "--types", "--json"], types);
    assert_eq!(
        (&types["unresolved"], &types["lost"]),
        (&0.into(), &0.into()),
        "{}",
        types["notes"]
    );
    // Raw names are without `r#` in all tables.
    let raw = format!("{name}::type::fn");
    assert_eq!(
        (did.calls(&raw), types.to_string().contains(&format!("\"path\":\"{raw}\""))),
        (Some(1), true),
        "{types}"
    );
    assert!(types.to_string().contains(&format!("\"type\":\"{name}::walk::Leg\"")), "{types}");
    assert_eq!(
        arrived(&did, "measure", "shape"),
        counts([("Circle", 20), ("Square", 10), ("Unit", 11)])
    );
    assert_eq!(arrived(&did, "owned", "shape"), counts([("Square", 1)]));
    assert_eq!(arrived(&did, "shared", "shape"), counts([("Unit", 1)]));
    assert_eq!(arrived(&did, "later", "shape"), counts([("Unit", 1)]));
    assert_eq!(arrived(&did, "later", "returned"), counts([("Some", 1)]));
    assert_eq!(arrived(&did, "maybe", "shape"), counts([("None", 1), ("Circle", 1)]));
    assert_eq!(arrived(&did, "maybe", "returned"), counts([("None", 1), ("Some", 1)]));
    assert_eq!(arrived(&did, "any", "shape"), counts([("Circle", 1), ("Square", 2)]));
    assert_eq!(arrived(&did, "paint", "color"), counts([("Red", 1), ("Green", 1), ("Blue", 1)]));
    assert_eq!(arrived(&did, "paint", "on"), counts([("Red", 1), ("Green", 2)]));
    assert_eq!(arrived(&did, "paint", "returned"), counts([("Ok", 1), ("Err", 2)]));
    assert_eq!(arrived(&did, "Tall::height", "self"), counts([("Circle", 1)]));
    findings(types);
}

fn findings(types: &Value) {
    let all = |key: &str| types[key].as_array().expect("there is a list").clone();
    let ends = |value: &Value, end: &str| value.as_str().is_some_and(|text| text.ends_with(end));
    let never = |of: &str| {
        let found = all("never_arrived").into_iter().find(|one| ends(&one["of"], of));
        found.unwrap_or_else(|| panic!("of {of} some never arrived"))["never"].clone()
    };
    let shape = never("::Shape");
    let shapes = shape.as_array().map_or(&[][..], Vec::as_slice);
    assert!(matches!(shapes, [a, b] if ends(a, "::Never") && ends(b, "small::Point")), "{shape}");
    assert_eq!(never("::Color"), serde_json::json!(["Grey"]));
    assert_eq!(never("::Step"), serde_json::json!(["Stop"]));
    // What is behind a second reference is not read, nor what is behind one to a type that may be
    // unsized.
    assert!(
        all("never_arrived")
            .iter()
            .all(|one| !ends(&one["of"], "::Way") && !ends(&one["of"], "::Lamp"))
    );
    // `Duration` has another path in its own crate.
    assert_eq!(never("::Lit"), serde_json::json!(["u8"]));
    // `Inch` may have run the default method without a receiver, and `Never` has its own.
    assert!(ends(&never("::Scale")[0], "::Never"), "{}", never("::Scale"));
    // Constants are used without values.
    assert!(all("never_arrived").iter().all(|one| !ends(&one["of"], "::Corners")));
    let call = |caller: &str, name: &str| {
        let found = all("calls")
            .into_iter()
            .find(|one| ends(&one["caller"], caller) && one["name"] == name);
        found.unwrap_or_else(|| panic!("{caller} calls {name}"))
    };
    let area = call("::measure", "area");
    assert_eq!((&area["class"], &area["count"]), (&"polymorphic".into(), &41.into()));
    let targets = area["targets"].as_array().expect("it has targets");
    assert!(targets.iter().all(|target| target["total_ns"].as_u64() > Some(0)), "{targets:?}");
    assert_eq!(call("::owned", "area")["class"], "monomorphic");
    let wide: Vec<String> =
        all("wider_than_needed").iter().map(|one| one["path"].to_string()).collect();
    assert!(wide.iter().any(|path| path.contains("::owned")), "{wide:?}");
    let any = all("wider_than_needed")
        .into_iter()
        .find(|one| ends(&one["path"], "::any"))
        .expect("it is wide");
    assert!(ends(&any["common_trait"], "::Tall"), "{any}");
}

#[test]
fn types_that_arrive_are_counted_by_debug_information() {
    check("arrived", &[]);
}

#[test]
fn types_that_arrive_are_counted_by_symbols() {
    check("arrived_symbols", &["--config", "profile.dev.debug=false"]);
}

#[test]
fn a_report_of_one_function_has_what_arrives_there() {
    let package = shapes("arrived_part");
    package.metaspy(&["run", "--types"]);
    let report = |selector: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
        command.arg("report").arg(package.runs().join("1")).arg(format!("--types={selector}"));
        let output = command.output().expect("it runs");
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    let [part, _] = report("any");
    assert!(
        part.contains("arrived_part::any calls area: polymorphic\n    2 calls (66.7 %)"),
        "{part}"
    );
    assert!(
        part.contains(
            "Shape: 3 of 5 implementations: arrived_part::Never, arrived_part::small::Point, arrived_part::type::Unit"
        ),
        "{part}"
    );
    assert!(!part.contains("measure") && !part.contains("Tall: "), "{part}");
    // A build of tests contains what is in their modules.
    let tests = package.metaspy(&["test", "--types"]);
    assert!(tests.stdout.contains("Shape: 5 of 6 implementations: "), "{}", tests.stdout);
    let [nothing, error] = report("mesure");
    assert_eq!(nothing, "");
    assert!(error.contains("did you mean arrived_part::measure?"), "{error}");
}

#[test]
fn a_later_build_changes_no_type_of_a_kept_run() {
    let package = shapes("arrived_kept");
    package.metaspy(&["run", "--types"]);
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    let report = || {
        let runs = package.runs().join("1");
        let output =
            Command::new(metaspy).arg("report").arg(runs).arg("--types").output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let before = report();
    assert!(before.contains("shape: &dyn Shape = arrived_kept::Circle 20 (48.8 %)"), "{before}");
    package.write("src/main.rs", &SHAPES.replace("let mut sum", "let _unused = 1; let mut sum"));
    package.metaspy(&["build", "--types"]);
    assert_eq!(report(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_debugger_sees_the_same_types() {
    if Command::new("gdb").arg("--version").output().is_err() {
        println!("SKIPPED: debugger: gdb is not installed");
        return;
    }
    let package = shapes("arrived_gdb");
    // The debugger needs the names and places of variables, whatever the tests are built with.
    package.cargo(&["build", "--config", "profile.dev.debug=2"]);
    // Word 3 of a table is the first method. The symbol of the method names the type.
    let script = "set pagination off\nset language c\nbreak arrived_gdb::measure\ncommands\nsilent\n\
                  info symbol ((unsigned long*)shape.vtable)[3]\ncontinue\nend\nrun\n";
    package.write("types.gdb", script);
    let program = package.target_dir().join("debug/arrived_gdb");
    let output = Command::new("gdb")
        .args(["-q", "-batch", "-x"])
        .arg(package.dir.join("types.gdb"))
        .arg(program)
        .output();
    let seen = String::from_utf8_lossy(&output.expect("gdb runs").stdout).into_owned();
    let mut by_gdb: BTreeMap<String, u64> = BTreeMap::new();
    for line in seen.lines().filter_map(|line| line.strip_prefix("<arrived_gdb::")) {
        let path = line.split(' ').next().unwrap_or_default();
        let name = path.rsplit("::").next().unwrap_or_default();
        *by_gdb.entry(name.to_owned()).or_default() += 1;
    }
    if by_gdb.is_empty() && seen.contains("ptrace") {
        println!("SKIPPED: debugger: gdb may not trace here");
        return;
    }
    assert_eq!(by_gdb.values().sum::<u64>(), 41, "{seen}");
    assert_eq!(arrived(&package.metaspy(&["run", "--types"]), "measure", "shape"), by_gdb);
}
