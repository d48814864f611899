//! Bound of memory that nothing in the process can evade.

use std::fs;

use anyhow::{Context, Result};
use rlimit::Resource;

use crate::threads::STACK;

/// Number of threads that may start after the bound is set. Each needs a stack.
const STACKS: u64 = 4;

/// Bounds the further memory of the process: a process that needs more ends. Present memory, such
/// as the mapped recordings, is not counted. Systems other than Linux do not tell its size, and
/// there only the engine's own bound holds.
pub fn bound(further: u64) -> Result<()> {
    let Some(present) = present_bytes() else { return Ok(()) };
    let most = present + further + STACKS * STACK as u64;
    // A core dump of the ended process would be large and useless.
    let no_image = rlimit::setrlimit(Resource::CORE, 0, 0);
    no_image
        .and_then(|()| rlimit::setrlimit(Resource::AS, most, most))
        .context("cannot bound the memory")
}

/// Returns the bytes of the address space that are in use.
fn present_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let (_, rest) = status.split_once("VmSize:")?;
    Some(rest.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}
