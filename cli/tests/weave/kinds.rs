//! Kinds of code: what is woven counts, and what is not is left as it is and listed.

use crate::common::{Did, Package, manifest};

#[test]
fn functions_methods_and_defaults_of_traits_are_counted_in_all_editions() {
    for edition in ["2015", "2018", "2021", "2024"] {
        let name = format!("kinds_{edition}");
        let package = Package::new(
            &name,
            &[
                ("Cargo.toml", &manifest(&name, edition, "")),
                (
                    "src/main.rs",
                    "macro_rules! given { ($($it:item)*) => { $($it)* } }\ngiven! { mod far; }\nmod inner { pub fn twice<T: Clone>(it: &T) -> (T, T) { (it.clone(), it.clone()) } }\n\
                     struct Shape(u32);\ntrait Area { fn area(&self) -> u32; fn double(&self) -> u32 { self.area() * 2 } }\n\
                     impl Area for Shape { fn area(&self) -> u32 { self.0 } }\n\
                     impl Shape { #[inline] unsafe fn raw(&self) -> u32 { fn nested() -> u32 { 1 } nested() } #[track_caller] fn never(&self) {} }\n\
                     const fn fixed() -> u32 { 3 }\nextern \"C\" fn foreign() {}\n\
                     fn main() {\n    foreign();\n    if fixed() == 0 { Shape(0).never(); }\n    for _ in 0..3 { inner::twice(&1); inner::twice(&\"x\"); }\n    \
                     println!(\"{}\", Shape(4).double() + unsafe { Shape(5).raw() });\n    far::away::off();\n}\n",
                ),
                ("src/far.rs", "#[path = \"elsewhere/file.rs\"]\npub mod away;\n"),
                ("src/elsewhere/file.rs", "pub fn off() {\n    //! Says nothing.\n}\n"),
            ],
        );
        let did = package.metaspy(&["run"]);
        assert_eq!(did.stdout.lines().next(), Some("9"), "{edition}");
        let calls = |path: &str| did.calls(&format!("{name}::{path}"));
        assert_eq!(calls("main"), Some(1), "{edition}: {}", did.stdout);
        assert_eq!(calls("inner::twice"), Some(6), "one site whatever its type arguments");
        assert_eq!(calls("Shape::Area::area"), Some(1));
        assert_eq!(calls("Area::double"), Some(1));
        assert_eq!(calls("Shape::raw"), Some(1));
        assert_eq!(calls("Shape::raw::nested"), Some(1));
        assert_eq!(calls("Shape::never"), Some(0), "a function that never ran is listed");
        assert_eq!(calls("far::away::off"), Some(1));
        assert!(
            did.json["methods"][0]["total_ns"].is_null(),
            "no clock is read without a request for times"
        );
        let reason =
            |path: &str| did.reason(&format!("{name}::{path}")).unwrap_or_default().to_owned();
        assert!(
            reason("fixed").contains("const fn") && reason("foreign").contains("foreign ABI"),
            "{}",
            did.json
        );
    }
}

#[test]
fn strict_crates_stay_strict_and_take_hooks() {
    let package = Package::new(
        "strict program, ä",
        &[
            (
                "Cargo.toml",
                &manifest(
                    "strict_program",
                    "2024",
                    "[dependencies]\nstrict_library = { path = \"the library\" }",
                ),
            ),
            (
                "src/main.rs",
                "#![deny(warnings)]\n#![forbid(unsafe_code)]\n#![doc = include_str!(\"../read me.md\")]\n\nfn main() {\n    \
                 strict_library::hidden();\n    println!(\"{} {} {}\", strict_library::sum(&[1, 2]), file!(), strict_library::place());\n}\n",
            ),
            ("read me.md", "A program.\n"),
            (
                "the library/Cargo.toml",
                "[package]\nname = \"strict_library\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            (
                "the library/src/lib.rs",
                "#![no_std]\n#![forbid(unsafe_code, missing_docs, unused)]\n#![deny(warnings)]\n//! A library.\n\
                 include!(\"more.rs\");\n\n/// Adds.\npub fn sum(of: &[u32]) -> u32 { of.iter().sum() }\n\n\
                 /// Where this is.\npub fn place() -> &'static str {\n    file!()\n}\n",
            ),
            ("the library/src/more.rs", "/// Is included.\npub fn hidden() {}\n"),
        ],
    );
    let did =
        package.metaspy(&["run", "--weave", "strict_library::*", "--weave", "strict_program::*"]);
    assert!(did.stdout.starts_with("3 src/main.rs the library/src/lib.rs"), "{}", did.stdout);
    for path in ["strict_library::sum", "strict_library::hidden", "strict_program::main"] {
        assert_eq!(did.calls(path), Some(1), "{path}: {}", did.json);
    }
    assert!(!did.stderr.contains("warning"), "{}", did.stderr);
    package.write(
        "the library/src/more.rs",
        "/// Is included.\npub fn hidden() {\n    twice();\n    twice();\n}\nfn twice() {}\n",
    );
    let edited =
        package.metaspy(&["run", "--weave", "strict_library::*", "--weave", "strict_program::*"]);
    assert_eq!(
        (edited.compiled(), edited.calls("strict_library::twice")),
        (vec!["strict_library", "strict_program"], Some(2))
    );
}

#[test]
fn async_functions_are_timed_and_stay_what_they_are() {
    let package = Package::new(
        "waiting",
        &[
            ("Cargo.toml", &manifest("waiting", "2024", "")),
            (
                "src/main.rs",
                "use std::future::Future;\nuse std::panic::{RefUnwindSafe, UnwindSafe};\nuse std::pin::pin;\nuse std::task::{Context, Waker};\n\n\
                 async fn outer(of: &str) -> usize {\n    let length = inner(of).await;\n    std::future::ready(length).await\n}\n\
                 async fn inner(of: &str) -> usize {\n    of.len()\n}\n\
                 fn stays<F: Future + Send + Sync + UnwindSafe + RefUnwindSafe>(future: F) -> F {\n    future\n}\n\
                 fn main() {\n    drop(outer(\"never polled\"));\n    for _ in 0..3 {\n        let future = pin!(stays(outer(\"text\")));\n        \
                 assert!(future.poll(&mut Context::from_waker(Waker::noop())).is_ready());\n    }\n}\n",
            ),
        ],
    );
    let did = package.metaspy(&["run", "--timed"]);
    assert_eq!(
        (did.calls("waiting::outer"), did.calls("waiting::inner")),
        (Some(3), Some(3)),
        "{}",
        did.stdout
    );
    let method = |path: &str| {
        let methods = did.json["methods"].as_array().expect("there is a list");
        methods.iter().find(|method| method["path"] == path).expect("it was woven").clone()
    };
    assert!(method("waiting::outer")["total_ns"].as_u64().is_some_and(|ns| ns > 0));
    assert_eq!(method("waiting::outer")["async"], true);
    assert!(method("waiting::main")["total_ns"].as_u64().is_some_and(|ns| ns > 0));
}

#[test]
fn a_hook_that_the_compiler_refuses_is_left_out_and_listed() {
    // A macro of the same name as the crate of the hooks stands in the way of one function only.
    let package = Package::new(
        "refused",
        &[
            ("Cargo.toml", &manifest("refused", "2021", "")),
            (
                "src/main.rs",
                "mod shadowed {\n    mod __metaspy {}\n    pub fn not() {\n    }\n}\nfn woven() {\n}\nfn main() {\n    shadowed::not();\n    woven();\n}\n",
            ),
        ],
    );
    let did = package.metaspy(&["run"]);
    assert_eq!(did.calls("refused::woven"), Some(1));
    assert_eq!(did.calls("refused::shadowed::not"), None);
    assert!(
        did.reason("refused::shadowed::not").is_some_and(|reason| reason.contains("refuses")),
        "{}",
        did.json
    );

    // The same on one line.
    package.write(
        "src/main.rs",
        "mod shadowed { mod __metaspy {} pub fn not() {} } fn woven() {}  fn main() { shadowed::not(); woven() }\n",
    );
    let did = package.metaspy(&["run"]);
    assert_eq!(
        (did.calls("refused::woven"), did.calls("refused::main")),
        (Some(1), Some(1)),
        "{}",
        did.stderr
    );
    assert!(
        did.reason("refused::shadowed::not").is_some_and(|reason| reason.contains("refuses")),
        "{}",
        did.json
    );
}

#[test]
fn panics_and_errors_are_where_the_author_put_them() {
    let sound = "fn fails(at: usize) -> u8 {\n    [1, 2][at]\n}\n\nfn main() {\n    fails(std::env::args().count());\n}\n";
    let package = Package::new(
        "places",
        &[("Cargo.toml", &manifest("places", "2021", "")), ("src/main.rs", sound)],
    );
    let did = package.try_metaspy(&["run", "--", "again"]);
    assert_eq!(did.code, 101);
    assert!(did.stderr.contains("panicked at src/main.rs:2:5"), "{}", did.stderr);
    assert_eq!(
        did.calls("places::fails"),
        Some(1),
        "the counts of a program that panicked are kept"
    );

    package.write("src/main.rs", "fn main() { let x: u8 = \"text\"; let unused = 1; }\n");
    let (woven, plain) = (package.try_metaspy(&["build"]), package.cargo(&["build", "--offline"]));
    let errors = |did: &Did| -> String {
        let lines = did
            .stderr
            .lines()
            .skip_while(|line| !line.starts_with("error[") && !line.starts_with("warning: unused"));
        lines.take_while(|line| !line.contains("could not compile")).collect::<Vec<_>>().join("\n")
    };
    assert!(
        plain.code == 101 && woven.code == 101 && errors(&plain).contains("src/main.rs:1:25"),
        "{}",
        plain.stderr
    );
    assert_eq!(errors(&woven), errors(&plain));
}

#[test]
fn futures_and_opaque_types_of_woven_libraries_are_what_they_were() {
    let library = "use std::future::Future;\npub struct Thing(pub u8);\nimpl Thing {\n    \
        pub async fn waits<T: Clone>(&self, of: &T) -> (u8, T) {\n        std::future::ready(()).await;\n        (self.0, of.clone())\n    }\n    \
        pub async fn fails(&self) -> Result<u8, std::num::ParseIntError> {\n        let one: u8 = \"1\".parse()?;\n        Ok(one + self.0)\n    }\n    \
        pub fn later(&self) -> impl Future<Output = u8> + Unpin + use<> {\n        std::future::ready(self.0)\n    }\n    \
        pub fn all(&self) -> impl Iterator<Item = u8> + Clone + use<> {\n        0..self.0\n    }\n}\n";
    let main = "use std::future::Future;\nuse std::panic::{RefUnwindSafe, UnwindSafe};\nuse std::pin::pin;\nuse std::task::{Context, Poll, Waker};\n\n\
        fn stays<F: Send + Sync + UnwindSafe + RefUnwindSafe>(it: F) -> F {\n    it\n}\n\
        fn moves<F: Unpin>(it: F) -> F {\n    it\n}\n\
        fn done<F: Future>(it: F) -> F::Output {\n    match pin!(it).poll(&mut Context::from_waker(Waker::noop())) {\n        \
        Poll::Ready(value) => value,\n        Poll::Pending => panic!(\"it waits\"),\n    }\n}\n\
        fn main() {\n    let thing = staying_library::Thing(3);\n    assert_eq!(done(stays(thing.waits(&\"a\"))), (3, \"a\"));\n    \
        assert_eq!(done(stays(thing.fails())), Ok(4));\n    assert_eq!(done(moves(stays(thing.later()))), 3);\n    \
        assert_eq!(stays(moves(thing.all())).clone().sum::<u8>(), 3);\n}\n";
    let package = Package::new(
        "staying",
        &[
            (
                "Cargo.toml",
                &manifest(
                    "staying",
                    "2024",
                    "[dependencies]\nstaying_library = { path = \"library\" }",
                ),
            ),
            ("src/main.rs", main),
            (
                "library/Cargo.toml",
                "[package]\nname = \"staying_library\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
            ),
            ("library/src/lib.rs", library),
        ],
    );
    for line in [
        &["run", "--weave", "staying_library::**"][..],
        &["run", "--weave", "staying_library::**", "--returns", "--args"],
    ] {
        let did = package.metaspy(line);
        for method in ["waits", "fails", "later", "all"] {
            let path = format!("staying_library::Thing::{method}");
            assert_eq!(did.calls(&path), Some(1), "{line:?}: {path}: {}", did.json);
        }
        assert!(
            did.json["skipped"].as_array().is_some_and(Vec::is_empty),
            "{line:?}: {}",
            did.json["skipped"]
        );
    }
}

#[test]
fn a_hook_whose_arguments_the_compiler_refuses_sees_none() {
    // Only what lives forever can be printed, which is found out too late.
    let text = "struct Token<'a>(&'a str);\nimpl std::fmt::Debug for Token<'static> {\n    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {\n        \
        Ok(())\n    }\n}\nfn takes(of: Token<'_>) -> usize {\n    of.0.len()\n}\nfn other(of: u8) -> u8 {\n    of\n}\nfn main() {\n    let text = String::from(\"a\");\n    \
        takes(Token(&text));\n    other(1);\n}\n";
    let package = Package::new(
        "unshown",
        &[("Cargo.toml", &manifest("unshown", "2024", "")), ("src/main.rs", text)],
    );
    let did = package.metaspy(&["run", "--args", "--trust", "takes"]);
    assert_eq!(
        (did.calls("unshown::takes"), did.calls("unshown::other")),
        (Some(1), Some(1)),
        "{}",
        did.json
    );
    let light = did.json["light"].as_array().expect("there is a list");
    assert_eq!(
        light.iter().map(|left| left["path"].as_str().expect("it has one")).collect::<Vec<_>>(),
        ["unshown::takes"]
    );
}

#[test]
fn panics_of_track_caller_functions_point_at_the_caller() {
    let text = "use std::ops::{Index, IndexMut};\nstruct Grid([u8; 2]);\nimpl Index<usize> for Grid {\n    type Output = u8;\n    fn index(&self, at: usize) -> &u8 {\n        \
        //! Panics with {at}.\n        if at > 1 { panic!(\"outside\") }\n        &self.0[at]\n    }\n}\nimpl IndexMut<usize> for Grid {\n    \
        fn index_mut(&mut self, at: usize) -> &mut u8 {\n        if at > 1 { panic!(\"outside\") }\n        &mut self.0[at]\n    }\n}\nfn main() {\n    let mut grid = Grid([1, 2]);\n    \
        for is_mut in [true, false] {\n        let at = 2;\n        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match is_mut {\n            \
        true => grid[at] = 1,\n            false => drop(grid[at].clone()),\n        }));\n    }\n}\n";
    let package = Package::new(
        "grid",
        &[("Cargo.toml", &manifest("grid", "2024", "")), ("src/main.rs", text)],
    );
    let places = |did: &Did| -> Vec<String> {
        let lines = did.stderr.lines().filter_map(|line| line.split_once("panicked at "));
        lines.map(|(_, place)| place.to_owned()).collect()
    };
    let plain = places(&package.cargo(&["run", "--offline", "--quiet"]));
    assert_eq!(plain.len(), 2);
    let did = package.metaspy(&["run", "--returns"]);
    assert_eq!(places(&did), plain, "{}", did.stderr);
    assert_eq!(did.calls("grid::Grid::Index::index"), Some(1), "{}", did.json);
}
