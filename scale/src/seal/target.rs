//! [`Target`]: where sealed recordings are: a directory, or a bucket that speaks S3.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use futures::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::{Path, PathPart};
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig, WriteMultipart};
use url::Url;

use super::SealedFile;
use super::manifest::{MANIFEST, Manifest, is_table};
use super::partitions::{DamagedManifest, Partitions, REMEDY, Unreadable, read};
use super::sync;
use super::work_directory::WorkDirectory;
use crate::arguments::Keep;
use crate::recordings::started_ns;

/// Where a machine of AWS has keys for its programs. It is the last place where they are looked
/// for.
const MACHINE_KEYS: &str = "169.254.169.254";
/// Bytes of a part of an upload.
const PART: usize = 8 << 20;

/// A place for sealed recordings.
#[derive(Clone, Debug)]
pub struct Target {
    store: Arc<dyn ObjectStore>,
    /// The part of all keys before the partition.
    prefix: Path,
    /// The directory; `None` for a bucket.
    pub(super) directory: Option<PathBuf>,
    /// The address of the store, for engines.
    url: Url,
}

impl Target {
    /// A directory, which is created, or `s3://bucket/prefix`. Credentials and endpoint of a bucket
    /// are those of the environment (`AWS_…`).
    pub fn parse(text: &str) -> Result<Self> {
        if text.starts_with("s3://") {
            let url = Url::parse(text)
                .with_context(|| format!("{text} is no address: write s3://bucket/prefix"))?;
            let bucket = url.host_str().with_context(|| format!("{text} names no bucket"))?;
            let store =
                AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry()).build()?;
            let prefix = Path::from_url_path(url.path())?;
            return Ok(Target { store: Arc::new(store), prefix, directory: None, url });
        }
        if text.contains("://") {
            bail!("{text}: a sealed set is a directory, or s3://bucket/prefix");
        }
        let cannot = || format!("cannot create the directory {text}");
        sync::create_directories(FilePath::new(text)).with_context(cannot)?;
        let directory =
            fs::canonicalize(text).with_context(|| format!("cannot open the directory {text}"))?;
        let url = Url::from_directory_path(&directory)
            .map_err(|()| anyhow::anyhow!("{text} is no absolute path"))?;
        let prefix = Path::from_absolute_path(&directory)?;
        Ok(Target {
            store: Arc::new(LocalFileSystem::new()),
            prefix,
            directory: Some(directory),
            url,
        })
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// The address of the store.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The manifest of a partition, if it is complete.
    pub async fn manifest(&self, of: &Manifest) -> Result<Option<Manifest>> {
        match self.store.get(&self.key(of, MANIFEST)).await {
            Ok(found) => Ok(Some(read(&self.key(of, MANIFEST), &found.bytes().await?)?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.refused(error)),
        }
    }

    /// The manifest of a partition with the same recording, under another name of its host.
    pub async fn under_another_host(&self, of: &Manifest) -> Result<Option<Manifest>> {
        let partition = of.partition();
        let parts: Vec<PathPart<'_>> = partition.parts().collect();
        let [run, host, process] = &parts[..] else { return Ok(None) };
        let run = self.below(&Path::from_iter([run.clone()]));
        let listed = self.store.list_with_delimiter(Some(&run)).await;
        let hosts = listed.map_err(|error| self.refused(error))?.common_prefixes;
        for other in hosts.into_iter().filter(|it| it.filename() != Some(host.as_ref())) {
            let key = other.join(process.clone()).join(MANIFEST);
            match self.store.get(&key).await {
                // One that is damaged is no proof.
                Ok(found) => match read(&key, &found.bytes().await?) {
                    Ok(before) if before.is_of_recording(of) => return Ok(Some(before)),
                    _ => {}
                },
                Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(self.refused(error)),
            }
        }
        Ok(None)
    }

    /// What to do about a place that cannot be read.
    fn refused(&self, error: object_store::Error) -> anyhow::Error {
        let has_no_keys = error.to_string().contains(MACHINE_KEYS);
        let error = anyhow::Error::new(error).context(format!("cannot read {}", self.url));
        if !has_no_keys {
            return error;
        }
        error.context(
            "there are no keys for the bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        )
    }

    /// The partitions below a path in the set, in the order of their keys. `""` is all of them. A
    /// set that is in a directory beside the runs is none of this one.
    pub async fn partitions(&self, below: &str) -> Result<Partitions> {
        let mut sizes = BTreeMap::new();
        for place in self.places(&Path::parse(below)?).await? {
            let listed = self.store.list(Some(&place)).try_collect::<Vec<_>>().await;
            let objects = listed.map_err(|error| self.refused(error))?;
            sizes.extend(objects.into_iter().map(|object| (object.location, object.size)));
        }
        // In the directories of tables are also those of a seal that runs, or was interrupted.
        let beside_manifests =
            sizes.keys().filter(|key| key.parts().count() == self.prefix.parts().count() + 4);
        let found: BTreeSet<Path> =
            beside_manifests.filter_map(|key| self.partition_of(key)).collect();
        let mut partitions = Partitions::default();
        for partition in found {
            let key = self.below(&partition).join(MANIFEST);
            let text = match self.store.get(&key).await {
                Ok(found) => found.bytes().await?,
                Err(object_store::Error::NotFound { .. }) => {
                    let why = self.why_no_manifest(&partition, &sizes);
                    partitions.unreadable.push(Unreadable { partition, why });
                    continue;
                }
                Err(error) => return Err(self.refused(error)),
            };
            let manifest = match read(&key, &text) {
                Ok(manifest) => manifest,
                Err(error) if error.is::<DamagedManifest>() => {
                    partitions.unreadable.push(Unreadable { partition, why: format!("{error:#}") });
                    continue;
                }
                Err(error) => return Err(error),
            };
            match self.faults(&manifest, &mut sizes).await?.into_iter().next() {
                None => partitions.complete.push(manifest),
                Some(fault) => partitions
                    .unreadable
                    .push(Unreadable { partition, why: format!("{fault}: {REMEDY}") }),
            }
        }
        Ok(partitions)
    }

    /// Returns the places of the files below a path in the set: of the manifests, and of each table.
    async fn places(&self, below: &Path) -> Result<Vec<Path>> {
        let mut places = vec![self.below(below)];
        if below.parts().next().is_some() {
            let listed = self.store.list_with_delimiter(Some(&self.prefix)).await;
            let tables = listed.map_err(|error| self.refused(error))?.common_prefixes;
            let is_run = |it: &&Path| it.filename().is_some_and(|name| name.starts_with("run="));
            let tables = tables.iter().filter(|it| !is_run(it));
            places.extend(tables.map(|it| Path::from_iter(it.parts().chain(below.parts()))));
        }
        Ok(places)
    }

    /// Why a place of a partition has files and no manifest.
    fn why_no_manifest(&self, partition: &Path, sizes: &BTreeMap<Path, u64>) -> String {
        let table = self.prefix.filename().unwrap_or_default();
        let place = self.below(partition);
        let is_of_table = |key: &Path| key.filename().is_some_and(|it| is_file_of(table, it));
        if sizes.keys().any(|key| key.prefix_matches(&place) && is_of_table(key)) {
            return format!("this is the table {table} of a set: name the directory above it");
        }
        "it has no sealed.json: its seal was interrupted, or the file is lost: seal the recording again, \
         or remove its directory"
            .to_owned()
    }

    /// What is wrong with the files of a visible partition: their lengths, and in a directory their
    /// checksums. The recording may be removed if nothing is.
    pub async fn faults_of(&self, manifest: &Manifest) -> Result<Vec<String>> {
        let mut faults = self.faults(manifest, &mut BTreeMap::new()).await?;
        if faults.is_empty() {
            let paths = manifest
                .files
                .iter()
                .filter_map(|(plain_name, file)| Some((self.path(manifest, plain_name)?, file)));
            for (path, file) in paths {
                if let Err(error) = File::open(&path)
                    .map_err(anyhow::Error::from)
                    .and_then(|it| file.check_file(&it))
                {
                    faults.push(format!("{} is damaged: {error:#}", path.display()));
                }
            }
        }
        Ok(faults.into_iter().map(|fault| format!("{fault}: {REMEDY}")).collect())
    }

    /// What is wrong with the files of a partition, as far as their lengths show it. A list that was
    /// made before its manifest was read may lack files.
    async fn faults(
        &self,
        manifest: &Manifest,
        sizes: &mut BTreeMap<Path, u64>,
    ) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        for plain_name in
            manifest.table_files().chain(manifest.files.keys().cloned()).collect::<BTreeSet<_>>()
        {
            let key = self.key(manifest, &plain_name);
            if !sizes.contains_key(&key) {
                match self.store.head(&key).await {
                    Ok(found) => {
                        sizes.insert(key.clone(), found.size);
                    }
                    Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(self.refused(error)),
                }
            }
            let sealed = manifest.files.get(&plain_name).map(|file| file.bytes);
            match (sizes.get(&key), sealed) {
                (None | Some(0), _) => faults.push(format!("{key} is missing or empty")),
                (Some(found), Some(sealed)) if *found != sealed => {
                    faults.push(format!("{key} is damaged: it has {found} bytes, and had {sealed} when it was sealed"));
                }
                _ => {}
            }
        }
        Ok(faults)
    }

    /// The partition of a file: `run=…/host=…/process=…`, directly in the set or in the directory
    /// of a table.
    fn partition_of(&self, key: &Path) -> Option<Path> {
        let parts: Vec<_> = key.prefix_match(&self.prefix)?.collect();
        let partition = match &parts[..] {
            [table, partition @ .., file] if is_file_of(table.as_ref(), file.as_ref()) => partition,
            [partition @ .., _] => partition,
            [] => return None,
        };
        let is_named = |(part, name): (&PathPart<'_>, &str)| part.as_ref().starts_with(name);
        let is_partition = partition.len() == 3
            && partition.iter().zip(["run=", "host=", "process="]).all(is_named);
        is_partition.then(|| Path::from_iter(partition.iter().cloned()))
    }

    /// The key of a place in the set.
    fn below(&self, place: &Path) -> Path {
        Path::from_iter(self.prefix.parts().chain(place.parts()))
    }

    /// The key of a file of a partition, by the name that the file has without a hash.
    pub fn key(&self, of: &Manifest, plain_name: &str) -> Path {
        self.below(&of.path_of(plain_name))
    }

    /// The path of a file of a partition, by the name that the file has without a hash; `None` in a
    /// bucket.
    pub fn path(&self, of: &Manifest, plain_name: &str) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(of.path_of(plain_name).as_ref()))
    }

    /// The directories with files of a partition; none in a bucket.
    pub fn directories(&self, of: &Manifest) -> BTreeSet<PathBuf> {
        let names = of.files.keys().map(String::as_str).chain([MANIFEST]);
        names.filter_map(|name| Some(self.path(of, name)?.parent()?.to_owned())).collect()
    }

    /// Makes the names in some directories durable, and those of the directories.
    fn sync_directories(&self, directories: &BTreeSet<PathBuf>) -> Result<()> {
        let is_in_set =
            |it: &&FilePath| self.directory.as_ref().is_some_and(|set| it.starts_with(set));
        let all: BTreeSet<_> =
            directories.iter().flat_map(|it| it.ancestors().take_while(is_in_set)).collect();
        all.into_iter().rev().try_for_each(sync::path)
    }

    /// Makes a visible partition durable. A bucket's is. A directory that is missing is a fault of
    /// the partition, which [`Target::faults_of`] names.
    pub fn sync(&self, of: &Manifest) -> Result<()> {
        if let Some(manifest) = self.path(of, MANIFEST) {
            sync::path(&manifest)?;
        }
        let mut directories = self.directories(of);
        directories.retain(|directory| directory.is_dir());
        self.sync_directories(&directories)
    }

    /// Removes the partitions of a host that do not stay. An age is seen from now, or from its
    /// newest run if the clock is wrong. Returns their places.
    pub async fn remove_beyond(&self, host: &str, keep: Keep) -> Result<Vec<Path>> {
        let listed = self.store.list(Some(&self.prefix)).try_collect::<Vec<_>>().await;
        let objects = listed.map_err(|error| self.refused(error))?;
        let of_host = PathPart::from(format!("host={host}"));
        let mut partitions: BTreeMap<Path, Stored> = BTreeMap::new();
        for object in objects {
            let Some(partition) = self.partition_of(&object.location) else { continue };
            let parts: Vec<PathPart<'_>> = partition.parts().collect();
            let started = parts[0].as_ref().strip_prefix("run=").and_then(started_ns);
            if let Some(started) = started.filter(|_| parts[1] == of_host) {
                let stored = partitions.entry(partition).or_insert(Stored {
                    started,
                    bytes: 0,
                    files: Vec::new(),
                });
                stored.bytes += object.size;
                stored.files.push(object.location);
            }
        }
        let oldest = match keep {
            Keep::Age(age) => {
                let newest = partitions.values().map(|stored| stored.started).max().unwrap_or(0);
                let now =
                    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                newest.min(now.as_nanos() as u64).saturating_sub(age.as_nanos() as u64)
            }
            Keep::Bytes(bytes) => oldest_within(partitions.values(), bytes),
        };
        partitions.retain(|_, stored| stored.started < oldest);
        for Stored { files, .. } in partitions.values_mut() {
            // Without its manifest, a partition is none. An interrupted removal goes on the next
            // time.
            let name = |file: &Path| file.filename().map(str::to_owned).unwrap_or_default();
            files.sort_by_key(|file| (name(file) != MANIFEST, is_table(&name(file))));
            for file in files {
                self.remove(file).await?;
            }
        }
        Ok(partitions.into_keys().collect())
    }

    /// Removes a file, and the directories of its partition that have no other.
    async fn remove(&self, file: &Path) -> Result<()> {
        self.store.delete(file).await.with_context(|| format!("cannot remove {file}"))?;
        let parts = file.prefix_match(&self.prefix).into_iter().flatten();
        if let Some(directory) = &self.directory {
            let path = directory.join(Path::from_iter(parts).as_ref());
            // Fails for a directory that holds more. That of a table stays: engines mount it.
            path.ancestors().skip(1).take(3).try_for_each(fs::remove_dir).ok();
        }
        Ok(())
    }

    /// Makes a partition visible, and durable. False if another seal was faster.
    pub async fn publish(&self, work: &WorkDirectory, manifest: &Manifest) -> Result<bool> {
        let (tables, others): (Vec<_>, Vec<_>) =
            manifest.files.iter().partition(|(plain_name, _)| is_table(plain_name));
        if self.directory.is_some() {
            sync::files(work.path())?;
        }
        self.put(work, manifest, tables).await?;
        if let Some(place) = self.path(manifest, MANIFEST).as_deref().and_then(FilePath::parent) {
            let mut directories = self.directories(manifest);
            directories.remove(place);
            self.sync_directories(&directories)?;
            let above = place.parent().context("a partition has three parts")?;
            let cannot = || format!("cannot write {}", place.display());
            fs::create_dir_all(above).with_context(cannot)?;
            // What is left of the work appears at once.
            match fs::rename(work.path(), place) {
                Ok(()) => {
                    self.sync_directories(&BTreeSet::from([place.to_owned()]))?;
                    return Ok(true);
                }
                // A directory that is not empty is not replaced: another seal was faster, or a part
                // of a copy is there.
                Err(_) if place.is_dir() => {}
                Err(error) => return Err(error).with_context(cannot),
            }
        }
        self.put(work, manifest, others).await?;
        let text = fs::read(work.path().join(MANIFEST))?;
        // A store may ignore the condition of the next request, as Garage does. An upload takes
        // long, and this moment does not.
        match self.store.head(&self.key(manifest, MANIFEST)).await {
            Ok(_) => return Ok(false),
            Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(self.refused(error)),
        }
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(&self.key(manifest, MANIFEST), text.into(), options).await {
            Ok(_) => self.sync(manifest).map(|()| true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(error).with_context(|| format!("cannot write to {}", self.url)),
        }
    }

    /// Puts files at their places, one after another. One that is there has the same content.
    async fn put(
        &self,
        work: &WorkDirectory,
        manifest: &Manifest,
        files: Vec<(&String, &SealedFile)>,
    ) -> Result<()> {
        for (plain_name, SealedFile { name, .. }) in files {
            let from = work.path().join(name);
            let put = match self.path(manifest, plain_name) {
                None => self.upload_file(&from, &self.key(manifest, plain_name)).await,
                Some(path) => rename_into(&from, &path),
            };
            put.with_context(|| format!("cannot write {name} to {}", self.url))?;
        }
        Ok(())
    }

    /// Removes the files in the places of a visible partition that do not belong to it, as an
    /// interrupted seal of some tables leaves them, or one that was slower. Engines that read all
    /// files of a table would read them.
    pub async fn remove_unnamed(&self, visible: &Manifest, tables: &[String]) -> Result<()> {
        if visible.files.is_empty() {
            return Ok(());
        }
        let names = visible.files.keys().map(String::as_str).chain([MANIFEST]);
        let named: BTreeSet<Path> = names.map(|name| self.key(visible, name)).collect();
        let of_tables = visible.tables.iter().chain(tables).map(|it| visible.place_of_table(it));
        let mut unnamed = Vec::new();
        for place in of_tables.chain([visible.partition()]).collect::<BTreeSet<_>>() {
            let listed = self.store.list(Some(&self.below(&place))).try_collect::<Vec<_>>().await;
            let found = listed.map_err(|error| self.refused(error))?;
            unnamed.extend(
                found
                    .into_iter()
                    .map(|object| object.location)
                    .filter(|key| !named.contains(key) && self.partition_of(key).is_some()),
            );
        }
        if unnamed.is_empty() {
            return Ok(());
        }
        // The partition may have been removed and sealed again while its files were listed. Names
        // have the hash of the content.
        let is_same = |now: &Manifest| {
            now.files.values().map(|file| &file.name).eq(visible.files.values().map(|it| &it.name))
        };
        if !self.manifest(visible).await?.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        for file in unnamed {
            self.remove(&file).await?;
        }
        Ok(())
    }

    /// Uploads a file part by part. The object appears when its last part is there.
    async fn upload_file(&self, path: &FilePath, key: &Path) -> Result<()> {
        let mut file = File::open(path)?;
        let upload = self.store.put_multipart(key).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART);
        let mut part = vec![0; PART];
        loop {
            let read = file.read(&mut part)?;
            if read == 0 {
                break;
            }
            upload.wait_for_capacity(2).await?;
            upload.write(&part[..read]);
        }
        upload.finish().await?;
        Ok(())
    }
}

/// A partition with its files.
struct Stored {
    started: u64,
    bytes: u64,
    files: Vec<Path>,
}

/// The begin of the oldest run that stays, if the newest ones stay that have room in this number of
/// bytes.
fn oldest_within<'s>(partitions: impl Iterator<Item = &'s Stored>, bytes: u64) -> u64 {
    let mut by_run: BTreeMap<u64, u64> = BTreeMap::new();
    partitions.for_each(|stored| *by_run.entry(stored.started).or_default() += stored.bytes);
    let mut oldest = None;
    let mut taken = 0_u64;
    for (started, run_bytes) in by_run.into_iter().rev() {
        taken = taken.saturating_add(run_bytes);
        if oldest.is_some() && taken > bytes {
            break;
        }
        oldest = Some(started);
    }
    oldest.unwrap_or(0)
}

/// The set, and the partitions in it, if the path goes on into them: `sealed/run=…/host=…`.
pub fn split(set: &str) -> (String, String) {
    match set.find("run=").filter(|at| *at == 0 || set[..*at].ends_with('/')) {
        Some(0) => (".".to_owned(), set.trim_end_matches('/').to_owned()),
        Some(at) => (set[..at].to_owned(), set[at..].trim_end_matches('/').to_owned()),
        None => (set.to_owned(), String::new()),
    }
}

/// A store that does not answer for some seconds is reported. Whoever waits for it longer decides
/// when to try again.
fn retry() -> RetryConfig {
    RetryConfig { max_retries: 4, retry_timeout: Duration::from_secs(30), ..RetryConfig::default() }
}

/// True for the name of a file of a table in its directory: `events-….parquet`.
fn is_file_of(table: &str, file: &str) -> bool {
    let rest = file.strip_prefix(table).filter(|_| is_table(file));
    rest.is_some_and(|rest| rest.starts_with('-'))
}

/// Renames a file, into directories that may be new.
fn rename_into(from: &FilePath, to: &FilePath) -> Result<()> {
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory)?;
    }
    Ok(fs::rename(from, to)?)
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    /// Seals a content that no seal before has published when this one begins.
    async fn seal(target: &Target, content: &str) -> (bool, Manifest) {
        let fields = r#"{"layout_version":3,"schema_version":2,"run":"a","host":"b","process":"c","events":0,"bytes":0,"tables":["events"]}"#;
        let mut manifest = Manifest::from_json(fields.as_bytes()).expect("it is a manifest");
        let work = target.work_directory(&manifest.process).expect("there is room");
        fs::write(work.path().join("events.parquet"), content).expect("there is room");
        let file = SealedFile::seal(work.path(), "events.parquet").expect("it is there");
        manifest.files.insert("events.parquet".to_owned(), file);
        let text = manifest.to_json().expect("it is JSON");
        fs::write(work.path().join(MANIFEST), text).expect("there is room");
        let is_new = target.publish(&work, &manifest).await.expect("the store takes it");
        let visible =
            target.manifest(&manifest).await.expect("it can be read").expect("it is published");
        target.remove_unnamed(&visible, &[]).await.expect("the store takes it");
        (is_new, visible)
    }

    #[tokio::test]
    async fn a_slower_seal_into_a_bucket_leaves_the_data_of_the_faster_one() {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let url = Url::parse("memory:///").expect("it is an address");
        let target =
            Target { store: store.clone(), prefix: Path::from("set"), directory: None, url };
        let (is_new, long) = seal(&target, "a whole recording").await;
        assert!(is_new);
        let (is_new, visible) = seal(&target, "a part of it").await;
        assert!(!is_new && visible == long);
        let partitions = target.partitions("").await.expect("it can be read");
        assert_eq!((partitions.complete, partitions.unreadable), (vec![long.clone()], Vec::new()));
        let key = target.key(&long, "events.parquet");
        let read =
            store.get(&key).await.expect("it is there").bytes().await.expect("it can be read");
        assert_eq!(read, "a whole recording");
        let left: Vec<_> = store.list(None).try_collect().await.expect("it can be read");
        assert_eq!(left.len(), 2, "{left:?}");
    }

    #[test]
    fn a_path_goes_on_into_a_set() {
        let split = |set| split(set);
        let two = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(split("sealed"), two("sealed", ""));
        assert_eq!(split("s3://bucket/a/run=1/host=b/"), two("s3://bucket/a/", "run=1/host=b"));
        assert_eq!(split("run=1"), two(".", "run=1"));
        assert_eq!(split("dry-run=1"), two("dry-run=1", ""));
    }
}
