//! `metaspy blueprint`: pictures of a recorded run.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use metaspy_blueprints::grammar::Grammar;
use metaspy_blueprints::view::{View, ViewError};
use metaspy_blueprints::{Graph, Kind, Options, PictureError, Scene, emit, page, picture};
use metaspy_core::Store;
use metaspy_reader::Filter;
use metaspy_reader::files::{self, OutputFile};
use metaspy_report::text::print_message;

use crate::exit::{Ended, cannot_write, say};
use crate::hook_cost::{self, Hooks};
use crate::metaspy::progress::with_time;
use crate::metaspy::{arguments, filter, findings, live};

/// Lines of the text by default.
pub(super) const ROWS: usize = 30;
/// Columns of the text where there is no terminal.
const COLUMNS: u16 = 100;

/// Draws the picture of one version: into the named files, and otherwise as text.
pub fn run(kind: Kind, options: &arguments::Blueprint, out: &mut impl Write) -> Result<Ended> {
    no_baseline(options)?;
    if options.by.is_some() {
        return Err(say(
            "--by is for an evolution: metaspy blueprint evolution before.spy after.spy --by calls",
        ));
    }
    if options.hooks.is_some() && matches!(kind, Kind::Grammar | Kind::Domain) {
        return Err(say(
            "--hooks is for pictures of methods: structural, behavioural, calls or coverage",
        ));
    }
    no_profile(options, is_of_profiles(kind))?;
    no_view(options, matches!(kind, Kind::Domain | Kind::Structural | Kind::Behavioural))?;
    if options.view.is_some() && options.of.as_deref().is_some_and(|of| of != "calls") {
        return Err(say("--view is for calls: samples and instructions have no events to filter"));
    }
    if options.from.is_some() && matches!(kind, Kind::Structural | Kind::Coverage) {
        return Err(say("--from is for pictures of calls: behavioural, calls, grammar or domain"));
    }
    let names: Vec<String> = options.sources.iter().map(|source| title(source)).collect();
    let mut drawn = drawing(options, names.join(" "));
    let (store, filter, ended) = open_recording(&options.sources, options.filter.as_deref())?;
    // Findings are of the whole recording, and a filter selects a part of it.
    if filter.is_all() && (is_file(options) || options.json.json.is_some()) {
        drawn.findings = Some(findings::search(&store)?);
    }
    let picture_error = |error: PictureError| match (&error, &options.filter) {
        (PictureError::NothingRan, Some(filter)) => {
            say(format!("no method has calls that pass `{filter}`"))
        }
        _ => say(error.to_string()),
    };
    if kind == Kind::Grammar {
        let mut grammar = Grammar::read(&store, &filter);
        set_root(options, &mut grammar.graph)?;
        let scene = picture::draw_grammar(&grammar, &drawn).map_err(picture_error)?;
        return show(
            options,
            ended,
            &scene,
            &grammar.graph,
            || Ok(page_of(&grammar.graph, &scene)),
            out,
        );
    }
    let view_error = |error: ViewError| {
        let file = options.view.as_deref().unwrap_or(Path::new("")).display();
        say(format!("{file}: {error}"))
    };
    if kind == Kind::Domain {
        let viewed = View::parse(&view_text(options)?).and_then(|view| view.read(&store, &filter));
        let mut viewed = viewed.map_err(view_error)?;
        set_root(options, &mut viewed.graph)?;
        let scene = picture::draw_domain(&viewed, &drawn).map_err(picture_error)?;
        return show(
            options,
            ended,
            &scene,
            &viewed.graph,
            || Ok(page_of(&viewed.graph, &scene)),
            out,
        );
    }
    let graph = with_time("counting", || Graph::read(&store, &filter));
    let mut graph = selected(graph, kind, options.of.as_deref())?;
    if graph.measured.is_none() {
        hook_cost::subtract(&mut graph, options.hooks)?;
    } else if options.hooks.is_some() {
        return Err(say(
            "--hooks is for times of calls: samples and instructions have no hooks to subtract",
        ));
    }
    if let Some(path) = &options.from {
        graph = graph.below(path).map_err(say)?;
    }
    if options.view.is_some() {
        let view = View::parse_for_methods(&view_text(options)?).map_err(view_error)?;
        let viewed = view.read_methods(&store, &filter, graph).map_err(view_error)?;
        let scene = picture::draw_viewed(kind, &viewed, &drawn).map_err(picture_error)?;
        return show(
            options,
            ended,
            &scene,
            &viewed.graph,
            || Ok(page_of(&viewed.graph, &scene)),
            out,
        );
    }
    let scene = picture::draw(kind, &graph, &drawn).map_err(picture_error)?;
    show(options, ended, &scene, &graph, || page(kind, &graph, &drawn).map_err(picture_error), out)
}

/// The text of the view.
fn view_text(options: &arguments::Blueprint) -> Result<String> {
    let file = options.view.as_deref().context("a picture of objects needs a view")?;
    files::read_argument(file)
        .and_then(files::text_of)
        .with_context(|| format!("cannot read {}", file.display()))
}

/// The graph of the requested numbers. Without a request these are calls, or samples if no call was
/// recorded.
fn selected(mut graph: Graph, kind: Kind, of: Option<&str>) -> Result<Graph> {
    let Some(name) = of.filter(|&name| name != "calls") else {
        return Ok(if of.is_none() && is_of_profiles(kind) { graph.or_profile() } else { graph });
    };
    let Some(at) = graph.profiles.iter().position(|profile| {
        profile.measured.as_ref().is_some_and(|measured| measured.profile == name)
    }) else {
        return Err(say(match name {
            "samples" => {
                "no samples were recorded: METASPY_RECORD=run.spy metaspy sample -- PROGRAM"
            }
            _ => "no instructions by caller were recorded: import the output of callgrind",
        }));
    };
    Ok(graph.profiles.swap_remove(at))
}

/// True if samples and instructions can be drawn in this picture.
fn is_of_profiles(kind: Kind) -> bool {
    matches!(kind, Kind::Structural | Kind::Behavioural)
}

/// Fails if an option is given that only flame graphs have.
pub(super) fn no_baseline(options: &arguments::Blueprint) -> Result<()> {
    if options.baseline.is_empty() {
        Ok(())
    } else {
        Err(say(
            "--baseline is for flame graphs: `metaspy blueprint evolution OLD NEW` compares versions in boxes",
        ))
    }
}

/// Fails if the picture has calls alone, and another profile is requested.
pub(super) fn no_profile(options: &arguments::Blueprint, is_of_profiles: bool) -> Result<()> {
    match options.of {
        Some(_) if !is_of_profiles => Err(say("--of is for structural and behavioural pictures")),
        _ => Ok(()),
    }
}

/// Fails if the picture has no view, and one is given.
pub(super) fn no_view(options: &arguments::Blueprint, has_view: bool) -> Result<()> {
    if options.view.is_some() && !has_view {
        return Err(say(PictureError::NoViewOfKind.to_string()));
    }
    Ok(())
}

/// Begins a picture at the requested element. Its numbers stay those of the whole run.
fn set_root(options: &arguments::Blueprint, graph: &mut Graph) -> Result<()> {
    if let Some(path) = &options.from {
        graph.root = Some(graph.find(path).map_err(say)?);
    }
    Ok(())
}

/// A recording in a title: a whole path has its last two parts.
pub(super) fn title(source: &Path) -> String {
    let parts: Vec<_> = source.components().collect();
    let last = &parts[parts.len().saturating_sub(2)..];
    if source.is_absolute() {
        last.iter().collect::<PathBuf>().display().to_string()
    } else {
        source.display().to_string()
    }
}

/// A page with one picture.
pub(super) fn page_of(graph: &Graph, scene: &Scene) -> String {
    emit::html(&[emit::Pictures { graph, scenes: vec![(scene.kind.word().into(), scene)] }])
}

/// Writes the picture into the named files, and otherwise as text.
fn show(
    options: &arguments::Blueprint,
    ended: Ended,
    scene: &Scene,
    graph: &Graph,
    page: impl FnOnce() -> Result<String>,
    out: &mut impl Write,
) -> Result<Ended> {
    if let Some(file) = &options.html {
        write(file, &page()?)?;
    }
    if let Some(file) = &options.svg {
        write(file, &emit::svg(scene, graph))?;
    }
    if !is_file(options) || options.json.json.is_some() {
        let text = || emit::text(scene, graph, columns(), options.top.rows().limit(ROWS));
        options.json.write(
            out,
            |out| writeln!(out, "{}", emit::json(scene, graph)),
            |out| out.write_all(text().as_bytes()),
        )?;
    }
    open_page(options)?;
    Ok(ended)
}

/// Returns true if the picture is written into a file.
fn is_file(options: &arguments::Blueprint) -> bool {
    options.html.is_some() || options.svg.is_some()
}

/// Opens the page in the browser, if this is requested.
pub(super) fn open_page(options: &arguments::Blueprint) -> Result<()> {
    match options.html.as_deref().filter(|_| options.open) {
        Some(html) => open(html)
            .with_context(|| format!("cannot start a browser: open {} in one", html.display())),
        None => Ok(()),
    }
}

/// The methods and calls of recordings that are read as one, without the cost of hooks, and how the
/// command ends if nothing else fails.
pub(super) fn read(
    sources: &[PathBuf],
    passes: Option<&str>,
    hooks: Option<Hooks>,
) -> Result<(Graph, Ended)> {
    let (store, filter, ended) = open_recording(sources, passes)?;
    let mut graph = Graph::read(&store, &filter);
    hook_cost::subtract(&mut graph, hooks)?;
    Ok((graph, ended))
}

/// Recordings that are read as one, the filter of their events, and how the command ends if nothing
/// else fails.
pub(super) fn open_recording(
    sources: &[PathBuf],
    passes: Option<&str>,
) -> Result<(Store, Filter, Ended)> {
    let filter = filter::parse(passes)?;
    let store = live::open_all(sources)?;
    let ended = live::by_damage([&store]);
    filter::check(&filter, &store)?;
    Ok((store, filter, ended))
}

/// How a picture is drawn, with this title.
pub(super) fn drawing(options: &arguments::Blueprint, title: String) -> Options {
    Options { title, threshold: options.threshold / 100.0, findings: None }
}

/// The columns of a text.
pub(super) fn columns() -> usize {
    crossterm::terminal::size().map_or(COLUMNS, |(columns, _)| columns).into()
}

/// Writes a file, and prints its name.
pub(super) fn write(file: &Path, text: &str) -> Result<()> {
    OutputFile::write(file, text.as_bytes()).map_err(cannot_write(file))?;
    print_message(&format!("written to {}", file.display()));
    Ok(())
}

/// Opens a file with the program that the desktop has for it.
fn open(file: &Path) -> io::Result<()> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let quiet = || Stdio::null();
    Command::new(opener).arg(file).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().map(drop)
}
