//! Exists for the `links` key: cargo then refuses two copies of the core in one graph. Whoever
//! depends on the core hears where its source is: `cargo metaspy` gives it to programs that have
//! none.
fn main() {
    // The same for those who build the core outside of its workspace.
    println!("cargo::rustc-check-cfg=cfg(loom, tsan, metaspy_bare, metaspy_called, metaspy_plain)");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::metadata=root={root}");
    // The whole path: it is no longer there if the directory has moved.
    println!("cargo::rerun-if-changed={root}/build.rs");
}
