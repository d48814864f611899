//! Exists for the `links` key: cargo then refuses two copies of the core in one graph.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
