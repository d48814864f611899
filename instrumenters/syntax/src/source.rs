//! Reading of a source file by `syn`, which calls itself once for each level of a nested type or
//! expression.

use std::panic::resume_unwind;
use std::thread;

/// The stack of a thread that reads files, in bytes: published crates have a thousand levels. The
/// system adds a page when it is touched.
const STACK: usize = 256 << 20;
/// Levels that are read on this stack. Builds without optimisation take up to 32 KiB for one.
pub const DEPTH: usize = STACK / (64 << 10);
/// Levels that are read on the stack of another thread.
const LITTLE_DEPTH: usize = 100;

/// Calls `read` on a thread with a stack for deep code, or else on this one. It is given the number
/// of levels that there is room for, as [`depth::is_at_most`](crate::depth::is_at_most) counts them.
pub fn with_deep_stack<T: Send>(read: impl Fn(usize) -> T + Sync) -> T {
    thread::scope(|scope| {
        match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || read(DEPTH)) {
            Ok(reader) => reader.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => read(LITTLE_DEPTH),
        }
    })
}

/// Bytes of a byte order mark and of a shebang. The end of that line stays, so that line numbers
/// do.
pub fn before_code(text: &str) -> usize {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = &text[mark..];
    // `#![feature]` begins like a shebang and is none.
    let is_shebang =
        rest.strip_prefix("#!").is_some_and(|rest| !rest.trim_start().starts_with('['));
    let line = if is_shebang { rest.find('\n').unwrap_or(rest.len()) } else { 0 };
    mark + line
}
