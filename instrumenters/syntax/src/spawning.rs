//! Names of functions that run their argument elsewhere: as a task, on a thread, in a pool.

/// Those whose names do not begin with `spawn`.
const RUNNING: [&str; 6] = ["join", "scope", "scope_fifo", "install", "unblock", "execute"];

/// True if the weaver lets the work that such a function is given carry its cause.
pub fn is_spawning(name: &str) -> bool {
    name.starts_with("spawn") || RUNNING.contains(&name)
}
