//! Reports where the source of this package is: `cargo metaspy` builds it for programs that contain
//! no core.
fn main() {
    // A build outside the workspace knows these switches as well.
    println!("cargo::rustc-check-cfg=cfg(loom, tsan, metaspy_bare, metaspy_called, metaspy_plain)");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::metadata=root={root}");
    // The whole path: it is no longer there if the directory has moved.
    println!("cargo::rerun-if-changed={root}/build.rs");
}
