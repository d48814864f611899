//! How much of a part of a program ran.

pub use metaspy_reader::Ratio;

/// A part of a whole; 1 for a part of nothing.
pub fn rate(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
