use std::path::PathBuf;

use super::resolve;
use crate::source::files::SourceFile;
use crate::source::parse;

/// Resolves a crate of these files, each with the modules that it is, and compares the owners of
/// all methods.
fn check(files: &[(&[&str], &str)], expected: &[(&str, &str)]) {
    let files = resolved(files);
    let functions =
        files.iter().flat_map(|file| &file.parsed.as_ref().expect("it is Rust").functions.all);
    let found: Vec<(String, String)> = functions
        .filter_map(|function| {
            let owner = function.facts.owner.clone()?;
            let mark = if function.facts.is_unresolved { "?" } else { "" };
            Some((function.name.clone(), format!("{owner}{mark}")))
        })
        .collect();
    let found: Vec<(&str, &str)> =
        found.iter().map(|(name, owner)| (name.as_str(), owner.as_str())).collect();
    assert_eq!(found, expected);
}

fn resolved(files: &[(&[&str], &str)]) -> Vec<SourceFile> {
    let mut files: Vec<SourceFile> = (files.iter())
        .map(|(modules, text)| SourceFile {
            path: PathBuf::new(),
            text: (*text).to_owned(),
            modules: modules
                .iter()
                .map(|path| {
                    path.split("::").filter(|it| !it.is_empty()).map(str::to_owned).collect()
                })
                .collect(),
            parsed: parse(text),
        })
        .collect();
    resolve(&mut files);
    files
}

#[test]
fn a_function_is_exported_if_other_crates_can_call_it() {
    let root = "
        mod hidden; pub mod shown; mod globbed; mod used; mod own; pub use globbed::*; pub use used::{named, Named};
        pub(crate) use own::Own as Renamed; fn private() {} pub fn root() {} pub unsafe fn dangerous() {}
        pub fn around() { pub fn nested() {} }";
    let hidden = "pub fn free() {} pub struct Hidden; impl Hidden { pub fn of_hidden() {} } impl Clone for Hidden { fn clone() {} }";
    let shown = "
        pub fn shown() {} pub struct Shown; impl Shown { pub fn of_shown() {} pub(crate) fn within() {} fn alone() {} }
        impl Clone for Shown { fn cloned() {} } impl std::fmt::Debug for Shown { fn printed() {} }
        trait Own { fn default() {} } impl Own for Shown { fn private_trait() {} } impl super::hidden::Trait for Shown { fn unknown_trait() {} }
        pub trait Open { fn open_default() {} } impl Open for crate::hidden::Hidden { fn open_of_hidden() {} }
        pub mod below { pub fn deep() {} } mod closed { pub fn closed() {} }";
    let globbed = "pub fn globbed() {} pub struct Globbed; impl Globbed { pub fn of_globbed() {} }";
    let used = "pub fn named() {} pub fn unnamed() {} pub struct Named; impl Named { pub fn of_named() {} }";
    let own = "pub struct Own; impl Own { pub fn of_own() {} }";
    let files: [(&[&str], &str); 6] = [
        (&[""], root),
        (&["hidden"], hidden),
        (&["shown"], shown),
        (&["globbed"], globbed),
        (&["used"], used),
        (&["own"], own),
    ];
    let files = resolved(&files);
    let functions =
        files.iter().flat_map(|file| &file.parsed.as_ref().expect("it is Rust").functions.all);
    let exported =
        functions.filter(|function| function.is_exported).map(|function| function.name.as_str());
    let expected = "root around shown Shown::of_shown Shown::Clone::cloned Shown::Debug::printed Open::open_default deep globbed \
                    Globbed::of_globbed named Named::of_named";
    assert_eq!(exported.collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn a_type_is_identified_by_its_definition_from_six_modules() {
    let root = "
        mod a; mod b; mod c; mod d;
        pub use a::inner::Point as Renamed;
        mod e { impl super::Renamed { fn f5() {} } }
        impl Renamed { fn f6() {} }";
    let a = "pub mod inner { pub struct Point; impl Point { fn f1() {} } } impl self::inner::Point { fn f2() {} }";
    let b = "use crate::a::{inner::{self, *}}; impl inner::Point { fn f3() {} }";
    let c = "use super::b::*; impl Point { fn f4() {} }";
    let d =
        "use crate as root; type P<'a> = &'a root::Renamed; impl Clone for P<'_> { fn f7() {} }";
    let owner = "crate::a::inner::Point";
    check(
        &[(&[""], root), (&["a"], a), (&["b"], b), (&["c"], c), (&["d"], d)],
        &[
            ("Renamed::f5", owner),
            ("Renamed::f6", owner),
            ("Point::f1", owner),
            ("Point::f2", owner),
            ("Point::f3", owner),
            ("Point::f4", owner),
            ("P::Clone::f7", owner),
        ],
    );
}

#[test]
fn types_of_other_crates_have_the_path_that_they_are_imported_by() {
    check(
        &[(
            &[""],
            "use std::collections::HashMap as Map; use other::*; extern crate serde as s;
            impl T for Map<u8, u8> { fn f() {} } impl T for Vec<u8> { fn g() {} } impl T for [u8] { fn h() {} }
            impl T for &str { fn i() {} } impl T for s::de::Error { fn j() {} } impl T for dyn std::fmt::Debug { fn k() {} }
            impl T for (u8, Vec<u8>) { fn l() {} } impl T for ::std::sync::Arc<u8> { fn m() {} }",
        )],
        &[
            ("Map::T::f", "std::collections::HashMap"),
            ("Vec::T::g", "alloc::vec::Vec"),
            ("[u8]::T::h", "[u8]"),
            ("str::T::i", "str"),
            ("Error::T::j", "serde::de::Error"),
            ("Debug::T::k", "std::fmt::Debug"),
            ("(u8,Vec)::T::l", "(u8,Vec)"),
            ("Arc::T::m", "std::sync::Arc"),
        ],
    );
}

#[test]
fn a_type_that_a_macro_makes_is_found_in_its_arguments_or_unresolved() {
    check(
        &[(
            &[""],
            "bitflags! { pub struct Flags: u8 { } } make!(Hidden); impl Flags { fn f() {} } impl Hidden { fn g() {} }
            impl<T: Copy> Twice for T { fn h() {} } impl <u8 as Has>::Kind { fn i() {} }
            mod a { use super::Flags; impl Flags { fn j() {} } }",
        )],
        &[
            ("Flags::f", "crate::Flags"),
            ("Hidden::g", "self::Hidden?"),
            ("T::Twice::h", "self::T?"),
            ("Kind::i", "self::Kind?"),
            ("Flags::j", "crate::Flags"),
        ],
    );
}

#[test]
fn imports_in_a_circle_end() {
    check(
        &[(
            &[""],
            "mod a { pub use super::b::*; pub use super::b::X; } mod b { pub use super::a::*; pub use super::a::X; }
            use a::*; use b::*; impl X { fn f() {} } impl Y { fn g() {} }",
        )],
        &[("X::f", "self::X?"), ("Y::g", "self::Y?")],
    );
}

#[test]
fn names_in_a_body_go_before_those_of_the_module() {
    check(
        &[(
            &["m"],
            "struct X; fn outer() { struct X; impl X { fn f() { impl X { fn g() {} } } } { use super::Y; impl Y { fn h() {} } } }
            impl X { fn i() {} }",
        ), (&[""], "mod m; struct Y;")],
        &[
            ("outer::X::f", "crate::m::outer::X"),
            ("outer::X::f::X::g", "crate::m::outer::X"),
            ("outer::Y::h", "crate::Y"),
            ("X::i", "crate::m::X"),
        ],
    );
}

#[test]
fn a_file_of_several_modules_has_owners_relative_to_the_module() {
    check(
        &[(
            &["", "again"],
            "struct X; mod a { impl super::X { fn f() {} } } impl X { fn g() {} } impl crate::X { fn h() {} }",
        )],
        &[("X::f", "self::X?"), ("X::g", "self::X"), ("X::h", "crate::X")],
    );
}

#[test]
fn an_alias_of_a_result_of_nothing_is_nothing() {
    let text = "use std::fmt::{self, Result as Shown}; type Done = Result<(), u8>; type Of<T = ()> = std::result::Result<T, u8>;
        fn a() -> Shown {} fn b() -> fmt::Result {} fn c() -> Done {} fn d() -> Of {} fn e() -> Of<()> {}
        fn f() -> Of<u8> {} fn g() -> Result<u8, ()> {} fn h() -> Option<()> {} fn i() -> X {}
        mod m { pub type Result<T> = std::result::Result<T, ()>; fn j() -> Result<()> {} fn k() -> super::Done {} }";
    let mut files = vec![SourceFile {
        path: PathBuf::new(),
        text: String::new(),
        modules: vec![Vec::new()],
        parsed: parse(text),
    }];
    resolve(&mut files);
    let functions = &files[0].parsed.as_ref().expect("it is Rust").functions.all;
    let nothing = functions
        .iter()
        .filter(|function| function.facts.is_unit)
        .map(|function| function.name.as_str());
    assert_eq!(nothing.collect::<Vec<_>>(), ["a", "b", "c", "d", "e", "j", "k"]);
}

#[test]
fn a_primitive_is_one_type_although_a_module_of_its_name_is_imported() {
    check(
        &[
            (
                &[""],
                "mod a; mod b; mod u8; use std::str; impl T for str { fn imported() {} } impl T for u8 { fn of_u8() {} }",
            ),
            (&["a"], "impl super::T for str { fn plain() {} }"),
            (&["b"], "struct str; impl super::T for str { fn own() {} }"),
            (&["u8"], ""),
        ],
        &[
            ("str::T::imported", "str"),
            ("u8::T::of_u8", "u8"),
            ("str::T::plain", "str"),
            ("str::T::own", "crate::b::str"),
        ],
    );
}
