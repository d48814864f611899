//! Calls that save all registers, for rare cases in the middle of a hook.

/// Calls a function, and preserves the registers of the caller: on x86-64 Linux, the general
/// registers.
///
/// # Safety
/// The function must expect the argument.
#[cold]
#[inline(always)]
pub unsafe fn call(function: Function, argument: *const u8) -> usize {
    // SAFETY: as the caller states.
    unsafe { way::call(function, argument) }
}

/// A function that is called so.
type Function = unsafe extern "C" fn(*const u8) -> usize;

#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain))
))]
mod way {
    //! By a thunk.

    use std::arch::naked_asm;

    #[inline(always)]
    pub unsafe fn call(function: super::Function, argument: *const u8) -> usize {
        let result;
        // SAFETY: as the caller states. The thunk takes these operands, and saves all other
        // registers that a function may change.
        unsafe {
            metaspy_probe::call_thunk!(
                "call {thunk}",
                thunk = sym thunk,
                inlateout("rax") argument => result,
                inlateout("r11") function => _,
            );
        }
        result
    }

    /// Calls the function in r11 with the argument in rax.
    #[unsafe(naked)]
    pub unsafe extern "C" fn thunk() {
        naked_asm!(
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "push rdi",
            "push rsi",
            "push rcx",
            "push rdx",
            "push r8",
            "push r9",
            "push r10",
            "sub rsp, 8",
            "mov rdi, rax",
            "call r11",
            "add rsp, 8",
            "pop r10",
            "pop r9",
            "pop r8",
            "pop rdx",
            "pop rcx",
            "pop rsi",
            "pop rdi",
            "pop rbp",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
        )
    }
}

#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain))
)))]
mod way {
    //! By an ordinary call.

    pub unsafe fn call(function: super::Function, argument: *const u8) -> usize {
        // SAFETY: as the caller states.
        unsafe { function(argument) }
    }
}
