//! The C library's allocator, in programs that read large recordings.

/// The size from which a block is a mapping of its own, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_FROM: libc::c_int = 1 << 20;

/// From now on, large blocks go back to the system as soon as they are freed. The GNU allocator otherwise raises the size from
/// which it does so, up to 32 MiB, and keeps smaller ones: after counts of a million subjects more than 100 MiB.
///
/// The setting is the whole process's, so only programs of metaspy call this, and never an observed one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn return_large_blocks() {
    // SAFETY: the function takes the allocator's own locks and only stores the number.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM) };
}

/// Other allocators do so, or have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn return_large_blocks() {}
