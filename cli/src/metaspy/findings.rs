//! `metaspy findings`: what a recording states about its program.

use std::io::Write;

use anyhow::Result;
use metaspy_report::findings::text::Shown;
use metaspy_report::findings::{self, Config, json, text};
use metaspy_report::rows;

use crate::exit::{Ended, complain, say};
use crate::metaspy::progress::with_time;
use crate::metaspy::{arguments, live};

/// Writes the findings.
pub fn run(options: &arguments::Findings, out: &mut impl Write) -> Result<Ended> {
    let mut known: Vec<String> = findings::detectors().iter().map(|detector| detector.kind().to_owned()).collect();
    known.dedup();
    if let Some(kind) = options.kind.iter().find(|kind| !known.contains(kind)) {
        return Err(say(format!("--kind: there is no kind `{kind}`: write one of {}", known.join(", "))));
    }
    let store = live::open_all(&options.sources)?;
    if let Some(unit) = &options.unit {
        let paths = || store.sites().iter().map(|site| site.path.as_str());
        if !paths().any(|path| unit.matches(path)) {
            let nearest = unit.nearest(paths());
            let advice =
                if nearest.is_empty() { String::new() } else { format!(": did you mean {}?", nearest.join(", ")) };
            return Err(say(format!("--unit: no site matches `{unit}`{advice}")));
        }
    }
    let config = Config { kinds: options.kind.clone(), unit: options.unit.clone(), ..Config::default() };
    let findings = with_time("looking", || findings::find(&store, &config));
    let shown = if options.all { Shown::All } else { Shown::Listed };
    let sources: Vec<String> = options.sources.iter().map(|source| source.display().to_string()).collect();
    options.json.write(out, |out| json::write(out, &findings), |out| text::write(out, &findings, shown, &sources))?;
    let damage = rows::damage(&store);
    damage.iter().for_each(|text| complain("metaspy", &format!("damaged: {text}")));
    Ok(if damage.is_empty() { Ended::Fine } else { Ended::Failed })
}
