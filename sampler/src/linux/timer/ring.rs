//! Ring between signal handlers and the reader thread: slots of equal size in shared memory.
//!
//! This is the bounded queue of Dmitry Vyukov (*Bounded MPMC queue*, 1024cores.net). Each slot has
//! the number of its turn, a writer takes a turn by an exchange, and publishes by a store. No
//! writer waits for another writer or for the reader. A full ring counts the sample as lost.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::linux::perf::REGISTERS;

/// First word of a ring, with the name and the version of the format.
const MAGIC: u64 = u64::from_le_bytes(*b"mspytim1");
/// Number of words in the header.
const HEADER: usize = 16;
/// Number of words in a slot before its bytes.
const SLOT: usize = 8 + REGISTERS.len();
/// Maximum attempts of a writer to take a turn. Each failure is another writer's success.
const TRIES: usize = 64;

/// Word of the ring's header.
#[derive(Clone, Copy)]
pub enum Word {
    Magic,
    /// Number of slots: a power of two.
    Slots,
    /// Capacity of a slot for the copied stack, in bytes.
    StackBytes,
    /// Time between two samples of a thread, in ns.
    PeriodNs,
    /// 1 if the wall clock is sampled.
    IsWall,
    /// 1 if sampling has ended.
    IsStopped,
    /// Turn of the next writer.
    Next,
    /// Number of samples that found no room.
    Lost,
    /// Number of threads without a timer, because the system refused it or they block the signal.
    Untimed,
    /// Number of processes that write samples.
    Attached,
}

/// Head of a slot: its kind, origin, times and registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Kind of the bytes: [`SAMPLE`], [`MAPPINGS`] or [`NAME`].
    pub kind: u32,
    pub pid: u32,
    pub tid: u32,
    pub time_ns: u64,
    /// Processor time of the thread since its last sample, in ns.
    pub cpu_ns: u32,
    /// Wall time since the thread's last sample, in ns.
    pub wall_ns: u32,
    pub registers: [u64; REGISTERS.len()],
}

/// Kinds of slots: a sample with the top of its stack, the mappings of a process from `/proc`, the
/// name of a thread.
pub const SAMPLE: u32 = 0;
pub(crate) const MAPPINGS: u32 = 1;
pub const NAME: u32 = 2;

/// Mapped ring, which processes share.
pub struct Ring {
    words: NonNull<AtomicU64>,
    slots: usize,
    slot_words: usize,
    file: File,
    /// Turn that is read next. A ring has a single reader.
    read: AtomicU64,
}

// SAFETY: the memory stays mapped for ever, and all threads access it as atomics. The bytes of a
// slot are the exception; they belong to the holder of its turn.
unsafe impl Send for Ring {}
// SAFETY: shared access uses atomics, as for `Send`, and the bytes of a slot have a single owner.
unsafe impl Sync for Ring {}

/// Rate, clock and slot size of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub slots: usize,
    pub stack_bytes: usize,
    pub period_ns: u64,
    pub is_wall: bool,
}

impl Ring {
    /// Creates a ring in a file without a name, which started processes open by their parent's
    /// number.
    pub fn new(shape: Shape) -> io::Result<Ring> {
        // SAFETY: the name is a C string; the result is a new descriptor or an error.
        let descriptor = unsafe {
            libc::memfd_create(
                c"metaspy-sampler".as_ptr(),
                libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING,
            )
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nothing else closes it.
        let file = unsafe { File::from_raw_fd(descriptor) };
        let slot_words = SLOT + shape.stack_bytes / 8;
        file.set_len(((HEADER + shape.slots * slot_words) * 8) as u64)?;
        // The seal keeps the file from shrinking, so that access to the mapping cannot raise
        // SIGBUS.
        // SAFETY: the call concerns the descriptor alone.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) };
        let ring = Ring::map(file, shape.slots, slot_words)?;
        (0..shape.slots).for_each(|at| ring.slot(at as u64)[0].store(at as u64, Ordering::Relaxed));
        ring.set(Word::Slots, shape.slots as u64);
        ring.set(Word::StackBytes, shape.stack_bytes as u64);
        ring.set(Word::PeriodNs, shape.period_ns);
        ring.set(Word::IsWall, shape.is_wall.into());
        ring.word(Word::Magic).store(MAGIC, Ordering::Release);
        Ok(ring)
    }

    /// Maps the ring of another process. A file that is not a ring, or that could shrink, is
    /// refused.
    pub fn open(path: &std::ffi::OsStr) -> io::Result<Ring> {
        let refused = || io::Error::other("it is no ring of a sampler of this version");
        let file = File::options().read(true).write(true).open(path)?;
        // SAFETY: the call concerns the descriptor alone.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        let words = file.metadata()?.len() as usize / 8;
        if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 || words < HEADER {
            return Err(refused());
        }
        let header = Ring::map(file.try_clone()?, 0, 0)?;
        let [slots, bytes] = [Word::Slots, Word::StackBytes].map(|word| header.get(word) as usize);
        let is_valid = header.word(Word::Magic).load(Ordering::Acquire) == MAGIC
            && slots.is_power_of_two()
            && bytes.is_multiple_of(8)
            && bytes <= 1 << 16
            && slots.checked_mul(SLOT + bytes / 8).is_some_and(|needed| needed <= words - HEADER);
        if is_valid { Ring::map(file, slots, SLOT + bytes / 8) } else { Err(refused()) }
    }

    fn map(file: File, slots: usize, slot_words: usize) -> io::Result<Ring> {
        let bytes = (HEADER + slots * slot_words) * 8;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the mapping is new, and its file has these bytes and keeps them. It is never
        // unmapped, because a handler may still write to it.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                protection,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(at.cast()).filter(|_| at != libc::MAP_FAILED) {
            Some(words) => Ok(Ring { words, slots, slot_words, file, read: AtomicU64::new(0) }),
            None => Err(io::Error::last_os_error()),
        }
    }

    /// Returns the path at which started processes open the ring.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Returns a word of the header.
    pub fn word(&self, word: Word) -> &AtomicU64 {
        // SAFETY: the header is mapped as long as the process lives.
        unsafe { self.words.add(word as usize).as_ref() }
    }

    pub fn get(&self, word: Word) -> u64 {
        self.word(word).load(Ordering::Relaxed)
    }

    pub fn set(&self, word: Word, value: u64) {
        self.word(word).store(value, Ordering::Relaxed);
    }

    /// Returns the capacity of a slot, in bytes.
    pub fn stack_bytes(&self) -> usize {
        (self.slot_words - SLOT) * 8
    }

    /// Returns the words of a turn's slot that precede its bytes.
    fn slot(&self, turn: u64) -> &[AtomicU64; SLOT] {
        let at = HEADER + (turn as usize & (self.slots - 1)) * self.slot_words;
        // SAFETY: the place is masked by the number of slots, all of which are mapped; atomics may
        // be shared.
        unsafe { self.words.add(at).cast().as_ref() }
    }

    /// Returns a pointer to the bytes of a turn's slot.
    fn bytes(&self, turn: u64) -> *mut u8 {
        std::ptr::from_ref(self.slot(turn)).wrapping_add(1).cast_mut().cast()
    }

    /// Writes a slot.
    ///
    /// `fill` gets the room for bytes and returns the number that it wrote. The function is safe in
    /// a signal handler: it allocates nothing, takes no lock, and has a bounded number of steps.
    pub fn push(&self, head: &Head, fill: impl FnOnce(*mut u8, usize) -> usize) {
        let next = self.word(Word::Next);
        for _ in 0..TRIES {
            let turn = next.load(Ordering::Relaxed);
            let slot = self.slot(turn);
            let state = slot[0].load(Ordering::Acquire);
            if state < turn {
                break;
            }
            if state > turn
                || next
                    .compare_exchange(turn, turn + 1, Ordering::Relaxed, Ordering::Relaxed)
                    .is_err()
            {
                continue;
            }
            let filled = fill(self.bytes(turn), self.stack_bytes());
            let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
            let words = [
                pair(head.pid, head.tid),
                head.time_ns,
                pair(head.cpu_ns, head.wall_ns),
                head.kind.into(),
                filled as u64,
            ];
            for (to, word) in
                slot[1..].iter().zip(words.into_iter().chain([0, 0]).chain(head.registers))
            {
                to.store(word, Ordering::Relaxed);
            }
            slot[0].store(turn + 1, Ordering::Release);
            return;
        }
        self.word(Word::Lost).fetch_add(1, Ordering::Relaxed);
    }

    /// Passes each new slot with its bytes to `each`.
    ///
    /// A slot that its writer has not finished ends the round. With `past_unfinished`, the slot is
    /// skipped and counted as lost.
    pub fn drain(&self, past_unfinished: bool, mut each: impl FnMut(Head, &[u8])) {
        let mut bytes = vec![0; self.stack_bytes()];
        let mut turn = self.read.load(Ordering::Relaxed);
        while turn < self.word(Word::Next).load(Ordering::Acquire) {
            let slot = self.slot(turn);
            if slot[0].load(Ordering::Acquire) != turn + 1 {
                if !past_unfinished {
                    break;
                }
                self.word(Word::Lost).fetch_add(1, Ordering::Relaxed);
                turn += 1;
                continue;
            }
            let word = |at: usize| slot[at].load(Ordering::Relaxed);
            let high = |at: usize| (word(at) >> 32) as u32;
            let head = Head {
                kind: word(4) as u32,
                pid: high(1),
                tid: word(1) as u32,
                time_ns: word(2),
                cpu_ns: high(3),
                wall_ns: word(3) as u32,
                registers: std::array::from_fn(|at| word(8 + at)),
            };
            let filled = (word(5) as usize).min(bytes.len());
            // SAFETY: the slot holds this many bytes, and no writer has its turn before the next
            // store.
            unsafe { std::ptr::copy_nonoverlapping(self.bytes(turn), bytes.as_mut_ptr(), filled) };
            each(head, &bytes[..filled]);
            slot[0].store(turn + self.slots as u64, Ordering::Release);
            turn += 1;
        }
        self.read.store(turn, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { slots: 4, stack_bytes: 16, period_ns: 1, is_wall: false };

    fn push(ring: &Ring, tid: u32) {
        ring.push(&Head { tid, ..Head::default() }, |at, room| {
            // SAFETY: the room has 16 bytes.
            unsafe { at.write_bytes(tid as u8, room.min(3)) };
            3
        });
    }

    fn read(ring: &Ring) -> Vec<(u32, Vec<u8>)> {
        let mut all = Vec::new();
        ring.drain(false, |head, bytes| all.push((head.tid, bytes.to_vec())));
        all
    }

    #[test]
    fn slots_come_in_order_and_a_full_ring_counts_what_it_loses() {
        let ring = Ring::new(SHAPE).expect("memory has room");
        (1..=6).for_each(|tid| push(&ring, tid));
        assert_eq!(ring.get(Word::Lost), 2);
        assert_eq!(read(&ring), (1..=4).map(|tid| (tid, vec![tid as u8; 3])).collect::<Vec<_>>());
        (7..=9).for_each(|tid| push(&ring, tid));
        assert_eq!(read(&ring).iter().map(|it| it.0).collect::<Vec<_>>(), [7, 8, 9]);
    }

    #[test]
    fn another_process_opens_the_same_ring_and_no_other_file() {
        let ring = Ring::new(SHAPE).expect("memory has room");
        let other = Ring::open(ring.path().as_ref()).expect("it is a ring");
        push(&other, 5);
        assert_eq!(read(&ring).len(), 1);
        assert!(
            Ring::open("/proc/self/exe".as_ref()).is_err()
                && Ring::open("/dev/null".as_ref()).is_err()
        );
        ring.set(Word::Slots, 1 << 40);
        assert!(Ring::open(ring.path().as_ref()).is_err());
    }

    #[test]
    fn many_writers_lose_nothing_that_is_not_counted() {
        let ring = Ring::new(Shape { slots: 64, ..SHAPE }).expect("memory has room");
        let other = Ring::open(ring.path().as_ref()).expect("it is a ring");
        let mut all = Vec::new();
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|writer| {
                    scope.spawn({
                        let other = &other;
                        move || (0..5000).for_each(|at| push(other, writer * 5000 + at))
                    })
                })
                .collect();
            while !writers.iter().all(|writer| writer.is_finished()) {
                all.extend(read(&ring));
            }
        });
        all.extend(read(&ring));
        assert_eq!(all.len() as u64 + ring.get(Word::Lost), 20_000);
        assert!(all.iter().all(|(tid, bytes)| *bytes == [*tid as u8; 3]));
    }
}
