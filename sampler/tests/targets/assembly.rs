//! Works in assembly without the type and the size of its function, as `blake3` does.

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _work_in_assembly",
    ".globl work_in_assembly",
    "_work_in_assembly:",
    "work_in_assembly:",
    "local_label:",
    "dec rdi",
    "jne local_label",
    "ret",
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _work_in_assembly",
    ".globl work_in_assembly",
    "_work_in_assembly:",
    "work_in_assembly:",
    "local_label:",
    "subs x0, x0, #1",
    "b.ne local_label",
    "ret",
);

extern "C" {
    fn work_in_assembly(rounds: u64);
}

fn main() {
    for _ in 0..4 {
        // SAFETY: it counts down, and uses no memory.
        unsafe { work_in_assembly(200_000_000) };
    }
}
