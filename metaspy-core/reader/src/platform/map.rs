//! Memory for recordings. It is allocated before it is touched, so that a full disk is an error and
//! never a signal.

use std::fs::File;
use std::io;

use memmap2::{MmapOptions, MmapRaw};

/// Maps zeroed memory of this process. The system allocates a page at its first use.
pub fn anonymous(bytes: usize) -> io::Result<MmapRaw> {
    Ok(MmapOptions::new().len(bytes).map_anon()?.into())
}

/// Maps the first `bytes` bytes of a file for several processes. The file may still be shorter:
/// touch only the allocated parts.
pub fn file(file: &File, bytes: usize) -> io::Result<MmapRaw> {
    MmapOptions::new().len(bytes).map_raw(file)
}

/// Allocates bytes of a file on its disk. Returns an error if there is no room.
pub fn allocate(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    if bytes == 0 || reserve(file, offset, bytes)? {
        Ok(())
    } else {
        write_zeros(file, offset, bytes)
    }
}

/// Allocates bytes like [`allocate`], without changing their content. Returns false if the system
/// cannot do this.
pub fn reserve(file: &File, offset: u64, bytes: u64) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        loop {
            // SAFETY: the descriptor is open for the call; no memory is passed.
            let answer =
                unsafe { libc::fallocate(file.as_raw_fd(), 0, offset as i64, bytes as i64) };
            match answer {
                0 => return Ok(true),
                _ => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error if error.raw_os_error() == Some(libc::EOPNOTSUPP) => return Ok(false),
                    error => return Err(error),
                },
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file, offset, bytes);
        Ok(false)
    }
}

/// Writes zeros, where the system cannot allocate.
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

/// Makes pages present and writable now, so that a hook does not wait for them later. An error
/// means that the memory of these pages is gone.
pub fn populate(map: &MmapRaw, offset: usize, bytes: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        match map.advise_range(memmap2::Advice::PopulateWrite, offset, bytes) {
            // Kernels before 5.14 do not have this advice: the pages become present at their first
            // use.
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

/// Takes the pages of a shared mapping of a file out of this process. The next access reads them
/// from the file.
pub fn page_out(map: &MmapRaw) {
    #[cfg(unix)]
    {
        // SAFETY: written words of a shared mapping are in the file's pages, whether this process
        // maps them or not.
        let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }
    #[cfg(not(unix))]
    let _ = map;
}

/// Returns the memory of private pages to the system, which zeroes them. Where the system cannot do
/// this, they stay unchanged.
///
/// # Safety
///
/// The range must be private pages whose content is not used any more.
pub unsafe fn empty(address: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the caller guarantees that the content is not used any more.
        unsafe { libc::madvise(address.cast(), bytes, libc::MADV_DONTNEED) };
    }
    #[cfg(not(target_os = "linux"))]
    {
        // SAFETY: as above. Elsewhere the advice may leave the content.
        unsafe { cover(address, bytes) };
    }
}

/// Replaces a range of this process by private zeroed pages: in the child after a fork, and when a
/// recording is released. Later writes belong to the process alone. Returns true if it succeeded.
///
/// # Safety
///
/// The range must be a mapping whose content is not used any more.
#[cfg(unix)]
pub unsafe fn cover(address: *mut u8, bytes: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller guarantees that the content of the range is not used any more, so it can
    // be replaced.
    let at = unsafe { libc::mmap(address.cast(), bytes, protection, flags, -1, 0) };
    at != libc::MAP_FAILED
}

/// Maps a range of a file over a range of this process.
///
/// # Safety
///
/// The range must be whole pages of a mapping. All users of these pages must be content with the
/// words of the file.
#[cfg(target_os = "linux")]
pub unsafe fn replace(address: *mut u8, bytes: usize, file: &File, offset: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let (flags, protection) =
        (libc::MAP_SHARED | libc::MAP_FIXED, libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: the caller guarantees that the range can be replaced.
    let at = unsafe {
        libc::mmap(address.cast(), bytes, protection, flags, file.as_raw_fd(), offset as i64)
    };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Does nothing, because without a fork there is nothing to replace.
///
/// # Safety
/// None.
#[cfg(not(unix))]
pub unsafe fn cover(_address: *mut u8, _bytes: usize) -> bool {
    true
}
