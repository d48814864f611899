//! Recordings, event by event.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::path::Path;
use std::ptr::{null, null_mut};

use metaspy_core::recording::guard_against_truncation;
use metaspy_core::store::{By, Conditions, Scan, Scope};
use metaspy_core::{Event, EventId, Store};

use crate::{guarded, text};

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// An open recording: `metaspy_reader`.
pub struct Reader {
    store: Store,
    scan: Scan,
    /// The part that is read next.
    part: usize,
    /// Events of the part before it, and the next of them.
    events: Vec<Event>,
    next: usize,
    sites: Names,
    kinds: Names,
    threads: Names,
    calls: HashMap<String, u64>,
}

/// Names as C reads them, by number.
struct Names(HashMap<u32, CString>);

impl Names {
    fn new<'a>(names: impl Iterator<Item = (u32, &'a str)>) -> Self {
        Names(names.map(|(number, name)| (number, c_text(name))).collect())
    }

    /// The name with a number; `?` if there is none.
    fn get(&self, number: u32) -> *const c_char {
        self.0.get(&number).map_or(c"?".as_ptr(), |name| name.as_ptr())
    }
}

/// A text without the zeros in it.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// An event: `metaspy_record`.
#[repr(C)]
pub struct Record {
    event: u64,
    cause: u64,
    time_ns: u64,
    took_ns: u64,
    subject_key: u64,
    subject_kind: *const c_char,
    site: *const c_char,
    thread: *const c_char,
    outcome: u32,
}

impl Reader {
    fn open(path: &str) -> Result<Reader, String> {
        guard_against_truncation();
        let store = Store::open(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
        let mut calls: HashMap<String, u64> = HashMap::new();
        for row in store.tally(By::Site, &Scope::default()).rows {
            if let Some(site) = row.site {
                *calls.entry(store.site_path(site).to_owned()).or_default() += row.measure.count;
            }
        }
        let lanes = store.lanes();
        Ok(Reader {
            sites: Names::new(store.sites().iter().map(|site| (site.id.0, site.path.as_str()))),
            kinds: Names::new(store.kinds().map(|kind| (kind.id.0.into(), kind.name.as_str()))),
            threads: Names::new(lanes.iter().map(|lane| (lane.id.0, lane.name.as_str()))),
            scan: store.scan(Conditions::default()),
            part: 0,
            events: Vec::new(),
            next: 0,
            calls,
            store,
        })
    }

    fn next(&mut self) -> Option<Record> {
        while self.next == self.events.len() {
            if self.part == self.scan.parts() {
                return None;
            }
            self.events.clear();
            self.next = 0;
            self.scan.read(self.part, &mut self.events);
            self.part += 1;
        }
        let event = &self.events[self.next];
        self.next += 1;
        Some(Record {
            event: event.id.raw(),
            cause: event.cause.map_or(0, EventId::raw),
            time_ns: self.store.time_ns(event.start),
            took_ns: event.span.map_or(u64::MAX, |span| self.store.span_ns(span)),
            subject_key: event.subject.map_or(0, |subject| subject.key),
            subject_kind: event
                .subject
                .map_or(null(), |subject| self.kinds.get(subject.kind.0.into())),
            site: self.sites.get(event.site.0),
            thread: self.threads.get(event.lane.0),
            outcome: event.outcome as u32,
        })
    }
}

/// Opens a recording.
///
/// # Safety
///
/// The text is null, or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_open(path: *const c_char) -> *mut Reader {
    // SAFETY: the caller promises it.
    let path = unsafe { text(path) };
    let opened = guarded(Err("the recording cannot be read".to_owned()), || match path {
        Some(path) => Reader::open(&path),
        None => Err("there is no path".to_owned()),
    });
    match opened {
        Ok(reader) => Box::into_raw(Box::new(reader)),
        Err(error) => {
            ERROR.with_borrow_mut(|last| *last = c_text(&error));
            null_mut()
        }
    }
}

/// Why the last `metaspy_open` of this thread failed.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_error() -> *const c_char {
    ERROR.with_borrow(|last| last.as_ptr())
}

/// The next event.
///
/// # Safety
///
/// The reader is null or open, and no other thread uses it. The record is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_next(reader: *mut Reader, record: *mut Record) -> bool {
    // SAFETY: the caller promises it.
    let Some(reader) = (unsafe { reader.as_mut() }) else { return false };
    let Some(next) = guarded(None, || reader.next()).filter(|_| !record.is_null()) else {
        return false;
    };
    // SAFETY: it is valid, and not null.
    unsafe { record.write(next) };
    true
}

/// Calls of a site.
///
/// # Safety
///
/// The reader is null or open. The text is null, or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_calls(reader: *const Reader, site: *const c_char) -> u64 {
    // SAFETY: the caller promises it.
    let (reader, site) = unsafe { (reader.as_ref(), text(site)) };
    let calls = reader.zip(site).and_then(|(reader, site)| reader.calls.get(&*site));
    calls.copied().unwrap_or(0)
}

/// True if a part of the recording cannot be read.
///
/// # Safety
///
/// The reader is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_is_damaged(reader: *const Reader) -> bool {
    // SAFETY: the caller promises it.
    unsafe { reader.as_ref() }.is_some_and(|reader| !reader.store.missing().is_empty())
}

/// Closes a recording.
///
/// # Safety
///
/// The reader is null, or was opened and not closed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_close(reader: *mut Reader) {
    if !reader.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and this is its only end.
        drop(unsafe { Box::from_raw(reader) });
    }
}
