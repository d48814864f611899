#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, dead_code, unreachable_pub, clippy::all, clippy::pedantic)]
//! A strict crate.

use metaspy::observe;

/// A scene.
pub struct Scene(u32);

#[observe]
impl Scene {
    /// Measures.
    pub fn measure(&self) -> u32 {
        self.hidden()
    }
    fn hidden(&self) -> u32 {
        self.0
    }
}

/// Free.
#[observe]
pub fn free() -> u32 {
    1
}

mod inner {
    #[metaspy::observe]
    pub(crate) fn inside() -> Option<u32> {
        None
    }
}

fn main() {
    let _ = Scene(free()).measure();
    let _ = inner::inside();
}
