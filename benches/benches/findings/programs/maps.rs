//! A map: tiles, terrain and routes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use metaspy::Lookups;
use metaspy::prelude::*;

use super::{Numbers, compute};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Identify)]
struct Tile(u32);

/// The fault: the cache holds 40 tiles and the view needs 60 of them, in turn, so that each tile is
/// dropped before it is needed again.
pub fn tile_cache(fault: bool) {
    let mut cache = Tiles::new(if fault { 40 } else { 80 });
    for _ in 0..40 {
        for tile in 0..60 {
            cache.show(Tile(tile));
        }
    }
    println!("{}", cache.drawn);
}

/// Correct: a flight over the map; each tile is new, so none is in the cache.
pub fn flight() {
    let mut cache = Tiles::new(40);
    (0..1_500).for_each(|tile| cache.show(Tile(tile)));
    println!("{}", cache.drawn);
}

/// Correct: the cache is empty at first and has served few tiles yet when the program ends.
pub fn warm_up() {
    let mut cache = Tiles::new(1_000);
    (0..300).for_each(|tile| cache.show(Tile(tile)));
    (0..60).for_each(|tile| cache.show(Tile(tile * 5)));
    println!("{}", cache.drawn);
}

struct Tiles {
    lookups: Lookups,
    kept: VecDeque<(Tile, u64)>,
    capacity: usize,
    drawn: u64,
}

#[observe]
impl Tiles {
    #[observe(skip)]
    fn new(capacity: usize) -> Self {
        Tiles { lookups: Lookups::new("tiles"), kept: VecDeque::new(), capacity, drawn: 0 }
    }

    #[observe(subject = tile)]
    fn show(&mut self, tile: Tile) {
        let kept = &self.kept;
        let find = || kept.iter().find(|(other, _)| *other == tile).map(|(_, picture)| *picture);
        let picture = self.lookups.look_up(tile, find).unwrap_or_else(|| {
            let picture = self.lookups.fill(tile, || compute(25));
            if self.kept.len() == self.capacity {
                self.kept.pop_front();
            }
            self.kept.push_back((tile, picture));
            picture
        });
        self.drawn = self.drawn.wrapping_add(picture);
    }
}

/// The fault: `height_cached` stores each height under a key that it never asks for, so each call
/// computes the height.
pub fn heights(fault: bool) {
    let mut terrain = Terrain { heights: HashMap::new(), rounds: fault };
    let mut hikers = Numbers::new(5);
    let sum = (0..2_500)
        .map(|_| terrain.height_cached(hikers.below(120) as u32))
        .fold(0, u64::wrapping_add);
    println!("{sum}");
}

struct Terrain {
    heights: HashMap<u32, u64>,
    rounds: bool,
}

#[observe]
impl Terrain {
    #[observe(subject = Tile(place))]
    fn height_cached(&mut self, place: u32) -> u64 {
        if let Some(height) = self.heights.get(&place) {
            return *height;
        }
        let height = self.height(place);
        self.heights.insert(if self.rounds { place + 10_000 } else { place }, height);
        height
    }

    #[observe(subject = Tile(place))]
    fn height(&self, place: u32) -> u64 {
        compute(10) % (u64::from(place) + 1)
    }
}

/// The fault: one tile, the harbour, has its names a hundred times, and takes much longer to draw
/// than the others.
pub fn names(fault: bool) {
    label(Tile(27), "harbour");
    let mut drawn = 0_u64;
    for _ in 0..20 {
        for tile in 0..64 {
            let names = if fault && tile == 27 { 800 } else { 8 };
            drawn = drawn.wrapping_add(draw_names(Tile(tile), names));
        }
    }
    println!("{drawn}");
}

#[observe(subject = tile)]
fn draw_names(tile: Tile, names: u64) -> u64 {
    (0..names).map(|_| compute(1)).fold(u64::from(tile.0), u64::wrapping_add)
}

/// The fault: the nearest place is looked for in a list of all places that were ever reached;
/// without it in a heap.
pub fn frontier(fault: bool) {
    let mut frontier = Frontier { scans: fault, reached: Vec::new(), heap: BinaryHeap::new() };
    let mut roads = Numbers::new(6);
    let mut way = 0;
    for _ in 0..4_000 {
        frontier.add(roads.below(1 << 30));
        frontier.add(roads.below(1 << 30));
        way += frontier.nearest();
    }
    println!("{way}");
}

struct Frontier {
    scans: bool,
    reached: Vec<(u64, bool)>,
    heap: BinaryHeap<Reverse<u64>>,
}

#[observe]
impl Frontier {
    fn add(&mut self, distance: u64) {
        if self.scans {
            self.reached.push((distance, true));
        } else {
            self.heap.push(Reverse(distance));
        }
    }

    fn nearest(&mut self) -> u64 {
        if !self.scans {
            return self.heap.pop().map_or(0, |Reverse(distance)| distance);
        }
        let open = self.reached.iter_mut().filter(|(_, is_open)| *is_open);
        open.min_by_key(|(distance, _)| *distance).map_or(0, |nearest| {
            nearest.1 = false;
            nearest.0
        })
    }
}

/// Correct: the trips become longer, and a trip takes as long as it has stops.
pub fn longer_trips() {
    let trips = (1..120_u64)
        .map(|trip| (0..2 * trip).map(|stop| trip * 1_000 + stop).collect::<Vec<u64>>());
    let length = trips.map(|stops| plan(&stops)).fold(0, u64::wrapping_add);
    println!("{length}");
}

#[observe(args(stops = stops.len()))]
fn plan(stops: &[u64]) -> u64 {
    stops.windows(2).map(|pair| leg(pair[0], pair[1])).fold(0, u64::wrapping_add)
}

#[observe(subject = from)]
fn leg(from: u64, to: u64) -> u64 {
    compute(3) % (from + to)
}
