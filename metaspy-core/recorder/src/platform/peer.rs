//! The user at the other end of a local socket.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// True if the process at the other end belongs to the user of this one. False where the system
/// does not report it.
pub fn is_own(stream: &UnixStream) -> bool {
    user_of(stream) == Some(super::process::user())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn user_of(stream: &UnixStream) -> Option<u32> {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `bytes` bytes into `peer`, and both live until the call
    // returns.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut bytes,
        )
    };
    (result == 0).then_some(peer.uid)
}

#[cfg(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "netbsd"
))]
fn user_of(stream: &UnixStream) -> Option<u32> {
    let mut user = u32::MAX;
    let mut group = u32::MAX;
    // SAFETY: the call writes the two numbers, which live until it returns.
    let result = unsafe { libc::getpeereid(stream.as_raw_fd(), &raw mut user, &raw mut group) };
    (result == 0).then_some(user)
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "netbsd"
)))]
fn user_of(_: &UnixStream) -> Option<u32> {
    None
}
