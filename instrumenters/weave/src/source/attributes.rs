//! Attribute macros around functions. A macro may read the tokens of its item, hooks included, so
//! only functions whose attributes are known to leave bodies alone are woven without being asked
//! for.

use syn::punctuated::Punctuated;
use syn::{Attribute, ImplItem, Item, Meta, Token, TraitItem};

use crate::source::scope::{Path, Scope};

/// Attributes of the compiler. No macro can have their names: the compiler calls that ambiguous.
const BUILT_IN: [&str; 50] = [
    "allow",
    "allow_internal_unsafe",
    "allow_internal_unstable",
    "automatically_derived",
    "cfg",
    "cold",
    "const_trait",
    "coverage",
    "default_lib_allocator",
    "deny",
    "deprecated",
    "derive",
    "do_not_recommend",
    "doc",
    "expect",
    "export_name",
    "ffi_const",
    "ffi_pure",
    "forbid",
    "fundamental",
    "global_allocator",
    "ignore",
    "inline",
    "instruction_set",
    "lang",
    "link",
    "link_name",
    "link_section",
    "linkage",
    "macro_export",
    "macro_use",
    "must_use",
    "naked",
    "no_mangle",
    "no_sanitize",
    "non_exhaustive",
    "optimize",
    "panic_handler",
    "path",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "repr",
    "sanitize",
    "should_panic",
    "stable",
    "target_feature",
    "track_caller",
    "unstable",
    "warn",
];
/// The first segments of attributes that are no macros, as `#[case::empty]` below `#[rstest]`, and
/// of the macros of the standard library.
const TOOLS: [&str; 9] =
    ["alloc", "case", "clippy", "core", "diagnostic", "miri", "rust_analyzer", "rustfmt", "std"];
/// Attribute macros of the standard library, which an import may replace by others.
const OF_STD: [&str; 3] = ["bench", "test", "test_case"];

/// The attribute macros of a crate that pass bodies on as they are, and the attributes that these
/// read on the items within.
struct Passing {
    krate: &'static str,
    names: &'static [&'static str],
}

const fn passing(krate: &'static str, names: &'static [&'static str]) -> Passing {
    Passing { krate, names }
}

const PASSING: [Passing; 48] = [
    passing("actix_rt", &["main", "test"]),
    passing(
        "actix_web",
        &[
            "connect", "delete", "get", "head", "main", "options", "patch", "post", "put", "route",
            "test", "trace",
        ],
    ),
    passing("async_graphql", &["ComplexObject", "Object", "Subscription", "graphql"]),
    passing("async_recursion", &["async_recursion"]),
    passing("async_std", &["main", "test"]),
    passing("async_trait", &["async_trait"]),
    passing("axum", &["debug_handler", "debug_middleware"]),
    passing("cached", &["cached", "io_cached", "once"]),
    passing("ctor", &["ctor", "dtor"]),
    passing("dioxus", &["component", "server"]),
    passing("divan", &["bench", "bench_group"]),
    passing("enum_dispatch", &["enum_dispatch"]),
    passing("fastrace", &["trace"]),
    passing("futures_test", &["test"]),
    passing("gpui", &["test"]),
    passing("googletest", &["gtest", "test"]),
    passing("leptos", &["component", "island", "server"]),
    passing("logcall", &["logcall"]),
    passing("kani", &["proof", "proof_for_contract", "should_panic", "solver", "unwind"]),
    passing("metaspy", &["observe"]),
    passing("minitrace", &["trace"]),
    passing("mockall", &["automock", "concretize"]),
    passing("napi_derive", &["js_function", "module_exports", "napi"]),
    passing("ntest", &["test_case", "timeout"]),
    passing("mutants", &["skip"]),
    passing("pin_project", &["pinned_drop"]),
    passing("proptest", &["property_test"]),
    passing(
        "pyo3",
        &[
            "args",
            "classattr",
            "classmethod",
            "getter",
            "new",
            "pyfn",
            "pyfunction",
            "pymethods",
            "pymodule",
            "pymodule_init",
            "pyo3",
            "setter",
            "staticmethod",
        ],
    ),
    passing("quickcheck_macros", &["quickcheck"]),
    passing(
        "rocket",
        &[
            "async_test",
            "async_trait",
            "catch",
            "delete",
            "get",
            "head",
            "launch",
            "main",
            "options",
            "patch",
            "post",
            "put",
            "route",
        ],
    ),
    passing(
        "rstest",
        &[
            "awt", "case", "default", "fixture", "future", "once", "rstest", "timeout", "trace",
            "values",
        ],
    ),
    passing(
        "rustversion",
        &["all", "any", "attr", "before", "beta", "nightly", "not", "since", "stable"],
    ),
    passing("serial_test", &["file_parallel", "file_serial", "parallel", "serial"]),
    passing("smol_potat", &["bench", "main", "test"]),
    passing("sqlx", &["test"]),
    passing("tauri", &["command"]),
    passing("test_case", &["case", "test_case", "test_matrix"]),
    passing("test_log", &["test"]),
    passing("test_strategy", &["proptest"]),
    passing("tokio", &["main", "test"]),
    passing("tokio_macros", &["main", "test"]),
    passing("tonic", &["async_trait"]),
    passing("tracing", &["instrument"]),
    passing("tracing_attributes", &["instrument"]),
    passing("tracing_test", &["traced_test"]),
    passing("typetag", &["serde"]),
    passing("wasm_bindgen", &["wasm_bindgen"]),
    passing("wasm_bindgen_test", &["wasm_bindgen_test", "wasm_bindgen_bench"]),
];

/// An attribute as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenAttribute {
    path: Path,
    /// The scope that it is written in.
    scope: usize,
}

/// The attributes of an item that may be macros, under any condition.
pub(super) fn written(attrs: &[Attribute], scope: usize) -> Vec<WrittenAttribute> {
    let mut found = Vec::new();
    for attr in attrs {
        add(&attr.meta, scope, &mut found);
    }
    found
}

fn add(meta: &Meta, scope: usize, found: &mut Vec<WrittenAttribute>) {
    let path = Path::new(meta.path());
    match (&path.segments[..], meta) {
        ([name], Meta::List(list)) if name == "cfg_attr" => {
            let metas = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            metas.into_iter().flatten().skip(1).for_each(|meta| add(&meta, scope, found));
        }
        // No macro is unsafe.
        ([name], _)
            if name == "unsafe"
                || BUILT_IN.contains(&name.as_str())
                || name.starts_with("rustc_") => {}
        _ => found.push(WrittenAttribute { path, scope }),
    }
}

/// The paths of attributes that may be macros of which nothing is known, each once and the
/// outermost first.
pub(super) fn unknown(written: &[WrittenAttribute], scopes: &[Scope]) -> Vec<String> {
    let mut unknown = Vec::new();
    for attribute in written {
        for path in attribute.meanings(scopes).iter().filter(|path| !is_known(path)) {
            let path = path.segments.join("::");
            if !unknown.contains(&path) {
                unknown.push(path);
            }
        }
    }
    unknown
}

impl WrittenAttribute {
    /// Returns the meanings of the path: the paths that its first segment is imported by, or
    /// itself.
    fn meanings(&self, scopes: &[Scope]) -> Vec<Path> {
        let (first, rest) = self.path.segments.split_first().expect("an attribute has a path");
        let mut scope = Some(self.scope).filter(|_| !self.path.is_global);
        while let Some(at) = scope {
            let imports =
                scopes[at].imports.iter().filter(|import| import.name.as_ref() == Some(first));
            let imported: Vec<Path> = imports
                .map(|import| Path {
                    segments: [&import.path.segments, rest].concat(),
                    ..import.path.clone()
                })
                .collect();
            if !imported.is_empty() {
                return imported;
            }
            scope = scopes[at].outer;
        }
        vec![self.path.clone()]
    }
}

fn is_known(path: &Path) -> bool {
    match &path.segments[..] {
        [] => true,
        [name] => {
            let name = name.as_str();
            OF_STD.contains(&name) || PASSING.iter().any(|known| known.names.contains(&name))
        }
        [first, .., last] => {
            let first = first.as_str();
            let last = last.as_str();
            // A module of the crate may be called `test`, and its import is no macro.
            let is_local = ["crate", "self", "super"].contains(&first) && OF_STD.contains(&last);
            is_local
                || TOOLS.contains(&first)
                || PASSING.iter().any(|known| known.krate == first && known.names.contains(&last))
        }
    }
}

/// The attributes of an item.
pub(super) fn of_item(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The attributes of an item of an `impl`.
pub(super) fn of_impl_item(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        _ => &[],
    }
}

/// The attributes of an item of a trait.
pub(super) fn of_trait_item(item: &TraitItem) -> &[Attribute] {
    match item {
        TraitItem::Const(item) => &item.attrs,
        TraitItem::Fn(item) => &item.attrs,
        TraitItem::Macro(item) => &item.attrs,
        TraitItem::Type(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use crate::source::parse;

    fn check(text: &str, expected: &[(&str, &[&str])]) {
        let functions = parse(text).expect("it is Rust").functions.all;
        let found: Vec<(&str, Vec<&str>)> = functions
            .iter()
            .map(|function| {
                (&*function.name, function.unknown_attributes.iter().map(String::as_str).collect())
            })
            .collect();
        let expected: Vec<(&str, Vec<&str>)> =
            expected.iter().map(|(name, paths)| (*name, paths.to_vec())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn attributes_of_the_compiler_and_wrappers_that_pass_bodies_on_are_known() {
        for known in [
            "inline(always)",
            "unsafe(no_mangle)",
            "rustfmt::skip",
            "clippy::msrv = \"1\"",
            "rustc_on_unimplemented",
            "cfg_attr(x, inline, tokio::test)",
            "test",
            "::tokio::main(flavor = \"x\")",
            "instrument(skip_all)",
            "tracing::instrument",
            "std::prelude::v1::test",
            "case::empty(1)",
        ] {
            check(&format!("#[{known}] fn f() {{}}"), &[("f", &[])]);
        }
    }

    #[test]
    fn others_count_for_everything_below_them() {
        let text = "#[my::a] impl S { #[my::b] fn f(&self) { fn g() {} || 1; } }\nfn h() { #[my::c] fn i() {} fn j() {} }";
        let ab: &[&str] = &["my::a", "my::b"];
        let expected: [(&str, &[&str]); 6] = [
            ("S::f", ab),
            ("S::f::g", ab),
            ("S::f::{closure#1}", ab),
            ("h", &[]),
            ("h::i", &["my::c"]),
            ("h::j", &[]),
        ];
        check(text, &expected);
        check("#[a] mod m { trait T { fn f() {} } } fn g() {}", &[("T::f", &["a"]), ("g", &[])]);
        check("trait T { #[a] fn f() {} fn g() {} }", &[("T::f", &["a"]), ("T::g", &[])]);
        check("#[cfg_attr(x, cold, a)] fn f() {}", &[("f", &["a"])]);
        check(
            "#[a] const X: u8 = { fn f() {} 1 }; #[derive(D)] struct S; fn g() {}",
            &[("f", &["a"]), ("g", &[])],
        );
    }

    #[test]
    fn an_import_decides_what_a_name_stands_for() {
        check("#[test] fn f() {}\nuse my::test;", &[("f", &["my::test"])]);
        check("use test_log::test; #[test] fn f() {}", &[("f", &[])]);
        check("use my::quiet as instrument; #[instrument] fn f() {}", &[("f", &["my::quiet"])]);
        check("use tokio as t; #[t::test] fn f() {}", &[("f", &[])]);
        check("use log::warn; #[warn(unused)] fn f() {}", &[("f", &[])]);
        check("use crate::test; #[test] fn f() {}", &[("f", &[])]);
        check("fn f() { use my::a as b; #[b] fn g() {} }", &[("f", &[]), ("f::g", &["my::a"])]);
        check("use my::test; mod m { #[test] fn f() {} }", &[("f", &[])]);
    }
}
