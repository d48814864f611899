//! `metaspy ship`: seals the recordings of a directory as they end, and removes each one when it is
//! sealed.
//!
//! A recording is removed after its partition is visible. After a kill in between, the next run
//! finds the partition, so nothing is lost and nothing is there twice. One recording is sealed at a
//! time: if the store is slow, recordings wait on the disk, up to a bound.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use metaspy_core::recording;
use metaspy_reader::EndState;
use metaspy_reader::text::print_message;
use metaspy_reader::units::grouped;

use crate::arguments::{self, Keep};
use crate::recordings::Recording;
use crate::seal::{self, HostName, Sealed, target::Target};
use crate::stdout::print;

/// The time between two looks at the directory.
const LOOK: Duration = Duration::from_secs(2);
/// The time between two looks for partitions that may go.
const LOOK_FOR_OLD: Duration = Duration::from_secs(60 * 60);
/// The longest time between two trials of a store that fails.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs the command, until it is interrupted; with `--once` until everything is sealed that has
/// ended.
pub async fn run(options: &arguments::Ship) -> Result<bool> {
    let mut ship = Ship::new(options)?;
    let mut pause = LOOK;
    loop {
        let passed = ship.pass().await;
        if passed.is_err() {
            ship.hold_bound(0)?;
        }
        match passed {
            Ok(()) if options.once => return Ok(!ship.has_faults()),
            Ok(()) => pause = LOOK,
            Err(error) if options.once => return Err(error),
            Err(error) => {
                report(&format!("{error:#}; another trial follows in {} s", pause.as_secs()));
                pause = (pause * 2).min(LONGEST);
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = tokio::signal::ctrl_c() => return Ok(!ship.has_faults()),
        }
    }
}

/// A recording on the disk.
struct Waiting {
    path: PathBuf,
    /// Bytes on the disk: a recording has holes.
    bytes: u64,
    changed: SystemTime,
}

/// The bytes that recordings take on the disk.
fn total(waiting: &[Waiting]) -> u64 {
    waiting.iter().map(|it| it.bytes).sum()
}

struct Ship<'o> {
    options: &'o arguments::Ship,
    host: String,
    host_name: HostName,
    /// Recordings that stay where they are: they are damaged, or cannot be read.
    kept: Vec<PathBuf>,
    /// Recordings that were removed before they were sealed.
    dropped: u64,
    /// When partitions that may go were last looked for.
    looked: Option<Instant>,
}

impl<'o> Ship<'o> {
    fn new(options: &'o arguments::Ship) -> Result<Self> {
        if !options.directory.is_dir() {
            bail!(
                "{} is no directory: name the one that holds the recordings",
                options.directory.display()
            );
        }
        let (host, host_name) = seal::host(options.host.as_deref());
        Ok(Ship { options, host, host_name, kept: Vec::new(), dropped: 0, looked: None })
    }

    /// True if a recording was not sealed, or only in part.
    fn has_faults(&self) -> bool {
        self.dropped > 0 || !self.kept.is_empty()
    }

    /// Seals and removes every recording that has ended, the oldest first.
    async fn pass(&mut self) -> Result<()> {
        let target = Target::parse(&self.options.to)?;
        target.remove_abandoned()?;
        let waiting = self.waiting()?;
        let before = total(&waiting);
        for Waiting { path, .. } in waiting {
            match Recording::open(&path) {
                Ok(recording) => self.ship(recording, &target).await?,
                // Another process that ships was faster.
                Err(_) if !path.exists() => {}
                Err(error) => self.keep(&path, &format!("{error:#}")),
            }
            // The store may be slow, and recordings arrive. What waited before this pass has its
            // trial.
            self.hold_bound(before)?;
        }
        self.remove_beyond(&target).await
    }

    /// Removes the partitions of this host that may not stay.
    async fn remove_beyond(&mut self, target: &Target) -> Result<()> {
        if self.looked.is_some_and(|at| at.elapsed() < LOOK_FOR_OLD) {
            return Ok(());
        }
        for keep in &self.options.keep {
            let why = match keep {
                Keep::Age(_) => "older than --keep",
                Keep::Bytes(_) => "beyond the size of --keep",
            };
            for partition in target.remove_beyond(&self.host, *keep).await? {
                print(&format!("{partition} is removed: it is {why}\n"))?;
            }
        }
        self.looked = Some(Instant::now());
        Ok(())
    }

    async fn ship(&mut self, mut recording: Recording, target: &Target) -> Result<()> {
        if !matches!(recording.store.end_state(), EndState::Closed | EndState::Killed) {
            return Ok(());
        }
        recording.host.clone_from(&self.host);
        recording.verify();
        let name = recording.path.display().to_string();
        let sealed = seal::seal(&recording, target, self.host_name)
            .await
            .with_context(|| format!("cannot seal {name}"))?;
        if let Sealed::InPart(why) = &sealed {
            self.keep(&recording.path, why);
            return Ok(());
        }
        if recording.is_damaged() {
            self.keep(&recording.path, &recording.warnings().join("; "));
            return Ok(());
        }
        match fs::remove_file(&recording.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error)
                    .with_context(|| format!("{name} is sealed, and cannot be removed"));
            }
            _ => {}
        }
        match sealed {
            Sealed::Now(manifest) => {
                print(&format!("{name}: {} events\n", grouped(manifest.events)))
            }
            _ => print(&format!("{name}: already sealed\n")),
        }
    }

    fn keep(&mut self, path: &Path, why: &str) {
        report(&format!("{} stays: {why}", path.display()));
        self.kept.push(path.to_owned());
    }

    /// Removes the oldest recordings that have ended while these take more than the bound, or than
    /// `before` if that is more. Each one is reported.
    fn hold_bound(&mut self, before: u64) -> Result<()> {
        let Some(most) = self.options.most.map(|most| most.max(before)) else { return Ok(()) };
        let mut waiting = self.waiting()?;
        if total(&waiting) <= most {
            return Ok(());
        }
        // A recording that is written has a bound of its own.
        waiting.retain(|it| Recording::open(&it.path).is_ok_and(|it| !it.store.is_live()));
        let mut bytes = total(&waiting);
        for oldest in waiting {
            if bytes <= most {
                break;
            }
            let calls = Recording::open(&oldest.path)
                .map_or(0, |recording| recording.store.totals().emitted);
            fs::remove_file(&oldest.path)
                .with_context(|| format!("cannot remove {}", oldest.path.display()))?;
            bytes -= oldest.bytes;
            self.dropped += 1;
            let path = oldest.path.display();
            let calls = grouped(calls);
            let dropped = self.dropped;
            report(&format!(
                "{path} is lost with {calls} calls, to keep the bound of --most ({dropped} lost so far)"
            ));
        }
        Ok(())
    }

    /// The recordings of the directory and of the directories in it, the oldest first.
    fn waiting(&self) -> Result<Vec<Waiting>> {
        let directory = &self.options.directory;
        let mut waiting = Vec::new();
        for path in
            entries(directory).with_context(|| format!("cannot read {}", directory.display()))?
        {
            let paths = if path.is_dir() { entries(&path).unwrap_or_default() } else { vec![path] };
            for path in
                paths.into_iter().filter(|path| path.extension().is_some_and(|it| it == "spy"))
            {
                let meta = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file);
                if let Some(meta) =
                    meta.filter(|_| recording::is_recording(&path) && !self.kept.contains(&path))
                {
                    let changed = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                    waiting.push(Waiting { bytes: meta.blocks() * 512, path, changed });
                }
            }
        }
        waiting.sort_by(|one, other| (one.changed, &one.path).cmp(&(other.changed, &other.path)));
        Ok(waiting)
    }
}

fn entries(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    Ok(fs::read_dir(directory)?.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

fn report(text: &str) {
    print_message(&format_args!("metaspy ship: {text}"));
}
