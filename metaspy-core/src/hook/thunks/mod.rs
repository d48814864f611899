//! The thunks of an adapter: the two halves of a hook for functions that keep their registers.

#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain))
))]
#[macro_use]
mod saving_call;
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain))
))]
mod slowly;
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain))
))]
mod woven;
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain))
))]
mod x86_64;
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain))
))]
pub(super) use x86_64::THUNKS;

/// Never called: the hooks of this target are plain Rust.
#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain))
)))]
pub(super) const THUNKS: metaspy_probe::Thunks = {
    extern "C" fn none() {}
    metaspy_probe::Thunks { enter: none, finish: none, begin: none, leave: none }
};
