//! Methods of a program with their numbers, the types that own them, and the calls between them.

mod below;
pub mod hooks;
mod profile;
mod recursion;
pub mod written_calls;

use std::collections::{BTreeMap, HashMap};

use metaspy_probe::{SiteId, Subject, unqualified};
use metaspy_reader::{Chain, ChainFrame, Filter, Store};
use metaspy_report::contexts::Contexts;
use metaspy_report::coverage::is_cache;
use metaspy_report::coverage::{Pattern, PatternExamples, patterns};
use metaspy_report::flame::{FlamePage, Unit};
use metaspy_report::program::{
    Edge, Element, Instructions, Key, Of, Program, Receivers, Returned, TestCount,
};

pub use below::Bounds;
pub use hooks::HookCost;
pub use profile::Measured;

/// Methods, owners and calls of a program: the input of every picture.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Methods of the program, without tests.
    pub methods: Vec<Method>,
    /// Types, traits, and the free functions of each module.
    pub owners: Vec<Owner>,
    /// Calls between methods, added up by caller and callee.
    pub calls: Vec<Call>,
    /// Calls from code without hooks and from tests: the index of the called method, and its calls.
    pub entries: Vec<(usize, Edge)>,
    /// Methods that show each pattern of coverage.
    pub patterns: Vec<(Pattern, Vec<usize>)>,
    /// True if callers are known.
    pub has_callers: bool,
    /// True if callers are the causes of stored events, because callers were not recorded.
    pub callers_are_causes: bool,
    /// True if returned values were recorded.
    pub has_returns: bool,
    /// True if calls between methods found no room. A method of which no caller is known may then
    /// have one.
    pub has_lost_edges: bool,
    /// True if every count is exact.
    pub exact: bool,
    /// Number of calls that may pass the filter, which asks for facts that only stored events have.
    /// No number includes them.
    pub undecided: u64,
    /// Notes on the calls that the graph contains, if it does not contain all calls of one thread.
    pub notes: Vec<String>,
    /// Cost of hooks stored in the recording: see [`Graph::recorded_hooks`].
    pub recorded_hooks: Option<HookCost>,
    /// Cost of hooks that was subtracted from times; `None` if times include it.
    pub hooks: Option<HookCost>,
    /// Index of the method at the top of pictures of calls; `None` for the whole program. See
    /// [`Graph::below`].
    pub root: Option<usize>,
    /// Numbers that are upper bounds.
    pub bounds: Bounds,
    /// Calling contexts of all calls, if they were recorded. They make numbers below a root exact.
    pub contexts: Option<Contexts>,
    /// The quantity of the numbers, if they are no times of calls.
    pub measured: Option<Measured>,
    /// Graphs of the samples and instructions of the same run.
    pub profiles: Vec<Graph>,
}

/// Method with the numbers of its calls.
#[derive(Clone, Debug, Default)]
pub struct Method {
    /// Site of the method; `None` if it does not come from a recording.
    pub site: Option<SiteId>,
    /// Subject, if the box is a subject of a [view](crate::view) and not a method.
    pub subject: Option<Subject>,
    /// Whole path, with crate, module and type.
    pub path: String,
    /// Path with the type arguments of its `impl`, which tell it apart from other methods of this
    /// path.
    pub path_with_arguments: String,
    /// Name within its type: `measure`, or `Layout::measure` for the method of an implemented
    /// trait.
    pub name: String,
    /// Index of the owner in [`Graph::owners`].
    pub owner: usize,
    /// Source file that defines the method.
    pub file: String,
    /// First line of the source, counted from 1.
    pub line: u32,
    /// Number of source lines.
    pub lines: u32,
    /// Number of calls.
    pub executions: u64,
    /// Time including callees; `None` if calls were not timed. Calls within calls of the same
    /// method count once.
    pub total_ns: Option<u64>,
    /// Time without callees; `None` if it is not known.
    pub self_ns: Option<u64>,
    /// Time of hooks that was subtracted from the total: see [`Graph::subtract_hooks`].
    pub hooks_ns: u64,
    /// Objects that the method was called on.
    pub receivers: Receivers,
    /// Objects that the method allocated on the heap, without its callees; `None` if they were not
    /// counted.
    pub objects: Option<u64>,
    /// True if it may have allocated more, because some found no room in the recording.
    pub has_more_objects: bool,
    /// Instructions in the method's own code; `None` if they were not counted.
    pub instructions: Option<Instructions>,
    /// True if its hook sees the return value of each call, which takes time of the call.
    pub shows_returned: bool,
    /// Summary of the returned values; `None` if they were not recorded.
    pub returns: Option<Returned>,
    /// True if the method is a cache already, judged by its name, the name of its type, or its
    /// body.
    pub is_cache: bool,
    /// Number of tests in which the method ran.
    pub tests: TestCount,
    /// Fingerprint of the source; 0 if it is not known.
    pub fingerprint: u32,
    /// Lines with samples: number of the line, samples, source.
    pub hot_lines: Vec<(u32, u64, String)>,
}

/// Type, trait, or the free functions of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Module path, with its crate.
    pub module: String,
    /// Name of the type or trait; `fn` for free functions.
    pub name: String,
    /// Sort of owner.
    pub kind: OwnerKind,
    /// Traits of a type that have a method in the recording, or the supertraits of a trait.
    pub traits: Vec<String>,
}

/// Sorts of owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OwnerKind {
    /// Type of the program.
    Type,
    /// Trait, with its default methods.
    Trait,
    /// Free functions of a module.
    Functions,
    /// Type of another crate, a primitive, or a type whose definition was not found.
    Foreign,
}

/// Calls from one method to another, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index of the caller in [`Graph::methods`].
    pub from: usize,
    /// Index of the callee in [`Graph::methods`].
    pub to: usize,
    /// Number of calls.
    pub count: u64,
    /// Time of the calls. In a recursion, only the outermost call counts.
    pub total_ns: u64,
}

/// Calls that the causes of stored events show, added up.
#[derive(Clone, Copy, Debug, Default)]
struct Caused {
    count: u64,
    ticks: u64,
}

impl Graph {
    /// Builds the graph of a program. `ns` converts the ticks of its recording.
    pub fn new(program: &Program, ns: impl Fn(u64) -> u64) -> Graph {
        let mut graph = Graph {
            exact: program.exact,
            has_lost_edges: program.profiles.has_lost_edges,
            notes: program.profiles.doubts(),
            has_callers: program.profiles.has_calls(),
            recorded_hooks: program.hook_cost,
            ..Graph::default()
        };
        let mut owners: HashMap<usize, usize> = HashMap::new();
        for element in &program.elements {
            let (Some(method), Some(under)) = (&element.method, element.under) else { continue };
            if !method.is_counted() {
                continue;
            }
            let owner = *owners.entry(under).or_insert_with(|| {
                graph.owners.push(Owner::new(&program.elements[under]));
                graph.owners.len() - 1
            });
            let profile = &method.profile;
            graph.has_returns |= profile.returns.is_some_and(|returned| returned != Returned::Unit);
            graph.methods.push(Method {
                site: element.site(),
                subject: None,
                path: method.site.path.clone(),
                path_with_arguments: method.path_with_arguments(),
                name: element.name.clone(),
                owner,
                file: method.site.file.clone(),
                line: method.site.lines.0,
                lines: method.line_count(),
                executions: element.measure.count,
                total_ns: profile.total_ns.or(element.total_ticks().map(&ns)),
                self_ns: profile.self_ns.or(element.self_ticks().map(&ns)),
                hooks_ns: 0,
                receivers: element.receivers,
                objects: profile.objects.map(|objects| objects.count),
                has_more_objects: profile.objects.is_some_and(|objects| objects.is_least),
                instructions: profile.instructions(),
                shows_returned: method.facts.as_ref().is_some_and(|facts| facts.is_deep),
                returns: profile.returns,
                is_cache: is_cache(method, &element.name, &program.elements[under].name),
                tests: profile.test_count(),
                fingerprint: method.facts.as_ref().map_or(0, |facts| facts.fingerprint),
                hot_lines: Vec::new(),
            });
        }
        let places = graph.places();
        graph.add_calls(program, &places);
        graph.patterns = patterns(program)
            .iter()
            .map(|found| (found.pattern, methods_of(found, &places)))
            .collect();
        graph
    }

    /// Reads the graph of a recording. The causes of stored events replace callers that were not
    /// recorded. They also replace them if the filter selects a part of a method's calls, such as
    /// those of one thread, because profilers add up all calls of a method.
    pub fn read(store: &Store, filter: &Filter) -> Graph {
        let mut program = Program::read(store, filter);
        if !filter.is_of_sites() {
            program.forget_calls();
        }
        let totals = store.totals();
        let mut graph = Graph::new(&program, |ticks| store.span_ns(ticks));
        graph.has_callers &= filter.is_of_sites();
        graph.undecided = if filter.is_of_sites() { 0 } else { totals.folded + totals.counted };
        if !graph.has_callers {
            graph.add_causes(store, filter);
            graph.has_callers = !graph.calls.is_empty();
            graph.callers_are_causes = graph.has_callers;
        }
        graph.notes.extend(scope(store, filter));
        graph.contexts = Contexts::read(store).filter(|_| filter.is_all());
        if filter.is_all() {
            let mut page = FlamePage::default();
            page.add_profiles(store);
            graph.add_lines(&page);
            graph.profiles = Graph::of_profiles(&page);
        }
        graph
    }

    /// Returns the graph of the samples or instructions of the run, if no method with a hook ran.
    pub fn or_profile(mut self) -> Graph {
        if self.ran().next().is_some() || self.profiles.is_empty() {
            self
        } else {
            self.profiles.swap_remove(0)
        }
    }

    /// Returns true if objects on the heap were counted.
    pub fn has_objects(&self) -> bool {
        self.methods.iter().any(|method| method.objects.is_some())
    }

    /// Returns true if instructions were counted.
    pub fn has_instructions(&self) -> bool {
        self.methods.iter().any(|method| method.instructions.is_some())
    }

    /// Maps each site to the index of its method.
    fn places(&self) -> HashMap<SiteId, usize> {
        self.methods
            .iter()
            .enumerate()
            .filter_map(|(at, method)| Some((method.site?, at)))
            .collect()
    }

    fn add_calls(&mut self, program: &Program, places: &HashMap<SiteId, usize>) {
        let mut entries: HashMap<usize, Edge> = HashMap::new();
        for &(caller, callee, edge) in &program.edges {
            let Some(&to) = places.get(&callee) else { continue };
            match caller.and_then(|caller| places.get(&caller)) {
                Some(&from) => {
                    self.calls.push(Call { from, to, count: edge.count, total_ns: edge.total_ns })
                }
                None => entries.entry(to).or_default().add(edge),
            }
        }
        self.entries.extend(entries);
        self.entries.sort_by_key(|&(method, _)| method);
    }

    /// Returns the index of an owner, and adds the owner if the graph does not have it.
    pub fn owner(&mut self, owner: Owner) -> usize {
        let place = self.owners.iter().position(|other| *other == owner);
        place.unwrap_or_else(|| {
            self.owners.push(owner);
            self.owners.len() - 1
        })
    }

    /// Adds the calls that the causes of stored events show. Events that left the window contribute
    /// none.
    pub(crate) fn add_causes(&mut self, store: &Store, filter: &Filter) {
        let places = self.places();
        let Some(chains) = store.chains(filter, |_, _| true) else { return };
        let chains = &chains.chains;
        let place = |chain: &Chain| match chain.frame {
            ChainFrame::Site(site) => places.get(&site).copied(),
            ChainFrame::Left | ChainFrame::Deeper => None,
        };
        let mut totals: Vec<u64> = chains.iter().map(|chain| chain.self_ticks).collect();
        for (at, chain) in chains.iter().enumerate().rev() {
            chain.parent.into_iter().for_each(|parent| totals[parent as usize] += totals[at]);
        }
        let mut calls: BTreeMap<(Option<usize>, usize), Caused> = BTreeMap::new();
        for (chain, &ticks) in chains.iter().zip(&totals) {
            let Some(to) = place(chain).filter(|_| chain.count > 0) else { continue };
            let mut above = std::iter::successors(chain.parent, |&at| chains[at as usize].parent)
                .filter_map(|at| place(&chains[at as usize]));
            let from = above.next();
            let is_inner = from == Some(to) || above.any(|method| method == to);
            // Time within another call of the method belongs to the outer call.
            let edge = calls.entry((from, to)).or_default();
            edge.count += chain.count;
            edge.ticks += if is_inner { 0 } else { ticks };
        }
        // Ticks are added up before they become nanoseconds: rounded one by one, they would be less
        // than the time of the method itself.
        let mut into: HashMap<usize, Caused> = HashMap::new();
        for (&(_, to), edge) in &calls {
            let all = into.entry(to).or_default();
            all.count += edge.count;
            all.ticks += edge.ticks;
        }
        for (to, all) in into {
            let method = &mut self.methods[to];
            // If some calls left the window, only the recording's tally has the time of all.
            if all.count == method.executions {
                let total_ns = store.span_ns(all.ticks).max(method.self_ns.unwrap_or(0));
                method.total_ns = method.total_ns.and(Some(total_ns));
            }
        }
        for ((from, to), edge) in calls {
            let total_ns = store.span_ns(edge.ticks);
            match from {
                Some(from) => self.calls.push(Call { from, to, count: edge.count, total_ns }),
                None => {
                    self.entries.push((to, Edge { count: edge.count, total_ns, is_least: false }))
                }
            }
        }
    }

    /// Returns true if some calls were timed.
    pub fn is_timed(&self) -> bool {
        self.methods.iter().any(|method| method.total_ns.is_some())
    }

    /// Iterates over the indices of the methods that ran.
    pub fn ran(&self) -> impl Iterator<Item = usize> {
        (0..self.methods.len()).filter(|&at| self.methods[at].executions > 0)
    }

    /// Writes a number that is the height of boxes, with its unit: times, unless something else was
    /// measured.
    pub fn amount(&self, number: u64) -> String {
        self.measured.as_ref().map_or(Unit::Ns, |measured| measured.unit).text(number)
    }

    /// Returns the word for these numbers: `time`, `processor time`, `instructions`.
    pub(crate) fn amount_word(&self) -> &str {
        self.measured.as_ref().map_or("time", |measured| &measured.amount)
    }

    /// Returns the word for the unit of a box's width: `call` or `sample`.
    pub(crate) fn count_word(&self) -> &'static str {
        self.measured.as_ref().map_or("call", |measured| measured.count)
    }

    /// Returns the sign behind a number of calls.
    pub(crate) fn times_sign(&self) -> &'static str {
        if self.count_word() == "call" { "×" } else { "" }
    }

    /// Returns the time of a method; 0 if it is not known.
    pub fn total(&self, method: usize) -> u64 {
        self.methods[method].total_ns.unwrap_or(0)
    }

    /// Finds the index of the only method whose path ends with these segments.
    ///
    /// # Errors
    ///
    /// A sentence that names the methods that match, or the most similar names.
    pub fn find(&self, path: &str) -> Result<usize, String> {
        let end = unqualified(path);
        let ends_with = |method: &Method| {
            let path = unqualified(&method.path);
            path.strip_suffix(&*end).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
        };
        let found: Vec<usize> =
            (0..self.methods.len()).filter(|&at| ends_with(&self.methods[at])).collect();
        match &found[..] {
            [only] => Ok(*only),
            [] => Err(self.not_found(path)),
            several => {
                let names: Vec<&str> =
                    several.iter().take(3).map(|&at| self.methods[at].path.as_str()).collect();
                Err(format!(
                    "`{path}` is the end of {} paths: write more of it, as in {}",
                    several.len(),
                    names.join(", ")
                ))
            }
        }
    }

    fn not_found(&self, path: &str) -> String {
        let ran = self.ran().map(|at| self.methods[at].path.as_str());
        let nearest = path
            .parse::<metaspy_reader::Selector>()
            .map(|selector| selector.nearest(ran))
            .unwrap_or_default();
        if nearest.is_empty() {
            format!("no method is called `{path}`: `metaspy report --by site` lists those that ran")
        } else {
            format!("no method is called `{path}`: the nearest are {}", nearest.join(", "))
        }
    }
}

/// Describes the calls of a recording that the graph contains, and their threads.
fn scope(store: &Store, filter: &Filter) -> Option<String> {
    let threads = store.lanes().len();
    match filter.is_of_sites() {
        false => Some(format!(
            "only stored events that pass {}; receivers, tests and returned values are those of all calls",
            filter.text()
        )),
        true if threads > 1 => {
            Some(format!("{threads} threads together; --filter lane:NAME draws one"))
        }
        true => None,
    }
}

fn methods_of(found: &PatternExamples<'_>, places: &HashMap<SiteId, usize>) -> Vec<usize> {
    let methods = found.examples.iter().flat_map(|example| &example.methods);
    methods.filter_map(|method| places.get(&method.site()?).copied()).collect()
}

impl Owner {
    fn new(element: &Element) -> Owner {
        let path = element.path_text();
        let (kind, name) = match &element.of {
            Of::Functions => (OwnerKind::Functions, "fn".to_owned()),
            Of::Type { is_unresolved: true, .. } => (OwnerKind::Foreign, element.name.clone()),
            _ if element.name.contains("::")
                || element.name.starts_with(|c: char| c.is_lowercase()) =>
            {
                (OwnerKind::Foreign, element.name.clone())
            }
            Of::Type { is_trait: true, .. } => (OwnerKind::Trait, element.name.clone()),
            _ => (OwnerKind::Type, element.name.clone()),
        };
        let module = match &element.key {
            Key::Functions(path) => path.to_string(),
            _ => path
                .strip_suffix(&element.name)
                .and_then(|path| path.strip_suffix("::"))
                .unwrap_or("")
                .to_owned(),
        };
        let traits =
            if let Of::Type { traits, .. } = &element.of { traits.clone() } else { Vec::new() };
        Owner { module, name, kind, traits }
    }

    /// Joins the module and the name with `::`.
    pub fn path(&self) -> String {
        format!("{}::{}", self.module, self.name)
    }

    /// Returns the name of the crate.
    pub fn package(&self) -> &str {
        self.module.split("::").next().unwrap_or(&self.module)
    }
}
