//! Export of findings: the listed events in the format of another tool, and an event or its chain
//! of causes on the clipboard.

use std::path::{Path, PathBuf};

use metaspy_reader::files::OutputFile;
use metaspy_reader::{Filter, Store};
use metaspy_report::export::{self, Exporter, Format, Selection, is_stopped, text};
use metaspy_report::text::counted;

use super::prompt::Prompt;
use super::{Crawler, Request};
use crate::crawler::jobs::{Progress, Slot};

/// Destination of an export.
struct Target {
    format: Format,
    file: PathBuf,
}

impl Crawler {
    /// Opens the prompt of the export.
    pub(super) fn open_export(&mut self) {
        self.prompt = Some(Prompt::export(""));
    }

    /// Opens the prompt of the export for a new recording with the current contents of the window.
    pub(super) fn keep(&mut self) {
        let stem = self.stem();
        let free = (1..)
            .map(|number| format!("{stem}-kept-{number}.spy"))
            .find(|name| !Path::new(name).exists());
        self.prompt = Some(Prompt::export(&format!("spy {}", free.unwrap_or_default())));
    }

    /// Returns the name of the recording, without directories and extension.
    fn stem(&self) -> String {
        let stem = Path::new(&self.source).file_stem();
        stem.map_or("recording".into(), |stem| stem.to_string_lossy().into_owned())
    }

    /// Exports the listed events: `chrome run.trace.json`. By default, the file is named after the
    /// recording.
    pub(super) fn export(&mut self, line: &str) -> Result<(), String> {
        let target = self.target(line)?;
        let filter = self.view.filter.clone();
        self.message = Some(format!("writing {} …", target.file.display()));
        let read =
            move |store: &Store, progress: &Progress| write(store, &filter, &target, progress);
        self.queue(Slot::Export, read, |crawler, sentence| crawler.message = Some(sentence));
        Ok(())
    }

    fn target(&self, line: &str) -> Result<Target, String> {
        let (format, file) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let found = Format::ALL.into_iter().find(|known| known.name() == format);
        let format = found.ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            format!("no format is named `{format}`: write one of {}, and a file", names.join(", "))
        })?;
        let file = match file.trim() {
            "" => PathBuf::from(format!("{}.{}", self.stem(), format.extension())),
            file => PathBuf::from(file),
        };
        if file.exists() {
            Err(format!("{} exists: choose another name", file.display()))
        } else {
            Ok(Target { format, file })
        }
    }

    /// Copies the selected event as text, or with its chain of causes.
    pub(super) fn copy(&mut self, with_causes: bool) -> Option<Request> {
        let id = self.view.list.selected_id()?;
        let text = if with_causes {
            text::chain_text(&self.store, id)
        } else {
            text::event_text(&self.store, id)
        };
        match text {
            None => self.message = Some("the event left the window: nothing is copied".into()),
            Some(_) => {
                let what = if with_causes { "the chain of causes" } else { "the event" };
                self.message =
                    Some(format!("{what} is on the clipboard, if the terminal allows it (OSC 52)"));
            }
        }
        text.map(Request::Copy)
    }
}

/// Writes the events that pass a filter. Returns a sentence about the file or about the failure;
/// `None` if the job was stopped.
fn write(store: &Store, filter: &Filter, target: &Target, progress: &Progress) -> Option<String> {
    let all = store.totals().stored;
    let watch = |now: export::Progress| {
        progress.set((now.part * all as f64) as u64, all);
        !progress.is_stopped()
    };
    let name = target.file.display();
    let selection = Selection::new(store, filter).watched(&watch);
    let written = OutputFile::create(&target.file).and_then(|mut out| {
        let written = target.format.export(&selection, &mut out)?;
        out.complete().map(|()| written)
    });
    match written {
        Ok(written) => {
            let notes: String = written.notes.iter().map(|note| format!("; {note}")).collect();
            let events = if written.events > 0 {
                format!(": {}", counted(written.events, "event"))
            } else {
                String::new()
            };
            Some(format!("written to {name}{events}{notes}"))
        }
        Err(error) if is_stopped(&error) => None,
        Err(error) => Some(format!("{name}: {error}")),
    }
}
