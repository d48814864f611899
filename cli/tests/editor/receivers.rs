//! Types that arrive, where names alone do not decide.

use std::ffi::OsStr;

use serde_json::{Value, json};

use crate::client::Client;
use crate::common::{Package, manifest};

const SOURCE: &str = "\
use std::sync::Arc;

pub trait Draw {
    fn draw(&self) -> usize;
}

pub struct Circle(pub usize);

pub struct Group<T>(pub Vec<T>);

impl Draw for Circle {
    fn draw(&self) -> usize {
        self.0
    }
}

impl<T: Draw> Draw for Group<T> {
    fn draw(&self) -> usize {
        self.0.iter().map(T::draw).sum()
    }
}

impl Clone for Circle {
    fn clone(&self) -> Self {
        Circle(self.0)
    }
}

impl<T> Group<T> {
    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
}

pub fn all<T: Clone>(circles: &T) -> T {
    circles.clone()
}

pub fn show(it: &dyn Draw) -> usize {
    it.draw()
}

pub fn own<_T_>(_it_: _T_) -> usize {
    0
}

pub struct Page {
    pub parts: Vec<Box<dyn Draw>>,
}

impl Page {
    pub fn paint(&self) -> usize {
        self.parts.iter().map(|part| part.draw()).sum()
    }
}

pub struct Frame<T>(pub T);

impl<T: Draw> Frame<T> {
    pub fn border(&self) -> usize {
        let (part, times) = (&self.0, 1);
        part.draw() * times
    }
}

pub trait Twice: Draw {
    fn twice(&self) -> usize {
        2 * self.draw()
    }
}

impl Twice for Circle {}

pub struct Plain;

impl Plain {
    pub const fn erase(&self) -> usize {
        1
    }
}

macro_rules! erased {
    ($it:expr) => { $it.erase() };
}

macro_rules! generate {
    ($name:ident) => { pub fn $name(it: &Circle) -> usize { it.draw() } };
}

generate!(helper);

type Callback = Box<dyn Fn() -> usize>;

pub struct Hooked {
    part: Box<dyn Draw>,
    hook: Callback,
}

impl Hooked {
    pub fn run(&self) -> usize {
        (self.hook)() + self.part.draw()
    }
}

pub trait Erase {
    fn erase(&self) -> usize;
}

impl Erase for Circle {
    fn erase(&self) -> usize {
        1
    }
}

pub fn run(f: &dyn Fn() -> usize, t: &dyn Draw) -> usize {
    f() + t.draw()
}

pub fn sum(it: impl Iterator<Item = usize>, t: &dyn Draw) -> usize {
    it.sum::<usize>() + t.draw()
}

pub fn unreached(f: &Callback, t: Option<&dyn Draw>) -> usize {
    f() + t.map_or(0, |t| t.draw())
}

pub fn generic<T: Draw>(t: T, f: impl Fn(&T) -> usize) -> usize {
    f(&t) + t.draw()
}

pub fn by_macro(t: &dyn Draw) -> usize {
    helper(&Circle(1)) + t.draw()
}

pub fn in_macro(it: &dyn Erase, plain: &Plain) -> usize {
    erased!(it) + plain.erase()
}

pub fn by_value(it: &dyn Erase) -> usize {
    let erase = <dyn Erase>::erase;
    let plain = Plain;
    plain.erase() + (&[it]).iter().copied().map(erase).sum::<usize>()
}

pub fn drawn(group: &Group<Circle>) -> impl Iterator<Item = usize> + '_ {
    group.0.iter().map(Circle::draw)
}

pub fn lazy(group: &Group<Circle>, t: &dyn Draw) -> usize {
    drawn(group).sum::<usize>() + t.draw()
}

static LAZY: std::sync::LazyLock<usize> = std::sync::LazyLock::new(|| Circle(1).draw());

pub fn at_first_use(t: &dyn Draw) -> usize {
    t.draw() + *LAZY
}

#[test]
fn runs_code_of_others() {
    let circle = || Circle(1).draw();
    run(&circle, &Group(vec![Circle(1)]));
    sum((0..3).map(|_| Circle(1).draw()), &Group(vec![Circle(1)]));
    unreached(&(Box::new(circle) as Callback), None);
    generic(Group(vec![Circle(1)]), |_| Circle(1).draw());
    in_macro(&Circle(1), &Plain);
    by_macro(&Group(vec![Circle(1)]));
    Hooked { part: Box::new(Circle(1)), hook: Box::new(circle) }.run();
    by_value(&Circle(1));
    at_first_use(&Group(vec![Circle(1)]));
    lazy(&Group(vec![Circle(2), Circle(3)]), &Circle(1));
}

pub fn shared(circle: &Circle) -> usize {
    let circle = Arc::new(Circle::clone(circle));
    Arc::clone(&circle).draw()
}

#[test]
fn draws() {
    shared(&Circle(1));
    Page { parts: vec![Box::new(Circle(1)), Box::new(Frame(Circle(2)).0)] }.paint();
    Frame(Group(vec![Circle(1)])).border();
    Circle(1).twice();
    all(&vec![Circle(1), Circle(2)]);
    let nested = Group(vec![Group(vec![Circle(1)])]);
    show(&Group(vec![Circle(1)]));
    show(&nested);
    nested.is_empty();
    Group::<u8>(Vec::new()).is_empty();
    own(Arc::new(1_u8));
    own(Arc::new(Circle(1)));
}
";

/// The package after a run, and a client with its file.
fn opened(name: &str) -> (Package, Client) {
    let manifest = manifest(name, "2024", "");
    let package = Package::new(name, &[("Cargo.toml", manifest.as_str()), ("src/lib.rs", SOURCE)]);
    // Symbols alone do not name the type behind an object of a generic implementation.
    let full = [("CARGO_PROFILE_DEV_DEBUG", OsStr::new("full"))];
    let did = package.metaspy_in(&["test", "--lib", "--types"], &full);
    assert_eq!(did.code, 0, "{}", did.stderr);
    let mut client = Client::start(&[&package], json!({}));
    client.open_file(&package, SOURCE);
    client.await_numbers(&package);
    (package, client)
}

/// The lines of all hints, each with its label.
fn hints(client: &mut Client, package: &Package) -> Vec<(&'static str, String)> {
    let hints = client.about("textDocument/inlayHint", package);
    let hint = |hint: &Value| {
        let line = hint["position"]["line"].as_u64().expect("a number") as usize;
        let line = SOURCE.lines().nth(line).map(str::trim).expect("there is such a line");
        (line, hint["label"].as_str().unwrap_or_default().to_owned())
    };
    hints.as_array().expect("a list").iter().map(hint).collect()
}

#[test]
fn a_receiver_that_may_be_wrapped_is_no_hint() {
    let (package, mut client) = opened("editor_wrapped");
    let mut found = hints(&mut client, &package);
    // Those in headers are of arguments.
    found.retain(|(line, _)| !line.contains("fn "));
    // What is cloned is a `Vec`, and `count` is no method of a trait. Behind an object, also in a
    // field, a bound of the block, and a supertrait may be any type.
    let expected = [
        ("it.draw()", ": Group<Circle> 50.0 %, Group<Group<Circle>> 50.0 %"),
        ("self.parts.iter().map(|part| part.draw()).sum()", ": Circle 100.0 %"),
        ("part.draw() * times", ": Group 100.0 %"),
        ("2 * self.draw()", ": Circle 100.0 %"),
    ];
    assert_eq!(found, expected.map(|(line, label)| (line, label.to_owned())));
    let clone = client.hover(&package, SOURCE, "circles.clone()", "clone");
    let expected = "2 calls of `clone` within `all`, maybe by way of functions without hooks:";
    assert!(clone.contains(expected), "{clone}");
    // `Arc::clone` has no hook, and `Circle::clone` is another function.
    assert_eq!(client.hover(&package, SOURCE, "Arc::clone(&circle)", "clone"), "");
    let clone = client.hover(&package, SOURCE, "Circle::clone(circle)", "clone");
    assert!(clone.contains("1 call of `clone` within `shared`"), "{clone}");
    let count = client.hover(&package, SOURCE, "self.count()", "count");
    assert!(count.contains("`Group::is_empty` called `count` twice:"), "{count}");
}

#[test]
fn types_of_one_name_are_distinct_and_no_markup() {
    let (package, mut client) = opened("editor_apart");
    let hints = hints(&mut client, &package);
    for line in ["pub fn show(it: &dyn Draw) -> usize {", "it.draw()"] {
        let hint = (line, ": Group<Circle> 50.0 %, Group<Group<Circle>> 50.0 %".to_owned());
        assert!(hints.contains(&hint), "{line}: {hints:?}");
    }
    let own = client.hover(&package, SOURCE, "fn own", "own");
    assert!(own.contains("- `_it_: _T_` was `Arc<Circle>` 50.0 %, `Arc<u8>` 50.0 %"), "{own}");
    let call = client.hover(&package, SOURCE, "it.draw()", "draw");
    assert!(
        call.contains("Receivers: `Group<Circle>` 50.0 %, `Group<Group<Circle>>` 50.0 %"),
        "{call}"
    );
}
