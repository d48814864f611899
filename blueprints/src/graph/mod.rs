//! The methods of a program with their numbers, the types that own them, and the calls between them.

mod below;
pub mod hooks;
mod recursion;
pub mod written_calls;

use std::collections::{BTreeMap, HashMap};

use metaspy_probe::SiteId;
use metaspy_reader::{Chain, ChainFrame, Filter, Store};
use metaspy_report::contexts::Contexts;
use metaspy_report::coverage::is_cache;
use metaspy_report::coverage::{Found, Pattern, patterns};
use metaspy_report::program::{Edge, Element, Key, Of, Program, Receivers, Returned, TestCount};

pub use below::Bounds;
pub use hooks::HookCost;

/// What pictures are drawn of.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The methods, without tests.
    pub methods: Vec<Method>,
    /// The types, the traits, and the free functions of each module.
    pub owners: Vec<Owner>,
    /// The calls between methods.
    pub calls: Vec<Call>,
    /// The calls from code without hooks, and from tests: the place of the method, and the calls.
    pub entries: Vec<(usize, Edge)>,
    /// The methods that show each pattern of coverage.
    pub patterns: Vec<(Pattern, Vec<usize>)>,
    /// True if callers are known.
    pub has_callers: bool,
    /// True if they are the causes of stored events, because callers were not recorded.
    pub callers_are_causes: bool,
    /// True if returned values were recorded.
    pub has_returns: bool,
    /// True if every count is exact.
    pub exact: bool,
    /// Calls that may pass the filter, because it asks what is only known of stored events. They are in no number.
    pub undecided: u64,
    /// Which of the calls it has, if not all of one thread.
    pub notes: Vec<String>,
    /// The cost of hooks that the recording has: see [`Graph::recorded_hooks`].
    pub recorded_hooks: Option<HookCost>,
    /// The cost of hooks that was subtracted from times.
    pub hooks: Option<HookCost>,
    /// The method at the top of pictures of calls; `None` for the whole program. See [`Graph::below`].
    pub root: Option<usize>,
    /// Which numbers are upper bounds.
    pub bounds: Bounds,
    /// The calling contexts of all calls, if they were recorded: what is below a method is exact then.
    pub contexts: Option<Contexts>,
}

/// A method.
#[derive(Clone, Debug, Default)]
pub struct Method {
    /// Its site; `None` for a method that is not of a recording.
    pub site: Option<SiteId>,
    /// Its whole path.
    pub path: String,
    /// Its name in its type: `measure`, or `Layout::measure` for the method of an implemented trait.
    pub name: String,
    /// The place of its owner.
    pub owner: usize,
    /// The file that it is in.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// The number of its lines.
    pub lines: u32,
    /// Its calls.
    pub executions: u64,
    /// Its time with the methods that it called; `None` if calls were not timed. Calls within its own calls count once.
    pub total_ns: Option<u64>,
    /// Its time without them.
    pub self_ns: Option<u64>,
    /// The time of hooks that was subtracted from the total: see [`Graph::subtract_hooks`].
    pub hooks_ns: u64,
    /// The objects that it was called on.
    pub receivers: Receivers,
    /// The objects that it allocated on the heap, without those of its callees; `None` if they were not counted.
    pub objects: Option<u64>,
    /// The instructions in its own code; `None` if they were not counted.
    pub instructions: Option<u64>,
    /// What it returned; `None` if this was not recorded.
    pub returns: Option<Returned>,
    /// True if it is a cache already, by its name, that of its type, or its body.
    pub is_cache: bool,
    /// The number of tests in which it ran.
    pub tests: TestCount,
    /// The fingerprint of its source; 0 if it is not known.
    pub fingerprint: u32,
}

/// A type, a trait, or the free functions of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The module, with its crate.
    pub module: String,
    /// The name; that of free functions is `fn`.
    pub name: String,
    /// The sort of it.
    pub kind: OwnerKind,
    /// The traits of a type that have a method in the recording, or the supertraits of a trait.
    pub traits: Vec<String>,
}

/// The sorts of owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerKind {
    /// A type of the program.
    Type,
    /// A trait, with its default methods.
    Trait,
    /// Free functions.
    Functions,
    /// A type of another crate, a primitive, or a type whose definition was not found.
    Foreign,
}

/// The calls from one method to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The place of the caller.
    pub from: usize,
    /// The place of the callee.
    pub to: usize,
    /// Their number.
    pub count: u64,
    /// Their time. Calls within a recursion have none: only the outermost one has.
    pub total_ns: u64,
}

impl Graph {
    /// The graph of a program. `ns` converts the ticks of its recording.
    pub fn new(program: &Program, ns: impl Fn(u64) -> u64) -> Graph {
        let mut graph = Graph {
            exact: program.exact,
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
                path: method.site.path.clone(),
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
                instructions: profile.instructions(),
                returns: profile.returns,
                is_cache: is_cache(method, &element.name, &program.elements[under].name),
                tests: profile.test_count(),
                fingerprint: method.facts.as_ref().map_or(0, |facts| facts.fingerprint),
            });
        }
        let places = graph.places();
        graph.add_calls(program, &places);
        graph.patterns = patterns(program).iter().map(|found| (found.pattern, methods_of(found, &places))).collect();
        graph
    }

    /// The graph of a recording. Without recorded callers, the causes of stored events are in their place, and so are they
    /// for a part of the calls of a method, such as those of one thread: profilers add up all of its calls.
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
        graph
    }

    /// True if objects on the heap were counted.
    pub fn has_objects(&self) -> bool {
        self.methods.iter().any(|method| method.objects.is_some())
    }

    /// True if instructions were counted.
    pub fn has_instructions(&self) -> bool {
        self.methods.iter().any(|method| method.instructions.is_some())
    }

    /// The place of the method of each site.
    fn places(&self) -> HashMap<SiteId, usize> {
        self.methods.iter().enumerate().filter_map(|(at, method)| Some((method.site?, at))).collect()
    }

    fn add_calls(&mut self, program: &Program, places: &HashMap<SiteId, usize>) {
        let mut entries: HashMap<usize, Edge> = HashMap::new();
        for &(caller, callee, edge) in &program.edges {
            let Some(&to) = places.get(&callee) else { continue };
            match caller.and_then(|caller| places.get(&caller)) {
                Some(&from) => self.calls.push(Call { from, to, count: edge.count, total_ns: edge.total_ns }),
                None => entries.entry(to).or_default().add(edge),
            }
        }
        self.entries.extend(entries);
        self.entries.sort_by_key(|&(method, _)| method);
    }

    /// The place of an owner, which is added if it is not there.
    pub fn owner(&mut self, owner: Owner) -> usize {
        let place = self.owners.iter().position(|other| *other == owner);
        place.unwrap_or_else(|| {
            self.owners.push(owner);
            self.owners.len() - 1
        })
    }

    /// Adds the calls that the causes of stored events show. Events that left the window have none.
    pub fn add_causes(&mut self, store: &Store, filter: &Filter) {
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
        let mut calls: BTreeMap<(Option<usize>, usize), Edge> = BTreeMap::new();
        for (chain, &ticks) in chains.iter().zip(&totals) {
            let Some(to) = place(chain).filter(|_| chain.count > 0) else { continue };
            let mut above = std::iter::successors(chain.parent, |&at| chains[at as usize].parent)
                .filter_map(|at| place(&chains[at as usize]));
            let from = above.next();
            let is_inner = from == Some(to) || above.any(|method| method == to);
            // Time within another call of the method is a part of the outer call's time.
            let total_ns = if is_inner { 0 } else { store.span_ns(ticks) };
            calls.entry((from, to)).or_default().add(Edge { count: chain.count, total_ns });
        }
        let mut into: HashMap<usize, Edge> = HashMap::new();
        calls.iter().for_each(|(&(_, to), &edge)| into.entry(to).or_default().add(edge));
        for (to, edge) in into {
            let method = &mut self.methods[to];
            // If some of its calls left the window, all times are added up, those within its own calls as well.
            if edge.count == method.executions {
                method.total_ns = method.total_ns.and(Some(edge.total_ns));
            }
        }
        for ((from, to), edge) in calls {
            match from {
                Some(from) => self.calls.push(Call { from, to, count: edge.count, total_ns: edge.total_ns }),
                None => self.entries.push((to, edge)),
            }
        }
    }

    /// True if some calls were timed.
    pub fn is_timed(&self) -> bool {
        self.methods.iter().any(|method| method.total_ns.is_some())
    }

    /// The methods that ran.
    pub fn ran(&self) -> impl Iterator<Item = usize> {
        (0..self.methods.len()).filter(|&at| self.methods[at].executions > 0)
    }

    /// The time of a method; 0 if it is not known.
    pub fn total(&self, method: usize) -> u64 {
        self.methods[method].total_ns.unwrap_or(0)
    }

    /// The place of the only method whose path ends with these segments.
    ///
    /// # Errors
    ///
    /// A sentence that names the methods that fit, or the nearest.
    pub fn find(&self, path: &str) -> Result<usize, String> {
        let ends_with = |method: &Method| {
            method.path.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
        };
        let found: Vec<usize> = (0..self.methods.len()).filter(|&at| ends_with(&self.methods[at])).collect();
        match &found[..] {
            [only] => Ok(*only),
            [] => Err(self.not_found(path)),
            several => {
                let names: Vec<&str> = several.iter().take(3).map(|&at| self.methods[at].path.as_str()).collect();
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
        let nearest =
            path.parse::<metaspy_reader::Selector>().map(|selector| selector.nearest(ran)).unwrap_or_default();
        match nearest.is_empty() {
            true => format!("no method is called `{path}`: `metaspy report --by site` lists those that ran"),
            false => format!("no method is called `{path}`: the nearest are {}", nearest.join(", ")),
        }
    }
}

/// Which calls of a recording pass, and of which threads they are.
fn scope(store: &Store, filter: &Filter) -> Option<String> {
    let threads = store.lanes().len();
    match filter.is_of_sites() {
        false => Some(format!(
            "only stored events that pass {}; receivers, tests and returned values are those of all calls",
            filter.text()
        )),
        true if threads > 1 => Some(format!("{threads} threads together; --filter lane:NAME draws one")),
        true => None,
    }
}

fn methods_of(found: &Found<'_>, places: &HashMap<SiteId, usize>) -> Vec<usize> {
    let methods = found.examples.iter().flat_map(|example| &example.methods);
    methods.filter_map(|method| places.get(&method.site()?).copied()).collect()
}

impl Owner {
    fn new(element: &Element) -> Owner {
        let path = element.path_text();
        let (kind, name) = match &element.of {
            Of::Functions => (OwnerKind::Functions, "fn".to_owned()),
            Of::Type { is_unresolved: true, .. } => (OwnerKind::Foreign, element.name.clone()),
            _ if element.name.contains("::") || element.name.starts_with(|c: char| c.is_lowercase()) => {
                (OwnerKind::Foreign, element.name.clone())
            }
            Of::Type { is_trait: true, .. } => (OwnerKind::Trait, element.name.clone()),
            _ => (OwnerKind::Type, element.name.clone()),
        };
        let module = match &element.key {
            Key::Functions(path) => path.to_string(),
            _ => path.strip_suffix(&element.name).and_then(|path| path.strip_suffix("::")).unwrap_or("").to_owned(),
        };
        let traits = if let Of::Type { traits, .. } = &element.of { traits.clone() } else { Vec::new() };
        Owner { module, name, kind, traits }
    }

    /// The module and the name.
    pub fn path(&self) -> String {
        format!("{}::{}", self.module, self.name)
    }

    /// The name of the crate.
    pub fn package(&self) -> &str {
        self.module.split("::").next().unwrap_or(&self.module)
    }
}
