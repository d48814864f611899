//! Causes, effects and roots of events across the recordings of several processes.

use std::collections::HashSet;

use metaspy_reader::{EventId, Origin};

use crate::borders::span_of;
use crate::recordings::Recording;

/// Maximum number of effects of an event.
const EFFECTS: usize = 1 << 16;

/// Event in one of several recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Index of the recording.
    pub recording: usize,
    /// Number of the event in its recording.
    pub event: EventId,
}

/// Returns the event whose span this is, in one of the recorded processes.
fn sender(recordings: &[Recording], span: u64) -> Option<Place> {
    recordings.iter().zip(0..).find_map(|(recording, at)| {
        let event = recording.store.event_of_span(span)?.id;
        Some(Place { recording: at, event })
    })
}

/// Returns the chain of causes of an event, nearest first; `None` if there is no such event.
pub fn causes(recordings: &[Recording], event: Place) -> Option<Vec<Place>> {
    recordings[event.recording].store.event(event.event)?;
    let mut chain = Vec::new();
    // A damaged chain may loop.
    let mut senders = HashSet::from([event]);
    let mut from = event;
    loop {
        let mut causes = recordings[from.recording].store.causes(from.event);
        chain.extend(
            causes.by_ref().map(|cause| Place { recording: from.recording, event: cause.id }),
        );
        let Origin::Remote(remote) = causes.origin() else { return Some(chain) };
        match sender(recordings, remote.span).filter(|sender| senders.insert(*sender)) {
            Some(sender) => from = sender,
            None => return Some(chain),
        }
        chain.push(from);
    }
}

/// Returns the direct effects of an event, links included, by recording and number; `None` if there
/// is no such event.
pub fn effects(recordings: &[Recording], event: Place) -> Option<Vec<Place>> {
    let own = &recordings[event.recording];
    own.store.event(event.event)?;
    let span = span_of(&own.store, event.event);
    let mut effects = Vec::new();
    for (recording, at) in recordings.iter().zip(0..) {
        // An event that another process caused is an effect of the slot that notes the remote
        // cause.
        let received = recording.borders().receipts(span);
        let reasons = (at == event.recording).then_some(event.event).into_iter().chain(received);
        let events = reasons.flat_map(|reason| recording.effects().effects(reason));
        effects.extend(events.map(|event| Place { recording: at, event }));
    }
    effects.sort_unstable();
    effects.truncate(EFFECTS);
    Some(effects)
}

/// Returns the last event of the chain of causes, or the event itself if it has no cause; `None` if
/// there is no such event.
pub fn root(recordings: &[Recording], event: Place) -> Option<Place> {
    let root_in_process = |Place { recording, event }: Place| {
        Some(Place { recording, event: recordings[recording].roots().root(event)? })
    };
    let mut root = root_in_process(event)?;
    let mut seen = HashSet::new();
    loop {
        let recording = &recordings[root.recording];
        if recording.borders().is_empty() {
            return Some(root);
        }
        let ring = recording.store.ring();
        let cause = ring.peek(root.event).and_then(|(_, slot)| EventId::from_raw(slot.cause));
        let remote = cause.and_then(|cause| ring.remote(cause));
        let sender =
            remote.and_then(|remote| sender(recordings, remote.span)).filter(|_| seen.insert(root));
        match sender.and_then(root_in_process) {
            Some(further) => root = further,
            None => return Some(root),
        }
    }
}
