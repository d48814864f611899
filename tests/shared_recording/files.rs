//! Files, streams and caches.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use metaspy::Lookups;
use metaspy::prelude::*;
use metaspy_instrumenters::io::{SpiedIo, fs};

use crate::common::watch;

/// A writer without room.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn operations_of_a_stream_have_their_bytes_and_errors() {
    let mut disk = SpiedIo::new("files_disk", Full);
    let mut memory = SpiedIo::new("files_memory", io::Cursor::new(Vec::new()));
    let stream = memory.identify();
    let seen = watch(methods("files_*::*").details(), "files_*::*", || {
        memory.write_all(b"metaspy").expect("there is room");
        memory.seek(SeekFrom::Start(4)).expect("it can seek");
        let mut text = [0; 8];
        assert_eq!(memory.read(&mut text).expect("it can be read"), 3);
        assert!(disk.write_all(b"metaspy").is_err());
        disk.flush().expect("there is nothing to write");
    });
    assert_eq!(
        seen.text(),
        "write succeeded\nseek succeeded\nread succeeded\nwrite failed\nflush succeeded\n"
    );
    assert_eq!(seen.details(0), ["=7"]);
    assert_eq!(seen.details(2), ["=3"]);
    assert_eq!(seen.profile.count_of(stream), 3);
}

/// A reader that is ready at the second poll, and a writer that is never ready.
#[derive(Default)]
struct Slow {
    polls: u32,
}

impl tokio::io::AsyncRead for Slow {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.polls += 1;
        match self.polls {
            1 => return Poll::Pending,
            2 => buffer.put_slice(b"spy"),
            _ => return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        }
        Poll::Ready(Ok(()))
    }
}

impl tokio::io::AsyncWrite for Slow {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn an_async_operation_is_one_event_from_its_first_poll_to_its_end() {
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
    let mut stream = SpiedIo::new("files_socket", Slow::default());
    let subject = stream.identify();
    let seen = watch(methods("files_socket::*").details(), "files_socket::*", || {
        let cx = &mut Context::from_waker(Waker::noop());
        let mut bytes = [0; 8];
        let mut buffer = ReadBuf::new(&mut bytes);
        assert!(Pin::new(&mut stream).poll_read(cx, &mut buffer).is_pending());
        assert!(Pin::new(&mut stream).poll_read(cx, &mut buffer).is_ready());
        assert_eq!(buffer.filled(), b"spy");
        assert!(matches!(Pin::new(&mut stream).poll_read(cx, &mut buffer), Poll::Ready(Err(_))));
        assert!(Pin::new(&mut stream).poll_flush(cx).is_ready());
        assert!(Pin::new(&mut stream).poll_shutdown(cx).is_ready());
        assert!(Pin::new(&mut stream).poll_write(cx, b"never").is_pending());
        drop(stream);
    });
    assert_eq!(
        seen.text(),
        "read succeeded\nread failed\nflush succeeded\nshutdown succeeded\nwrite cancelled\n"
    );
    assert_eq!(
        (seen.details(0), seen.details(1).len()),
        (vec!["=3".to_owned()], 0),
        "the bytes of the first read"
    );
    assert_eq!(seen.profile.count_of(subject), 5);
}

#[test]
fn the_subject_of_a_file_is_its_path() {
    let path = std::env::temp_dir().join(format!("metaspy-files-{}", std::process::id()));
    let subject = fs::path(&path);
    let ((), profile) = Profiler::new("files")
        .observe(objects([subject], "fs::*"))
        .observe(objects([subject], "file::*"))
        .profile(|| {
            let mut file = fs::create(&path).expect("it can be made");
            file.write_all(b"one").expect("there is room");
            assert_eq!(fs::read(&path).expect("it is there"), b"one");
            fs::remove_file(&path).expect("it is there");
            assert!(fs::read_to_string(&path).is_err());
        })
        .expect("files are observed");
    assert_eq!(profile.count_of(subject), 5, "create, write, read, remove, read");
    let text = profile.store().subject_text(subject);
    assert!(text.contains("metaspy-files"), "{text}");
}

#[test]
fn a_cache_has_hits_misses_and_what_they_cost() {
    #[observe]
    fn costly(n: u32) -> u32 {
        n * n
    }
    let lookups = Lookups::new("files_squares");
    let mut squares = std::collections::HashMap::new();
    let sites = ["files_squares::hit", "files_squares::miss", "files_squares::fill"];
    let profiler = Profiler::new("squares")
        .observe(methods("files_squares::*"))
        .observe(methods(site!(costly)));
    let ((), profile) = profiler
        .profile(|| {
            for n in [3, 4, 3, 3] {
                if lookups.look_up(n, || squares.get(&n)).is_none() {
                    squares.insert(n, lookups.fill(n, || costly(n)));
                }
            }
        })
        .expect("they are observed");
    let rows = profile.counts().by_site();
    assert_eq!(sites.map(|site| rows.at(site).map_or(0, |row| row.measure.count)), [2, 2, 2]);
    let filter = "site:costly cause:files_squares::fill".parse().expect("a filter");
    let scope = metaspy::store::Scope { filter, ..profile.scope().clone() };
    assert_eq!(profile.store().tally(metaspy::store::By::Site, &scope).rows[0].measure.count, 2);
}
