//! `metaspy blueprint evolution`: the changes from version to version.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use metaspy_blueprints::evolution::{By, Step, Version, compare};
use metaspy_blueprints::{Options, PictureError, Scene, emit, picture};
use metaspy_report::text::clean;
use serde_json::Value;

use super::blueprint::{ROWS, columns, drawing, no_profile, no_view, open_page, read, write};
use crate::exit::{Ended, say};
use crate::hook_cost::Hooks;
use crate::metaspy::arguments::{self, ChangeOf};
use crate::metaspy::live;

/// Runs of each version from which on times are compared by default.
const RUNS: usize = 3;

/// Draws each step from version to version.
pub fn run(options: &arguments::Blueprint, out: &mut impl Write) -> Result<Ended> {
    no_profile(options, false)?;
    no_view(options, false)?;
    let (mut versions, ended) =
        versions(&options.sources, options.filter.as_deref(), options.hooks)?;
    if let Some(path) = &options.from {
        let below = versions.into_iter().map(|version| version.below(path));
        versions = below.collect::<Result<_, String>>().map_err(say)?;
    }
    let steps = steps(&versions, options.by)?;
    let strip = strip(&steps, &versions);
    let drawn: Vec<(&Step, Scene)> = steps
        .iter()
        .map(|(title, step)| Ok((step, draw(step, &drawing(options, title.clone()))?)))
        .collect::<Result<_>>()?;
    if let Some(file) = &options.html {
        write(file, &page(&drawn, strip.as_ref()))?;
    }
    if let Some(file) = &options.svg {
        let [(step, scene)] = &drawn[..] else {
            return Err(say("--svg draws one step: name two versions, or write --html"));
        };
        write(file, &emit::svg(scene, &step.graph))?;
    }
    if options.html.is_none() && options.svg.is_none() || options.json.json.is_some() {
        let json: Vec<Value> =
            drawn.iter().map(|(step, scene)| emit::json(scene, &step.graph)).collect();
        options.json.write(
            out,
            |out| match &json[..] {
                [only] => writeln!(out, "{only}"),
                several => writeln!(out, "{}", Value::from(several)),
            },
            |out| {
                let rows = options.top.rows().limit(ROWS);
                let all = drawn
                    .iter()
                    .map(|(step, scene)| (*step, scene))
                    .chain(strip.as_ref().map(|(step, scene)| (*step, scene)));
                all.into_iter().try_for_each(|(step, scene)| text(out, step, scene, rows))
            },
        )?;
    }
    open_page(options)?;
    Ok(ended)
}

/// All versions in one picture, and the step that its boxes are of; `None` for two versions.
pub(super) fn strip<'s>(
    steps: &'s [(String, Step)],
    versions: &[Version],
) -> Option<(&'s Step, Scene)> {
    // The last step is from the first version to the last.
    let (_, steps) = steps.split_last().filter(|_| versions.len() > 2)?;
    let steps: Vec<&Step> = steps.iter().map(|(_, step)| step).collect();
    let names: Vec<String> = versions.iter().map(|version| version.name.clone()).collect();
    let options = Options { title: format!("{} versions", names.len()), ..Options::default() };
    Some((steps.last()?, picture::draw_strip(&steps, &names, &options)?))
}

/// A page with a tab for each step, and one for all versions.
pub(super) fn page(steps: &[(&Step, Scene)], strip: Option<&(&Step, Scene)>) -> String {
    let pictures: Vec<emit::Pictures<'_>> = steps
        .iter()
        .chain(strip)
        .map(|(step, scene)| emit::Pictures {
            graph: &step.graph,
            scenes: vec![(scene.title.clone(), scene)],
        })
        .collect();
    emit::html(&pictures)
}

/// Returns the changes from each version to the next, by the number that is compared. Three or more
/// versions also have a last step from the first to the last.
pub(super) fn steps(versions: &[Version], by: Option<ChangeOf>) -> Result<Vec<(String, Step)>> {
    let ([first, .., last], Some(least)) =
        (versions, versions.iter().map(|version| version.runs.len()).min())
    else {
        return Err(say(PictureError::OneVersion.to_string()));
    };
    let by = match by {
        Some(ChangeOf::Time) => By::Time,
        Some(ChangeOf::Calls) => By::Calls,
        Some(ChangeOf::Allocations) => By::Objects,
        Some(ChangeOf::Instructions) => By::Instructions,
        None if least >= RUNS => By::Time,
        None => By::Calls,
    };
    let step = |old: &Version, new: &Version| {
        (format!("{} → {}", old.name, new.name), compare(old, new, by))
    };
    let mut steps: Vec<(String, Step)> =
        versions.windows(2).map(|two| step(&two[0], &two[1])).collect();
    if versions.len() > 2 {
        steps.push(step(first, last));
    }
    Ok(steps)
}

/// The picture of a step.
pub(super) fn draw(step: &Step, options: &Options) -> Result<Scene> {
    picture::draw_evolution(step, options)
        .map_err(|error| say(format!("{}: {error}", options.title)))
}

/// The versions, each with its name, and how the command ends if nothing else fails. The cost of
/// hooks is subtracted from the times of all, or of none.
pub(super) fn versions(
    sources: &[PathBuf],
    filter: Option<&str>,
    hooks: Option<Hooks>,
) -> Result<(Vec<Version>, Ended)> {
    let read = |hooks| {
        let mut all = Ended::Fine;
        let mut versions = Vec::new();
        for source in sources {
            let (version, ended) = version(source, filter, hooks)?;
            versions.push(version);
            all = all.and(ended);
        }
        Ok::<_, anyhow::Error>((versions, all))
    };
    let (versions, ended) = read(hooks)?;
    let runs = || versions.iter().flat_map(|version| &version.runs);
    let subtracted = runs().filter(|run| run.hooks.is_some()).count();
    if subtracted == 0 || subtracted == runs().count() {
        Ok((versions, ended))
    } else {
        read(Some(Hooks::Kept))
    }
}

/// A version, named after its directory or its first recording.
fn version(source: &Path, filter: Option<&str>, hooks: Option<Hooks>) -> Result<(Version, Ended)> {
    let runs = live::runs_of(source)?;
    let named = if source.is_dir() {
        source
    } else {
        runs.first().and_then(|run| run.first()).map_or(source, PathBuf::as_path)
    };
    let name = named
        .file_stem()
        .map_or_else(|| source.display().to_string(), |name| name.to_string_lossy().into());
    let mut all = Ended::Fine;
    let mut graphs = Vec::new();
    for run in runs {
        let (graph, ended) = read(&run, filter, hooks)?;
        graphs.push(graph);
        all = all.and(ended);
    }
    Ok((Version { name, runs: graphs }, all))
}

/// Writes the tree of a step, and its largest changes.
fn text(out: &mut impl Write, step: &Step, scene: &Scene, rows: usize) -> std::io::Result<()> {
    writeln!(out, "{}", clean(&scene.title))?;
    out.write_all(emit::text(scene, &step.graph, columns(), rows).as_bytes())?;
    writeln!(out)
}
