//! The story, recorded without a screen.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use metaspy_core::recording::{self, Policy};
use metaspy_core::{Recording, Store};
use metaspy_reader::Filter;
use metaspy_report::findings::text::{self, Shown};
use metaspy_report::rows::text::Numbers;
use metaspy_report::rows::{self, By, Report};
use metaspy_report::table::Top;
use metaspy_report::text::{file_name, grouped, print_message, short_bytes};

use super::guide;
use super::story::{self, End};
use crate::exit::{Ended, say};
use crate::metaspy::arguments::{self, Limits};
use crate::metaspy::progress::with_time;
use crate::metaspy::{findings, live};

/// How long a recording runs that was given no end.
const SECONDS: f64 = 5.0;
/// Stored events of a recording whose findings are looked for at once.
const SEARCHED_AT_ONCE: u64 = 20_000_000;
/// Sites whose counts are printed.
const ROWS: usize = 20;

/// Bytes that a file takes: a growing one promises more than it has.
fn on_disk(file: &Path) -> u64 {
    let Ok(meta) = std::fs::metadata(file) else { return 0 };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        meta.blocks() * 512
    }
    #[cfg(not(unix))]
    meta.len()
}

/// Warns on standard error, too, if the budget was spent and events are missing.
fn warn_if_spent(file: &Path, limits: &Limits) -> Result<()> {
    let totals = live::open(file)?.totals();
    if limits.policy != arguments::Policy::Newest && totals.lost > 0 {
        print_message(&format!(
            "metaspy: the budget was spent: {} of {} calls are counted and are no events; ask for a larger --budget, or \
             for --policy newest",
            grouped(totals.lost),
            grouped(totals.emitted)
        ));
    }
    Ok(())
}

/// Writes the number of calls of each site.
fn counts(store: &Store, out: &mut impl Write) -> Result<Ended> {
    let report =
        with_time("counting", || Report::new(store, By::Site, &Filter::default(), Top::default()));
    rows::text::write(out, store, &report, ROWS, Numbers::All, &[])?;
    Ok(if report.damage.is_empty() { Ended::Fine } else { Ended::Failed })
}

/// Records the story into a file and prints a summary.
pub fn record(
    page: Option<&Path>,
    file: &Path,
    limits: &Limits,
    out: &mut impl Write,
) -> Result<Ended> {
    let is_shipped = page.is_none();
    let page = story::open(page)?;
    if file.exists() && !recording::is_recording(file) {
        return Err(say(format!(
            "{} exists and is not a recording: choose another name",
            file.display()
        )));
    }
    let policy = match limits.policy {
        arguments::Policy::Newest => Policy::KeepNewest,
        arguments::Policy::Oldest => Policy::KeepOldest,
        arguments::Policy::Grow => Policy::Grow,
    };
    let builder = Recording::file(file)
        .policy(policy)
        .keep(std::env::var("METASPY_KEEP").unwrap_or_default());
    let builder = limits.budget.into_iter().fold(builder, |builder, budget| builder.budget(budget));
    builder.guarded(true).start()?;
    let seconds = limits.seconds.or(limits.events.is_none().then_some(SECONDS));
    let end = End {
        time: seconds.map(Duration::from_secs_f64),
        events: limits.events,
        hurry: true,
        ..End::default()
    };
    let name = page.name().to_owned();
    let elements = page.elements();
    let began = Instant::now();
    story::run(page, end)?;
    let took = began.elapsed();
    writeln!(
        out,
        "{name}, {} elements, laid out for {:.1} s",
        grouped(elements as u64),
        took.as_secs_f64()
    )?;
    let ended = counts(&live::open(file)?, out)?;
    warn_if_spent(file, limits)?;
    let spelled = file_name(file);
    let size = short_bytes(on_disk(file));
    writeln!(out, "\n{spelled}: {size}. Now:  metaspy open {spelled}\n")?;
    let store = live::open(file)?;
    if store.totals().stored > SEARCHED_AT_ONCE {
        writeln!(out, "What is wrong with the program:  metaspy findings {spelled}")?;
    } else {
        text::write(out, &findings::search(&store)?, Shown::Listed, &[file.display().to_string()])?;
    }
    if is_shipped {
        guide::finding_of(&store).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        writeln!(
            out,
            "The nodes:  metaspy report {spelled} --by subject --filter site:Scene::needless"
        )?;
    }
    Ok(ended)
}
