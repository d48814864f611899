//! A theatre: seats, lamps and doors.

use std::sync::mpsc;

use metaspy::channels::{Bus, std_mpsc};
use metaspy::prelude::*;
use metaspy::tasks;

use super::{Numbers, compute, pause};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Identify)]
struct Seat(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Identify)]
struct Lamp(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Identify)]
struct Door(u32);

/// The fault: the plan draws all seats of the row of a booking, and of all other rows, too. A
/// booked seat is drawn because of the message that it was booked.
pub fn seats(fault: bool) {
    let (bookings, queue) = Bus::new("bookings").wrap(mpsc::channel::<_>());
    let mut guests = Numbers::new(51);
    for _ in 0..200 {
        bookings.send(Seat(guests.below(60) as u32)).expect("the plan is there");
        while let Ok(seat) = queue.try_recv() {
            let _because = queue.because();
            draw(seat);
        }
        refresh(fault);
    }
}

#[observe]
fn refresh(all: bool) {
    compute(10);
    if all {
        (0..60).for_each(|seat| draw(Seat(seat)));
    }
}

#[observe(subject = seat)]
fn draw(seat: Seat) {
    compute(5 + u64::from(seat.0 % 2));
}

/// The fault: each cue computes the colours of all lamps, although a cue changes two of them.
pub fn lamps(fault: bool) {
    let mut stage = Stage { colours: vec![1; 50], mixed: vec![0; 50], mixes_all: fault };
    for cue in 0..120 {
        stage.cue(cue);
    }
    println!("{}", stage.mixed.iter().copied().fold(0, u64::wrapping_add));
}

struct Stage {
    colours: Vec<u64>,
    mixed: Vec<u64>,
    mixes_all: bool,
}

#[observe]
impl Stage {
    fn cue(&mut self, cue: u32) {
        let changed = [Lamp(cue * 7 % 50), Lamp(cue * 11 % 50)];
        changed.iter().for_each(|&lamp| self.set(lamp));
        if self.mixes_all {
            (0..50).for_each(|lamp| self.mix(Lamp(lamp)));
        } else {
            changed.iter().for_each(|&lamp| self.mix(lamp));
        }
    }

    #[observe(subject = lamp)]
    fn set(&mut self, lamp: Lamp) {
        self.colours[lamp.0 as usize] += compute(1);
    }

    #[observe(subject = lamp)]
    fn mix(&mut self, lamp: Lamp) {
        self.mixed[lamp.0 as usize] = self.colours[lamp.0 as usize] ^ compute(9);
    }
}

/// Correct: a chase of lights moves on in each beat, so all lamps change.
pub fn chase() {
    let mut lights = Lights { phases: vec![0; 50] };
    for beat in 0..120 {
        if beat % 10 == 0 {
            lights.point(Lamp(beat % 50));
        }
        lights.beat();
    }
    println!("{}", lights.phases.iter().sum::<u64>());
}

struct Lights {
    phases: Vec<u64>,
}

#[observe]
impl Lights {
    #[observe(subject = lamp)]
    fn point(&mut self, lamp: Lamp) {
        self.phases[lamp.0 as usize] += 1;
    }

    fn beat(&mut self) {
        (0..self.phases.len() as u32).for_each(|lamp| self.move_on(Lamp(lamp)));
    }

    #[observe(subject = lamp)]
    fn move_on(&mut self, lamp: Lamp) {
        self.phases[lamp.0 as usize] += compute(6) % 7;
    }
}

/// The fault: one in thirty changes of the scene reads the scenery from the disk again. Without it,
/// it is read between two acts.
pub fn scenery(fault: bool) {
    let mut shown = 0_u64;
    for scene in 0..1_200 {
        if !fault && scene % 30 == 0 {
            shown = shown.wrapping_add(read_scenery(scene));
        }
        shown = shown.wrapping_add(change_scene(scene, fault && scene % 30 == 0));
    }
    println!("{shown}");
}

#[observe]
fn change_scene(scene: u32, reads: bool) -> u64 {
    let scenery = if reads { read_scenery(scene) } else { 0 };
    raise(scene) ^ scenery
}

#[observe]
fn read_scenery(scene: u32) -> u64 {
    compute(1_500) ^ u64::from(scene)
}

#[observe]
fn raise(scene: u32) -> u64 {
    compute(20) ^ u64::from(scene)
}

/// Correct: a show with guests takes longer, because there are guests to greet.
pub fn guests() {
    let mut visitors = Numbers::new(52);
    let greeted = (0..500)
        .map(|_| show(if visitors.below(25) == 0 { 40 } else { 0 }))
        .fold(0, u64::wrapping_add);
    println!("{greeted}");
}

#[observe(args(guests))]
fn show(guests: u32) -> u64 {
    (0..guests).map(greet).fold(compute(20), u64::wrapping_add)
}

#[observe]
fn greet(guest: u32) -> u64 {
    compute(10) ^ u64::from(guest)
}

/// The fault: a locked door is pushed five times, and does not open. Without it, the first refusal
/// is believed.
pub fn doors(fault: bool) {
    let mut ways = Numbers::new(53);
    let entered =
        (0..800).filter(|_| enter(Door(ways.below(60) as u32), if fault { 5 } else { 1 })).count();
    println!("{entered}");
}

#[observe]
fn enter(door: Door, pushes: u32) -> bool {
    (0..pushes).any(|_| push(door).is_some())
}

#[observe(subject = door)]
fn push(door: Door) -> Option<u32> {
    compute(8);
    (door.0 % 4 != 1).then_some(door.0)
}

/// Correct: the scanner of tickets does not always read at once, and mostly reads at the second
/// time.
pub fn tickets() {
    let mut light = Numbers::new(54);
    let scanned = (0..900).filter(|&ticket| scan(Seat(ticket), &mut light)).count();
    println!("{scanned}");
}

#[observe]
fn scan(ticket: Seat, light: &mut Numbers) -> bool {
    (0..6).any(|_| read_code(ticket, light.below(10) < 7).is_ok())
}

#[observe(subject = ticket)]
fn read_code(ticket: Seat, is_bright: bool) -> Result<u32, String> {
    compute(7);
    if is_bright { Ok(ticket.0) } else { Err(format!("ticket {} is not read", ticket.0)) }
}

/// The fault: all tickets go to the printer of the first letter, and the three others wait. Without
/// it, in turn.
pub fn printers(fault: bool) {
    let printers: Vec<_> = (0..4)
        .map(|_| {
            let (tickets, queue) = Bus::new("tickets").wrap(mpsc::channel::<_>());
            let printer = tasks::thread::spawn(move || {
                while let Ok(ticket) = queue.recv() {
                    let _because = queue.because();
                    print(ticket);
                }
            });
            (tickets, printer)
        })
        .collect();
    for ticket in 0..1_000 {
        let printer = if fault && ticket % 50 != 0 { 0 } else { ticket as usize % printers.len() };
        printers[printer].0.send(Seat(ticket)).expect("the printer is there");
        if ticket % 40 == 0 {
            pause(300);
        }
    }
    for (tickets, printer) in printers {
        drop(tickets);
        printer.join().expect("nothing panics");
    }
}

#[observe(subject = ticket)]
fn print(ticket: Seat) -> u64 {
    compute(25) ^ u64::from(ticket.0)
}

/// Correct: a song is sung again because the audience asks for it.
pub fn encores() {
    let (wishes, queue) = Bus::new("wishes").wrap(mpsc::channel::<_>());
    for evening in 0..80_u32 {
        concert(evening, &wishes);
        while let Ok(song) = queue.try_recv() {
            let _because = queue.because();
            sing(song);
        }
    }
}

#[observe]
fn concert(evening: u32, wishes: &std_mpsc::Sender<Lamp>) {
    for song in 0..10 {
        sing(Lamp(song));
        if (song + evening) % 4 == 0 {
            wishes.send(Lamp(song)).expect("the stage is there");
        }
    }
}

#[observe(subject = song)]
fn sing(song: Lamp) -> u64 {
    compute(12) ^ u64::from(song.0)
}

/// Correct: a seat is looked up for its row and for its price, which are two questions with two
/// answers.
pub fn plan() {
    let mut sum = 0_u64;
    for guest in 0..700 {
        sum = sum.wrapping_add(usher(Seat(guest % 90)));
    }
    println!("{sum}");
}

#[observe]
fn usher(seat: Seat) -> u64 {
    attribute(seat, "row").wrapping_add(attribute(seat, "price"))
}

#[observe(subject = seat, args(name))]
fn attribute(seat: Seat, name: &str) -> u64 {
    compute(9) ^ u64::from(seat.0) ^ name.len() as u64
}
