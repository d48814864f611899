#![cfg_attr(not(feature = "record"), no_std)]
#![forbid(unsafe_code)]
//! Metaspy profiles a *domain*, not a call stack.

#[cfg(feature = "record")]
mod on;
#[cfg(feature = "record")]
pub use on::*;

pub use metaspy_macros::{Identify, observe};

/// The site of an observed function.
#[macro_export]
macro_rules! site {
    ($($path:tt)+) => {
        $crate::__private::site!($crate; $($path)+)
    };
}
