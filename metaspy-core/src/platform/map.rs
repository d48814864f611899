//! Memory for recordings: allocated before it is touched, so that a full disk is an error and never a signal.

use std::fs::File;
use std::io;

use memmap2::{MmapOptions, MmapRaw};

/// Zeroed memory of this process; pages come into being when they are touched.
pub(crate) fn anonymous(bytes: usize) -> io::Result<MmapRaw> {
    Ok(MmapOptions::new().len(bytes).map_anon()?.into())
}

/// A shared mapping of the first `bytes` bytes of a file, which may still be shorter: only allocated parts are to be
/// touched.
pub(crate) fn file(file: &File, bytes: usize) -> io::Result<MmapRaw> {
    MmapOptions::new().len(bytes).map_raw(file)
}

/// Allocates bytes of a file on its disk; an error if there is no room.
pub(crate) fn allocate(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
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
pub(crate) fn populate(map: &MmapRaw, offset: usize, bytes: usize) -> io::Result<()> {
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
