//! A game: sprites, units and levels.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use metaspy::prelude::*;

use super::{Numbers, compute};

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Sprite(u32);

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Unit(u32);

/// Correct: each frame is painted from nothing, so it needs all sprites, also those that did not
/// move.
pub fn painting() {
    let mut scene = Scene { places: vec![0; 200], pixels: 0 };
    for frame in 0..60 {
        (0..4).for_each(|n| scene.move_to(Sprite((frame * 7 + n) % 200), u64::from(frame)));
        scene.frame();
    }
    println!("{}", scene.pixels);
}

struct Scene {
    places: Vec<u64>,
    pixels: u64,
}

#[observe]
impl Scene {
    #[observe(subject = sprite)]
    fn move_to(&mut self, sprite: Sprite, place: u64) {
        self.places[sprite.0 as usize] = place;
    }

    fn frame(&mut self) {
        self.clear();
        (0..self.places.len() as u32).for_each(|sprite| self.paint(Sprite(sprite)));
    }

    fn clear(&mut self) {
        compute(20);
        self.pixels = 0;
    }

    #[observe(subject = sprite)]
    fn paint(&mut self, sprite: Sprite) {
        self.pixels = self.pixels.wrapping_add(compute(3) ^ self.places[sprite.0 as usize]);
    }
}

/// Correct: an animation; all sprites change in each frame, and are drawn after that.
pub fn animation() {
    let mut dance = Dance { phases: vec![0; 80], drawn: 0 };
    for _ in 0..90 {
        dance.show();
    }
    println!("{}", dance.drawn);
}

struct Dance {
    phases: Vec<u64>,
    drawn: u64,
}

#[observe]
impl Dance {
    fn show(&mut self) {
        (0..80).for_each(|sprite| self.advance(Sprite(sprite)));
        (0..80).for_each(|sprite| self.draw(Sprite(sprite)));
    }

    #[observe(subject = sprite)]
    fn advance(&mut self, sprite: Sprite) {
        self.phases[sprite.0 as usize] += 1 + u64::from(sprite.0 % 3);
    }

    #[observe(subject = sprite)]
    fn draw(&mut self, sprite: Sprite) {
        self.drawn = self.drawn.wrapping_add(compute(3) ^ self.phases[sprite.0 as usize]);
    }
}

/// The fault: a unit that has no way to its goal looks for one in each turn. Without it, it waits
/// fifty turns.
pub fn stuck_unit(fault: bool) {
    label(Unit(17), "scout");
    let mut orders = Numbers::new(8);
    let mut found = 0;
    for turn in 0..1_500 {
        let unit = Unit(orders.below(40) as u32);
        found += u64::from(find_way(unit));
        if turn % if fault { 1 } else { 50 } == 0 {
            found += u64::from(find_way(Unit(17)));
        }
    }
    println!("{found}");
}

#[observe(subject = unit)]
fn find_way(unit: Unit) -> bool {
    compute(25);
    unit.0 != 17
}

/// Correct: the player moves in each frame, the other one now and then.
pub fn player() {
    let mut dice = Numbers::new(9);
    let mut steps = 0_u64;
    for _ in 0..3_000 {
        steps = steps.wrapping_add(walk(Unit(0)));
        if dice.below(30) == 0 {
            steps = steps.wrapping_add(walk(Unit(1)));
        }
    }
    println!("{steps}");
}

#[observe(subject = unit)]
fn walk(unit: Unit) -> u64 {
    compute(4) ^ u64::from(unit.0)
}

/// The fault: bullets that left the screen stay in a list, which nobody looks at.
pub fn bullets(fault: bool) {
    let mut flying: Vec<Spied<Bullet>> = Vec::new();
    let mut gone = Vec::new();
    for shot in 0..3_000 {
        flying.push(Spied::new(Bullet { height: 0, speed: 20 + shot % 7 }));
        flying.iter_mut().for_each(|bullet| bullet.fly());
        let (out, in_sight): (Vec<_>, Vec<_>) =
            flying.into_iter().partition(|bullet| bullet.height > 300);
        flying = in_sight;
        if fault {
            gone.extend(out);
        }
    }
    println!("{} {}", flying.len(), gone.len());
}

struct Bullet {
    height: u64,
    speed: u64,
}

#[observe]
impl Bullet {
    fn fly(&mut self) {
        compute(1);
        self.height += self.speed;
    }
}

/// Correct: a level grows while it is played, and all that was ever built is in use until the end.
pub fn level() {
    let mut houses: Vec<Spied<House>> = Vec::new();
    let mut city = 0;
    for _ in 0..150 {
        houses.push(Spied::new(House { people: 4 }));
        city = houses.iter().map(|house| house.live()).fold(0, u64::wrapping_add);
    }
    println!("{city}");
}

struct House {
    people: u64,
}

#[observe]
impl House {
    fn live(&self) -> u64 {
        compute(2) % self.people
    }
}

/// Correct, on a busy machine: all calls do the same, and some take long because other threads use
/// the processors.
pub fn busy_machine() {
    let is_over = Arc::new(AtomicBool::new(false));
    let others: Vec<_> = (0..4)
        .map(|_| {
            let is_over = is_over.clone();
            std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    compute(100);
                }
            })
        })
        .collect();
    let mut sum = 0_u64;
    for turn in 0..150 {
        (0..40).for_each(|unit| sum = sum.wrapping_add(think(Unit(unit), turn)));
    }
    is_over.store(true, Ordering::Relaxed);
    others.into_iter().for_each(|thread| thread.join().expect("nothing panics"));
    println!("{sum}");
}

#[observe(subject = unit)]
fn think(unit: Unit, turn: u64) -> u64 {
    compute(20) ^ turn ^ u64::from(unit.0)
}

/// Correct: a frame moves each body in four short steps, because one long step would be too coarse.
pub fn small_steps() {
    let mut bodies = Bodies { heights: vec![1_000; 50] };
    (0..60).for_each(|_| bodies.frame());
    println!("{}", bodies.heights.iter().copied().fold(0, u64::wrapping_add));
}

struct Bodies {
    heights: Vec<u64>,
}

#[observe]
impl Bodies {
    fn frame(&mut self) {
        for _ in 0..4 {
            (0..self.heights.len() as u32).for_each(|body| self.fall(Unit(body)));
        }
    }

    #[observe(subject = body)]
    fn fall(&mut self, body: Unit) {
        compute(3);
        self.heights[body.0 as usize] = self.heights[body.0 as usize] * 99 / 100 + 7;
    }
}
