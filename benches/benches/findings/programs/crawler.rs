//! A crawler of web pages: queues, connections and names of hosts.

use metaspy::channels::{Bus, mpsc};
use metaspy::prelude::*;
use metaspy::tasks::{self, FutureExt};

use super::{answer_after, compute, one_thread, two_threads};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Identify)]
struct Page(u32);

/// The fault: a page takes longer to parse than to load, one page is parsed at a time, and nothing
/// slows the loading down. Without it, the queue has room for four.
pub fn parsing(fault: bool) {
    two_threads().block_on(async move {
        let (loaded, queue) = Bus::new("loaded").mpsc::<Page>(if fault { 10_000 } else { 4 });
        let parser = tasks::spawn(parse_all(queue));
        for page in 0..300 {
            answer_after(200).await;
            loaded.send(Page(page)).await.expect("the parser is there");
        }
        drop(loaded);
        parser.await.expect("nothing panics");
    });
}

async fn parse_all(mut queue: mpsc::Receiver<Page>) {
    while let Some(page) = queue.recv().await {
        parse(page).caused_by(queue.received()).await;
    }
}

#[observe(subject = page)]
async fn parse(page: Page) -> u64 {
    answer_after(3_000).await;
    compute(20) ^ u64::from(page.0)
}

/// Correct: a queue whose worker is as fast as its senders, all the time.
pub fn steady_queue() {
    two_threads().block_on(async {
        let (found, queue) = Bus::new("found").mpsc::<Page>(100);
        let parser = tasks::spawn(index_all(queue));
        for page in 0..300 {
            answer_after(1_500).await;
            found.send(Page(page)).await.expect("the index is there");
        }
        drop(found);
        parser.await.expect("nothing panics");
    });
}

async fn index_all(mut queue: mpsc::Receiver<Page>) {
    while let Some(page) = queue.recv().await {
        index(page).caused_by(queue.received()).await;
    }
}

#[observe(subject = page)]
async fn index(page: Page) -> u64 {
    compute(30) ^ u64::from(page.0)
}

/// The fault: a connection stays in a list when its page has been loaded.
pub fn connections(fault: bool) {
    let mut idle = Vec::new();
    let mut loaded = 0_u64;
    for page in 0..3_000 {
        let connection = Spied::new(Connection { page: Page(page) });
        connection.open();
        loaded = loaded.wrapping_add(connection.load());
        if fault {
            idle.push(connection);
        }
    }
    println!("{loaded} {}", idle.len());
}

struct Connection {
    page: Page,
}

#[observe]
impl Connection {
    fn open(&self) -> u64 {
        compute(3)
    }

    fn load(&self) -> u64 {
        compute(6) ^ u64::from(self.page.0)
    }
}

/// The fault: the name of a host is looked up again every thirty pages, in the middle of the
/// loading of a page. Without it, names are refreshed between two pages.
pub fn host_names(fault: bool) {
    let mut loaded = 0_u64;
    for page in 0..900 {
        if !fault && page % 30 == 0 {
            loaded = loaded.wrapping_add(resolve(page / 30));
        }
        loaded = loaded.wrapping_add(visit(Page(page), fault && page % 30 == 0));
    }
    println!("{loaded}");
}

#[observe(subject = page)]
fn visit(page: Page, has_expired: bool) -> u64 {
    let host = if has_expired { resolve(page.0 / 30) } else { 0 };
    request(page) ^ host
}

#[observe]
fn resolve(host: u32) -> u64 {
    compute(1_800) ^ u64::from(host)
}

#[observe(subject = page)]
fn request(page: Page) -> u64 {
    compute(25) ^ u64::from(page.0)
}

/// The fault: the pictures of pages are loaded by the runtime's own `spawn`, which knows no causes.
pub fn pictures(fault: bool) {
    two_threads().block_on(async move {
        for page in 0..300 {
            follow(Page(page), fault).await;
        }
    });
}

#[observe(subject = page)]
async fn follow(page: Page, loses_cause: bool) {
    tasks::spawn(load(page)).await.expect("nothing panics");
    if page.0.is_multiple_of(2) {
        let picture = load(Page(page.0 + 1_000));
        let picture = if loses_cause { tokio::spawn(picture) } else { tasks::spawn(picture) };
        picture.await.expect("nothing panics");
    }
}

#[observe(subject = page)]
async fn load(page: Page) -> u64 {
    compute(10) ^ u64::from(page.0)
}

/// Correct: a large file is asked for piece by piece, and the answer to a piece leads to the next
/// request.
pub fn pieces() {
    one_thread().block_on(async {
        let (requests, mut asked) = Bus::new("requests").mpsc::<u32>(4);
        let (answers, mut answered) = Bus::new("answers").mpsc::<u32>(4);
        let server = tasks::spawn(async move {
            while let Some(piece) = asked.recv().await {
                let received = asked.received();
                read_piece(Page(piece)).caused_by(received).await;
                answers.send(piece).caused_by(received).await.expect("the client is there");
            }
        });
        requests.send(0).await.expect("the server is there");
        while let Some(piece) = answered.recv().await {
            let received = answered.received();
            write_piece(Page(piece)).caused_by(received).await;
            if piece == 500 {
                break;
            }
            requests.send(piece + 1).caused_by(received).await.expect("the server is there");
        }
        server.abort();
    });
}

#[observe(subject = piece)]
async fn read_piece(piece: Page) -> u64 {
    compute(6) ^ u64::from(piece.0)
}

#[observe(subject = piece)]
async fn write_piece(piece: Page) -> u64 {
    compute(6) ^ u64::from(piece.0)
}
