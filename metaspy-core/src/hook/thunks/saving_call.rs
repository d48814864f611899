//! An ordinary call within a thunk.

/// Calls a function that takes `rdi` and `rsi` from the caller's point of view: both are saved, and
/// `rbp` finds the frame.
macro_rules! call_saving {
    ($($before:literal),* ; $call:literal) => {
        concat!(call_saving!($($before),*; $call;), "ret\n")
    };
    // The instructions `$behind` follow the call and run in the same frame.
    ($($before:literal),* ; $call:literal ; $($behind:literal),*) => {
        concat!(
            "push rbp\n.cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\nmov rbp, rsp\n.cfi_def_cfa_register rbp\n",
            "push rdi\npush rsi\n",
            $($before, "\n",)*
            $call, "\n",
            $($behind, "\n",)*
            "pop rsi\npop rdi\npop rbp\n.cfi_def_cfa rsp, 8\n.cfi_restore rbp\n",
        )
    };
}
