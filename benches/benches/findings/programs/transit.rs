//! Trains: boards, platforms and signal boxes.

use metaspy::channels::{Bus, Callbacks, mpsc};
use metaspy::prelude::*;
use metaspy::tasks::{self, FutureExt};

use super::{compute, one_thread};

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Board(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Identify)]
struct Train(u32);

#[derive(Clone, Debug, Announce)]
enum News {
    Arrived(u32),
    Late(u32),
}

/// The fault: board 4 subscribes as a board of its platform and as one of its line, so it hears all
/// news twice.
pub fn boards(fault: bool) {
    let (bus, first) = Bus::new("news").kinds().broadcast::<News>(32);
    let mut boards = vec![(Board(0), first)];
    boards.extend((1..8).map(|board| (Board(board), bus.subscribe())));
    if fault {
        boards.push((Board(4), bus.subscribe()));
    }
    (0..8).for_each(|board| label(Board(board), format!("board {board}")));
    let mut shown = 0_u64;
    for train in 0..400 {
        bus.send(if train % 3 == 0 { News::Late(train) } else { News::Arrived(train) })
            .expect("there are boards");
        for (board, news) in &mut boards {
            while let Ok(message) = news.try_recv() {
                let _because = news.because();
                shown = shown.wrapping_add(show(*board, &message));
            }
        }
    }
    println!("{shown}");
}

#[observe(subject = board)]
fn show(board: Board, news: &News) -> u64 {
    let (News::Arrived(train) | News::Late(train)) = news;
    compute(4) ^ u64::from(*train) ^ u64::from(board.0)
}

/// Correct: seven boards hear each message once; the last messages are in the queue of a board when
/// the program ends.
pub fn last_news() {
    let (bus, first) = Bus::new("last_news").kinds().broadcast::<News>(64);
    let mut boards = vec![(Board(0), first)];
    boards.extend((1..7).map(|board| (Board(board), bus.subscribe())));
    let mut shown = 0_u64;
    for train in 0..500 {
        bus.send(if train % 4 == 0 { News::Late(train) } else { News::Arrived(train) })
            .expect("there are boards");
        let is_over = train > 485;
        for (board, news) in boards.iter_mut().filter(|_| !is_over) {
            while let Ok(message) = news.try_recv() {
                let _because = news.because();
                shown = shown.wrapping_add(show(*board, &message));
            }
        }
    }
    println!("{shown}");
}

/// The fault: a change of platform is announced, and nothing listens to it.
pub fn platform_changes(fault: bool) {
    let station = Callbacks::new("station");
    let mut shown = 0_u64;
    for train in 0..600 {
        shown = shown.wrapping_add(station.announce("arrival", || {
            station.callback("arrival", || show(Board(0), &News::Arrived(train)))
        }));
        if train % 4 == 0 {
            shown = shown.wrapping_add(station.announce("platform", || {
                let listener =
                    || station.callback("platform", || show(Board(1), &News::Late(train)));
                if fault { compute(1) } else { listener() }
            }));
        }
    }
    println!("{shown}");
}

/// The fault: a signal box that has no room passes a train on to the other one, which has none
/// either; they go on for twelve rounds. Without it, a train waits where it is.
pub fn handover(fault: bool) {
    one_thread().block_on(async move {
        let (to_north, north) = Bus::new("north").mpsc::<Offer>(64);
        let (to_south, south) = Bus::new("south").mpsc::<Offer>(64);
        let boxes = [
            tasks::spawn(signal_box("north", north, to_south.clone(), fault)),
            tasks::spawn(signal_box("south", south, to_north.clone(), fault)),
        ];
        for train in 0..60 {
            to_north
                .send(Offer { train: Train(train), rounds: 12 })
                .await
                .expect("the box is there");
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        boxes.iter().for_each(|task| task.abort());
    });
}

#[derive(Debug)]
struct Offer {
    train: Train,
    rounds: u32,
}

async fn signal_box(
    name: &'static str,
    mut offers: mpsc::Receiver<Offer>,
    other: mpsc::Sender<Offer>,
    returns: bool,
) {
    while let Some(offer) = offers.recv().await {
        consider(name, offer, &other, returns).caused_by(offers.received()).await;
    }
}

#[observe(subject = offer.train)]
async fn consider(name: &str, offer: Offer, other: &mpsc::Sender<Offer>, returns: bool) {
    compute(5 + name.len() as u64);
    if returns && offer.rounds > 0 {
        let again = Offer { rounds: offer.rounds - 1, ..offer };
        other.send(again).await.expect("the other box is there");
    }
}

/// Correct: each train reports once a second, and the centre marks it on the map.
pub fn heartbeat() {
    let (reports, centre) = Bus::new("reports").wrap(std::sync::mpsc::channel::<_>());
    let mut marked = 0_u64;
    for _ in 0..120 {
        for train in 0..25 {
            reports.send(Train(train)).expect("the centre is there");
        }
        while let Ok(train) = centre.try_recv() {
            let _because = centre.because();
            marked = marked.wrapping_add(mark(train));
        }
    }
    println!("{marked}");
}

#[observe(subject = train)]
fn mark(train: Train) -> u64 {
    compute(4) ^ u64::from(train.0)
}
