//! Settings of the C library's allocator, for programs that read large recordings.

/// Minimum size of a block with a mapping of its own, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_FROM: libc::c_int = 1 << 20;

/// Makes the allocator return large blocks to the system as soon as they are freed. By default, the
/// GNU allocator raises the size from which it does so up to 32 MiB, and keeps smaller blocks: more
/// than 100 MiB after counts of a million subjects.
///
/// The setting applies to the whole process, so only programs of metaspy call this, and never an
/// observed program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn return_large_blocks() {
    // SAFETY: the function takes the allocator's own locks and only stores the number.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM) };
}

/// Does nothing: other allocators already behave so, or have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn return_large_blocks() {}
