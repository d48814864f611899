//! Switches of the environment.

use crate::platform::warn;

/// Returns true if the environment switches a feature on. A value that is no switch is reported,
/// with `off` as its consequence.
pub fn switch(name: &str, off: &str) -> bool {
    match std::env::var(name).as_deref() {
        Err(_) | Ok("" | "0") => false,
        Ok("1") => true,
        Ok(other) => {
            warn(&format!("{name}={other} is neither `1` nor `0`; {off}"));
            false
        }
    }
}
