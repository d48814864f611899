//! Programs that are hard to sample: `stack`: the stack pointer is nonsense; `user`: another user
//! from now on; `code`: code that the program made, with a map that lies about the rest; `deep`: a
//! deep recursion; `signal`: a handler of its own for the signal of profilers.

use std::hint::black_box;

extern "C" {
    fn setuid(user: u32) -> i32;
    fn setgid(group: u32) -> i32;
    fn mmap(at: usize, bytes: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn raise(number: i32) -> i32;
}

#[inline(never)]
fn spin(rounds: u64) -> u64 {
    let mut value = black_box(1_u64);
    for _ in 0..rounds {
        value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ value >> 29;
    }
    value
}

/// Counts down while the stack and the frame pointer point to nothing.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn spin_without_stack(rounds: u64) {
    // SAFETY: between the two pairs of moves nothing uses the stack, and both registers have their
    // values again.
    unsafe {
        std::arch::asm!(
            "mov {sp}, rsp", "mov {bp}, rbp", "mov rsp, 24", "mov rbp, -8",
            "2:", "dec {rounds}", "jnz 2b",
            "mov rsp, {sp}", "mov rbp, {bp}",
            sp = out(reg) _, bp = out(reg) _, rounds = inout(reg) rounds => _,
        );
    }
}

#[cfg(target_arch = "x86_64")]
fn made_code(rounds: u64) {
    // dec rdi; jnz -5; ret
    let code = [0x48, 0xFF, 0xCF, 0x75, 0xFB, 0xC3_u8];
    // SAFETY: the page is new and holds more than the code, which is a function with one argument.
    unsafe {
        let page = mmap(0, 4096, 7, 0x22, -1, 0);
        std::ptr::copy_nonoverlapping(code.as_ptr(), page, code.len());
        let (at, map) = (page as usize, format!("/tmp/perf-{}.map", std::process::id()));
        let lines = format!("nonsense\n{:x} ffffffffffffffff all of memory\n{:x} 1000 overwritten\n{at:x} 6 made::spin\n", at - 16, at);
        std::fs::write(map, lines).expect("/tmp can be written");
        let run: extern "C" fn(u64) = std::mem::transmute(page);
        run(rounds);
    }
}

#[inline(never)]
fn deep(depth: u64) -> u64 {
    let room = black_box([depth; 64]);
    if depth == 0 { spin(300_000_000) } else { deep(depth - 1) + room[black_box(3)] }
}

static mut HANDLED: u32 = 0;

extern "C" fn handle(_: i32) {
    // SAFETY: the only thread runs this in place of itself.
    unsafe { HANDLED += 1 };
}

fn main() {
    let how = std::env::args().nth(1).unwrap_or_default();
    match &*how {
        #[cfg(target_arch = "x86_64")]
        "stack" => spin_without_stack(400_000_000),
        #[cfg(target_arch = "x86_64")]
        // Its map is looked for while it runs: for several rounds of the sampler, also on a fast
        // processor.
        "code" => made_code(2_000_000_000),
        "user" => {
            // SAFETY: both calls take numbers alone.
            unsafe { assert_eq!((setgid(65534), setuid(65534)), (0, 0)) };
            black_box(spin(200_000_000));
        }
        "deep" => _ = black_box(deep(1000)),
        // SAFETY: the handler has the signature of one, and the only thread raises its signal.
        "signal" => unsafe {
            signal(27, handle);
            for _ in 0..100 {
                black_box(spin(2_000_000));
                raise(27);
            }
            println!("handled {}", HANDLED as u32);
        },
        other => panic!("{other} is no program"),
    }
}
