//! Switches of the environment.

use crate::platform::warn;

/// True if the environment switches something on. A value that is no switch is reported, with what
/// it leaves off.
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
