//! The files that `--json`, `--lcov`, `--cobertura` and `--blueprint` write.

use std::env;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use metaspy_blueprints::{Graph, Kind, Options, page};
use metaspy_core::Store;
use metaspy_reader::files::OutputFile;
use metaspy_report::coverage::{Run, by_test};
use metaspy_report::export::{Cobertura, Exporter, Json, Lcov};
use metaspy_report::findings::{self, Findings};
use metaspy_report::program::Program;
use metaspy_report::types;
use metaspy_weave::wrapper::Left;
use serde_json::{Map, Value, json};

use crate::cargo_metaspy::arguments;
use crate::cargo_metaspy::recordings::Recordings;
use crate::cargo_metaspy::results::{Results, Woven};
use crate::cargo_metaspy::sources::Sources;
use crate::cargo_metaspy::text::opened;
use crate::exit::{cannot_write, say};

/// Writes JSON to standard output.
pub(crate) fn print_json(results: &Results, options: &arguments::Woven) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let json = Json { more: more(results, options) };
    match json.export(&results.run, &mut out).and_then(|_| out.flush()) {
        // A reader that closed the pipe needs no more.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

/// Writes the requested files. The page with blueprints shows this picture first, if it was
/// recorded.
pub fn write(
    results: &Results,
    recordings: Option<&Recordings>,
    options: &arguments::Woven,
    sources: &Sources<'_>,
    first: Kind,
) -> Result<()> {
    if files(options).next().is_some() {
        // The build names more of them than were known before.
        sources.note();
    }
    for (file, exporter) in requested(options, results) {
        let mut out = OutputFile::create(file).map_err(cannot_write(file))?;
        exporter
            .export(&results.run, &mut out)
            .and_then(|_| out.complete())
            .map_err(cannot_write(file))?;
    }
    match &options.blueprint {
        Some(file) => draw(&results.run.program, recordings, file, first),
        None => Ok(()),
    }
}

/// Draws the program and its calls.
fn draw(
    program: &Program,
    recordings: Option<&Recordings>,
    file: &Path,
    first: Kind,
) -> Result<()> {
    let kind = if program.profiles.has_calls() { first } else { Kind::Coverage };
    // Times of woven programs are nanoseconds already.
    let mut graph = Graph::new(program, |ns| ns);
    graph.recorded_hooks().into_iter().for_each(|cost| graph.subtract_hooks(cost));
    let title =
        program.crates().map(|element| element.name.as_str()).collect::<Vec<_>>().join(", ");
    let findings = recordings.map(findings_of).transpose()?.flatten();
    let page = page(kind, &graph, &Options { title, findings, ..Options::default() })
        .with_context(|| format!("cannot draw {}", file.display()))?;
    OutputFile::write(file, page.as_bytes()).map_err(cannot_write(file))
}

/// Looks for findings in the recordings of a run, with the settings of the project.
fn findings_of(recordings: &Recordings) -> Result<Option<Findings>> {
    let config = findings::settings_of_project(&env::current_dir()?).map_err(say)?;
    // A run without a recording has no findings.
    let store = Store::merged(opened(recordings.recordings())).ok();
    Ok(store.map(|store| findings::find(&store, &config)))
}

/// Fails before anything runs if a file cannot be written, or is a source of the build.
pub fn check(options: &arguments::Woven, sources: &Sources<'_>) -> Result<()> {
    if files(options).next().is_some() {
        sources.note();
    }
    files(options).try_for_each(|file| OutputFile::check(file).map_err(cannot_write(file)))
}

/// The files that are requested.
fn files(options: &arguments::Woven) -> impl Iterator<Item = &Path> {
    let files = [
        options.json.file(),
        options.lcov.as_deref(),
        options.cobertura.as_deref(),
        options.blueprint.as_deref(),
    ];
    files.into_iter().flatten()
}

fn requested<'a>(
    options: &'a arguments::Woven,
    results: &Results,
) -> Vec<(&'a Path, Box<dyn Exporter<Run>>)> {
    let mut requested: Vec<(&Path, Box<dyn Exporter<Run>>)> = Vec::new();
    if let Some(file) = options.json.file() {
        requested.push((file, Box::new(Json { more: more(results, options) })));
    }
    if let Some(file) = &options.lcov {
        requested.push((file, Box::new(Lcov)));
    }
    if let Some(file) = &options.cobertura {
        requested.push((file, Box::new(Cobertura)));
    }
    requested
}

/// Returns the members of this command's JSON beside the run.
fn more(results: &Results, options: &arguments::Woven) -> Map<String, Value> {
    let mut more = build(&results.woven);
    more.insert("comparison".into(), json!(results.comparison));
    let names = results.run.program.names();
    let tests = options
        .by_test
        .then(|| by_test(&results.run.program).iter().map(|reach| {
        let methods: Vec<_> =
            reach.methods.iter().filter_map(|method| names.get(&method.site()?)).collect();
        json!({ "test": reach.test, "methods": methods, "alone": reach.alone, "at_least": reach.is_least })
    }).collect::<Vec<_>>());
    more.insert("tests".into(), json!(tests));
    more.insert("types".into(), json!(options.types.then(|| types::json(&results.types))));
    more
}

/// The part of the JSON that describes the build.
fn build(woven: &Woven) -> Map<String, Value> {
    let packages = woven.packages.iter();
    let packages =
        packages.map(|(package, functions)| json!({ "package": package, "functions": functions }));
    let mut build = Map::new();
    build.insert("woven".into(), packages.collect());
    build.insert("skipped".into(), woven.skipped.iter().map(left).collect());
    build.insert("light".into(), woven.light.iter().map(left).collect());
    build.insert("uncarried".into(), woven.uncarried.iter().map(|spawn| json!(spawn)).collect());
    build.insert("macros".into(), woven.macros.into());
    build.insert("derives".into(), woven.derives.into());
    build
}

fn left(left: &Left) -> Value {
    let Left { method, reason, message, .. } = left;
    json!({ "path": method.path, "file": method.file, "line": method.line, "reason": reason, "message": message })
}
