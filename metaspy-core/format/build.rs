//! Reports where the source of this package is: `cargo metaspy` builds it for programs that contain no core.
fn main() {
    // A build outside the workspace knows these switches as well.
    println!("cargo::rustc-check-cfg=cfg(loom, tsan, metaspy_bare, metaspy_called, metaspy_plain)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=root={}", std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
}
