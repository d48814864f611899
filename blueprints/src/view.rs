//! Pictures that an author describes. A view maps the program's own objects, or its methods, to the
//! channels of a polymetric view: a relation or two numbers give the place, and numbers give
//! height, width, grey, border and order.
//!
//! ```toml
//! title = "layouts that changed nothing"
//! subjects = "node"                                        # the kind of the subjects
//! below = "owner"                                          # the relation to the subject around it
//! height = { value = "total", query = "site:layout" }      # count, total, self, longest or failed
//! width = { value = "count", query = "site:layout" }
//! fill = { value = "count", query = "site:needless" }
//! border = { value = "failed" }                            # a frame around each box with a number
//! order = { value = "longest" }                            # the largest first, in each frame
//! ```
//!
//! In place of `below`, `x` and `y` place the boxes by two more numbers. The same view in Rust:
//!
//! ```
//! use metaspy_blueprints::view::{Channel, View};
//!
//! let needless = Channel::count("site:needless");
//! let view = View::new("node").below("owner").width(Channel::count("site:layout")).fill(needless);
//! assert!(view.check().is_ok());
//! ```
//!
//! The channels come from *Execution profiling blueprints*, section 3. Both *Spy* and MetaSpy aim
//! at views of a few lines.

use std::collections::HashMap;
use std::fmt;

use metaspy_probe::{KindId, SiteId, Subject};
use metaspy_reader::{By, Filter, Measure, Scope, Store};
use metaspy_report::program::Edge;
use metaspy_report::text::{grouped, time};
use serde::Deserialize;

use crate::graph::{Call, Graph, Method, Owner, OwnerKind};

/// Picture of subjects, described by data.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// Title of the picture; the kind of the subjects by default.
    #[serde(default)]
    pub title: String,
    /// Name of the kind of the subjects; empty in a view of a program's methods.
    #[serde(default)]
    pub subjects: String,
    /// Relation that leads from a subject to the subject around it.
    pub below: Option<String>,
    /// Height of a box.
    #[serde(default)]
    pub height: Channel,
    /// Width of a box.
    #[serde(default)]
    pub width: Channel,
    /// Grey of a box.
    #[serde(default)]
    pub fill: Channel,
    /// Number of which a subject that has any gets a frame around its box.
    pub border: Option<Channel>,
    /// Order of the boxes in a frame, the largest first. Without it they are packed.
    pub order: Option<Channel>,
    /// Distance from the left, together with `y`, in place of `below`.
    pub x: Option<Channel>,
    /// Distance from the bottom.
    pub y: Option<Channel>,
}

/// Number of a subject, taken from the events that pass a filter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Quantity to compute from the events.
    #[serde(default)]
    pub value: Number,
    /// Filter of the events that are counted; all events by default.
    #[serde(default)]
    pub query: String,
}

/// Quantities that a channel can take from a subject's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// Number of events.
    #[default]
    Count,
    /// Time of the events.
    Total,
    /// Time of the events without the events within them.
    #[serde(rename = "self")]
    Own,
    /// Time of the longest event.
    Longest,
    /// Number of events that failed.
    Failed,
    /// Number of objects that a method was called on, or of their places.
    Receivers,
    /// Number of tests in which a method ran.
    Tests,
    /// Number of source lines of a method.
    Lines,
}

/// Error of a view, which states the fault and the correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewError(String);

/// View together with the numbers of a recording.
#[derive(Clone, Debug, Default)]
pub struct Viewed {
    /// View that was read.
    pub view: View,
    /// Methods, or subjects in their place; then calls lead from a subject to the subjects below
    /// it.
    pub graph: Graph,
    /// Numbers of each of them: height, width, fill, border, order, x and y; 0 for a channel that
    /// the view does not have.
    pub numbers: Vec<[u64; CHANNELS]>,
}

/// Number of channels of a view.
pub const CHANNELS: usize = 7;

impl View {
    /// Creates a view of the subjects of a kind.
    pub fn new(subjects: &str) -> View {
        View { title: subjects.into(), subjects: subjects.into(), ..View::default() }
    }

    /// Sets the relation that leads from a subject to the subject around it.
    pub fn below(self, relation: &str) -> View {
        View { below: Some(relation.into()), ..self }
    }

    /// Sets the height of a box.
    pub fn height(self, height: Channel) -> View {
        View { height, ..self }
    }

    /// Sets the width of a box.
    pub fn width(self, width: Channel) -> View {
        View { width, ..self }
    }

    /// Sets the grey of a box.
    pub fn fill(self, fill: Channel) -> View {
        View { fill, ..self }
    }

    /// Sets the number of which a subject that has any gets a frame.
    pub fn border(self, border: Channel) -> View {
        View { border: Some(border), ..self }
    }

    /// Sets the order of the boxes.
    pub fn order(self, order: Channel) -> View {
        View { order: Some(order), ..self }
    }

    /// Places the boxes by two numbers.
    pub fn at(self, x: Channel, y: Channel) -> View {
        View { x: Some(x), y: Some(y), ..self }
    }

    /// Reads a view in TOML.
    ///
    /// # Errors
    ///
    /// If a field or a filter is wrong. The error names its line.
    pub fn parse(text: &str) -> Result<View, ViewError> {
        let view = View::from_toml(text)?;
        if view.subjects.is_empty() {
            return Err(ViewError(
                "missing field `subjects`: it names the kind of the subjects".into(),
            ));
        }
        view.check()?;
        Ok(view)
    }

    /// Reads a view of a program's methods in TOML. Height, width and grey that it leaves out are
    /// those of the structural picture: total time, calls and receivers.
    ///
    /// # Errors
    ///
    /// If a field or a filter is wrong, or for subjects. The error names its line.
    pub fn parse_for_methods(text: &str) -> Result<View, ViewError> {
        let mut view = View::from_toml(text)?;
        if !view.subjects.is_empty() || view.below.is_some() {
            return Err(ViewError(
                "`subjects` and `below` are for pictures of a program's own objects: remove them, or draw `domain`"
                    .into(),
            ));
        }
        let given: toml::Table =
            toml::from_str(text).map_err(|error| ViewError(error.to_string()))?;
        if !given.contains_key("height") {
            view.height.value = Number::Total;
        }
        if !given.contains_key("fill") {
            view.fill.value = Number::Receivers;
        }
        view.check()?;
        Ok(view)
    }

    fn from_toml(text: &str) -> Result<View, ViewError> {
        toml::from_str(text).map_err(|error| ViewError(error.to_string().trim_end().to_owned()))
    }

    /// Checks that each channel has a valid filter, and that the boxes have one place each.
    ///
    /// # Errors
    ///
    /// If a filter cannot be parsed, if `x` or `y` stands alone, or beside `below` or `order`.
    pub fn check(&self) -> Result<(), ViewError> {
        if self.x.is_some() != self.y.is_some() {
            return Err(ViewError("a place needs both numbers: add `x` or `y`".into()));
        }
        if self.x.is_some() && (self.below.is_some() || self.order.is_some()) {
            return Err(ViewError(
                "`x` and `y` are the place of a box: remove them, or `below` and `order`".into(),
            ));
        }
        let channels = self.channels().into_iter().flatten();
        if !self.subjects.is_empty()
            && channels.clone().any(|channel| channel.value.is_of_methods())
        {
            return Err(ViewError(
                "`receivers`, `tests` and `lines` are numbers of methods, and not of subjects"
                    .into(),
            ));
        }
        channels.map(Channel::filter).try_for_each(|filter| filter.map(drop))
    }

    /// Returns the channels in the order of the numbers.
    pub(crate) fn channels(&self) -> [Option<&Channel>; CHANNELS] {
        let [border, order, x, y] =
            [&self.border, &self.order, &self.x, &self.y].map(Option::as_ref);
        [Some(&self.height), Some(&self.width), Some(&self.fill), border, order, x, y]
    }

    /// Reads the subjects of a recording with their relations, and their numbers in the events that
    /// pass the filter.
    ///
    /// # Errors
    ///
    /// If the recording has no such subject, relation or site, or if a filter is wrong.
    pub fn read(&self, store: &Store, filter: &Filter) -> Result<Viewed, ViewError> {
        let kind = store.kinds().find(|kind| kind.name == self.subjects).map(|kind| kind.id);
        let kind = kind.ok_or_else(|| self.no_kind(store))?;
        if let Some(relation) =
            self.below.as_deref().filter(|it| !store.relation_names().contains(it))
        {
            let known = store.relation_names().join(", ");
            return Err(ViewError(format!(
                "no subject has the relation `{relation}`: the recording has {known}"
            )));
        }
        let mut all: Vec<HashMap<Subject, u64>> = Vec::new();
        let mut exact = true;
        for channel in self.channels() {
            let Some(channel) = channel else {
                all.push(HashMap::new());
                continue;
            };
            let query = channel.checked_filter(store)?;
            let tally = store.tally(By::Subject, &Scope::matching(query.and(filter.clone())));
            exact &= tally.exact;
            let rows = tally
                .rows
                .iter()
                .filter_map(|row| Some((row.subject?, channel.value.of(&row.measure, store))));
            all.push(rows.collect());
        }
        let mut subjects: Vec<Subject> = store.labelled().map(|(subject, _)| subject).collect();
        subjects.extend(all.iter().flat_map(|numbers| numbers.keys().copied()));
        subjects.retain(|subject| subject.kind == kind);
        subjects.sort_unstable_by_key(|subject| subject.key);
        subjects.dedup();
        let numbers = |subject: &Subject| {
            std::array::from_fn(|channel| all[channel].get(subject).copied().unwrap_or(0))
        };
        Ok(Viewed {
            view: self.clone(),
            numbers: subjects.iter().map(numbers).collect(),
            graph: Graph {
                exact,
                notes: (!filter.is_all())
                    .then(|| format!("only events that pass {}", filter.text()))
                    .into_iter()
                    .collect(),
                ..self.graph(store, &subjects, kind)
            },
        })
    }

    /// Computes the numbers of the methods of a recording in the events that pass the filter.
    /// `graph` is that of these events.
    ///
    /// # Errors
    ///
    /// If a filter is wrong, or selects no site.
    pub fn read_methods(
        &self,
        store: &Store,
        filter: &Filter,
        mut graph: Graph,
    ) -> Result<Viewed, ViewError> {
        let mut numbers = vec![[0; CHANNELS]; graph.methods.len()];
        for (at, channel) in self.channels().into_iter().enumerate() {
            let Some(channel) = channel else { continue };
            let query = channel.checked_filter(store)?;
            let is_of_sites = query.is_of_sites();
            let query = query.and(filter.clone());
            let tally = store.tally(By::Site, &Scope::matching(query.clone()));
            graph.exact &= tally.exact;
            let rows = tally.rows.iter();
            let measures: HashMap<SiteId, &Measure> =
                rows.filter_map(|row| Some((row.site?, &row.measure))).collect();
            // Profilers add up all calls of a method. Only stored events know those of a part.
            let part = (!is_of_sites).then(|| Graph::read(store, &query));
            let part: HashMap<SiteId, &Method> = part
                .iter()
                .flat_map(|part| &part.methods)
                .filter_map(|method| Some((method.site?, method)))
                .collect();
            for (method, numbers) in graph.methods.iter().zip(&mut numbers) {
                let Some(site) = method.site else { continue };
                let Some(measure) = measures.get(&site) else { continue };
                let method =
                    if is_of_sites { method } else { part.get(&site).copied().unwrap_or(method) };
                numbers[at] = channel.value.of_method(method, measure, store);
            }
        }
        Ok(Viewed { view: self.clone(), graph, numbers })
    }

    fn graph(&self, store: &Store, subjects: &[Subject], kind: KindId) -> Graph {
        let mut graph = Graph::default();
        let owner = graph.owner(Owner {
            module: String::new(),
            name: "fn".into(),
            kind: OwnerKind::Functions,
            traits: Vec::new(),
        });
        let places: HashMap<Subject, usize> =
            subjects.iter().enumerate().map(|(at, &subject)| (subject, at)).collect();
        for (at, &subject) in subjects.iter().enumerate() {
            let name =
                store.label(subject).map_or_else(|| format!("#{}", subject.key), str::to_owned);
            graph.methods.push(Method {
                subject: Some(subject),
                path: name.clone(),
                path_with_arguments: name.clone(),
                name,
                owner,
                ..Method::default()
            });
            let above = self.below.as_deref().and_then(|relation| {
                let relations = store.relations_of(subject).into_iter();
                let mut above = relations
                    .filter(|it| it.name == relation && it.from == subject && it.to.kind == kind);
                places.get(&above.next()?.to).copied()
            });
            match above {
                Some(from) => graph.calls.push(Call { from, to: at, count: 0, total_ns: 0 }),
                None => graph.entries.push((at, Edge { count: 1, total_ns: 0, is_least: false })),
            }
        }
        graph
    }

    fn no_kind(&self, store: &Store) -> ViewError {
        let known: Vec<&str> = store.kinds().map(|kind| kind.name.as_str()).collect();
        ViewError(format!(
            "there are no subjects of the kind `{}`: the recording has {}",
            self.subjects,
            known.join(", ")
        ))
    }
}

impl Channel {
    /// Counts the events that pass a filter.
    pub fn count(query: &str) -> Channel {
        Channel { value: Number::Count, query: query.into() }
    }

    /// Adds up the time of the events that pass a filter.
    pub fn total(query: &str) -> Channel {
        Channel { value: Number::Total, query: query.into() }
    }

    /// Describes the channel in words: `total of site:layout`.
    pub fn words(&self) -> String {
        let value = match self.value {
            Number::Count => "count",
            Number::Total => "total",
            Number::Own => "self",
            Number::Longest => "longest",
            Number::Failed => "failed",
            Number::Receivers => "receivers",
            Number::Tests => "tests",
            Number::Lines => "lines",
        };
        if self.query.is_empty() { value.into() } else { format!("{value} of {}", self.query) }
    }

    /// Formats a number of this channel, with its unit.
    pub fn text(&self, number: u64) -> String {
        match self.value {
            Number::Total | Number::Own | Number::Longest => time(number),
            _ => grouped(number),
        }
    }

    /// Returns the filter if it selects a site of the recording.
    fn checked_filter(&self, store: &Store) -> Result<Filter, ViewError> {
        let query = self.filter()?;
        query
            .check(store)
            .map_err(|error| ViewError(format!("query = \"{}\": {error}", self.query)))?;
        Ok(query)
    }

    fn filter(&self) -> Result<Filter, ViewError> {
        self.query
            .parse()
            .map_err(|error| ViewError(format!("query = \"{}\": {error}", self.query)))
    }
}

impl Number {
    fn of(self, measure: &Measure, store: &Store) -> u64 {
        match self {
            Number::Count => measure.count,
            Number::Total => store.span_ns(measure.total_ticks),
            Number::Own => store.span_ns(measure.self_ticks.unwrap_or(measure.window_self_ticks)),
            Number::Longest => store.span_ns(measure.max_ticks),
            Number::Failed => measure.failed,
            // No view of subjects has them.
            Number::Receivers | Number::Tests | Number::Lines => 0,
        }
    }

    /// Returns the number of a method. The measure has the numbers that only its events know.
    fn of_method(self, method: &Method, measure: &Measure, store: &Store) -> u64 {
        match self {
            Number::Count => method.executions,
            Number::Total => method.total_ns.unwrap_or(0),
            Number::Own => method.self_ns.unwrap_or(0),
            Number::Longest | Number::Failed => self.of(measure, store),
            Number::Receivers => method.receivers.magnitude(),
            Number::Tests => method.tests.count,
            Number::Lines => method.lines.into(),
        }
    }

    fn is_of_methods(self) -> bool {
        matches!(self, Number::Receivers | Number::Tests | Number::Lines)
    }
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ViewError {}
