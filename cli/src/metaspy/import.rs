//! `metaspy import`: a profile of another tool becomes a recording.

use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use metaspy_core::Recording;
use metaspy_reader::files::{self, OutputFile};
use metaspy_report::import::{Content, Imported};
use metaspy_report::text::{counted, file_name, grouped, print_message};

use super::private_directory::PrivateDirectory;
use crate::exit::{Ended, cannot_write, complain, say};
use crate::metaspy::arguments;
use crate::metaspy::progress::with_time;

/// Room of a recording for the tables of a profile. The file is only as long as its content.
const BUDGET: u64 = 1 << 30;

/// Writes the recording. A profile that cannot be read leaves the output as it was.
pub fn run(options: &arguments::Import) -> Result<Ended> {
    let source = options.file.display().to_string();
    let bytes =
        files::read_argument(&options.file).with_context(|| format!("cannot read {source}"))?;
    let read = with_time("reading", || Imported::read(bytes, options.period));
    let imported = read.map_err(|error| say(format!("{source}: {error}")))?;
    let directory = PrivateDirectory::new("import")?;
    let recording = directory.path().join("imported.spy");
    Recording::file(&recording)
        .linked_sites(false)
        .collector(false)
        .budget(BUDGET)
        .start()?
        .close();
    let counts = imported
        .write(&recording, &file_name(&options.file))
        .map_err(|error| say(format!("{source}: {error}")))?;
    copy(&recording, &options.output)?;
    for note in &imported.notes {
        complain("metaspy", note);
    }
    let what = match imported.content {
        Content::Samples(_) => counted(counts.all, "sample"),
        Content::Calls(_) => format!("{} instructions", grouped(counts.all)),
    };
    let (functions, file) =
        (counted(counts.functions as u64, "function"), file_name(&options.output));
    print_message(&format!(
        "written to {file}: {what} in {functions} ({})",
        imported.format.name()
    ));
    print_message(&format!("as a page:  metaspy blueprint flame {file} --html flame.html"));
    print_message(&format!("as boxes:   metaspy blueprint structural {file} --html boxes.html"));
    Ok(Ended::Fine)
}

fn copy(recording: &Path, output: &Path) -> Result<()> {
    let mut file = OutputFile::create_recording(output).map_err(cannot_write(output))?;
    let mut from =
        files::open(recording).with_context(|| format!("cannot read {}", recording.display()))?;
    io::copy(&mut from, &mut file).and_then(|_| file.complete()).map_err(cannot_write(output))
}
