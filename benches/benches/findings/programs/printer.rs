//! A print server: a spool, a status and its users.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use metaspy::locks::tokio::Mutex;
use metaspy::prelude::*;
use metaspy::tasks;

use super::{answer_after, compute, one_thread, pause, two_threads};

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Sheet(u32);

/// The fault: the spool is locked while a sheet is printed, and who adds a sheet waits. Without it,
/// the sheet is taken out first.
pub fn spool(fault: bool) {
    two_threads().block_on(async move {
        let spool = Arc::new(Mutex::new("Spool::sheets", Vec::new()));
        let printing = tasks::spawn(print_all(spool.clone(), fault));
        let users: Vec<_> =
            (0..3).map(|user| tasks::spawn(add_sheets(spool.clone(), user))).collect();
        for user in users {
            user.await.expect("nothing panics");
        }
        printing.await.expect("nothing panics");
    });
}

async fn add_sheets(spool: Arc<Mutex<Vec<Sheet>>>, user: u32) {
    for sheet in 0..60 {
        add(&spool, Sheet(user * 100 + sheet)).await;
        answer_after(1_000).await;
    }
}

#[observe(subject = sheet)]
async fn add(spool: &Mutex<Vec<Sheet>>, sheet: Sheet) {
    spool.lock().await.push(sheet);
}

async fn print_all(spool: Arc<Mutex<Vec<Sheet>>>, under_lock: bool) {
    for _ in 0..40 {
        print_next(&spool, under_lock).await;
        answer_after(1_000).await;
    }
}

#[observe]
async fn print_next(spool: &Mutex<Vec<Sheet>>, under_lock: bool) {
    let mut sheets = spool.lock().await;
    let next = sheets.pop();
    if under_lock {
        print(next).await;
        drop(sheets);
    } else {
        drop(sheets);
        print(next).await;
    }
}

#[observe]
async fn print(_sheet: Option<Sheet>) {
    answer_after(4_000).await;
}

/// The fault: a task asks the printer with a call that blocks its thread, and all other tasks stand
/// still. Without it, the task gives way while it waits.
pub fn status(fault: bool) {
    one_thread().block_on(async move {
        let users: Vec<_> = (0..5).map(|user| tasks::spawn(show_progress(user))).collect();
        for _ in 0..20 {
            ask_printer(fault).await;
            answer_after(5_000).await;
        }
        users.iter().for_each(|user| user.abort());
    });
}

#[observe(subject = Sheet(user))]
async fn show_progress(user: u32) {
    loop {
        answer_after(1_500).await;
        compute(3);
    }
}

#[observe]
async fn ask_printer(blocks: bool) {
    if blocks {
        pause(15_000);
    } else {
        answer_after(15_000).await;
    }
}

/// The fault: who waits for the printer wakes itself again at once, thousands of times. Without it,
/// the printer wakes it.
pub fn waking(fault: bool) {
    two_threads().block_on(async move {
        for job in 0..10 {
            let is_ready = Arc::new(AtomicBool::new(false));
            let notify = Arc::new(tokio::sync::Notify::new());
            let printer = (is_ready.clone(), notify.clone());
            let warming = tasks::spawn(async move {
                tokio::time::sleep(Duration::from_millis(8)).await;
                printer.0.store(true, Ordering::Release);
                printer.1.notify_one();
            });
            if fault {
                until_ready(Sheet(job), Ready(is_ready)).await
            } else {
                until_notified(Sheet(job), &notify).await
            }
            warming.await.expect("nothing panics");
        }
    });
}

#[observe(subject = job)]
async fn until_ready(job: Sheet, ready: Ready) {
    ready.await;
    compute(u64::from(job.0));
}

#[observe(subject = job)]
async fn until_notified(job: Sheet, notify: &tokio::sync::Notify) {
    notify.notified().await;
    compute(u64::from(job.0));
}

struct Ready(Arc<AtomicBool>);

impl Future for Ready {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
