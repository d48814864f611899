//! `metaspy findings`: statements of a recording about its program.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use metaspy_core::Store;
use metaspy_reader::files::{self, OutputFile};
use metaspy_report::findings::text::Shown;
use metaspy_report::findings::{
    self, Baseline, Config, Findings, Gate, Judgement, OwnKind, json, sarif, text,
};
use metaspy_report::rows;
use metaspy_report::text::file_name;

use crate::exit::{Ended, cannot_write, complain, end_undecided, say};
use crate::metaspy::progress::with_time;
use crate::metaspy::{arguments, incoming, live};

/// Writes the findings.
pub fn run(options: &arguments::Findings, out: &mut impl Write) -> Result<Ended> {
    let built_in = findings::kinds();
    if let Some(kind) = &options.explain {
        return explain(kind, &built_in, out);
    }
    // Mistakes on the command line are reported before a recording is opened.
    let gates =
        options.fail_on.iter().map(|text| text.parse()).collect::<Result<Vec<Gate>, String>>();
    let gates = gates.map_err(|error| say(format!("--fail-on: {error}")))?;
    let config = config(options)?;
    let known: Vec<&str> =
        built_in.iter().map(String::as_str).chain(config.own.iter().map(OwnKind::name)).collect();
    let asked = options.kind.iter().map(|kind| ("--kind", kind.as_str()));
    for (option, kind) in
        asked.chain(gates.iter().filter_map(|gate| Some(("--fail-on", gate.kind()?))))
    {
        if !known.contains(&kind) {
            return Err(unknown(option, kind, &known));
        }
    }
    let store = live::open_all(&options.sources)?;
    check_unit(&config, &store)?;
    let findings = with_time("looking", || findings::find(&store, &config));
    let damage = rows::damage(&store);
    let judgements: Vec<Judgement> =
        gates.iter().map(|gate| gate.judge(&findings, &damage)).collect();
    if let Some(file) = &options.sarif {
        let mut output = OutputFile::create(file).map_err(cannot_write(file))?;
        sarif::write(&mut output, &findings)
            .and_then(|()| output.complete())
            .map_err(cannot_write(file))?;
    }
    let shown = if options.all { Shown::All } else { Shown::Listed };
    let sources: Vec<String> =
        options.sources.iter().map(|source| source.display().to_string()).collect();
    options.json.write(
        out,
        |out| json::write(out, &findings, &judgements),
        |out| {
            text::write(out, &findings, shown, &sources)?;
            judgements.iter().try_for_each(|judgement| writeln!(out, "{judgement}"))
        },
    )?;
    damage.iter().for_each(|text| complain("metaspy", &format!("damaged: {text}")));
    let has_failed = judgements.iter().any(Judgement::is_failure);
    end_undecided(judgements.iter().filter_map(Judgement::doubt).collect(), has_failed)?;
    Ok(if has_failed || !damage.is_empty() { Ended::Failed } else { Ended::Fine })
}

/// Writes the statement of a kind, why it matters and when it is wrong.
fn explain(kind: &str, built_in: &[String], out: &mut impl Write) -> Result<Ended> {
    let known: Vec<&str> = built_in.iter().map(String::as_str).collect();
    let text = findings::explain(kind).ok_or_else(|| unknown("--explain", kind, &known))?;
    writeln!(out, "{kind}\n\n{text}")?;
    out.flush()?;
    Ok(Ended::Fine)
}

fn unknown(option: &str, kind: &str, known: &[&str]) -> anyhow::Error {
    say(format!("{option}: there is no kind `{kind}`: write one of {}", known.join(", ")))
}

/// Looks for findings with the settings of the project, and shows the time that it takes.
pub fn search(store: &Store) -> Result<Findings> {
    let config = of_project()?;
    Ok(with_time("looking", || findings::find(store, &config)))
}

/// Returns the line with which another command on this recording ends, if there is anything to
/// find. A recording that came on standard input cannot be read again.
pub fn mention(store: &Store, sources: &[PathBuf]) -> Option<String> {
    if sources.iter().any(|source| source == Path::new(incoming::STANDARD)) {
        return None;
    }
    let names: Vec<String> = sources.iter().map(|source| file_name(source)).collect();
    let command = format!("metaspy findings {}", names.join(" "));
    findings::mention(vec![(String::new(), store.clone())], &env::current_dir().ok()?, &command)
}

fn of_project() -> Result<Config> {
    findings::settings_of_project(&env::current_dir()?).map_err(say)
}

/// The settings of the file, those of the command line in their place.
fn config(options: &arguments::Findings) -> Result<Config> {
    let mut config = match &options.config {
        Some(file) => {
            findings::settings_of(file).map_err(|error| say(format!("--config {error}")))?
        }
        None => of_project()?,
    };
    if let Some(file) = &options.baseline {
        let wrong = |error: String| say(format!("--baseline {}: {error}", file_name(file)));
        let json = files::read_argument(file)
            .map_err(|error| wrong(format!("{error}: name a file that can be read")))?;
        config.baseline = Some(Baseline::parse(&json).map_err(wrong)?);
    }
    config.kinds.clone_from(&options.kind);
    config.unit = options.unit.clone().or(config.unit);
    Ok(config)
}

fn check_unit(config: &Config, store: &Store) -> Result<()> {
    let Some(unit) = &config.unit else { return Ok(()) };
    let paths = || store.sites().iter().map(|site| site.path.as_str());
    if paths().any(|path| unit.matches(path)) {
        return Ok(());
    }
    let nearest = unit.nearest(paths());
    let advice = if nearest.is_empty() {
        String::new()
    } else {
        format!(": did you mean {}?", nearest.join(", "))
    };
    Err(say(format!("--unit: no site matches `{unit}`{advice}")))
}
