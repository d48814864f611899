//! Runs that can be shown: kept runs of `cargo metaspy`, and recordings of programs of the
//! workspace.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use metaspy_core::recording;
use metaspy_reader::Store;
use metaspy_report::runs;
use serde::Serialize;

use crate::settings::Settings;
use crate::workspace::Workspace;

/// Run of a program, or of several programs of a `cargo metaspy` command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Name by which settings and commands select the run.
    pub id: String,
    /// Command or program, for lists.
    pub label: String,
    /// Root of the run's workspace.
    pub workspace: PathBuf,
    /// Paths of the run's recordings.
    pub recordings: Vec<PathBuf>,
    /// Start of the run, in seconds since 1970.
    pub began: u64,
    /// True while a program of the run still runs.
    pub live: bool,
    /// True if the editor shows the run.
    pub picked: bool,
    /// Reason why a part of the run cannot be read.
    pub problem: Option<String>,
    /// Directory of the run, if `cargo metaspy` keeps it.
    #[serde(skip)]
    pub kept: Option<PathBuf>,
}

impl Run {
    /// Formats the time since the run began.
    pub fn ago(&self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        match now.saturating_sub(self.began) {
            _ if self.live => "running".into(),
            seconds @ 0..120 => format!("{seconds} s ago"),
            seconds @ 120..7200 => format!("{} min ago", seconds / 60),
            seconds @ 7200..172_800 => format!("{} h ago", seconds / 3600),
            seconds => format!("{} days ago", seconds / 86_400),
        }
    }
}

/// Finder of runs, with a cache of live recordings.
#[derive(Default)]
pub struct Finder {
    /// Program and start of each recording in the directory of live recordings.
    programs: HashMap<PathBuf, (PathBuf, u64)>,
}

impl Finder {
    /// Returns the runs of these workspaces, the newest first.
    pub fn find(&mut self, workspaces: &[Workspace], settings: &Settings) -> Vec<Run> {
        let mut found = Vec::new();
        let first = workspaces.first().map(|workspace| workspace.root.clone()).unwrap_or_default();
        if !settings.recordings.is_empty() {
            found.extend(settings.recordings.iter().map(|path| chosen(&first.join(path), &first)));
        } else {
            for workspace in workspaces {
                found.extend(kept(&workspace.woven_target(), workspace, workspaces.len() > 1));
            }
            for target in &settings.targets {
                let workspace = Workspace { root: first.clone(), target: first.join(target) };
                found.extend(kept(&first.join(target), &workspace, workspaces.len() > 1));
            }
            found.extend(self.live(workspaces));
        }
        found.sort_by_key(|run| std::cmp::Reverse(run.began));
        found
    }

    /// Returns the live recordings of programs that were built in these workspaces.
    fn live(&mut self, workspaces: &[Workspace]) -> Vec<Run> {
        let mut found: Vec<Run> = Vec::new();
        for listed in recording::list() {
            let Some((program, began)) = self.program_of(&listed.path) else { continue };
            let Some(workspace) = workspaces.iter().find(|workspace| workspace.has_built(program))
            else {
                continue;
            };
            let id =
                listed.run.clone().unwrap_or_else(|| format!("{}-{}", listed.name, listed.pid));
            let at = found.iter().position(|run| run.id == id).unwrap_or_else(|| {
                let label = if listed.run.is_some() { id.clone() } else { listed.name.clone() };
                let workspace = workspace.root.clone();
                found.push(Run { id, label, workspace, began: *began, ..Run::default() });
                found.len() - 1
            });
            found[at].live |= listed.alive;
            found[at].recordings.push(listed.path);
        }
        found
    }

    fn program_of(&mut self, path: &Path) -> Option<&(PathBuf, u64)> {
        if !self.programs.contains_key(path) {
            let store = Store::open(path).ok()?;
            let program = PathBuf::from(&store.program().path);
            // The program writes its path after the first page.
            if program.as_os_str().is_empty() {
                return None;
            }
            let began = store.header().started_ns / 1_000_000_000;
            self.programs
                .insert(path.to_owned(), (fs::canonicalize(&program).unwrap_or(program), began));
        }
        self.programs.get(path)
    }
}

/// Returns the runs that `cargo metaspy` keeps in a target directory.
fn kept(target: &Path, workspace: &Workspace, has_others: bool) -> Vec<Run> {
    let run = |run: runs::Run| {
        let number = run.number;
        let name = workspace.root.file_name().unwrap_or_default().to_string_lossy();
        let root = if run.note.workspace.as_os_str().is_empty() {
            &workspace.root
        } else {
            &run.note.workspace
        };
        Run {
            id: if has_others { format!("{name}/{number}") } else { number.to_string() },
            live: run.is_running(),
            recordings: run.recordings(),
            workspace: fs::canonicalize(root).unwrap_or_else(|_| root.clone()),
            began: run.note.began,
            label: if run.note.command.is_empty() {
                format!("run {number}")
            } else {
                run.note.command
            },
            kept: Some(run.dir),
            ..Run::default()
        }
    };
    runs::list(&runs::directory(target)).into_iter().map(run).collect()
}

/// Makes a run of a recording, or of a directory of recordings, that the settings name.
fn chosen(path: &Path, workspace: &Path) -> Run {
    let recordings = if path.is_dir() { runs::recordings_in(path) } else { vec![path.to_owned()] };
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let changed = fs::metadata(path).and_then(|meta| meta.modified()).unwrap_or(UNIX_EPOCH);
    let began = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let label = path.display().to_string();
    let problem = recordings.is_empty().then(|| "the directory contains no recording".to_owned());
    Run { id, label, workspace: workspace.to_owned(), recordings, began, problem, ..Run::default() }
}
