//! What a woven function holds: its site, and the guard of a call.
//!
//! This file is compiled twice: as a module of the core, and, with its neighbours in `SHARED`, as the whole of a crate
//! without dependencies that woven code calls. So it needs nothing but `core`, and two things of `std` where there is
//! one; and everything in it that both sides touch has a C layout. What may unwind is called as Rust calls: both sides are
//! compiled by one compiler, and a call of C that unwinds would keep programs from `panic = "abort"`.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};

use crate::{Identity, Object, Receiver, Value};

/// Of the layout: a core leaves sites of another version alone.
pub const VERSION: u64 = 4;

/// The site of a woven function, in a section of its own that the linker collects.
#[repr(C)]
pub struct Woven {
    /// The version of the layout.
    pub version: u64,
    /// The word that says whether anybody looks. It is one that says nobody, until a core adopts the site.
    pub arm: AtomicPtr<AtomicU64>,
    /// The word that says whose row a call is counted in, if it is only counted; else it is one that says no row.
    pub tally: AtomicPtr<AtomicU64>,
    /// The core that adopted it.
    pub agent: AtomicPtr<Agent>,
    /// That core's own site.
    pub site: AtomicPtr<u8>,
    /// Its place among the woven sites of the program, which is also its place in a thread's [`Cell`]s.
    pub number: AtomicU64,
    /// The module it stands in, as `module_path!()` says.
    pub module: Text,
    /// What follows the module.
    pub name: Text,
    /// The source file.
    pub file: Text,
    /// What else the weaver knows of it, as words.
    pub facts: Text,
    /// First and last line.
    pub lines: [u32; 2],
}

/// A text of the program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    start: *const u8,
    length: usize,
}

// SAFETY: it was made of a `&'static str`, which any thread may read.
unsafe impl Sync for Text {}
// SAFETY: as above.
unsafe impl Send for Text {}

impl Text {
    /// Of a text that stays.
    pub const fn of(text: &'static str) -> Self {
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
    /// Begins a call; null if nobody looks after all. The arguments are shown only for the time of this.
    pub enter: extern "C" fn(site: &'static Woven, frame: *mut Frame, seen: &Seen<'_>) -> *mut u8,
    /// Ends what `enter` began.
    pub leave: extern "C" fn(begun: *mut u8),
    /// Shows what a call returned, before it ends.
    pub returned: extern "C" fn(begun: *mut u8, value: &Value<'_>),
    /// Hashes a value of the program, with the program's own code; `None` if that panics, or is watched itself.
    pub key: fn(value: *const u8, hash: Hash) -> Option<u64>,
    /// Counts a call of which nothing but its beginning is known.
    pub tell: extern "C" fn(site: &'static Woven),
    /// Begins an async call; null if nobody looks.
    pub start: extern "C" fn(site: &'static Woven, seen: &Seen<'_>) -> *mut u8,
    /// Polls what `start` began, by calling `poll` with `data` once.
    pub poll: fn(begun: *mut u8, poll: PollOnce, data: *mut u8),
    /// Shows what an async call returned, before its last poll ends.
    pub returned_async: extern "C" fn(begun: *mut u8, value: &Value<'_>),
    /// Ends what `start` began: it is done, or its future is dropped before.
    pub stop: extern "C" fn(begun: *mut u8),
}

/// Hashes a value at an address.
pub type Hash = fn(at: *const u8) -> u64;

/// Polls a future once. Whether it is done; it has shown the value that it returned, if it is to.
pub type PollOnce = fn(data: *mut u8) -> bool;

/// What is seen of a call when it begins.
#[repr(C)]
pub struct Seen<'v> {
    /// The object that it is about.
    pub receiver: Receiver,
    /// Where this thread counts.
    pub counts: *const Counts,
    /// What tells types of receivers from each other at this hook: several may stand at one address.
    pub kind: u64,
    arguments: *const Value<'v>,
    length: usize,
}

impl<'v> Seen<'v> {
    /// A call about `receiver`, with these arguments.
    #[inline(always)]
    pub fn new(receiver: Receiver, arguments: &'v [Value<'v>]) -> Self {
        Seen { receiver, counts: counts(), kind: 0, arguments: arguments.as_ptr(), length: arguments.len() }
    }

    /// The arguments that are shown.
    pub fn arguments(&self) -> &[Value<'v>] {
        // SAFETY: they were taken out of a slice that lives as long as this.
        unsafe { core::slice::from_raw_parts(self.arguments, self.length) }
    }
}

/// Where a thread counts: a [`Cell`] for each woven site, or null.
#[repr(transparent)]
pub struct Counts(AtomicPtr<Cell>);

/// Where a thread counts the calls of one site.
#[repr(C)]
pub struct Cell {
    /// Whose row this is: as the site's tally word says, as long as nothing has changed since.
    pub who: AtomicU64,
    /// The row: [`COUNT`] is the place of the word that is counted up. If its address is odd, that is all that there is of
    /// a row, and how a call ends need not be told.
    pub row: AtomicPtr<u8>,
    /// The object that is counted there, or [`ANYBODY`].
    pub receiver: AtomicU64,
    /// Of what kind it is, as [`Seen::kind`].
    pub kind: AtomicU64,
    /// Of a bare row: another word that is counted up, or null.
    pub also: AtomicPtr<AtomicU64>,
}

/// In a cell: calls about any object are counted there.
pub const ANYBODY: u64 = u64::MAX;
/// In the address of a row: it is a count and no more.
pub const BARE: usize = 1;

/// The place of the count in a row.
pub const COUNT: usize = 2;

impl Counts {
    /// Nowhere.
    pub const fn nowhere() -> Self {
        Counts(AtomicPtr::new(null_mut()))
    }

    /// From now on there, or nowhere. Only the thread itself may say so, and the cells must stay as long as they are
    /// pointed to.
    pub fn point(&self, cells: *mut Cell) {
        self.0.store(cells, Ordering::Relaxed);
    }

    /// Counts a call, if this thread did so before at this site and nothing has changed since. What is to be handed to
    /// [`Agent::leave`] if it panics, or null.
    #[inline(always)]
    fn count(&self, site: &Woven, who: u64, (receiver, kind): (u64, u64)) -> Option<*mut u8> {
        let cells = self.0.load(Ordering::Relaxed);
        if cells.is_null() {
            return None;
        }
        // SAFETY: whoever pointed to them has one for each site that has a tally word.
        let cell = unsafe { &*cells.add(site.number.load(Ordering::Relaxed) as usize) };
        if cell.who.load(Ordering::Relaxed) != who {
            return None;
        }
        let row = cell.row.load(Ordering::Relaxed);
        let only = cell.receiver.load(Ordering::Relaxed);
        if only != ANYBODY && (only != receiver || cell.kind.load(Ordering::Relaxed) != kind) {
            return None;
        }
        // SAFETY: a cell that has a `who` has its row, and rows stay.
        let count = unsafe { &*row.map_addr(|address| address & !BARE).cast::<AtomicU64>().add(COUNT) };
        count_up(count);
        let mut counted_in = row;
        if row.addr() & BARE != 0 {
            // The row that tells how calls end is the one that is counted up beside, if there is one.
            let also = cell.also.load(Ordering::Relaxed);
            // SAFETY: it is null, or a word of a row, and rows stay.
            match unsafe { also.as_ref() } {
                Some(word) => count_up(word),
                None => return Some(null_mut()),
            }
            counted_in = also.wrapping_sub(COUNT).cast();
        }
        // Rows are aligned, so their addresses have room for marks: see the core's `Entered`.
        let marks = if is_panicking() { COUNTED | UNWINDING } else { COUNTED };
        Some(counted_in.map_addr(|address| address | marks))
    }
}

/// Counts up a word that no other thread writes; to readers it is one store, and a signal handler of this thread runs
/// before or after it.
#[inline(always)]
fn count_up(word: &AtomicU64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the word is aligned and writable.
    unsafe {
        core::arch::asm!("inc qword ptr [{}]", in(reg) word.as_ptr(), options(nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    word.fetch_add(1, Ordering::Relaxed);
}

/// In what `enter` gives: the call was only counted.
pub const COUNTED: usize = 1;
/// With it: its thread was unwinding when it began.
pub const UNWINDING: usize = 1 << 4;

/// Room for a call under way, uninitialised while nobody looks.
#[repr(C, align(8))]
pub struct Frame(MaybeUninit<[u64; 9]>);

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
        facts: &'static str,
    ) -> Self {
        Woven {
            version: VERSION,
            arm: AtomicPtr::new((&raw const NOBODY).cast_mut()),
            tally: AtomicPtr::new((&raw const NOBODY).cast_mut()),
            agent: AtomicPtr::new(null_mut()),
            site: AtomicPtr::new(null_mut()),
            number: AtomicU64::new(0),
            module: Text::of(module),
            name: Text::of(name),
            file: Text::of(file),
            facts: Text::of(facts),
            lines,
        }
    }

    /// Tells that a call began. Nothing is kept of it, so a future that says so is as it was.
    #[inline]
    pub fn tell(&'static self) {
        if let (true, Some(agent)) = (self.is_armed(), self.agent()) {
            (agent.tell)(self);
        }
    }

    /// The core that adopted it.
    #[inline]
    pub fn agent(&self) -> Option<&'static Agent> {
        // The agent was stored before the word that said that the site is armed.
        fence(Ordering::Acquire);
        // SAFETY: it is null, or a static of the core that adopted the site.
        unsafe { self.agent.load(Ordering::Relaxed).as_ref() }
    }

    /// The receiver with the key of a value; nobody if it cannot be hashed, or if it is metaspy itself that calls.
    pub fn keyed(&self, value: *const u8, how: Option<Hash>, type_name: Text) -> Receiver {
        match (self.agent(), how) {
            (Some(agent), Some(hash)) => match (agent.key)(value, hash) {
                Some(word) => Receiver { identity: Identity::Keyed, word, type_name },
                None => Receiver::NONE,
            },
            _ => Receiver::NONE,
        }
    }

    /// Whether anybody looks.
    #[inline]
    pub fn is_armed(&self) -> bool {
        // SAFETY: it points to `NOBODY`, or to a word of the core. All stay as long as the program.
        unsafe { (*self.arm.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
    }

    /// Whose row a call is counted in that is only counted; else 0.
    #[inline]
    fn tally(&self) -> u64 {
        // SAFETY: as `arm`.
        unsafe { (*self.tally.load(Ordering::Relaxed)).load(Ordering::Relaxed) }
    }
}

impl Frame {
    /// Room, and nothing in it.
    #[inline]
    pub const fn vacant() -> Self {
        Frame(MaybeUninit::uninit())
    }
}

impl<'f> Guard<'f> {
    /// Begins a call about an object.
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    pub fn begin(site: &'static Woven, frame: &'f mut Frame, object: Object) -> Self {
        let begun = if site.is_armed() { begin(site, frame, object) } else { null_mut() };
        Guard { begun, site, _frame: PhantomData }
    }

    /// As [`Guard::begin`], about any receiver, at a site that is armed.
    pub fn about(site: &'static Woven, frame: &'f mut Frame, receiver: Receiver) -> Self {
        let kind = receiver.type_name.get().as_ptr().addr() as u64;
        let seen = || Seen { kind, ..Seen::new(receiver, &[]) };
        let begun = counted(site, (receiver.word, kind)).unwrap_or_else(|| ask(site, frame, &seen()));
        Guard { begun, site, _frame: PhantomData }
    }

    /// Begins a call at a site that is armed, and shows its arguments.
    pub fn showing(site: &'static Woven, frame: &'f mut Frame, seen: &Seen<'_>) -> Self {
        Guard { begun: ask(site, frame, seen), site, _frame: PhantomData }
    }

    /// A call that nobody looks at.
    #[inline]
    pub const fn unarmed(site: &'static Woven) -> Self {
        Guard { begun: null_mut(), site, _frame: PhantomData }
    }

    /// Whether somebody may want to know what the call returns.
    #[inline]
    pub fn is_seen(&self) -> bool {
        !self.begun.is_null() && self.begun.addr() & COUNTED == 0
    }

    /// Shows what it returns.
    pub fn returned(&self, value: &Value<'_>) {
        if let Some(agent) = self.site.agent() {
            (agent.returned)(self.begun, value);
        }
    }
}

impl Drop for Guard<'_> {
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    fn drop(&mut self) {
        // A call that was only counted has nothing more to tell, unless a panic leaves it.
        if !self.begun.is_null() && (self.begun.addr() & COUNTED == 0 || is_panicking()) {
            leave(self.site, self.begun);
        }
    }
}

/// Begins a call at a site that is armed: counts it, or asks the core.
#[inline(always)]
fn begin(site: &'static Woven, frame: &mut Frame, object: Object) -> *mut u8 {
    unlikely();
    counted(site, (object.place.addr() as u64, object.kind())).unwrap_or_else(|| ask_about(site, frame, object))
}

/// Counts a call about this receiver, if that is all. As [`Counts::count`].
#[inline(always)]
fn counted(site: &Woven, receiver: (u64, u64)) -> Option<*mut u8> {
    match site.tally() {
        0 => None,
        // SAFETY: a thread's own words are there as long as the thread.
        who => unsafe { &*counts() }.count(site, who, receiver),
    }
}

/// Asks the core. Not in the woven function itself: it would be compiled with each of them.
#[cold]
#[inline(never)]
fn ask_about(site: &'static Woven, frame: &mut Frame, object: Object) -> *mut u8 {
    ask(site, frame, &Seen { kind: object.kind(), ..Seen::new(object.receiver(), &[]) })
}

fn ask(site: &'static Woven, frame: &mut Frame, seen: &Seen<'_>) -> *mut u8 {
    match site.agent() {
        Some(agent) => (agent.enter)(site, frame, seen),
        None => null_mut(),
    }
}

/// Tells the core that a call ends. As [`ask_about`].
#[cold]
#[inline(never)]
fn leave(site: &'static Woven, begun: *mut u8) {
    if let Some(agent) = site.agent() {
        (agent.leave)(begun);
    }
}

/// Tells the compiler that the way it stands on is a rare one, to be put out of the way of the other.
#[cold]
#[inline(always)]
fn unlikely() {}

/// Where this thread counts.
#[cfg(not(metaspy_bare))]
#[inline(always)]
fn counts() -> *const Counts {
    std::thread_local! {
        // Constant and without a destructor: there as long as its thread, and reached by one instruction.
        static COUNTS: Counts = const { Counts::nowhere() };
    }
    COUNTS.with(core::ptr::from_ref)
}

#[cfg(not(metaspy_bare))]
#[inline(always)]
fn is_panicking() -> bool {
    std::thread::panicking()
}

/// Without `std` there are no threads that know where they count: each call is told.
#[cfg(metaspy_bare)]
fn counts() -> *const Counts {
    static NOWHERE: Counts = Counts::nowhere();
    &raw const NOWHERE
}

#[cfg(metaspy_bare)]
fn is_panicking() -> bool {
    true
}
