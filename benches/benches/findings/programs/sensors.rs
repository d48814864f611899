//! Sensors of a house: readings, alarms and their storage.

use std::io::{Error, ErrorKind};
use std::sync::mpsc;

use metaspy::channels::Bus;
use metaspy::prelude::*;
use metaspy::tasks;

use super::{Numbers, compute, pause};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Identify)]
struct Sensor(u32);

/// The fault: each reading is stored on its own, which takes longer than the time until the next
/// one. Without it, whatever waits is stored at once.
pub fn readings(fault: bool) {
    let (readings, queue) = Bus::new("readings").wrap(mpsc::channel::<_>());
    let storing = tasks::thread::spawn(move || {
        while let Ok(first) = queue.recv() {
            let _because = queue.because();
            let mut batch: Vec<Sensor> = vec![first];
            while !fault && let Ok(next) = queue.try_recv() {
                batch.push(next);
            }
            store(&batch);
        }
    });
    for reading in 0..1_000 {
        measure(Sensor(reading % 25));
        readings.send(Sensor(reading % 25)).expect("the storage is there");
        pause(200);
    }
    drop(readings);
    storing.join().expect("nothing panics");
}

#[observe(subject = sensor)]
fn measure(sensor: Sensor) -> u64 {
    compute(3) ^ u64::from(sensor.0)
}

#[observe]
fn store(batch: &[Sensor]) -> usize {
    pause(500);
    batch.len()
}

/// Correct: readings come in bursts, and each burst is worked off before the next one.
pub fn bursts() {
    let (readings, queue) = Bus::new("bursts").wrap(mpsc::channel::<_>());
    let counting = tasks::thread::spawn(move || {
        while let Ok(sensor) = queue.recv() {
            let _because = queue.because();
            count(sensor);
        }
    });
    for _ in 0..6 {
        (0..300)
            .for_each(|reading| readings.send(Sensor(reading % 25)).expect("the counter is there"));
        pause(40_000);
    }
    drop(readings);
    counting.join().expect("nothing panics");
}

#[observe(subject = sensor)]
fn count(sensor: Sensor) -> u64 {
    compute(60) ^ u64::from(sensor.0)
}

/// The fault: nobody reads the queue of alarms.
pub fn alarms(fault: bool) {
    let (alarms, bell) = Bus::new("alarms").kinds().wrap(mpsc::channel::<_>());
    let mut heat = Numbers::new(7);
    let mut rung = 0;
    for reading in 0..2_000 {
        measure(Sensor(reading % 25));
        if heat.below(12) == 0 {
            let alarm = if heat.below(3) == 0 {
                Alarm::Frozen(reading)
            } else {
                Alarm::Overheated(reading)
            };
            alarms.send(alarm).expect("the bell is there");
        }
        while !fault && let Ok(alarm) = bell.try_recv() {
            let _because = bell.because();
            rung += ring(&alarm);
        }
    }
    println!("{rung}");
}

#[derive(Debug, Announce)]
enum Alarm {
    Overheated(u32),
    Frozen(u32),
}

#[observe]
fn ring(alarm: &Alarm) -> u32 {
    compute(5);
    match alarm {
        Alarm::Overheated(reading) | Alarm::Frozen(reading) => reading % 2,
    }
}

/// The fault: half of the readings cross to the other thread in a closure that carries no cause.
pub fn relay(fault: bool) {
    let (jobs, queue) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
    let worker = std::thread::spawn(move || queue.iter().for_each(|job| job()));
    (0..1_200).for_each(|reading| sample(Sensor(reading % 24), &jobs, fault));
    drop(jobs);
    worker.join().expect("nothing panics");
}

#[observe(subject = sensor)]
fn sample(sensor: Sensor, jobs: &mpsc::Sender<Box<dyn FnOnce() + Send>>, loses_causes: bool) {
    compute(4);
    let keep = move || _ = keep(sensor);
    let job: Box<dyn FnOnce() + Send> = if loses_causes && sensor.0.is_multiple_of(2) {
        Box::new(keep)
    } else {
        Box::new(tasks::carry(keep))
    };
    jobs.send(job).expect("the worker is there");
}

#[observe(subject = sensor)]
fn keep(sensor: Sensor) -> u64 {
    compute(6) ^ u64::from(sensor.0)
}

/// Correct: a page is flushed when it is full, within a write, and now and then by the main loop
/// itself.
pub fn flushing() {
    let mut page = Page { rows: Vec::new(), flushed: 0 };
    for row in 0..3_000 {
        page.write(row);
        if row % 97 == 0 {
            page.flush();
        }
    }
    println!("{}", page.flushed);
}

struct Page {
    rows: Vec<u64>,
    flushed: usize,
}

#[observe]
impl Page {
    fn write(&mut self, row: u64) {
        self.rows.push(row ^ compute(2));
        if self.rows.len() == 64 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        compute(60);
        self.flushed += self.rows.len();
        self.rows.clear();
    }
}

/// Correct: a port is read without waiting; most reads fail, because there is nothing to read yet.
pub fn port() {
    let mut port = Port { ticks: 0 };
    let read =
        (0..6_000).filter_map(|_| port.try_read().ok()).map(decode).fold(0, u64::wrapping_add);
    println!("{read}");
}

struct Port {
    ticks: u32,
}

#[observe]
impl Port {
    fn try_read(&mut self) -> Result<u32, Error> {
        self.ticks += 1;
        compute(1);
        if self.ticks.is_multiple_of(20) {
            Ok(self.ticks)
        } else {
            Err(Error::from(ErrorKind::WouldBlock))
        }
    }
}

#[observe]
fn decode(byte: u32) -> u64 {
    compute(30) ^ u64::from(byte)
}
