//! The vDSO, code that the kernel maps into every process to read the clock without a system call.

/// Name of the vDSO in lists of mappings.
pub const NAME: &str = "[vdso]";

/// Returns the bytes of the vDSO from this process. All processes have the same code.
#[cfg(unix)]
pub fn bytes() -> Option<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with(NAME))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let mut bytes = vec![0; usize::try_from(end.checked_sub(start)?).ok()?];
    std::fs::File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, start).ok()?;
    Some(bytes)
}

/// Returns `None`, because other systems have no vDSO.
#[cfg(not(unix))]
pub fn bytes() -> Option<Vec<u8>> {
    None
}
