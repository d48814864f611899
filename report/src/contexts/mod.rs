//! The calling contexts of a recording as a tree: each path of calls, with its number of calls and
//! its cost.
//!
//! Contexts with the same path of calls are one, in all processes and recordings.

pub mod allocations;
mod fold;
mod json;
mod text;

use std::collections::{BTreeMap, HashMap};

use metaspy_reader::{KeyKind, ProfileRow, ProfileTable, RowKey, Store};

pub use json::json;
pub use text::{notes, text};

/// The error of a command that needs the tree.
pub const NOT_RECORDED: &str = "the recording has no calling contexts: run the program with METASPY_PROFILE=contexts, or with \
                                `cargo metaspy run --contexts`";

/// The name of the root.
pub const ROOT: &str = "code without hooks";

/// A tree of calling contexts. The first one is the root: code without hooks.
#[derive(Clone, Debug)]
pub struct Contexts {
    contexts: Vec<Context>,
    /// Values that found no room in a recording.
    pub lost: u64,
    /// The most bytes on the heap at once; of several processes, the largest.
    pub peak: u64,
    /// True if objects were counted.
    pub has_objects: bool,
    /// The weight that was chosen.
    weight: Option<Weight>,
}

/// A calling context, or several that recursion folds into one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The path of the method.
    pub name: String,
    /// The context that it was called in; `None` for the root.
    pub parent: Option<usize>,
    /// The contexts that it called, by name.
    pub children: BTreeMap<String, usize>,
    /// The values of the context itself.
    pub values: Values,
    /// The values of the context and of all contexts below it. The time is that of the context.
    pub inclusive: Values,
}

/// The counts of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Calls.
    pub calls: u64,
    /// Of these, calls that recursion folds.
    pub folded: u64,
    /// Calls below it that have no contexts of their own, because the tree was full or too deep.
    pub cut: u64,
    /// The time of its calls, with their callees.
    pub total_ns: u64,
    /// The time without that.
    pub self_ns: u64,
    /// Objects that were allocated on the heap.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that were freed.
    pub freed: u64,
    /// Their bytes.
    pub freed_bytes: u64,
    /// The number of freed objects whose lifetimes are added up: all or, with many, about as many
    /// as were freed.
    pub timed: u64,
    /// The sum of their lifetimes.
    pub lifetime_ns: u64,
}

/// The quantity that contexts are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Calls of a context and below it, also those without a context.
    Calls,
    /// The time of a context.
    Time,
    /// Bytes that a context and those below it allocated.
    Bytes,
}

/// The part of a tree that is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Levels below the root; `None` for all.
    pub depth: Option<usize>,
    /// The least part of the whole, in percent.
    pub threshold: f64,
}

impl Default for Contexts {
    fn default() -> Self {
        Contexts {
            contexts: vec![Context { name: ROOT.into(), ..Context::default() }],
            lost: 0,
            peak: 0,
            has_objects: false,
            weight: None,
        }
    }
}

impl Contexts {
    /// The contexts of a recording; `None` if no profiler recorded any.
    pub fn read(store: &Store) -> Option<Contexts> {
        let profiles = store.united_profiles();
        let tables = profiles.iter().flat_map(|profile| &profile.tables);
        let mut tables = tables.filter(|table| table.key == KeyKind::Context).peekable();
        tables.peek()?;
        let mut read = Contexts::default();
        tables.for_each(|table| read.add(store, table));
        read.add_up();
        Some(read)
    }

    /// Adds the contexts of another process.
    pub fn merge(&mut self, other: &Contexts) {
        let mut places = vec![0; other.contexts.len()];
        for (at, context) in other.contexts.iter().enumerate() {
            places[at] =
                context.parent.map_or(0, |parent| self.child(places[parent], &context.name));
            self.contexts[places[at]].values.add(&context.values);
        }
        self.lost += other.lost;
        self.peak = self.peak.max(other.peak);
        self.has_objects |= other.has_objects;
        self.add_up();
    }

    /// All contexts. A context comes before those that it called.
    pub fn all(&self) -> &[Context] {
        &self.contexts
    }

    /// The contexts that a context called, the heaviest first.
    pub fn children(&self, of: usize) -> Vec<usize> {
        let weight = self.weight();
        let mut children: Vec<usize> = self.contexts[of].children.values().copied().collect();
        children.sort_by_key(|&child| std::cmp::Reverse(self.contexts[child].weight(weight)));
        children
    }

    /// The same contexts, compared by this weight.
    #[must_use]
    pub fn weighed_by(self, weight: Weight) -> Contexts {
        Contexts { weight: Some(weight), ..self }
    }

    /// The chosen weight, or time if calls were timed, otherwise calls.
    pub fn weight(&self) -> Weight {
        if let Some(weight) = self.weight {
            return weight;
        }
        if self.contexts.iter().any(|context| context.values.total_ns > 0) {
            Weight::Time
        } else {
            Weight::Calls
        }
    }

    /// The weight of all contexts together.
    pub fn whole(&self) -> u64 {
        let weight = self.weight();
        match weight {
            Weight::Calls | Weight::Bytes => self.contexts[0].weight(weight),
            Weight::Time => self.contexts[0]
                .children
                .values()
                .map(|&child| self.contexts[child].weight(weight))
                .sum(),
        }
    }

    /// The contexts that pass, in order of a walk through the tree, with their depth below the
    /// root.
    pub fn walk(&self, shown: Shown) -> Vec<(usize, usize)> {
        let weight = self.weight();
        let least = self.whole() as f64 * shown.threshold / 100.0;
        let mut found = Vec::new();
        let mut next: Vec<(usize, usize)> =
            self.children(0).into_iter().rev().map(|child| (child, 0)).collect();
        while let Some((at, depth)) = next.pop() {
            if (self.contexts[at].weight(weight) as f64) < least
                || shown.depth.is_some_and(|most| depth >= most)
            {
                continue;
            }
            found.push((at, depth));
            next.extend(self.children(at).into_iter().rev().map(|child| (child, depth + 1)));
        }
        found
    }

    /// The names from the outermost call to a context.
    pub fn path(&self, of: usize) -> Vec<&str> {
        let around = std::iter::successors(Some(of), |&at| self.contexts[at].parent);
        let mut names: Vec<&str> =
            around.filter(|&at| at != 0).map(|at| self.contexts[at].name.as_str()).collect();
        names.reverse();
        names
    }

    fn add(&mut self, store: &Store, table: &ProfileTable) {
        self.lost += table.lost;
        self.has_objects |= table.column("objects").is_some();
        let mut below: HashMap<u64, Vec<&ProfileRow>> = HashMap::new();
        for row in &table.rows {
            match row.key {
                RowKey::Context(site, _) if site.0 == 0 => {
                    self.contexts[0].values.add(&values(table, row));
                    self.peak = self.peak.max(table.value(row.key, "peak").number().unwrap_or(0));
                }
                RowKey::Context(_, around) => below.entry(around).or_default().push(row),
                _ => {}
            }
        }
        // A damaged recording may have a circle: each of its rows is visited once.
        let mut next = vec![(0, 0)];
        while let Some((id, place)) = next.pop() {
            for row in below.remove(&id).into_iter().flatten() {
                let child = self.child(place, store.site_path(row.key.site()));
                self.contexts[child].values.add(&values(table, row));
                let own =
                    table.column("context").and_then(|column| row.value(table, column).number());
                next.extend(own.map(|own| (own, child)));
            }
        }
    }

    /// The place of a context below another one, made if it is new.
    fn child(&mut self, of: usize, name: &str) -> usize {
        if let Some(&known) = self.contexts[of].children.get(name) {
            return known;
        }
        let at = self.contexts.len();
        self.contexts[of].children.insert(name.to_owned(), at);
        self.contexts.push(Context {
            name: name.to_owned(),
            parent: Some(of),
            ..Context::default()
        });
        at
    }

    /// Adds up the inclusive values. A context comes before those that it called.
    fn add_up(&mut self) {
        self.contexts.iter_mut().for_each(|context| context.inclusive = context.values);
        for at in (1..self.contexts.len()).rev() {
            let below = Values { total_ns: 0, ..self.contexts[at].inclusive };
            if let Some(parent) = self.contexts[at].parent {
                self.contexts[parent].inclusive.add(&below);
            }
        }
    }
}

impl Context {
    /// The weight of it and of all below it.
    pub fn weight(&self, by: Weight) -> u64 {
        match by {
            Weight::Calls => self.inclusive.calls.saturating_add(self.inclusive.cut),
            Weight::Time => self.inclusive.total_ns,
            Weight::Bytes => self.inclusive.bytes,
        }
    }
}

impl Values {
    fn add(&mut self, other: &Values) {
        // Numbers of a damaged recording may be anything.
        self.calls = self.calls.saturating_add(other.calls);
        self.folded = self.folded.saturating_add(other.folded);
        self.cut = self.cut.saturating_add(other.cut);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        self.objects = self.objects.saturating_add(other.objects);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.freed = self.freed.saturating_add(other.freed);
        self.freed_bytes = self.freed_bytes.saturating_add(other.freed_bytes);
        self.timed = self.timed.saturating_add(other.timed);
        self.lifetime_ns = self.lifetime_ns.saturating_add(other.lifetime_ns);
    }

    /// Objects that were not freed.
    pub fn live(&self) -> u64 {
        self.objects.saturating_sub(self.freed)
    }

    /// Their bytes.
    pub fn live_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.freed_bytes)
    }

    /// The mean lifetime of the freed objects; `None` if none was measured.
    pub fn mean_lifetime_ns(&self) -> Option<u64> {
        self.lifetime_ns.checked_div(self.timed)
    }
}

fn values(table: &ProfileTable, row: &ProfileRow) -> Values {
    let number =
        |name| table.column(name).and_then(|column| row.value(table, column).number()).unwrap_or(0);
    Values {
        calls: number("calls"),
        folded: 0,
        cut: number("cut"),
        total_ns: number("total"),
        self_ns: number("self"),
        objects: number("objects"),
        bytes: number("bytes"),
        freed: number("freed"),
        freed_bytes: number("freed bytes"),
        // Older recordings have the lifetimes of all freed objects.
        timed: number(if table.column("timed").is_some() { "timed" } else { "freed" }),
        lifetime_ns: number("lifetime"),
    }
}

#[cfg(test)]
mod tests;
