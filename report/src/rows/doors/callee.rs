//! Calls that are given work.

use std::rc::Rc;

use metaspy_syntax::spawning;
use syn::Expr;

/// Calls of std, futures and runtimes that run on the spot what they are given.
const RUN_INLINE: [&str; 60] = [
    "all",
    "and_modify",
    "and_then",
    "any",
    "binary_search_by",
    "block_in_place",
    "block_on",
    "catch_unwind",
    "dedup_by_key",
    "filter",
    "filter_map",
    "find",
    "find_map",
    "flat_map",
    "fold",
    "for_each",
    "from_fn",
    "get_or_init",
    "get_or_insert_with",
    "get_or_try_init",
    "in_scope",
    "inspect",
    "inspect_err",
    "is_none_or",
    "is_ok_and",
    "is_some_and",
    "map",
    "map_err",
    "map_or",
    "map_or_else",
    "map_while",
    "max_by",
    "max_by_key",
    "min_by",
    "min_by_key",
    "ok_or_else",
    "or_else",
    "or_insert_with",
    "partition",
    "position",
    "reduce",
    "resize_with",
    "retain",
    "retain_mut",
    "run_until",
    "scan",
    "skip_while",
    "sort_by",
    "sort_by_cached_key",
    "sort_by_key",
    "sort_unstable_by",
    "sort_unstable_by_key",
    "take_while",
    "then",
    "timeout",
    "try_fold",
    "try_for_each",
    "unconstrained",
    "unwrap_or_else",
    "with",
];
/// A call that is given something.
#[derive(Clone)]
pub struct Called {
    /// Name of the call, as it is written: `rayon::spawn`, `.push`.
    pub name: Rc<str>,
    pub line: u32,
    /// True if it runs on the spot what it is given.
    pub runs_inline: bool,
    /// True if the weaver lets what it is given carry its cause.
    is_carried: bool,
}

impl Called {
    /// True if what it is given has the cause that is there, in a function that is woven.
    pub fn keeps_cause(&self) -> bool {
        self.runs_inline || self.is_carried
    }
}

/// A call whose arguments are visited.
pub struct Callee {
    pub written: String,
    /// Last part of the name of the call.
    pub name: String,
    pub line: u32,
    pub is_spawning: bool,
    /// True if a pool runs the closures that it is given.
    pub is_parallel: bool,
}

impl Callee {
    /// The call, as an argument in this place is given to it.
    pub fn given(&self, argument: &Expr, at: usize) -> Called {
        let is_closure = matches!(argument, Expr::Closure(_));
        let is_carried = if self.is_parallel {
            is_closure
        } else if self.is_spawning {
            let is_work = at == usize::from(self.name == "spawn_scoped");
            is_closure
                || matches!(argument, Expr::Async(_))
                || is_work && spawning::is_given_anything(&self.name)
        } else {
            false
        };
        Called {
            name: self.written.as_str().into(),
            line: self.line,
            runs_inline: !self.is_parallel && RUN_INLINE.contains(&&*self.name),
            is_carried,
        }
    }
}
