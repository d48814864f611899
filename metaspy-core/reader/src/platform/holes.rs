//! Holes of sparse files: ranges that take no room on the disk and read as zeros.

use std::fs::File;

/// Returns the start of the first hole with which the holes before `end` have more than `most`
/// bytes. Returns `None` if there are fewer, or if the system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn start_of_excess(file: &File, end: u64, most: u64) -> Option<u64> {
    let mut at = 0;
    let mut holes = 0;
    if end <= most {
        return None;
    }
    while at < end {
        let data = match seek(file, at, libc::SEEK_DATA) {
            Ok(data) => data.min(end),
            // There is no data behind this offset.
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => end,
            Err(_) => return None,
        };
        holes += data.saturating_sub(at);
        if holes > most {
            return Some(at);
        }
        let next = seek(file, data, libc::SEEK_HOLE).ok().filter(|next| *next > at);
        at = next.filter(|_| data < end)?;
    }
    None
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a system call")]
fn seek(file: &File, offset: u64, whence: libc::c_int) -> std::io::Result<u64> {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open for the call; no memory is passed.
    let found = unsafe { libc::lseek(file.as_raw_fd(), offset as libc::off_t, whence) };
    u64::try_from(found).map_err(|_| std::io::Error::last_os_error())
}

/// Returns `None`, because the system has no such call.
#[cfg(not(target_os = "linux"))]
pub(crate) fn start_of_excess(_file: &File, _end: u64, _most: u64) -> Option<u64> {
    None
}
