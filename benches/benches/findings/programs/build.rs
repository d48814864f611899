//! A build system: targets, workers and an index of artifacts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc;

use metaspy::locks::{Mutex, RwLock};
use metaspy::prelude::*;
use metaspy::tasks;

use super::{compute, pause};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Identify)]
struct Target(u32);

/// The fault: targets whose time stamp equals that of their sources are built again at each look at
/// the disk. A target that follows an edit names the edit as its reason.
pub fn stale_targets(fault: bool) {
    let mut watcher = Watcher { edits: HashMap::new(), built: 0 };
    for look in 0..150 {
        if look % 3 == 0 {
            watcher.edit(Target(look / 3 % 30));
        }
        watcher.look(fault);
    }
    println!("{}", watcher.built);
}

struct Watcher {
    edits: HashMap<Target, Option<EventId>>,
    built: u32,
}

#[observe]
impl Watcher {
    #[observe(subject = target)]
    fn edit(&mut self, target: Target) {
        self.edits.insert(target, current());
    }

    fn look(&mut self, counts_equal_as_newer: bool) {
        compute(10);
        for target in (0..30).map(Target) {
            let edit = self.edits.remove(&target);
            // Six of the targets were made in the second in which their sources were written.
            if edit.is_some() || counts_equal_as_newer && target.0.is_multiple_of(5) {
                self.build(target, edit.flatten());
            }
        }
    }

    #[observe(subject = target)]
    fn build(&mut self, target: Target, edit: Option<EventId>) {
        if let (Some(build), Some(edit)) = (current(), edit) {
            link(build, edit);
        }
        compute(40 + u64::from(target.0));
        self.built += 1;
    }
}

/// The fault: the index is compacted under its lock, and all who look something up wait meanwhile.
/// Without it, a copy is compacted.
pub fn index(fault: bool) {
    let index = Arc::new(Index { artifacts: RwLock::new("Index::artifacts", (0..500).collect()) });
    let mut threads: Vec<_> = (0..3)
        .map(|_| {
            let index = index.clone();
            tasks::thread::spawn(move || {
                for artifact in 0..500 {
                    index.look_up(artifact);
                    pause(300);
                }
            })
        })
        .collect();
    let compacted = index.clone();
    threads.push(tasks::thread::spawn(move || {
        for _ in 0..20 {
            compacted.compact(fault);
            pause(3_000);
        }
    }));
    threads.into_iter().for_each(|thread| thread.join().expect("nothing panics"));
    println!("{}", index.artifacts.read().expect("nothing panics").len());
}

struct Index {
    artifacts: RwLock<Vec<u64>>,
}

#[observe]
impl Index {
    fn look_up(&self, artifact: u64) -> bool {
        self.artifacts.read().expect("nothing panics").binary_search(&artifact).is_ok()
    }

    fn compact(&self, under_lock: bool) {
        if under_lock {
            let mut artifacts = self.artifacts.write().expect("nothing panics");
            *artifacts = rewrite(&artifacts);
        } else {
            let copy = self.artifacts.read().expect("nothing panics").clone();
            let rewritten = rewrite(&copy);
            *self.artifacts.write().expect("nothing panics") = rewritten;
        }
    }
}

/// Writes the index to disk.
#[observe]
fn rewrite(artifacts: &[u64]) -> Vec<u64> {
    pause(7_000);
    artifacts.to_vec()
}

/// Correct: four threads count in one place, each for an instant.
pub fn progress() {
    let done = Arc::new(Mutex::new("Build::progress", 0_u64));
    let threads: Vec<_> = (0..4)
        .map(|first| {
            let done = done.clone();
            tasks::thread::spawn(move || {
                for step in 0..800 {
                    compile(Target(first * 1_000 + step));
                    *done.lock().expect("nothing panics") += 1;
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("nothing panics"));
    println!("{}", done.lock().expect("nothing panics"));
}

#[observe(subject = target)]
fn compile(target: Target) -> u64 {
    compute(20).wrapping_add(u64::from(target.0))
}

/// The fault: jobs are given to workers by a number that is the same for all of them, so one of
/// four workers works.
pub fn workers(fault: bool) {
    let queues: Vec<_> = (0..4)
        .map(|_| {
            let (jobs, queue) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
            (jobs, tasks::thread::spawn(move || queue.iter().for_each(|job| job())))
        })
        .collect();
    for job in 0..1_200 {
        let worker = if fault { 0 } else { job as usize % queues.len() };
        queues[worker]
            .0
            .send(Box::new(tasks::carry(move || _ = compile(Target(job)))))
            .expect("the worker is there");
    }
    for (jobs, worker) in queues {
        drop(jobs);
        worker.join().expect("nothing panics");
    }
}

/// Correct: one thread compiles, and another one wakes now and then to write a line of the log.
pub fn log_writer() {
    let writer = tasks::thread::spawn(|| {
        for line in 0..12 {
            pause(10_000);
            write_line(line);
        }
    });
    let sum = (0..4_000).map(|target| compile(Target(target))).fold(0, u64::wrapping_add);
    writer.join().expect("nothing panics");
    println!("{sum}");
}

#[observe]
fn write_line(line: u64) -> u64 {
    compute(15) ^ line
}
