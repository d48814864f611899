//! What a woven function holds: its site, and the guard of a call.
//!
//! This file is compiled twice: as a module of the core, and as the whole of a crate without dependencies that woven
//! code calls. So it needs nothing but `core`, and everything in it that both sides touch has a C layout.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};

/// Of the layout: a core leaves sites of another version alone.
pub const VERSION: u64 = 1;

/// The site of a woven function, in a section of its own that the linker collects.
#[repr(C)]
pub struct Woven {
    /// The version of the layout.
    pub version: u64,
    /// The word that says whether anybody looks. It is one that says nobody, until a core adopts the site.
    pub arm: AtomicPtr<AtomicU64>,
    /// The core that adopted it.
    pub agent: AtomicPtr<Agent>,
    /// That core's own site.
    pub site: AtomicPtr<u8>,
    /// The module it stands in, as `module_path!()` says.
    pub module: Text,
    /// What follows the module.
    pub name: Text,
    /// The source file.
    pub file: Text,
    /// First and last line.
    pub lines: [u32; 2],
    /// What kind of function it is.
    pub kind: Kind,
}

/// What kind of function a site is of.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One whose calls begin and end on their thread.
    Plain = 0,
    /// One that is async: that it began is all that is told.
    Async = 1,
}

/// A text of the program.
#[repr(C)]
pub struct Text {
    start: *const u8,
    length: usize,
}

// SAFETY: it was made of a `&'static str`, which any thread may read.
unsafe impl Sync for Text {}

impl Text {
    const fn of(text: &'static str) -> Self {
        Text { start: text.as_ptr(), length: text.len() }
    }

    /// The text.
    pub const fn get(&self) -> &'static str {
        // SAFETY: it was made of a `&'static str`, which only `Text::of` takes apart.
        unsafe { core::str::from_utf8_unchecked(core::slice::from_raw_parts(self.start, self.length)) }
    }
}

/// What a core does for woven code.
#[repr(C)]
pub struct Agent {
    /// Begins a call; null if nobody looks after all.
    pub enter: extern "C" fn(site: &'static Woven, frame: *mut Frame) -> *mut u8,
    /// Ends what `enter` began.
    pub leave: extern "C" fn(begun: *mut u8),
}

/// Room for a call under way, uninitialised while nobody looks.
#[repr(C, align(8))]
pub struct Frame(MaybeUninit<[u64; 8]>);

/// A call, observed or not. Dropping it ends it.
#[must_use = "dropping it ends the call"]
pub struct Guard<'f> {
    begun: *mut u8,
    site: &'static Woven,
    _frame: PhantomData<&'f mut Frame>,
}

/// Of sites that no core adopted.
static NOBODY: AtomicU64 = AtomicU64::new(0);

impl Woven {
    /// A site that nobody looks at.
    pub const fn new(
        module: &'static str,
        name: &'static str,
        file: &'static str,
        lines: [u32; 2],
        kind: Kind,
    ) -> Self {
        Woven {
            version: VERSION,
            arm: AtomicPtr::new((&raw const NOBODY).cast_mut()),
            agent: AtomicPtr::new(null_mut()),
            site: AtomicPtr::new(null_mut()),
            module: Text::of(module),
            name: Text::of(name),
            file: Text::of(file),
            lines,
            kind,
        }
    }

    /// Tells that a call began. Nothing is kept of it, so a future that says so is as it was.
    #[inline(always)]
    pub fn tell(&'static self) {
        if self.is_armed() {
            let begun = self.enter(&mut Frame::vacant());
            debug_assert!(begun.is_null());
        }
    }

    /// Asks the core, in one call: a function in between costs as much as what it would save in room.
    #[inline(always)]
    fn enter(&'static self, frame: &mut Frame) -> *mut u8 {
        unlikely();
        // The agent was stored before the word that said that the site is armed.
        fence(Ordering::Acquire);
        match self.agent() {
            Some(agent) => (agent.enter)(self, frame),
            None => null_mut(),
        }
    }

    #[inline(always)]
    fn agent(&self) -> Option<&'static Agent> {
        // SAFETY: it is null, or a static of the core that adopted the site.
        unsafe { self.agent.load(Ordering::Relaxed).as_ref() }
    }

    #[inline(always)]
    fn is_armed(&self) -> bool {
        // SAFETY: it points to `NOBODY`, or to the word of a core's site. Both stay as long as the program.
        unsafe { (*self.arm.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
    }
}

impl Frame {
    /// Room, and nothing in it.
    #[inline(always)]
    pub const fn vacant() -> Self {
        Frame(MaybeUninit::uninit())
    }
}

impl<'f> Guard<'f> {
    /// Begins a call.
    #[inline(always)]
    pub fn begin(site: &'static Woven, frame: &'f mut Frame) -> Self {
        let begun = if site.is_armed() { site.enter(frame) } else { null_mut() };
        Guard { begun, site, _frame: PhantomData }
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.begun.is_null() {
            unlikely();
            if let Some(agent) = self.site.agent() {
                (agent.leave)(self.begun);
            }
        }
    }
}

/// Tells the compiler that the way it stands on is a rare one, to be put out of the way of the other.
#[cold]
#[inline(always)]
fn unlikely() {}
