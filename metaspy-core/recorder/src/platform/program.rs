//! Where the program is in memory.

/// The distance of an address from the beginning of the program's file in memory; `None` if the
/// address is in another file, or in none.
#[cfg(unix)]
pub fn offset(address: usize) -> Option<usize> {
    let base = base_of(address)?;
    (base == base_of((offset as *const ()).addr())?).then(|| address - base)
}

#[cfg(unix)]
fn base_of(address: usize) -> Option<usize> {
    // SAFETY: zeros are a valid result.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the call looks the address up in the list of loaded files, and reads nothing there.
    let is_found = unsafe { libc::dladdr(std::ptr::without_provenance(address), &mut found) } != 0;
    is_found.then(|| found.dli_fbase.addr()).filter(|&base| base != 0 && base <= address)
}

/// The distance of an address from the beginning of the program's file in memory.
#[cfg(not(unix))]
pub fn offset(_: usize) -> Option<usize> {
    None
}
