//! Which announcements are received too often, and what caused them, on a published server?
//!
//! The crate `mini-redis`, its server and its clients, in one process over loopback, and no line of
//! it changed. Three publishers announce what happens to nodes, commands and panels, and the views
//! of an editor listen: the case of the paper (MetaSpy, announcements), where a view that was
//! registered twice refreshed itself twice.
//!
//! A stack ends at the socket. So each message carries an envelope: the event of its PUBLISH, and
//! the recording in which it stands. The stream of a subscription, `Subscriber::into_stream`, goes
//! through a `SpiedStream`, which makes an event of each receipt; its cause is the event in the
//! envelope. The layer for `tracing` records the spans of mini-redis.
//!
//! **The finding.** 5 subscriptions receive 137 announcements 685 times. The server reports the
//! same, and no count is wrong. But there are 4 views, and one receipt of each PUBLISH is the
//! second one of the same view: `tree` receives 137 announcements 274 times, 137 times too many.
//! The recording has the reason: it subscribed in `View::open`, and once more in `View::show`.
//!
//! **Missing causes are reported.** The client's half of a PUBLISH is its effect, and so is each
//! receipt, with the work of the view. The server's half is not: the 156 events of
//! `mini_redis::server` begin with 9 spans `run`, one for each connection. They have no cause,
//! because only bytes arrive there. The receipts bridge the server, and its work in between is not
//! guessed.
//!
//! **A second finding** takes a subscriber that reads nothing while 8,000 announcements of 4 KiB
//! are published (`--publishes 8000 --subscribers 2 --slow 1 --payload 4096`): the server answers
//! that each has 2 receivers, 16,000 in all, and drops 4,891 of them. mini-redis keeps 1,024
//! messages of a channel, and skips those that a slow subscriber missed, without a report. The
//! numbers in the envelopes show it: received and missed add up to sent, and each gap is in the log
//! at its place.
//!
//! Run it with `cargo run --release --example bus`; `-- --help` lists the options.

mod findings;
mod json;
mod load;
mod options;
mod publisher;
#[cfg(test)]
mod tests;
mod text;
mod view;
mod wire;

use std::process::ExitCode;
use std::sync::{Arc, Once};

use findings::Findings;
use metaspy::prelude::*;
use metaspy::spans::{layer, spans};
use options::{HELP, Invocation, Options};
use tracing_subscriber::prelude::*;

fn main() -> ExitCode {
    ExitCode::from(start(std::env::args().skip(1)))
}

/// Runs a command line; the code that the process exits with.
fn start(arguments: impl IntoIterator<Item = String>) -> u8 {
    let options = match options::read(arguments) {
        Ok(Invocation::Run(options)) => options,
        Ok(Invocation::Help) => {
            print!("{HELP}");
            return 0;
        }
        Err(why) => {
            eprintln!("{why}; `--help` lists the options");
            return 2;
        }
    };
    match run(&options) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            1
        }
    }
}

fn run(options: &Options) -> mini_redis::Result<()> {
    let (findings, receivers) = profile(options)?;
    if options.json {
        println!("{}", json::of(&findings, options, receivers))
    } else {
        print!("{}", text::of(&findings, options, receivers))
    }
    if let Some(path) = &options.record {
        eprintln!("\nrecorded: metaspy open {}", path.display());
    }
    let (received, wanted) =
        (findings.received + findings.missed, options.publishes * options.subscribers as u64);
    if (findings.sent, received) == (options.publishes, wanted) {
        Ok(())
    } else {
        Err(format!(
            "{} were sent, and {received} of {wanted} receipts are accounted for",
            findings.sent
        )
        .into())
    }
}

/// Runs the load under a profiler; returns also the number of receivers that the server had.
fn profile(options: &Options) -> mini_redis::Result<(Findings, u64)> {
    static LAYER: Once = Once::new();
    LAYER.call_once(|| tracing_subscriber::registry().with(layer()).init());
    let recording = match &options.record {
        Some(path) => Recording::file(path).start()?,
        None => Recording::memory().start()?,
    };
    let profiler = Profiler::new("bus")
        .observe(methods("publisher::Publisher::*"))
        .observe(methods(site!(publisher::end)))
        .observe(methods("view::View::*"))
        .observe(proxied(view::sites()))
        .observe(spans("mini_redis::**"))
        .install()?;
    let receivers = load::run(options, Arc::from(wire::name_of(&recording)));
    let profile = profiler.uninstall();
    let findings = receivers.map(|receivers| (findings::of(&profile), receivers));
    recording.close();
    findings
}
