//! The ring between signal handlers and the thread that reads: slots of one size, in memory that both may share.
//!
//! This is the bounded queue of Dmitry Vyukov (*Bounded MPMC queue*, 1024cores.net): each slot has the number of its turn, a
//! writer takes a turn by one exchange, and publishes by one store. No writer waits for another one or for the reader. A
//! full ring counts the sample as lost.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::linux::perf::REGISTERS;

/// The first word of a ring: a name and a version.
const MAGIC: u64 = u64::from_le_bytes(*b"mspytim1");
/// Words of the header.
const HEADER: usize = 16;
/// Words of a slot before its bytes.
const SLOT: usize = 8 + REGISTERS.len();
/// How often a writer tries to take a turn. Each failure is another writer's success.
const TRIES: usize = 64;

/// A word of the header.
#[derive(Clone, Copy)]
pub enum Word {
    Magic,
    /// Slots: a power of two.
    Slots,
    /// Bytes of a slot's copy of a stack.
    StackBytes,
    /// Time between two samples of a thread.
    PeriodNs,
    /// 1 if the wall clock is sampled.
    IsWall,
    /// 1 if no further sample is needed.
    IsStopped,
    /// The turn of the next writer.
    Next,
    /// Samples that found no room.
    Lost,
    /// Threads that have no timer: the system refused, or they block the signal.
    Untimed,
    /// Processes that sample themselves.
    Attached,
}

/// What a slot is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// What its bytes are.
    pub kind: u32,
    pub pid: u32,
    pub tid: u32,
    pub time_ns: u64,
    /// Processor time of the thread since its last sample.
    pub cpu_ns: u32,
    /// Time since the thread's last sample.
    pub wall_ns: u32,
    pub registers: [u64; REGISTERS.len()],
}

/// Slot kinds: a sample with the top of its stack, the mappings of a process as `/proc` has them, the name of a thread.
pub const SAMPLE: u32 = 0;
pub const MAPPINGS: u32 = 1;
pub const NAME: u32 = 2;

/// A mapped ring.
pub struct Ring {
    words: NonNull<AtomicU64>,
    slots: usize,
    slot_words: usize,
    file: File,
    /// The turn that is read next. There is one reader.
    read: AtomicU64,
}

// SAFETY: the memory stays mapped for ever, and all threads access it as atomics, but for the bytes of a slot, which
// belong to the one who has its turn.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

/// The rate and the clock, as a ring has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub slots: usize,
    pub stack_bytes: usize,
    pub period_ns: u64,
    pub is_wall: bool,
}

impl Ring {
    /// Makes a ring in a file without a name, which the processes that are started can open by their parent's number.
    pub fn new(shape: Shape) -> io::Result<Ring> {
        // SAFETY: the name is a C string; the result is a new descriptor or an error.
        let descriptor =
            unsafe { libc::memfd_create(c"metaspy-sampler".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nothing else closes it.
        let file = unsafe { File::from_raw_fd(descriptor) };
        let slot_words = SLOT + shape.stack_bytes / 8;
        file.set_len(((HEADER + shape.slots * slot_words) * 8) as u64)?;
        // A file that cannot become shorter is mapped without the danger of a SIGBUS.
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

    /// Maps the ring of another process. A file that is none, or that could become shorter, is refused.
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
        // SAFETY: a new mapping of a file that has these bytes and keeps them; it is never unmapped, because a handler may
        // be writing to it.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        match NonNull::new(at.cast()).filter(|_| at != libc::MAP_FAILED) {
            Some(words) => Ok(Ring { words, slots, slot_words, file, read: AtomicU64::new(0) }),
            None => Err(io::Error::last_os_error()),
        }
    }

    /// The file of the ring, as the processes that are started can open it.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// A word of the header.
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

    /// Bytes that a slot can have.
    pub fn stack_bytes(&self) -> usize {
        (self.slot_words - SLOT) * 8
    }

    /// The words of the slot of a turn before its bytes.
    fn slot(&self, turn: u64) -> &[AtomicU64; SLOT] {
        let at = HEADER + (turn as usize & (self.slots - 1)) * self.slot_words;
        // SAFETY: the place is masked by the number of slots, all of which are mapped; atomics may be shared.
        unsafe { self.words.add(at).cast().as_ref() }
    }

    /// The bytes of the slot of a turn.
    fn bytes(&self, turn: u64) -> *mut u8 {
        std::ptr::from_ref(self.slot(turn)).wrapping_add(1).cast_mut().cast()
    }

    /// Writes a slot. `fill` gets the room for bytes and returns how many it wrote. Safe in a signal handler: nothing is
    /// allocated, no lock is taken, and the number of steps is bounded.
    pub fn push(&self, head: &Head, fill: impl FnOnce(*mut u8, usize) -> usize) {
        let next = self.word(Word::Next);
        for _ in 0..TRIES {
            let turn = next.load(Ordering::Relaxed);
            let slot = self.slot(turn);
            let state = slot[0].load(Ordering::Acquire);
            if state < turn {
                break;
            }
            if state > turn || next.compare_exchange(turn, turn + 1, Ordering::Relaxed, Ordering::Relaxed).is_err() {
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
            for (to, word) in slot[1..].iter().zip(words.into_iter().chain([0, 0]).chain(head.registers)) {
                to.store(word, Ordering::Relaxed);
            }
            slot[0].store(turn + 1, Ordering::Release);
            return;
        }
        self.word(Word::Lost).fetch_add(1, Ordering::Relaxed);
    }

    /// Passes each slot that was written since the last call, with its bytes. A slot whose writer does not finish ends the
    /// round; with `past_unfinished`, it is left out and counted as lost.
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
            // SAFETY: the slot holds this many bytes, and no writer has its turn before the next store.
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
        assert!(Ring::open("/proc/self/exe".as_ref()).is_err() && Ring::open("/dev/null".as_ref()).is_err());
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
