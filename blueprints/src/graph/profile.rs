//! Graphs of numbers that were added up by stack: samples of `metaspy sample` and of other tools,
//! and the instructions of callgrind.
//!
//! Their methods are all functions of the program, with hooks or without. Nobody counted their
//! calls, so the width of a box is the number of samples, unless calls are known.

use std::collections::{BTreeMap, HashMap};

use metaspy_report::flame::{FlamePage, Stacks, Unit};
use metaspy_report::program::Edge;

use super::{Call, Graph, Method, Owner, OwnerKind};

/// Numbers of a graph that are no times of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Name of the profile: `samples` or `instructions`.
    pub profile: String,
    /// The quantity of a box's height: `processor time`, `instructions`.
    pub amount: String,
    /// Unit of these numbers, which are in the place of nanoseconds.
    pub unit: Unit,
    /// The unit of a box's width: `sample`, or `call`.
    pub count: &'static str,
}

impl Graph {
    /// Builds the graphs of the profiles in a page: of samples, and of instructions by caller.
    /// Numbers of a damaged recording may be anything: those that cannot be added up are left out.
    pub(super) fn of_profiles(page: &FlamePage) -> Vec<Graph> {
        let profiles = page
            .stacks
            .iter()
            .filter(|stacks| matches!(stacks.name.as_str(), "samples" | "instructions"));
        let graphs = profiles.map(|stacks| Graph::of_stacks(page, stacks));
        graphs.filter(|graph| graph.ran().next().is_some() && graph.has_sums()).collect()
    }

    /// True if all numbers can be added up.
    fn has_sums(&self) -> bool {
        let methods = self
            .methods
            .iter()
            .flat_map(|method| [method.executions, method.total_ns.unwrap_or(0)]);
        let calls = self.calls.iter().flat_map(|call| [call.count, call.total_ns]);
        let entries = self.entries.iter().flat_map(|(_, edge)| [edge.count, edge.total_ns]);
        let own = self.methods.iter().filter_map(|method| method.self_ns);
        methods.chain(calls).chain(entries).chain(own).try_fold(0_u64, u64::checked_add).is_some()
    }

    fn of_stacks(page: &FlamePage, stacks: &Stacks) -> Graph {
        let measure = &stacks.measures[0];
        let (unit, ns) = match measure.unit {
            Unit::Samples(ns) if ns > 0 => (Unit::Ns, ns),
            Unit::Samples(_) => (Unit::Count, 1),
            unit => (unit, 1),
        };
        let has_calls = stacks.measures.len() > 1;
        let mut graph = Graph {
            exact: true,
            has_callers: true,
            measured: Some(Measured {
                profile: stacks.name.clone(),
                amount: measure.name.clone(),
                unit,
                count: if has_calls { "call" } else { "sample" },
            }),
            notes: if stacks.edges.is_some() { Vec::new() } else { stacks.notes.clone() },
            ..Graph::default()
        };
        if measure.is_least {
            graph.notes.push(format!(
                "all numbers are lower bounds (≥): the profile lacks {} of recursions",
                measure.name
            ));
        }
        let mut owners: HashMap<Owner, usize> = HashMap::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (&function, row) in &stacks.rows {
            let known = &page.functions[function];
            let Named { owner, name } = Named::of(&known.name, &known.group);
            let owner = *owners.entry(owner).or_insert_with_key(|owner| {
                graph.owners.push(owner.clone());
                graph.owners.len() - 1
            });
            let (file, line) = match known.place.rsplit_once(':') {
                Some((file, line)) if line.parse::<u32>().is_ok() => {
                    (file, line.parse().unwrap_or(0))
                }
                _ => (known.place.as_str(), 0),
            };
            places.insert(function, graph.methods.len());
            graph.methods.push(Method {
                path: known.name.clone(),
                path_with_arguments: known.name.clone(),
                name,
                owner,
                file: file.to_owned(),
                line,
                executions: row.total[usize::from(has_calls)],
                total_ns: Some(row.total[0].saturating_mul(ns)),
                self_ns: Some(row.own[0].saturating_mul(ns)),
                hot_lines: known.lines.clone(),
                ..Method::default()
            });
        }
        let mut calls: HashMap<(Option<usize>, usize), Edge> = HashMap::new();
        let mut add = |from: Option<usize>, to: usize, count: u64, amount: u64| {
            let Some(&to) = places.get(&to) else { return };
            let from = from.and_then(|from| places.get(&from).copied());
            calls.entry((from, to)).or_default().add(Edge {
                count,
                total_ns: amount.saturating_mul(ns),
                is_least: measure.is_least,
            });
        };
        match &stacks.edges {
            Some(edges) => {
                edges.iter().for_each(|edge| add(edge.from, edge.to, edge.total[1], edge.total[0]))
            }
            None => {
                for frame in stacks.lanes.iter().flat_map(|lane| lane.tree.calls()) {
                    let amount = if frame.is_outermost { frame.total[0] } else { 0 };
                    add(frame.from, frame.to, frame.total[0], amount);
                }
            }
        }
        let mut calls: Vec<_> = calls.into_iter().collect();
        calls.sort_unstable_by_key(|&(ends, _)| ends);
        for ((from, to), edge) in calls {
            match from {
                Some(from) => {
                    graph.calls.push(Call { from, to, count: edge.count, total_ns: edge.total_ns })
                }
                None => graph.entries.push((to, edge)),
            }
        }
        graph
    }

    /// Adds the sampled lines to the methods whose source they are in.
    pub(super) fn add_lines(&mut self, page: &FlamePage) {
        for method in self.methods.iter_mut().filter(|method| method.lines > 0) {
            let is_in = |file: &str| {
                file.strip_suffix(method.file.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            let within = method.line..method.line.saturating_add(method.lines);
            let mut found: BTreeMap<u32, (u64, &str)> = BTreeMap::new();
            let functions = page
                .functions
                .iter()
                .filter(|function| !function.lines.is_empty() && is_in(&function.place));
            for (line, samples, source) in
                functions.flat_map(|function| &function.lines).filter(|it| within.contains(&it.0))
            {
                // A closure on this line is within it.
                let known = found.entry(*line).or_default();
                *known = (known.0.max(*samples), source);
            }
            method.hot_lines = found
                .into_iter()
                .map(|(line, (samples, source))| (line, samples, source.to_owned()))
                .collect();
        }
    }
}

/// Name of a function, and its owner.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    owner: Owner,
    name: String,
}

impl Named {
    /// Divides a path. `group` is the module of a name without one: the library, or whose code it
    /// is.
    fn of(path: &str, group: &str) -> Named {
        let mut segments = segments(path);
        let last = |segments: &[&str]| {
            segments.iter().rposition(|segment| !segment.starts_with(['{', '<'])).unwrap_or(0)
        };
        // The first segment may be a type: `<page::Node as Layout>::measure`.
        let of_type = segments[0]
            .strip_prefix('<')
            .and_then(|within| within.strip_suffix('>'))
            .filter(|_| segments.len() > 1);
        let (name, owner, modules) = if let Some(within) = of_type {
            let (implementor, of_trait) = within.split_once(" as ").unwrap_or((within, ""));
            let name = segments.split_off(1);
            segments = self::segments(bare(implementor));
            let owner = segments.pop();
            if segments.is_empty() {
                // A type of no crate is in the module of the trait.
                segments = self::segments(of_trait);
                segments.pop();
            }
            (name, owner, segments)
        } else {
            // Closures are a part of their function.
            let name = segments.split_off(last(&segments));
            let owner = segments
                .pop_if(|last| last.starts_with(char::is_uppercase) || last.starts_with("<impl "))
                .map(|owner| match owner.strip_prefix("<impl ") {
                    // An `impl` in another module: `core::num::<impl u64>::pow`.
                    Some(within) => {
                        let implementor = within
                            .strip_suffix('>')
                            .unwrap_or(within)
                            .rsplit(" for ")
                            .next()
                            .unwrap_or(within);
                        self::segments(bare(implementor)).pop().unwrap_or(implementor)
                    }
                    None => owner,
                });
            (name, owner, segments)
        };
        let module = match modules.join("::") {
            module if !module.is_empty() => module,
            // Methods of primitive types.
            _ if of_type.is_some() => "core".to_owned(),
            _ if group.is_empty() => "(no module)".to_owned(),
            _ => group.to_owned(),
        };
        let (kind, owner) = match owner {
            Some(owner) if owner.starts_with(char::is_uppercase) => (OwnerKind::Type, owner),
            Some(owner) => (OwnerKind::Foreign, owner),
            None => (OwnerKind::Functions, "fn"),
        };
        Named {
            owner: Owner { module, name: owner.to_owned(), kind, traits: Vec::new() },
            name: name.join("::"),
        }
    }
}

/// A type without references.
fn bare(path: &str) -> &str {
    path.trim_start_matches(['&', '*']).trim_start_matches("mut ").trim_start_matches("dyn ")
}

/// The parts of a path between `::`, where these are in no brackets.
fn segments(path: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, letter) in path.char_indices() {
        match letter {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && before == ':' && at > start => {
                found.push(&path[start..at - 1]);
                start = at + 1;
            }
            _ => {}
        }
        before = letter;
    }
    found.push(&path[start..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_divided_into_module_type_and_name() {
        let cases = [
            ("app::shop::Basket::total", "app::shop Basket total"),
            ("app::shop::price", "app::shop fn price"),
            ("app::main::{{closure}}", "app fn main::{{closure}}"),
            ("<app::Node<T> as core::fmt::Debug>::fmt", "app Node<T> fmt"),
            (
                "<&mut app::Node as app::Layout>::measure::{closure#0}",
                "app Node measure::{closure#0}",
            ),
            ("<[T]>::sort", "core [T] sort"),
            ("<i32 as core::fmt::Display>::fmt", "core::fmt i32 fmt"),
            (
                "<core::fmt::Formatter>::pad_integral::write_prefix",
                "core::fmt Formatter pad_integral::write_prefix",
            ),
            (
                "core::iter::traits::Iterator::fold::<u64, app::F>",
                "core::iter::traits Iterator fold::<u64, app::F>",
            ),
            (
                "core::ops::function::FnOnce<fn() -> u8>::call",
                "core::ops::function FnOnce<fn() -> u8> call",
            ),
            ("core::num::<impl u64>::wrapping_mul", "core::num u64 wrapping_mul"),
            (
                "core::iter::range::<impl core::iter::Iterator for app::Steps<i32>>::next",
                "core::iter::range Steps<i32> next",
            ),
            ("memcpy", "libstd.so fn memcpy"),
            ("operator<", "libstd.so fn operator<"),
            ("::", "libstd.so fn "),
            ("", "libstd.so fn "),
        ];
        for (path, expected) in cases {
            let Named { owner, name } = Named::of(path, "libstd.so");
            assert_eq!(format!("{} {} {name}", owner.module, owner.name), expected, "{path}");
        }
    }
}
