//! `metaspy report`: the counts of a recording, as text and as JSON.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use metaspy_reader::{By, DetailLevel, Filter, Scope};
use metaspy_reader::{Selector, Store};
use metaspy_report::condition::{Condition, Verdict};
use metaspy_report::contexts::{self, Contexts, Weight, allocations};
use metaspy_report::expectation::{Expectation, Outcome};
use metaspy_report::export::{Format, Selection};
use metaspy_report::functions::{self, Functions, NoFunctions};
use metaspy_report::kept::{self, KeptUnits};
use metaspy_report::rows;
use metaspy_report::rows::text::Numbers;
use metaspy_report::table::Top;
use metaspy_report::text::{clean_lines, file_name};
use metaspy_report::types::{self, Types};

use crate::exit::{Ended, complain, end_undecided, say};
use crate::metaspy::progress::with_time;
use crate::metaspy::{arguments, export, filter, findings, live};

/// Rows of the text by default. JSON has all rows by default.
const TOP: usize = 20;
/// Contexts of the text by default, and the least part of the whole that they have, in percent.
const CONTEXTS: usize = 100;
const THRESHOLD: f64 = 1.0;
/// The error of `--allocations` without objects.
const NO_OBJECTS: &str = "--allocations: the recording has no objects: run the program with `cargo metaspy run --allocations`, \
                          or with METASPY_PROFILE=allocations and a `metaspy_core::hook::Counting` as its allocator";

/// Writes the report.
pub fn run(options: &arguments::Report, out: &mut impl Write) -> Result<Ended> {
    if let Some(selector) = &options.types {
        return types(options, selector.as_ref(), out);
    }
    // Mistakes on the command line are reported before a recording is opened.
    let parsed: Result<Vec<Condition>, String> =
        options.fail_if.iter().map(|text| text.parse()).collect();
    let conditions = parsed.map_err(say)?;
    let parsed: Result<Vec<Expectation>, String> =
        options.expect.iter().map(|text| text.parse()).collect();
    let expectations = parsed.map_err(say)?;
    let filter = filter::parse(options.filter.as_deref())?;
    let store = live::open_all(&options.sources)?;
    if options.functions {
        return functions(options, &store, out);
    }
    if options.contexts || options.allocations {
        return contexts(options, &store, out);
    }
    if options.kept {
        return kept(options, &store, &filter, out);
    }
    let beside = beside(&options.sources, &store);
    filter::check(&filter, &store)?;
    for condition in &conditions {
        condition.filter.check(&store).map_err(|error| say(format!("--fail-if: {error}")))?;
    }
    for Expectation { every, holds, .. } in &expectations {
        let checked = every.check(&store).and_then(|()| holds.check(&store));
        checked.map_err(|error| say(format!("--expect: {error}")))?;
    }
    let top = options.top.rows();
    let mut report = with_time("counting", || {
        let sort = options.sort.clone().unwrap_or_default();
        // Processor time is a column of rows, and JSON has all of them.
        let most = if options.json.is_requested() { top.limit(usize::MAX) } else { top.limit(TOP) };
        let first = (!options.cpu && most < usize::MAX)
            .then(|| rows::Report::of_first(&store, options.by, &filter, most, &sort))
            .flatten();
        let mut report =
            first.unwrap_or_else(|| rows::Report::new(&store, options.by, &filter, top));
        report.find_doors(&store);
        rows::Report { beside, ..report }
    });
    if options.cpu {
        if report.cpu.is_none() {
            let why = match options.by {
                by if by.is_of_causes() => {
                    "samples are in events, not in what these led to: choose another --by"
                        .to_owned()
                }
                _ => NoFunctions::NoSamples.to_string(),
            };
            return Err(say(format!("--cpu: {why}")));
        }
        report.sort_by_cpu();
    }
    if let Some(sort) = &options.sort {
        report.sort(&store, sort).map_err(|error| say(format!("--sort: {error}")))?;
    }
    if !options.profile.is_empty() {
        report.keep_profiles(&store, &options.profile).map_err(say)?;
    }
    for (file, format) in [(&options.lcov, Format::Lcov), (&options.cobertura, Format::Cobertura)] {
        if let Some(file) = file {
            export::into_file(format, &Selection::new(&store, &filter), file)?;
        }
    }
    let numbers = if options.percent { Numbers::Percent } else { Numbers::All };
    let verdicts: Vec<Verdict> =
        conditions.iter().map(|condition| condition.judge(&store, &filter)).collect();
    let outcomes: Vec<Outcome> =
        expectations.iter().map(|expectation| expectation.judge(&store, &filter)).collect();
    options.json.write(
        out,
        |out| rows::json::write(out, &store, &report, top.limit(usize::MAX), &verdicts, &outcomes),
        |out| {
            rows::text::write(out, &store, &report, top.limit(TOP), numbers, &verdicts)?;
            outcomes
                .iter()
                .try_for_each(|outcome| writeln!(out, "{}", clean_lines(&outcome.to_string())))?;
            let mention = if has_mention(options) {
                findings::mention(&store, &options.sources)
            } else {
                None
            };
            mention.iter().try_for_each(|line| writeln!(out, "\n{line}"))
        },
    )?;
    let unknown = verdicts.iter().filter(|verdict| verdict.holds.is_none()).map(Verdict::doubt);
    let undecided =
        outcomes.iter().filter(|outcome| outcome.is_failure().is_none()).map(Outcome::doubt);
    let doubts: Vec<String> = unknown.chain(undecided).collect();
    let unchecked = if options.allow_empty {
        Vec::new()
    } else {
        unchecked(&store, &filter, &verdicts, &outcomes)
    };
    for text in &unchecked {
        complain("metaspy", &format!("{text}; --allow-empty accepts this"));
    }
    let failed = !unchecked.is_empty()
        || outcomes.iter().any(|outcome| outcome.is_failure() == Some(true))
        || verdicts.iter().any(|verdict| verdict.holds == Some(true));
    end_undecided(doubts, failed)?;
    Ok(if failed || !report.damage.is_empty() { Ended::Failed } else { Ended::Fine })
}

/// Whether the report ends with the number of findings: it is of the whole recording, and checks
/// nothing.
fn has_mention(options: &arguments::Report) -> bool {
    let is_whole = options.filter.is_none() && options.profile.is_empty() && !options.cpu;
    is_whole && options.fail_if.is_empty() && options.expect.is_empty()
}

/// Writes the functions by processor time.
fn functions(options: &arguments::Report, store: &Store, out: &mut impl Write) -> Result<Ended> {
    let functions = with_time("counting", || Functions::read(store))
        .map_err(|why| say(format!("--functions: {why}")))?;
    let top = options.top.rows();
    options.json.print(
        out,
        || functions::json(store, &functions, top.limit(usize::MAX)),
        || functions::text(store, &functions, top.limit(TOP)),
    )?;
    Ok(live::by_damage([store]))
}

/// Writes the events that are kept beyond the window.
fn kept(
    options: &arguments::Report,
    store: &Store,
    filter: &Filter,
    out: &mut impl Write,
) -> Result<Ended> {
    filter::check(filter, store)?;
    let units = with_time("reading", || KeptUnits::read(store, filter));
    let units = units.ok_or_else(|| say(format!("--kept: {}", kept::NO_RULES)))?;
    options.json.print(
        out,
        || kept::json(store, &units),
        || kept::text(store, &units, options.top.rows()),
    )?;
    Ok(live::by_damage([store]))
}

/// Writes the tree of calling contexts.
fn contexts(options: &arguments::Report, store: &Store, out: &mut impl Write) -> Result<Ended> {
    let Some(contexts) = Contexts::read(store) else {
        live::by_damage([store]);
        return Err(say(if options.allocations { NO_OBJECTS } else { contexts::NOT_RECORDED }));
    };
    if options.allocations && !contexts.has_objects {
        return Err(say(NO_OBJECTS));
    }
    let top = options.top.rows();
    if !options.contexts {
        options.json.print(
            out,
            || allocations::json(&contexts, options.by),
            || allocations::text(&contexts, options.by, top.limit(TOP)),
        )?;
        return Ok(live::by_damage([store]));
    }
    let contexts = if options.allocations { contexts.weighed_by(Weight::Bytes) } else { contexts };
    let contexts = options.shown.of(&contexts);
    options.json.print(
        out,
        || contexts::json(&contexts, options.shown.shown(0.0)),
        || contexts::text(&contexts, options.shown.shown(THRESHOLD), top.limit(CONTEXTS)),
    )?;
    Ok(live::by_damage([store]))
}

/// Writes the types that arrived at the methods that match. Each recording has the types of its own
/// program.
fn types(
    options: &arguments::Report,
    selector: Option<&Selector>,
    out: &mut impl Write,
) -> Result<Ended> {
    let stores: Result<Vec<Store>> =
        live::paths_of(&options.sources)?.iter().map(|path| live::open_named(path)).collect();
    let stores = stores?;
    let all = Types::read(&stores);
    let (types, top) = match selector {
        None => (all, options.top.rows()),
        Some(selector) => (types_of(all, selector)?, options.top.top.unwrap_or(Top::All)),
    };
    if !types.is_recorded {
        live::by_damage(&stores);
        return Err(say(format!("--types: {}", types::NOT_RECORDED)));
    }
    options.json.print(out, || types::json(&types), || types::text(&types, top))?;
    Ok(live::by_damage(&stores))
}

/// The types at the methods that match, and at the calls in them.
fn types_of(types: Types, selector: &Selector) -> Result<Types> {
    let callers = types
        .methods
        .iter()
        .flat_map(|method| &method.callers)
        .filter_map(|site| site.caller.as_deref());
    let paths: BTreeSet<&str> =
        types.methods.iter().map(|method| method.path.as_str()).chain(callers).collect();
    if !types.is_recorded || paths.iter().any(|path| selector.matches(path)) {
        return Ok(types.of(selector));
    }
    let nearest = selector.nearest(paths);
    let advice = if nearest.is_empty() {
        String::new()
    } else {
        format!(": did you mean {}?", nearest.join(", "))
    };
    Err(say(format!("--types: types arrived at no method that matches `{selector}`{advice}")))
}

/// The recordings of the other processes that were started with the same `METASPY_RECORD`, which a
/// note names.
fn beside(sources: &[PathBuf], store: &Store) -> Vec<String> {
    let Some(path) = store.path().filter(|_| sources.len() == 1) else { return Vec::new() };
    let others = live::beside(path, store);
    if !others.is_empty() {
        let names: Vec<String> = others.iter().map(|path| file_name(path)).collect();
        let count = if names.len() == 1 {
            "1 more process".to_owned()
        } else {
            format!("{} more processes", names.len())
        };
        let advice = format!("metaspy report {} {}", file_name(path), names.join(" "));
        complain("metaspy", &format!("{count} recorded beside it; all as one: {advice}"));
    }
    others.iter().map(|path| path.display().to_string()).collect()
}

/// Sentences about conditions and expectations that had nothing to check.
fn unchecked(
    store: &Store,
    filter: &Filter,
    verdicts: &[Verdict],
    outcomes: &[Outcome],
) -> Vec<String> {
    // Calls that no file has here may be in the absent files: then nothing is decided, and nothing
    // fails.
    if (verdicts.is_empty() && outcomes.is_empty()) || store.absent_files().is_some() {
        return Vec::new();
    }
    let scope = Scope { filter: filter.clone(), detail: DetailLevel::Counts, ..Scope::default() };
    if store.tally(By::Site, &scope).rows.iter().all(|row| row.measure.count == 0) {
        let why = if store.totals().emitted == 0 {
            "nothing was recorded"
        } else {
            "no event passes --filter"
        };
        return vec![format!("{why}, so no condition was checked")];
    }
    let empty = outcomes.iter().filter(|outcome| outcome.is_empty());
    empty
        .map(|outcome| {
            format!("--expect '{}': no event passes the first filter", outcome.expectation())
        })
        .collect()
}
