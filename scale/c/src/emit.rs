//! Sites, calls, subjects and causes.

use std::collections::HashMap;
use std::ffi::{c_char, c_uint};
use std::mem::MaybeUninit;
use std::sync::{LazyLock, Mutex, PoisonError};

use metaspy_core::causality::{Because, Carried};
use metaspy_core::hook::{self, Cause, SpanCall, Unforked};
use metaspy_core::remote::TraceParent;
use metaspy_core::site::{Site, SiteDef, SiteKind, register_dynamic};
use metaspy_core::store::text::print_message;
use metaspy_core::{
    EventId, Kind, KindId, Outcome, Recording, Subject, causality, from_remote, model,
};

use crate::{guarded, text};

/// Stands for no cause.
const ROOT: u64 = u64::MAX;

/// The room of a call: `metaspy_call`.
#[repr(C)]
pub struct Room([MaybeUninit<u64>; 24]);

// A call is made in its room.
const _: () = assert!(
    size_of::<SpanCall>() <= size_of::<Room>() && align_of::<SpanCall>() <= align_of::<Room>()
);

/// The room of a call on the stack of its thread: `metaspy_frame`.
#[repr(C)]
pub struct Frame([MaybeUninit<u64>; 12]);

/// A call on the stack of its thread, and its cause if that is not the event around. They end in
/// this order.
struct Nested {
    call: hook::Call,
    _cause: Option<Because>,
}

const _: () = assert!(
    size_of::<Nested>() <= size_of::<Frame>() && align_of::<Nested>() <= align_of::<Frame>()
);

/// What is made once for each name, and lives as long as the process.
type Interned<V> = LazyLock<Mutex<HashMap<String, V>>>;

fn intern<V: Copy>(all: &Interned<V>, name: &str, make: impl FnOnce(&'static str) -> V) -> V {
    let _unforked = Unforked::begin();
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    match all.get(name) {
        Some(known) => *known,
        None => *all.entry(name.to_owned()).or_insert(make(name.to_owned().leak())),
    }
}

/// The site with a path.
///
/// # Safety
///
/// The texts are null, or end with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_site_at(
    path: *const c_char,
    file: *const c_char,
    line: u32,
) -> Option<&'static Site> {
    // SAFETY: the caller promises it.
    unsafe { metaspy_site_in(path, file, line, false) }
}

/// As [`metaspy_site_at`]; `in_steps` is true if each call pauses, and its time is that of its
/// steps.
///
/// # Safety
///
/// As [`metaspy_site_at`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_site_in(
    path: *const c_char,
    file: *const c_char,
    line: u32,
    in_steps: bool,
) -> Option<&'static Site> {
    static SITES: Interned<&'static Site> = LazyLock::new(Mutex::default);
    // SAFETY: the caller promises it.
    let (path, file) = unsafe { (text(path), text(file)) };
    guarded(None, || {
        let path = path.filter(|path| !path.is_empty())?;
        Some(intern(&SITES, &path, |path| {
            // The type belongs to the name: `Order::pay` in `shop`.
            let types = path.rmatch_indices("::").map(|(at, _)| at);
            let is_type = |at: &usize| path[..*at].rsplit("::").next().is_some_and(begins_upper);
            let cut = match types.clone().next() {
                Some(last) if is_type(&last) => types.clone().nth(1),
                last => last,
            };
            let (module, name) = match cut {
                Some(cut) => (&path[..cut], &path[cut + 2..]),
                None => ("", path),
            };
            let file: &'static str = file.unwrap_or_default().into_owned().leak();
            let kind = if in_steps { SiteKind::Async } else { SiteKind::Method };
            register_dynamic(SiteDef {
                kind,
                module,
                name,
                file,
                lines: (line, line),
                skipped: None,
            })
        }))
    })
}

fn begins_upper(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// The kind with a name.
///
/// # Safety
///
/// The text is null, or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_kind_of(name: *const c_char) -> u16 {
    static KINDS: Interned<KindId> = LazyLock::new(Mutex::default);
    // SAFETY: the caller promises it.
    let name = unsafe { text(name) };
    guarded(0, || {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return 0 };
        intern(&KINDS, &name, |name| {
            let kind = Kind::new(name).id();
            _ = Recording::running().map(|recording| recording.write_names());
            kind
        })
        .0
    })
}

/// True if the site is armed.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_is_armed(site: Option<&'static Site>) -> bool {
    site.is_some_and(Site::is_armed)
}

/// Begins a call.
///
/// # Safety
///
/// The room is null, or valid and without a call that runs. It stays in its place until the call
/// ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_begin(
    room: *mut Room,
    site: Option<&'static Site>,
    kind: u16,
    key: u64,
    cause: u64,
) {
    // SAFETY: the caller promises it.
    let Some(call) = (unsafe { vacant(room) }) else { return };
    if let Some(site) = site.filter(|site| site.is_armed()) {
        guarded((), || begin(call, site, subject(kind, key), cause_of(cause)));
    }
}

/// Begins a call whose cause is in another process.
///
/// # Safety
///
/// As [`metaspy_begin`]. The text is null, or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_begin_remote(
    room: *mut Room,
    site: Option<&'static Site>,
    kind: u16,
    key: u64,
    traceparent: *const c_char,
) {
    // SAFETY: the caller promises it.
    let (call, parent) = unsafe { (vacant(room), text(traceparent)) };
    if let (Some(call), Some(site)) = (call, site.filter(|site| site.is_armed())) {
        guarded((), || {
            let _cause = parent.map(|parent| from_remote(&parent));
            begin(call, site, subject(kind, key), Cause::Around);
        });
    }
}

fn begin(call: &SpanCall, site: &'static Site, subject: Subject, cause: Cause) {
    call.begin(site, subject, cause, |_| ());
    call.enter();
}

/// A vacant call in its room.
///
/// # Safety
///
/// The room is null, or valid for the call that is made in it.
unsafe fn vacant<'a>(room: *mut Room) -> Option<&'a SpanCall> {
    // SAFETY: the room is large enough, and aligned, by the assertion above.
    let room = unsafe { room.cast::<MaybeUninit<SpanCall>>().as_mut() }?;
    Some(room.write(SpanCall::vacant()))
}

/// The event of a call.
///
/// # Safety
///
/// The call is null, or one that `metaspy_begin` made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_event_of(call: *const Room) -> u64 {
    // SAFETY: the caller promises that a call is in the room.
    let call = unsafe { call.cast::<SpanCall>().as_ref() };
    call.and_then(SpanCall::event).map_or(0, EventId::raw)
}

/// Ends a call.
///
/// # Safety
///
/// As [`metaspy_event_of`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_end(call: *mut Room, outcome: c_uint) {
    // SAFETY: the caller promises that a call is in the room.
    let Some(call) = (unsafe { call.cast::<SpanCall>().as_ref() }) else { return };
    guarded((), || {
        call.exit(Outcome::from_bits(outcome as u8));
        call.leave();
        call.end();
    });
}

/// Ends a call of a site whose calls pause.
///
/// # Safety
///
/// As [`metaspy_event_of`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_end_steps(call: *mut Room, outcome: c_uint) {
    // SAFETY: the caller promises that a call is in the room.
    let Some(call) = (unsafe { call.cast::<SpanCall>().as_ref() }) else { return };
    guarded((), || {
        call.exit(Outcome::from_bits(outcome as u8));
        call.leave();
        call.end_polled();
    });
}

/// This thread goes into a call that was left.
///
/// # Safety
///
/// As [`metaspy_event_of`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_resume(call: *const Room) {
    // SAFETY: the caller promises that a call is in the room.
    if let Some(call) = unsafe { call.cast::<SpanCall>().as_ref() } {
        guarded((), || call.enter());
    }
}

/// Begins a call on the stack of its thread.
///
/// # Safety
///
/// The frame is null, or valid and without a call that runs. It stays in its place until the call
/// ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_enter(
    frame: *mut Frame,
    site: Option<&'static Site>,
    kind: u16,
    key: u64,
    cause: u64,
) -> u64 {
    // SAFETY: the frame is large enough, and aligned, by the assertion above.
    let Some(frame) = (unsafe { frame.cast::<MaybeUninit<Nested>>().as_mut() }) else { return 0 };
    let nested = frame.write(Nested { call: hook::Call::inert(), _cause: None });
    let Some(site) = site.filter(|site| site.is_armed()) else { return 0 };
    guarded(0, || {
        let enter = || hook::enter(site, subject(kind, key));
        nested.call = match Carried::from_bits(cause).event() {
            None if cause != 0 => Cause::Nothing.of(enter),
            // A thread that is in the cause needs not go there.
            Some(event) if causality::current() != Some(event) => {
                nested._cause = Some(causality::because(event));
                enter()
            }
            _ => enter(),
        };
        Carried::new(nested.call.event()).to_bits()
    })
}

/// Ends a call on the stack of its thread.
///
/// # Safety
///
/// The frame is null, or one in which `metaspy_enter` made a call, which has not ended. This is the
/// thread on which it did.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_exit(frame: *mut Frame, outcome: c_uint) {
    if frame.is_null() {
        return;
    }
    // SAFETY: the caller promises that a call is in the frame, and it is taken once.
    let Nested { call, _cause } = unsafe { frame.cast::<Nested>().read() };
    guarded((), || call.done(Outcome::from_bits(outcome as u8)));
}

/// This thread comes out of a call that lasts.
///
/// # Safety
///
/// As [`metaspy_event_of`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_leave(call: *const Room) {
    // SAFETY: the caller promises that a call is in the room.
    if let Some(call) = unsafe { call.cast::<SpanCall>().as_ref() } {
        guarded((), || call.leave());
    }
}

/// An event without length.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_instant(
    site: Option<&'static Site>,
    kind: u16,
    key: u64,
    cause: u64,
) -> u64 {
    let Some(site) = site.filter(|site| site.is_armed()) else { return 0 };
    let event = guarded(None, || cause_of(cause).of(|| hook::instant(site, subject(kind, key))));
    event.map_or(0, EventId::raw)
}

/// The event in which this thread is.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_current() -> u64 {
    guarded(0, || causality::current().map_or(0, EventId::raw))
}

/// Adds a further reason.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_link(effect: u64, cause: u64) -> bool {
    let (Some(effect), Some(cause)) = (EventId::from_raw(effect), EventId::from_raw(cause)) else {
        return false;
    };
    guarded(false, || causality::link(effect, cause))
}

/// An event with its recording.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_carry(event: u64) -> u64 {
    guarded(0, || Carried::new(EventId::from_raw(event)).to_bits())
}

/// The event that is carried, if no other recording has begun since.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_event_carried(carried: u64) -> u64 {
    guarded(0, || Carried::from_bits(carried).event().map_or(0, EventId::raw))
}

/// Writes the `traceparent` of the event in which this thread is.
///
/// # Safety
///
/// The room is null, or has 56 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_traceparent(out: *mut [u8; 56]) -> bool {
    // SAFETY: the caller promises it.
    unsafe { metaspy_traceparent_of(metaspy_current(), out) }
}

/// Writes the `traceparent` of an event.
///
/// # Safety
///
/// As [`metaspy_traceparent`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_traceparent_of(event: u64, out: *mut [u8; 56]) -> bool {
    // SAFETY: the caller promises it.
    let Some(out) = (unsafe { out.as_mut() }) else { return false };
    *out = [0; 56];
    let parent = guarded(None, || {
        let _current = causality::because(EventId::from_raw(event)?);
        TraceParent::current().map(|parent| parent.to_string())
    });
    let Some(parent) = parent.filter(|parent| parent.len() < out.len()) else { return false };
    out[..parent.len()].copy_from_slice(parent.as_bytes());
    true
}

/// Labels a subject.
///
/// # Safety
///
/// The text is null, or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_label(kind: u16, key: u64, label: *const c_char) {
    // SAFETY: the caller promises it.
    if let (Some(label), Some(subject)) = (unsafe { text(label) }, named(kind, key)) {
        guarded((), || model::label(subject, label));
    }
}

/// Relates two subjects.
///
/// # Safety
///
/// The text is null, or ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metaspy_relate(
    relation: *const c_char,
    from_kind: u16,
    from_key: u64,
    to_kind: u16,
    to_key: u64,
) {
    // SAFETY: the caller promises it.
    let relation = unsafe { text(relation) };
    if let (Some(relation), Some(from), Some(to)) =
        (relation, named(from_kind, from_key), named(to_kind, to_key))
    {
        guarded((), || model::relate(relation, from, to));
    }
}

/// Ends a subject.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_forget(kind: u16, key: u64) {
    if let Some(subject) = named(kind, key) {
        guarded((), || model::forget(subject));
    }
}

/// Starts a recording in a forked child, if the environment selects one. True if it did.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_forked() -> bool {
    guarded(false, || match Recording::in_forked_child() {
        Ok(started) => started.is_some(),
        Err(error) => {
            print_message(&format_args!(
                "metaspy: nothing of this forked process is recorded: {error}"
            ));
            false
        }
    })
}

/// Ends the recording of this process.
#[unsafe(no_mangle)]
pub extern "C" fn metaspy_end_recording() {
    guarded((), || _ = Recording::running().map(|recording| recording.close()));
}

/// A subject; none if it has no kind.
fn subject(kind: u16, key: u64) -> Subject {
    named(kind, key).unwrap_or(Subject::NONE)
}

fn named(kind: u16, key: u64) -> Option<Subject> {
    (kind != 0).then(|| Subject::new(KindId(kind), key))
}

fn cause_of(cause: u64) -> Cause {
    match EventId::from_raw(cause) {
        _ if cause == ROOT => Cause::Nothing,
        // A thread that is in the cause needs not go there.
        Some(event) if causality::current() != Some(event) => Cause::Named(event),
        _ => Cause::Around,
    }
}
