//! A mail server and its client.

use metaspy::prelude::*;

use super::{Numbers, compute};

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Folder(u32);

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Address(u32);

/// The fault: each tick of the clock counts the unread letters of all folders, although they change
/// only when a letter arrives, which counts them as well.
pub fn unread_counts(fault: bool) {
    let mut mailbox = Mailbox { unread: vec![0; 24], shown: 0 };
    for minute in 0..300 {
        if minute % 6 == 0 {
            mailbox.deliver(Folder(minute / 6 % 24));
        }
        mailbox.tick(fault);
    }
    println!("{}", mailbox.shown);
}

struct Mailbox {
    unread: Vec<u64>,
    shown: u64,
}

#[observe]
impl Mailbox {
    #[observe(subject = folder)]
    fn deliver(&mut self, folder: Folder) {
        self.unread[folder.0 as usize] += compute(5) % 3;
        self.count_unread(folder);
    }

    #[observe(subject = folder)]
    fn count_unread(&mut self, folder: Folder) {
        compute(8);
        self.shown += self.unread[folder.0 as usize];
    }

    fn tick(&mut self, counts: bool) {
        compute(5);
        if counts {
            (0..self.unread.len() as u32).for_each(|folder| self.count_unread(Folder(folder)));
        }
    }
}

/// The fault: a letter to an address that does not exist is tried eight times, and the answer is
/// final each time.
pub fn bounces(fault: bool) {
    let mut letters = Numbers::new(3);
    let returned = (0..600)
        .filter(|_| !send(Address(letters.below(100) as u32), if fault { 8 } else { 1 }))
        .count();
    println!("{returned}");
}

#[observe]
fn send(to: Address, attempts: u32) -> bool {
    (0..attempts).any(|_| offer(to).is_ok())
}

#[observe(subject = to)]
fn offer(to: Address) -> Result<(), &'static str> {
    compute(12);
    // A third of the addresses are out of date.
    if to.0.is_multiple_of(3) { Err("550 no such mailbox") } else { Ok(()) }
}

/// Correct: servers refuse the first attempt of a stranger and accept the second, as greylisting
/// does.
pub fn greylisting() {
    let mut post = Post { known: Vec::new() };
    let delivered = (0..400).filter(|&number| post.dispatch(Address(number))).count();
    println!("{delivered}");
}

struct Post {
    known: Vec<Address>,
}

#[observe]
impl Post {
    fn dispatch(&mut self, to: Address) -> bool {
        (0..3).any(|_| self.hand_over(to).is_ok())
    }

    #[observe(subject = to)]
    fn hand_over(&mut self, to: Address) -> Result<(), &'static str> {
        compute(10);
        if self.known.contains(&to) {
            return Ok(());
        }
        self.known.push(to);
        Err("451 try again")
    }
}

/// The fault: one of thirty relays refuses nearly all letters. Without it as many are refused, by
/// any of them.
pub fn relays(fault: bool) {
    let mut letters = Numbers::new(4);
    let mut refused = 0;
    for relay in 0..30 {
        label(Relay(relay), format!("relay {relay}"));
    }
    for _ in 0..5_000 {
        let relay = Relay(letters.below(30) as u32);
        let refuses =
            if fault { relay.0 == 21 && letters.below(12) > 0 } else { letters.below(33) == 0 };
        refused += u32::from(forward(relay, refuses).is_err());
    }
    println!("{refused}");
}

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Relay(u32);

#[observe(subject = relay)]
fn forward(relay: Relay, refuses: bool) -> Result<u64, String> {
    let size = compute(5);
    if refuses { Err(format!("relay {} is full", relay.0)) } else { Ok(size) }
}

/// Correct: a client asks again and again whether there is a letter, and mostly there is none.
pub fn polling() {
    let mut inbox = Inbox { asked: 0 };
    let mut read = 0_u64;
    for _ in 0..4_000 {
        if let Some(letter) = inbox.next_letter() {
            read = read.wrapping_add(inbox.open(letter));
        }
    }
    println!("{read}");
}

struct Inbox {
    asked: u32,
}

#[observe]
impl Inbox {
    fn next_letter(&mut self) -> Option<u32> {
        self.asked += 1;
        compute(1);
        self.asked.is_multiple_of(25).then_some(self.asked)
    }

    fn open(&self, letter: u32) -> u64 {
        compute(40).wrapping_add(u64::from(letter))
    }
}
