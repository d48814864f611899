//! A bound of memory that nothing in the process can evade.

use std::fs;

use anyhow::{Context, Result};
use rlimit::Resource;

use crate::threads::STACK;

/// Stacks of threads that may start after the bound is set.
const STACKS: u64 = 4;

/// Ends the process if it takes more memory from now on. What it has now, as the recordings that it
/// has mapped, is not counted. On systems other than Linux, which do not tell how much that is,
/// only the engine's own bound holds.
pub fn bound(further: u64) -> Result<()> {
    let Some(present) = present_bytes() else { return Ok(()) };
    let most = present + further + STACKS * STACK as u64;
    // An image of a process that the system ended would be large, and tell nothing.
    let no_image = rlimit::setrlimit(Resource::CORE, 0, 0);
    no_image
        .and_then(|()| rlimit::setrlimit(Resource::AS, most, most))
        .context("cannot bound the memory")
}

/// The bytes of the address space that are in use.
fn present_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let (_, rest) = status.split_once("VmSize:")?;
    Some(rest.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}
