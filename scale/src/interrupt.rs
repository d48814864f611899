//! Interrupts.

use std::process;

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// Exit code of a process that an interrupt ended, as shells define it.
const INTERRUPTED: i32 = 130;

/// Waits for SIGINT (^C) or SIGTERM, from this call on. The second signal ends the process at once.
pub fn interrupted() -> Result<impl Future<Output = ()>> {
    let cannot = "cannot wait for a signal";
    let mut interrupt = signal(SignalKind::interrupt()).context(cannot)?;
    let mut terminate = signal(SignalKind::terminate()).context(cannot)?;
    let (first, waits) = oneshot::channel();
    // The signals have a task of their own, because the other tasks may be busy.
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        // The command may have ended, and then nobody receives the message.
        let _ = first.send(());
        either(&mut interrupt, &mut terminate).await;
        process::exit(INTERRUPTED)
    });
    Ok(async {
        let _ = waits.await;
    })
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}
