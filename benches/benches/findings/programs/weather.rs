//! Weather: stations, forecasts and radar pictures.

use std::collections::HashMap;
use std::sync::mpsc;

use metaspy::Lookups;
use metaspy::channels::Bus;
use metaspy::prelude::*;
use metaspy::tasks;

use super::{Numbers, compute};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Identify)]
struct Station(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Identify)]
struct Cell(u32);

/// The fault: the mean of a month is computed again for each of its days. Without it, once for each
/// month.
pub fn anomalies(fault: bool) {
    let warm: usize =
        (0..40).map(|month| warm_days(&Month { first: f64::from(month) }, fault)).sum();
    println!("{warm}");
}

struct Month {
    first: f64,
}

#[observe]
fn warm_days(month: &Month, again: bool) -> usize {
    let mean = mean_of(month);
    (0..30)
        .filter(|day| f64::from(day % 7) + month.first > if again { mean_of(month) } else { mean })
        .count()
}

#[observe(ret)]
fn mean_of(month: &Month) -> f64 {
    compute(25);
    month.first + 3.25
}

/// Correct: each day of a month is forecast from the day before, so no two forecasts are asked for
/// the same.
pub fn forecasts() {
    let sum: f64 = (0..40).map(|month| forecast_month(f64::from(month))).sum();
    println!("{sum}");
}

#[observe]
fn forecast_month(first: f64) -> f64 {
    (0..30).fold(first, |day, _| forecast(day))
}

#[observe(args(day), ret)]
fn forecast(day: f64) -> f64 {
    compute(25);
    day * 0.9 + 2.0
}

/// The fault: stations 7 and 8 send their numbers with commas, so hardly a record of theirs can be
/// parsed. Without it, as many records of all stations are damaged by the radio.
pub fn records(fault: bool) {
    let (records, queue) = Bus::new("records").wrap(mpsc::channel::<_>());
    let parser = tasks::thread::spawn(move || {
        let mut refused = 0;
        while let Ok((station, text)) = queue.recv() {
            let _because = queue.because();
            refused += u32::from(parse(station, text).is_err());
        }
        refused
    });
    (0..50).for_each(|station| label(Station(station), format!("station {station}")));
    let mut radio = Numbers::new(31);
    for _ in 0..4_000 {
        let station = radio.below(50) as u32;
        let is_damaged = if fault { station == 7 || station == 8 } else { radio.below(25) == 0 };
        let text = format!("{}{}{}", station, if is_damaged { ',' } else { '.' }, radio.below(100));
        records.send((Station(station), text)).expect("the parser is there");
    }
    drop(records);
    println!("{}", parser.join().expect("nothing panics"));
}

#[observe(subject = station)]
fn parse(station: Station, text: String) -> Result<f64, String> {
    compute(4);
    text.parse().map_err(|_| format!("station {}: {text} is no number", station.0))
}

/// The fault: the second of the clock is a part of the key of the dew points, so each of them is
/// computed anew.
pub fn dew_points(fault: bool) {
    let mut model = Model { known: HashMap::new() };
    let mut seen = Numbers::new(32);
    let sum = (0..2_400_u64)
        .map(|second| {
            model.dew_point_memo(Cell(seen.below(80) as u32), if fault { second } else { 0 })
        })
        .fold(0, u64::wrapping_add);
    println!("{sum}");
}

struct Model {
    known: HashMap<(Cell, u64), u64>,
}

#[observe]
impl Model {
    #[observe(subject = cell)]
    fn dew_point_memo(&mut self, cell: Cell, second: u64) -> u64 {
        if let Some(point) = self.known.get(&(cell, second)) {
            return *point;
        }
        let point = self.dew_point(cell);
        self.known.insert((cell, second), point);
        point
    }

    #[observe(subject = cell)]
    fn dew_point(&self, cell: Cell) -> u64 {
        compute(12) % (u64::from(cell.0) + 1)
    }
}

/// Correct: an archive of days is read from the first to the last through a function with a memory;
/// no day comes twice.
pub fn archive() {
    let mut archive = Archive { known: HashMap::new() };
    let sum = (0..1_200).map(|day| archive.day_cached(day)).fold(0, u64::wrapping_add);
    println!("{sum}");
}

struct Archive {
    known: HashMap<u32, u64>,
}

#[observe]
impl Archive {
    #[observe(subject = Station(day))]
    fn day_cached(&mut self, day: u32) -> u64 {
        if let Some(known) = self.known.get(&day) {
            return *known;
        }
        let computed = self.day(day);
        self.known.insert(day, computed);
        computed
    }

    #[observe(subject = Station(day))]
    fn day(&self, day: u32) -> u64 {
        compute(12) ^ u64::from(day)
    }
}

/// Correct: a cache of radar pictures; the pictures of an hour are new, and each is looked at once
/// by most viewers and twice by a few.
pub fn pictures() {
    let lookups = Lookups::new("pictures");
    let mut kept: HashMap<u32, u64> = HashMap::new();
    let mut drawn = 0_u64;
    for picture in 0..1_500_u32 {
        let viewers = if picture % 50 == 0 { 2 } else { 1 };
        for _ in 0..viewers {
            let picture_now = lookups
                .look_up(Cell(picture), || kept.get(&picture).copied())
                .unwrap_or_else(|| {
                    let made = lookups.fill(Cell(picture), || compute(15));
                    kept.insert(picture, made);
                    made
                });
            drawn = drawn.wrapping_add(picture_now);
        }
    }
    println!("{drawn}");
}

/// The fault: a new cloud is compared with all clouds of the day; without it, with those of the
/// last picture.
pub fn clouds(fault: bool) {
    let mut sky = Sky { clouds: Vec::new(), compares_all: fault };
    (0..500).for_each(|cloud| sky.appear(Cell(cloud)));
    println!("{}", sky.clouds.len());
}

struct Sky {
    clouds: Vec<Cell>,
    compares_all: bool,
}

#[observe]
impl Sky {
    fn appear(&mut self, cloud: Cell) {
        let compared =
            if self.compares_all { self.clouds.len() } else { self.clouds.len().min(20) };
        let overlapping =
            self.clouds.iter().rev().take(compared).filter(|&&other| overlap(other, cloud)).count();
        if overlapping < 1_000_000 {
            self.clouds.push(cloud);
        }
    }
}

#[observe(subject = other)]
fn overlap(other: Cell, cloud: Cell) -> bool {
    compute(1) > u64::from(other.0 ^ cloud.0)
}

/// Correct: the observations of a year are summed up month by month, and each month has more
/// stations than the one before.
pub fn months() {
    let sum = (1..=60_u32)
        .map(|month| summary(&(0..month * 8).collect::<Vec<_>>()))
        .fold(0, u64::wrapping_add);
    println!("{sum}");
}

#[observe(args(stations = stations.len()))]
fn summary(stations: &[u32]) -> u64 {
    stations.iter().map(|&station| mean(Station(station))).fold(0, u64::wrapping_add)
}

#[observe(subject = station)]
fn mean(station: Station) -> u64 {
    compute(3) ^ u64::from(station.0)
}

/// The fault: the gauge at the mill was never emptied, and its reading sums up ten years of rain.
pub fn gauges(fault: bool) {
    label(Station(11), "mill");
    let mut rain = 0_u64;
    for _ in 0..30 {
        for station in 0..40 {
            let days = if fault && station == 11 { 600 } else { 7 + u64::from(station % 3) };
            rain = rain.wrapping_add(read_gauge(Station(station), days));
        }
    }
    println!("{rain}");
}

#[observe(subject = station)]
fn read_gauge(station: Station, days: u64) -> u64 {
    (0..days).map(|_| compute(1)).fold(u64::from(station.0), u64::wrapping_add)
}

/// Correct: large lakes take longer than small ones, and there are lakes of all sizes.
pub fn lakes() {
    let mut level = 0_u64;
    for _ in 0..30 {
        for lake in 0..40_u32 {
            level = level.wrapping_add(read_lake(Cell(lake), 1 << (lake % 6)));
        }
    }
    println!("{level}");
}

#[observe(subject = lake)]
fn read_lake(lake: Cell, size: u64) -> u64 {
    compute(2 * size) ^ u64::from(lake.0)
}

/// Correct: each step of a simulation computes all cells from their neighbours; observations
/// correct a few of them.
pub fn simulation() {
    let mut grid = Grid { pressures: vec![1_000; 64] };
    for step in 0..120 {
        (0..3).for_each(|n| grid.correct(Cell((step * 17 + n * 5) % 64)));
        grid.step();
    }
    println!("{}", grid.pressures.iter().copied().fold(0, u64::wrapping_add));
}

struct Grid {
    pressures: Vec<u64>,
}

#[observe]
impl Grid {
    #[observe(subject = cell)]
    fn correct(&mut self, cell: Cell) {
        self.pressures[cell.0 as usize] += 1;
    }

    fn step(&mut self) {
        (0..self.pressures.len() as u32).for_each(|cell| self.advance(Cell(cell)));
    }

    #[observe(subject = cell)]
    fn advance(&mut self, cell: Cell) {
        let place = cell.0 as usize;
        let neighbour = self.pressures[(place + 1) % self.pressures.len()];
        self.pressures[place] =
            self.pressures[place].wrapping_mul(3).wrapping_add(neighbour ^ compute(5));
    }
}

/// Correct: a report is parsed with one token of look-ahead, so the same token is looked at several
/// times.
pub fn reports() {
    let mut sum = 0_u64;
    for report in 0..60 {
        let mut parser = Reports { at: report * 100, end: report * 100 + 60 };
        sum = sum.wrapping_add(parser.report());
    }
    println!("{sum}");
}

struct Reports {
    at: u32,
    end: u32,
}

#[observe]
impl Reports {
    fn report(&mut self) -> u64 {
        let mut sum = 0_u64;
        while self.at < self.end {
            let group = if self.peek(self.at) % 3 == 0 {
                self.wind()
            } else if self.peek(self.at) % 3 == 1 {
                self.clouds()
            } else {
                self.pressure()
            };
            sum = sum.wrapping_add(group);
        }
        sum
    }

    #[observe(subject = Cell(token))]
    fn peek(&self, token: u32) -> u32 {
        token
    }

    fn wind(&mut self) -> u64 {
        self.at += 1;
        compute(8)
    }

    fn clouds(&mut self) -> u64 {
        self.at += 1;
        compute(6)
    }

    fn pressure(&mut self) -> u64 {
        self.at += 1;
        compute(7)
    }
}
