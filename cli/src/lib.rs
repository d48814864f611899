//! The commands `metaspy` and `cargo metaspy`.
