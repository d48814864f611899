//! The framework: sources have values, and computed signals follow them.

use std::collections::BTreeSet;

use metaspy::prelude::*;
use tokio::sync::broadcast;

use crate::listeners::{Listeners, Replaced};

/// A signal of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Identify)]
pub struct SignalId(u32);

/// An announcement of a graph.
#[derive(Clone, Debug, Announce)]
pub enum Announcement {
    /// A signal has another value.
    Changed,
    /// All signals follow their inputs again.
    Settled,
}

/// When a signal is computed after one of its inputs has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// At once.
    AtOnce,
    /// When all its inputs are computed.
    InputsFirst,
}

/// Computes the value of a signal from those of its inputs.
pub type Compute = fn(&[i64]) -> i64;

struct Signal {
    value: i64,
    was_read: bool,
    computed: Option<(Vec<SignalId>, Compute)>,
    followers: Vec<SignalId>,
}

/// Signals, and what follows what.
pub struct Graph {
    signals: Vec<Signal>,
    order: Order,
    /// Signals that wait for their inputs.
    waiting: BTreeSet<SignalId>,
    /// The bus of its announcements.
    pub announcements: broadcast::Sender<Announcement>,
    /// Callbacks for values that are replaced.
    pub listeners: Listeners,
}

#[observe]
impl Graph {
    /// A graph without signals.
    #[observe(skip)]
    pub fn new(order: Order) -> Self {
        let (announcements, _) = broadcast::channel(1024);
        Graph {
            signals: Vec::new(),
            order,
            waiting: BTreeSet::new(),
            announcements,
            listeners: Listeners::default(),
        }
    }

    /// Adds a source.
    #[observe(skip)]
    pub fn source(&mut self, name: &str, value: i64) -> SignalId {
        self.add(name, Signal { value, was_read: true, computed: None, followers: Vec::new() })
    }

    /// Adds a signal that is computed from others.
    #[observe(skip)]
    pub fn computed(&mut self, name: &str, inputs: &[SignalId], compute: Compute) -> SignalId {
        let computed = Some((inputs.to_vec(), compute));
        let id =
            self.add(name, Signal { value: 0, was_read: true, computed, followers: Vec::new() });
        for input in inputs {
            self.signals[input.0 as usize].followers.push(id);
            relate("input", id, *input);
        }
        self.signals[id.0 as usize].value = self.value_of(id);
        id
    }

    #[observe(skip)]
    fn add(&mut self, name: &str, signal: Signal) -> SignalId {
        self.signals.push(signal);
        let id = SignalId(self.signals.len() as u32 - 1);
        label(id, name);
        id
    }

    /// Changes a source, and everything that follows it.
    #[observe(subject = id)]
    pub fn set(&mut self, id: SignalId, value: i64) {
        self.replace(id, value);
        // A signal has a higher number than its inputs.
        while let Some(next) = self.waiting.pop_first() {
            self.compute(next);
        }
        // An announcement without a receiver is no error.
        let _ = self.announcements.send(Announcement::Settled);
    }

    /// The value of a signal.
    #[observe(skip)]
    pub fn read(&mut self, id: SignalId) -> i64 {
        let signal = &mut self.signals[id.0 as usize];
        signal.was_read = true;
        signal.value
    }

    #[observe(subject = id)]
    fn compute(&mut self, id: SignalId) {
        let value = self.value_of(id);
        self.replace(id, value);
    }

    #[observe(skip)]
    fn value_of(&mut self, id: SignalId) -> i64 {
        let Some((inputs, compute)) = self.signals[id.0 as usize].computed.clone() else {
            return self.read(id);
        };
        let values: Vec<i64> = inputs.into_iter().map(|input| self.read(input)).collect();
        compute(&values)
    }

    #[observe(skip)]
    fn replace(&mut self, id: SignalId, value: i64) {
        let signal = &mut self.signals[id.0 as usize];
        self.listeners.call(&Replaced { id, was_read: signal.was_read });
        (signal.value, signal.was_read) = (value, false);
        let _ = self.announcements.send(Announcement::Changed);
        for follower in signal.followers.clone() {
            match self.order {
                Order::AtOnce => self.compute(follower),
                Order::InputsFirst => _ = self.waiting.insert(follower),
            }
        }
    }
}
