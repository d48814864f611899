//! `metaspy diff`: the recordings of two versions, compared.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use metaspy_core::Store;
use metaspy_reader::Filter;
use metaspy_report::diff::{Diff, Gate, Judgement, Side, Size, Sort, json, text};

use crate::exit::{Ended, complain, end_undecided, say};
use crate::metaspy::progress::with_time;
use crate::metaspy::{arguments, filter, live};

/// Writes the difference.
pub fn run(options: &arguments::Diff, out: &mut impl Write) -> Result<Ended> {
    let filter = filter::parse(options.filter.as_deref())?;
    let gates =
        options.fail_on.iter().map(|text| text.parse()).collect::<Result<Vec<Gate>, String>>();
    let gates = gates.map_err(|error| say(format!("--fail-on: {error}")))?;
    let (before_runs, after_runs) =
        (live::runs_of(&options.before)?, live::runs_of(&options.after)?);
    let stores = [open(&before_runs, &filter)?, open(&after_runs, &filter)?];
    let ended = live::by_damage(stores.iter().flatten().map(|(_, store)| store));
    let side = |stores: &Vec<(String, Store)>| Side::read(stores, options.by, &filter);
    let [before, after] = with_time("counting", || stores.each_ref().map(side));
    let mut diff =
        Diff::new(options.by, &before, &after).map_err(|error| say(error.to_string()))?;
    if options.sort.is_some() || options.percent {
        let usual = || if diff.is_timed { Sort::SelfTime } else { Sort::Count };
        let sort = options.sort.clone().unwrap_or_else(usual);
        let size = if options.percent { Size::Percent } else { Size::Difference };
        diff.sort(&sort, size).map_err(|error| say(format!("--sort: {error}")))?;
    }
    let judgements: Vec<Judgement> = gates.iter().map(|gate| gate.judge(&diff)).collect();
    let top = options.top.rows();
    options.json.print(
        out,
        || json(&diff, top.limit(usize::MAX), &judgements),
        || text(&diff, top, &judgements),
    )?;
    let failed: Vec<&Judgement> =
        judgements.iter().filter(|judgement| judgement.is_failure()).collect();
    if options.json.replaces_text() {
        failed.iter().for_each(|judgement| complain("metaspy", judgement));
    }
    if let Some(same) = in_both(&before_runs, &after_runs) {
        let what = format!(
            "{} is compared with itself: a program replaces the recording at its path",
            same.display()
        );
        complain(
            "metaspy",
            &format!("{what}, so record the second version with METASPY_RECORD=after.spy"),
        );
    }
    let undecided = judgements.iter().filter(|judgement| judgement.is_undecided());
    end_undecided(undecided.map(|it| format!("--fail-on: {it}")).collect(), !failed.is_empty())?;
    Ok(if failed.is_empty() { ended } else { Ended::Failed })
}

/// Returns a file that is a recording of both versions.
fn in_both<'r>(before: &'r [Vec<PathBuf>], after: &[Vec<PathBuf>]) -> Option<&'r Path> {
    let after: Vec<PathBuf> =
        after.iter().flatten().filter_map(|path| path.canonicalize().ok()).collect();
    let is_after = |path: &&PathBuf| path.canonicalize().is_ok_and(|path| after.contains(&path));
    before.iter().flatten().find(is_after).map(PathBuf::as_path)
}

/// Opens the runs of one version, each as one recording.
fn open(runs: &[Vec<PathBuf>], filter: &Filter) -> Result<Vec<(String, Store)>> {
    runs.iter()
        .map(|run| {
            let name = run.first().map_or_else(String::new, |first| first.display().to_string());
            let store = live::open_all(run)?;
            filter::check(filter, &store)?;
            Ok((name, store))
        })
        .collect()
}
