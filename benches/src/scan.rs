//! What `scan` needs of the machine: a mapped file's words, one core, the memory of a process.

use std::fs::File;
use std::hint::black_box;
use std::time::{Duration, Instant};

use memmap2::MmapOptions;

/// How long it takes to add up all words of the file of a closed recording, each time; its pages
/// are present before.
pub fn sum_of_words(file: &File, times: usize) -> Vec<Duration> {
    let map =
        MmapOptions::new().populate().map_raw_read_only(file).expect("the file can be mapped");
    let count = map.len() / size_of::<u64>();
    // SAFETY: the mapping is page-aligned, has that many words, and outlives the slice. The caller
    // has closed the recording, so no thread writes it. (The store may not rely on that, and reads
    // words one by one as atomics.)
    let words = unsafe { std::slice::from_raw_parts(map.as_ptr().cast::<u64>(), count) };
    let sum = || black_box(words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word)));
    sum();
    let one = || {
        let began = Instant::now();
        sum();
        began.elapsed()
    };
    (0..times).map(|_| one()).collect()
}

/// Keeps this process on one core, so that the number of available cores is one.
pub fn one_core() {
    #[cfg(target_os = "linux")]
    // SAFETY: the set is ours, and large enough for the kernel, which receives its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu().max(0) as usize, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

/// The anonymous memory of a process (`RssAnon`) by its number, in MiB; 0 where the system has no
/// such figure, and once the process has ended.
pub fn anonymous_mib(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default();
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0);
    kib / 1024.0
}
