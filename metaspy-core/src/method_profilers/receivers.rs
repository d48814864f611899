//! The types of receivers of the calls that a thread is in, for the profiler of types.

use std::alloc::Layout;
use std::cell::Cell;

use crate::format::profile::TypeKey;
use crate::platform::own_pages;
use crate::subject::KindId;

/// Calls on the stack of a thread whose receivers are remembered until they end.
const DEPTH: usize = 256;

/// The type of a receiver, and its call.
pub(super) type Receiver = (KindId, TypeKey);

/// The number of the site and the type of the receiver, by the number of calls around.
type Remembered = [Cell<(u32, Option<Receiver>)>; DEPTH];

thread_local! {
    // In pages of its own: a library that is loaded while a program runs has few bytes for its
    // thread-locals.
    static REMEMBERED: Cell<*mut Remembered> = const { Cell::new(std::ptr::null_mut()) };
}

/// Remembers the receiver of a call of a site with so many calls around it.
pub(super) fn remember(around: usize, site: u32, receiver: Option<Receiver>) {
    let cells = REMEMBERED.get();
    let cells = if cells.is_null() { make() } else { cells };
    // SAFETY: `make` made it, and it stays until the thread ends. All references are shared.
    if let Some(cell) = unsafe { cells.as_ref() }.and_then(|cells| cells.get(around)) {
        cell.set((site, receiver));
    }
}

/// The receiver of the innermost call of a site, with so many calls around it.
pub(super) fn recall(around: usize, site: u32) -> Option<Receiver> {
    // SAFETY: as above.
    let cell = unsafe { REMEMBERED.get().as_ref() }?.get(around)?;
    let (of, receiver) = cell.get();
    receiver.filter(|_| of == site)
}

/// This thread ends. Profilers do not run on it any more.
pub(super) fn end_thread() {
    let cells = REMEMBERED.replace(std::ptr::null_mut());
    if !cells.is_null() {
        // SAFETY: `make` took it so, and no reference is left.
        unsafe { own_pages::give_back(cells.cast(), Layout::new::<Remembered>()) };
    }
}

/// Room for this thread, which has an end that is seen, because it is in an observed call. Null
/// without memory.
#[cold]
fn make() -> *mut Remembered {
    let cells: *mut Remembered = own_pages::take(Layout::new::<Remembered>()).cast();
    if !cells.is_null() {
        // SAFETY: the memory is new, and aligned to a page.
        unsafe { cells.write([const { Cell::new((0, None)) }; DEPTH]) };
    }
    REMEMBERED.set(cells);
    cells
}
