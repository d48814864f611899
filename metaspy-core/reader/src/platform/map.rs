//! Memory for recordings: allocated before it is touched, so that a full disk is an error and never a signal.

use std::fs::File;
use std::io;

use memmap2::{MmapOptions, MmapRaw};

/// Zeroed memory of this process; pages come into being when they are touched.
pub fn anonymous(bytes: usize) -> io::Result<MmapRaw> {
    Ok(MmapOptions::new().len(bytes).map_anon()?.into())
}

/// A shared mapping of the first `bytes` bytes of a file, which may still be shorter: only allocated parts are to be
/// touched.
pub fn file(file: &File, bytes: usize) -> io::Result<MmapRaw> {
    MmapOptions::new().len(bytes).map_raw(file)
}

/// Allocates bytes of a file on its disk; an error if there is no room.
pub fn allocate(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        loop {
            // SAFETY: the descriptor is open for the call; no memory is passed.
            let answer = unsafe { libc::fallocate(file.as_raw_fd(), 0, offset as i64, bytes as i64) };
            match answer {
                0 => return Ok(()),
                _ => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error if error.raw_os_error() == Some(libc::EOPNOTSUPP) => break,
                    error => return Err(error),
                },
            }
        }
    }
    write_zeros(file, offset, bytes)
}

/// Where the system cannot allocate, zeros are written: slower, and as good.
fn write_zeros(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    let zeros = vec![0; 64 * 1024];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(zeros.len() as u64);
        file.write_all(&zeros[..part as usize])?;
        left -= part;
    }
    Ok(())
}

/// Makes pages present and writable now, so that a hook does not wait for it later. An error says that the memory
/// behind them is gone.
pub fn populate(map: &MmapRaw, offset: usize, bytes: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        match map.advise_range(memmap2::Advice::PopulateWrite, offset, bytes) {
            // Kernels before 5.14 do not know the advice: the pages come when they are touched.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            answer => answer,
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (map, offset, bytes);
        Ok(())
    }
}

/// Lays private zeroed pages over a range of this process, in the child after a fork: whatever still writes there
/// writes for itself. Reports whether it could.
///
/// # Safety
/// The range must be a mapping whose users expect nothing of its content any more.
#[cfg(unix)]
pub unsafe fn cover(address: *mut u8, bytes: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller vouches for the range; mapping over it is what this is for.
    let at = unsafe { libc::mmap(address.cast(), bytes, protection, flags, -1, 0) };
    at != libc::MAP_FAILED
}

/// No forks, no children: nothing to do.
///
/// # Safety
/// None.
#[cfg(not(unix))]
pub unsafe fn cover(_address: *mut u8, _bytes: usize) -> bool {
    true
}
