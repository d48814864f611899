//! The running tests.
//!
//! A test with a hook runs from the begin to the end of its call. Tests that macros generate have
//! no hook. Such a test is identified by the name of its thread, from the first observed call to
//! the end of the thread, unless the harness runs it on the main thread.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::arm;
use crate::platform::lock::lock;
use crate::subject::{Kind, Subject};

/// A test of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestId(pub(super) u32);

static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// The running tests: their count, above the sum of their numbers. If one test runs alone, the sum
/// is its number, and all threads work for it.
static RUNNING: AtomicU64 = AtomicU64::new(0);
/// One test in the count.
const ONE: u64 = 1 << 40;

impl TestId {
    /// The test with this name.
    pub(super) fn named(name: &str) -> TestId {
        let mut names = lock(&NAMES);
        if let Some(at) = names.iter().position(|known| known == name) {
            return TestId(at as u32 + 1);
        }
        names.push(name.to_owned());
        let test = TestId(names.len() as u32);
        drop(names);
        crate::model::label(test.subject(), name);
        test
    }

    /// The path of the test.
    pub fn name(self) -> String {
        lock(&NAMES).get(self.0 as usize - 1).cloned().unwrap_or_default()
    }

    pub(super) fn number(self) -> u32 {
        self.0
    }

    /// The test as a subject, which is the same in every process.
    pub fn subject(self) -> Subject {
        let names = lock(&NAMES);
        names.get(self.0 as usize - 1).map_or(Subject::NONE, |name| subject_of(name))
    }

    pub(super) fn begins(self) {
        RUNNING.fetch_add(ONE + u64::from(self.0), Ordering::Relaxed);
        arm::unsettle();
    }

    pub(super) fn ends(self) {
        RUNNING.fetch_sub(ONE + u64::from(self.0), Ordering::Relaxed);
        arm::unsettle();
    }

    /// The number of the only running test; 0 if several tests run, or none.
    #[inline]
    pub(super) fn only() -> u32 {
        let running = RUNNING.load(Ordering::Relaxed);
        if running / ONE == 1 { (running % ONE) as u32 } else { 0 }
    }
}

/// A test as a subject. The key is a hash of its name (FNV-1a).
fn subject_of(name: &str) -> Subject {
    static TESTS: Kind = Kind::across_processes("test");
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
    Subject::new(TESTS.id(), name.bytes().fold(0xCBF2_9CE4_8422_2325, step))
}

/// A test that is identified by the name of its thread. It runs until this is dropped.
pub(super) struct Named(TestId);

impl Named {
    /// The test that this thread is named after, as test harnesses do.
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
