//! Exists for the `links` key: cargo then refuses two copies of the core in one graph. Whoever depends on the core hears
//! where its source is: `cargo metaspy` gives it to programs that have none.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=root={}", std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
}
