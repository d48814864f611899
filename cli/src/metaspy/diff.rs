//! `metaspy diff`: the recordings of two versions, compared.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use metaspy_core::Store;
use metaspy_core::store::Filter;
use metaspy_report::diff::{Diff, Gate, Judgement, Side, Size, Sort, json, text};

use crate::exit::{Ended, complain, end_undecided, say};
use crate::metaspy::progress::with_time;
use crate::metaspy::{arguments, filter, live};

/// Writes the difference.
pub fn run(options: &arguments::Diff, out: &mut impl Write) -> Result<Ended> {
    let filter = filter::parse(options.filter.as_deref())?;
    let gates = options.fail_on.iter().map(|text| text.parse()).collect::<Result<Vec<Gate>, String>>();
    let gates = gates.map_err(|error| say(format!("--fail-on: {error}")))?;
    let side = |of: &Path| Ok::<_, anyhow::Error>(Side::read(&open(of, &filter)?, options.by, &filter));
    let read = || Ok::<_, anyhow::Error>((side(&options.before)?, side(&options.after)?));
    let (before, after) = with_time("counting", read)?;
    let mut diff = Diff::new(options.by, &before, &after).map_err(|error| say(error.to_string()))?;
    if options.sort.is_some() || options.percent {
        let usual = || if diff.is_timed { Sort::SelfTime } else { Sort::Count };
        let sort = options.sort.clone().unwrap_or_else(usual);
        let size = if options.percent { Size::Percent } else { Size::Difference };
        diff.sort(&sort, size).map_err(|error| say(format!("--sort: {error}")))?;
    }
    let judgements: Vec<Judgement> = gates.iter().map(|gate| gate.judge(&diff)).collect();
    let top = options.top.rows();
    options.json.print(out, || json(&diff, top.limit(usize::MAX), &judgements), || text(&diff, top, &judgements))?;
    let failed: Vec<&Judgement> = judgements.iter().filter(|judgement| judgement.is_failure()).collect();
    if options.json.replaces_text() {
        failed.iter().for_each(|judgement| complain("metaspy", judgement));
    }
    let undecided = judgements.iter().filter(|judgement| judgement.is_undecided());
    end_undecided(undecided.map(|it| format!("--fail-on: {it}")).collect(), !failed.is_empty())?;
    Ok(if failed.is_empty() { Ended::Fine } else { Ended::Failed })
}

/// Opens the runs of one version, each as one recording.
fn open(of: &Path, filter: &Filter) -> Result<Vec<(String, Store)>> {
    let open = |run: Vec<PathBuf>| {
        let name = run.first().map_or_else(String::new, |first| first.display().to_string());
        let store = live::open_all(&run)?;
        filter::check(filter, &store)?;
        Ok((name, store))
    };
    live::runs_of(of)?.into_iter().map(open).collect()
}
