//! Which test runs, and which ran a method.
//!
//! A test that has a hook runs from its call to its end. What macros made of tests has none: such a test is known by the name
//! of its thread, from the first spied call on it to its end, and not where a harness runs it on its main thread.

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::method_profilers::{Call, dispatch};
use crate::platform::lock::lock;

/// A test of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestId(pub(super) u32);

static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Tests that run now: how many, above the sum of their numbers. Where one runs alone the sum is its number, and all threads
/// work for it.
static RUNNING: AtomicU64 = AtomicU64::new(0);
/// One of them, without its number.
const ONE: u64 = 1 << 40;

impl TestId {
    /// The test of this name.
    pub(super) fn named(name: &str) -> TestId {
        let mut names = lock(&NAMES);
        let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        TestId(at as u32 + 1)
    }

    /// What it is called: its path.
    pub fn name(self) -> String {
        lock(&NAMES).get(self.0 as usize - 1).cloned().unwrap_or_default()
    }

    pub(super) fn begins(self) {
        RUNNING.fetch_add(ONE + u64::from(self.0), Ordering::Relaxed);
        dispatch::unsettle();
    }

    pub(super) fn ends(self) {
        RUNNING.fetch_sub(ONE + u64::from(self.0), Ordering::Relaxed);
        dispatch::unsettle();
    }

    /// The number of the test that threads work for which are no test's own; 0 if several run, or none.
    #[inline]
    pub(super) fn only() -> u32 {
        let running = RUNNING.load(Ordering::Relaxed);
        if running / ONE == 1 { (running % ONE) as u32 } else { 0 }
    }
}

/// A test that is known by the name of its thread: it runs until this is dropped.
pub(super) struct Named(TestId);

impl Named {
    /// Test harnesses call a thread as the test that it runs.
    pub(super) fn of_this_thread() -> Option<Named> {
        let thread = std::thread::current();
        let name = thread.name().filter(|name| name.contains("::"))?;
        let program = std::env::current_exe().ok()?;
        let program = program.file_stem()?.to_string_lossy().into_owned();
        let program = program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name);
        let test = TestId::named(&format!("{program}::{name}"));
        test.begins();
        Some(Named(test))
    }

    pub(super) fn id(&self) -> u32 {
        self.0.0
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        self.0.ends();
    }
}

/// Tests in a segment.
const SEGMENT: usize = 64 * 64;
/// Segments; later tests are not remembered.
const SEGMENTS: usize = 8;

/// The tests that ran a method: at most 32,768 of a process are told apart.
#[derive(Debug, Default)]
pub struct Tests {
    segments: [AtomicPtr<[AtomicU64; SEGMENT / 64]>; SEGMENTS],
}

impl Tests {
    /// Adds the test that a call was made for, if it was made for one.
    #[inline]
    pub fn see(&self, call: &Call<'_>) {
        if let Some(TestId(id)) = call.test() {
            self.add(id as usize - 1);
        }
    }

    #[inline]
    fn add(&self, at: usize) {
        let Some(place) = self.segments.get(at / SEGMENT) else { return };
        let mut segment = place.load(Ordering::Acquire);
        if segment.is_null() {
            let made = Box::into_raw(Box::new([const { AtomicU64::new(0) }; SEGMENT / 64]));
            segment = match place.compare_exchange(segment, made, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => made,
                Err(other) => {
                    // SAFETY: nobody else has seen it.
                    drop(unsafe { Box::from_raw(made) });
                    other
                }
            };
        }
        // SAFETY: segments are boxes that only dropping this frees.
        let word = unsafe { &(&*segment)[at % SEGMENT / 64] };
        let bit = 1 << (at % 64);
        // Nearly always it is there already: then threads do not meet.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// These tests, in the order in which they began.
    pub fn all(&self) -> Vec<TestId> {
        let mut all = Vec::new();
        for (number, place) in self.segments.iter().enumerate() {
            // SAFETY: as in `add`.
            let Some(segment) = (unsafe { place.load(Ordering::Acquire).as_ref() }) else { continue };
            for (at, word) in segment.iter().enumerate() {
                let word = word.load(Ordering::Relaxed);
                let bits = (0..64).filter(|bit| word & 1 << bit != 0);
                all.extend(bits.map(|bit| TestId((number * SEGMENT + at * 64 + bit) as u32 + 1)));
            }
        }
        all
    }
}

impl Drop for Tests {
    fn drop(&mut self) {
        for place in &mut self.segments {
            let segment = *place.get_mut();
            if !segment.is_null() {
                // SAFETY: `add` made it of a box, and nobody refers to it any more.
                drop(unsafe { Box::from_raw(segment) });
            }
        }
    }
}
