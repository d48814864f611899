//! Attribute macros that read the code below them: hooks do not change what a program prints.

use crate::common::{Package, manifest};

/// A crate of macros: `printed` gives its item a constant with its tokens, `my::quiet` leaves it as
/// it is.
const MACROS: &str = r#"
    use proc_macro::TokenStream;
    #[proc_macro_attribute]
    pub fn printed(_: TokenStream, item: TokenStream) -> TokenStream {
        let name = item.clone().into_iter().nth(1).expect("it has a name").to_string().to_uppercase();
        let tokens = item.to_string();
        let text: TokenStream = format!("const TOKENS_OF_{name}: &str = {tokens:?};").parse().expect("it is Rust");
        [item, text].into_iter().collect()
    }
    #[proc_macro_attribute]
    pub fn quiet(_: TokenStream, item: TokenStream) -> TokenStream {
        item
    }
"#;
const MAIN: &str = r#"
use my::quiet as calm;
#[my::printed]
fn direct() -> u32 { 1 }
#[my::printed]
mod around { pub fn within() -> u32 { let more = || 2; more() } }
#[calm]
fn still() -> u32 { 3 }
#[inline(never)]
fn plain() -> u32 { 4 }
fn main() {
    println!("{} {}", direct() + around::within(), still() + plain());
    println!("{TOKENS_OF_DIRECT}\n{TOKENS_OF_AROUND}");
}
"#;

fn package(name: &str) -> Package {
    let macros = "[package]\nname = \"my\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\nproc-macro = true\n";
    Package::new(
        name,
        &[
            ("Cargo.toml", &manifest(name, "2024", "[dependencies]\nmy = { path = \"my\" }")),
            ("src/main.rs", MAIN),
            ("my/Cargo.toml", macros),
            ("my/src/lib.rs", MACROS),
        ],
    )
}

#[test]
fn a_macro_that_reads_tokens_sees_no_hooks_unless_it_is_allowed() {
    let package = package("attributes");
    let plain = package.cargo(&["run", "--offline"]).stdout;
    assert!(plain.contains("fn direct"), "{plain}");

    let did = package.metaspy(&["run", "--closures"]);
    assert!(did.stdout.starts_with(&plain), "{plain}\n{}", did.stdout);
    assert_eq!((did.calls("attributes::plain"), did.calls("attributes::direct")), (Some(1), None));
    for path in ["direct", "around::within", "around::within::{closure#1}"] {
        let reason = did.reason(&format!("attributes::{path}")).expect("it is listed");
        assert!(reason.starts_with("`#[my::printed]`"), "{path}: {reason}");
    }
    let line = "3 not woven: `#[my::printed]` may be a macro that reads the code below it";
    assert!(did.stdout.contains(line), "{}", did.stdout);
    let built = package.metaspy(&["build"]);
    assert!(built.stderr.contains("--weave-attributes my::quiet"), "{}", built.stderr);

    let allowed = package.metaspy(&["run", "--weave-attributes", "quiet"]);
    assert!(allowed.stdout.starts_with(&plain), "{}", allowed.stdout);
    assert_eq!(
        (allowed.calls("attributes::still"), allowed.calls("attributes::direct")),
        (Some(1), None)
    );
    let all = package.metaspy(&["run", "--weave-attributes=my::quiet,printed"]);
    assert_eq!(
        (all.calls("attributes::around::within"), all.json["skipped"].as_array().map(Vec::len)),
        (Some(1), Some(0))
    );
    assert!(!all.stdout.starts_with(&plain), "the macro reads what is woven: {}", all.stdout);

    let mistaken = package.try_metaspy(&["run", "--weave-attributes", "my::quite"]);
    assert_eq!(mistaken.code, 2);
    assert!(mistaken.stderr.contains("did you mean my::quiet?"), "{}", mistaken.stderr);
}
