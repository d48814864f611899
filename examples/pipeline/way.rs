//! The way of a result, from its beginning: causes, and how long each step took.

use std::collections::HashMap;
use std::fmt;

use metaspy::{Event, Store};

use crate::ms;

/// What led to a result, the beginning first.
pub struct Way {
    steps: Vec<Step>,
}

/// A step on it.
struct Step {
    /// What it was: a queue, or a function.
    name: String,
    /// How long it took, until the next one began.
    ns: u64,
}

impl Way {
    /// The way that led to an event, and the event itself at its end.
    pub fn of(store: &Store, result: &Event) -> Self {
        let mut events: Vec<Event> = store.causes(result.id).collect();
        events.reverse();
        // Whoever began the tasks began no picture.
        events.retain(|event| !store.site_path(event.site).ends_with("::task"));
        events.push(*result);
        let end = result.start + result.span.unwrap_or(0);
        let begins = events.iter().skip(1).map(|event| event.start).chain([end]);
        let step = |(event, next): (&Event, u64)| Step {
            name: name(store, event),
            ns: store.span_ns(next.saturating_sub(event.start)),
        };
        Way { steps: events.iter().zip(begins).map(step).collect() }
    }

    /// From its beginning to the end of the result.
    pub fn total_ns(&self) -> u64 {
        self.steps.iter().map(|step| step.ns).sum()
    }

    /// The name of the step that took longest.
    pub fn longest_name(&self) -> Option<&String> {
        self.longest().map(|step| &step.name)
    }

    fn longest(&self) -> Option<&Step> {
        self.steps.iter().max_by_key(|step| step.ns)
    }
}

/// A message is in its queue from its sending to its receipt.
fn name(store: &Store, event: &Event) -> String {
    let path = store.site_path(event.site);
    match (path.strip_suffix("::sent"), path.strip_suffix("::received")) {
        (Some(queue), _) => format!("in the queue `{queue}`"),
        (_, Some(queue)) => format!("in the hands of whoever took it from `{queue}`"),
        _ => path.to_owned(),
    }
}

/// By what the ways were held up longest, and how many of them; the most frequent first.
pub fn longest(ways: &[&Way]) -> Vec<(String, usize)> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for step in ways.iter().filter_map(|way| way.longest()) {
        *times.entry(&step.name).or_default() += 1;
    }
    let mut times: Vec<(String, usize)> =
        times.into_iter().map(|(name, times)| (name.to_owned(), times)).collect();
    times.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    times
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(f, "{:>10}  {}", ms(step.ns), step.name)?;
        }
        writeln!(f, "{:>10}  together", ms(self.total_ns()))
    }
}
