//! `metaspy otlp --follow`: sends new events, each once, until the command is interrupted.

use std::collections::HashSet;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use metaspy_reader::units::grouped;
use tokio::sync::Notify;

use super::journal::{Journal, Key, key};
use super::receiver::Receiver;
use super::resource::Named;
use super::{metrics, report, spans};
use crate::arguments;
use crate::interrupt::interrupted;
use crate::query::Source;
use crate::stdout::print;

/// Time between two looks at the recordings.
const LOOK: Duration = Duration::from_secs(2);
/// Longest time between two trials of a receiver that fails.
const LONGEST: Duration = Duration::from_secs(60);

/// State of the command between two looks at the recordings.
struct Follow<'o> {
    options: &'o arguments::Otlp,
    receiver: Receiver,
    /// Names of the services and of the machine.
    named: Named,
    state: PathBuf,
    journal: Journal,
    /// Recordings that have ended and whose events are all sent.
    finished: HashSet<Key>,
    /// True if the receiver has rejected something.
    has_faults: bool,
    /// Last warnings. Equal warnings are printed only once.
    warnings: Vec<String>,
}

/// Sends new events and tallies until the command is interrupted.
pub async fn run(options: &arguments::Otlp) -> Result<bool> {
    let receiver = Receiver::of(options)?;
    let state = options.state.clone().map_or_else(|| default_state(&receiver), Ok)?;
    let journal = Journal::open(&state)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::new(Notify::new());
    tokio::spawn({
        let interrupted = interrupted()?;
        let is_over = is_over.clone();
        let over = over.clone();
        async move {
            interrupted.await;
            is_over.store(true, Ordering::Relaxed);
            over.notify_one();
        }
    });
    let finished = HashSet::new();
    let warnings = Vec::new();
    let named = Named::of(options);
    let mut follow =
        Follow { options, receiver, named, state, journal, finished, has_faults: false, warnings };
    let mut pause = LOOK;
    loop {
        match follow.pass(&is_over).await {
            Ok(()) => pause = LOOK,
            Err(error) => {
                report([format!("{error:#}; another trial follows in {} s", pause.as_secs())]);
                pause = (pause * 2).min(LONGEST);
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = over.notified() => return Ok(!follow.has_faults),
        }
    }
}

impl Follow<'_> {
    /// Sends the new events of all recordings, and the tallies if there were new events.
    async fn pass(&mut self, is_over: &AtomicBool) -> Result<()> {
        let source = super::source(self.options).await?;
        let (mut span_exporter, metric_exporter) =
            self.receiver.exporters().context("cannot send")?;
        let mut all = spans::Sent::default();
        for recording in source.recordings().iter() {
            let key = key(recording);
            if self.finished.contains(&key) {
                continue;
            }
            let has_ended = !recording.store.is_live();
            let news = spans::News { journal: &mut self.journal, key, is_over };
            spans::send(recording, &mut span_exporter, &mut all, &self.named, Some(news)).await?;
            if has_ended && !is_over.load(Ordering::Relaxed) {
                self.finished.insert(key);
            }
        }
        self.warn(&source);
        self.has_faults |= all.rejected.count > 0;
        report(all.rejected.report("spans"));
        if all.spans == 0 && all.rejected.count == 0 {
            return Ok(());
        }
        print(&format!("{} spans sent to {}\n", grouped(all.spans), self.receiver.address()))?;
        let rejected = metrics::send(&source, metric_exporter, &self.named).await?;
        self.has_faults |= rejected.count > 0;
        report(rejected.report("data points"));
        let present = source.recordings().iter().map(key).collect();
        self.journal.compact(&self.state, &present)
    }

    fn warn(&mut self, source: &Source) {
        let damaged = source.recordings().iter().filter(|recording| recording.is_damaged());
        let damage: Vec<String> = damaged.flat_map(|recording| recording.warnings()).collect();
        self.has_faults |= !damage.is_empty();
        if self.warnings != damage {
            report(damage.iter().cloned());
            self.warnings = damage;
        }
    }
}

/// Returns the default file of the journal for a receiver, in the user's directory of states.
fn default_state(receiver: &Receiver) -> Result<PathBuf> {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let states = of("XDG_STATE_HOME").or_else(|| Some(of("HOME")?.join(".local/state")));
    let states = states.context("there is no HOME: name a file with --state")?;
    let name = &blake3::hash(receiver.address().as_bytes()).to_hex()[..16];
    Ok(states.join(format!("metaspy/otlp-{name}.sent")))
}
