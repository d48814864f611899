//! Calls that run their argument elsewhere: as a task, on a thread, in a pool.

use syn::Expr;

/// Functions that do so, beside those whose names begin with `spawn`.
const RUNNING: [&str; 6] = ["join", "scope", "scope_fifo", "install", "unblock", "execute"];
/// Spawning functions whose argument may be an expression of any form.
const GIVEN_ANYTHING: [&str; 11] = [
    "spawn",
    "spawn_local",
    "spawn_blocking",
    "spawn_on",
    "spawn_local_on",
    "spawn_blocking_on",
    "spawn_with_handle",
    "spawn_ok",
    "spawn_scoped",
    "spawn_fifo",
    "unblock",
];
/// Methods after which a chain of calls is no longer parallel.
const ENDING: [&str; 9] =
    ["collect", "iter", "iter_mut", "into_iter", "lock", "unwrap", "expect", "drain", "await"];

/// Returns true for the name of a function that spawns work.
pub fn is_spawning(name: &str) -> bool {
    name.starts_with("spawn") || RUNNING.contains(&name)
}

/// Returns true if the argument of such a function may be any expression.
pub fn is_given_anything(name: &str) -> bool {
    GIVEN_ANYTHING.contains(&name)
}

/// Returns true for a chain of calls that a pool runs: it begins with `par_iter` or the like.
pub fn is_parallel(receiver: &Expr) -> bool {
    let Expr::MethodCall(call) = receiver else { return false };
    let name = call.method.to_string();
    if name.starts_with("par_") || name.starts_with("into_par_") {
        return true;
    }
    !ENDING.contains(&&*name) && is_parallel(&call.receiver)
}
