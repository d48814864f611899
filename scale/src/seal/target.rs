//! [`Target`]: where sealed recordings are: a directory, or a bucket that speaks S3.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::{Path, PathPart};
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig, WriteMultipart};
use url::Url;

use super::manifest::{MANIFEST, Manifest};
use super::rest::REST;
use super::sync;

/// Begins the names of directories in which partitions are made.
const WORK: &str = ".sealing-";
/// Where a machine of AWS has keys for its programs. It is the last place where they are looked for.
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
    directory: Option<PathBuf>,
    /// The address of the store, for engines.
    url: Url,
}

/// A directory in which a partition is made. It is removed unless it is published.
pub struct WorkDirectory {
    path: PathBuf,
    /// Held as long as the owner lives, so that others can recognise an abandoned directory.
    _lock: File,
}

impl WorkDirectory {
    /// The directory.
    pub fn path(&self) -> &FilePath {
        &self.path
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // After a publication there is nothing to remove.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_file(lock_file(&self.path));
    }
}

impl Target {
    /// A directory, which is created, or `s3://bucket/prefix`. Credentials and endpoint of a bucket are those of the
    /// environment (`AWS_…`).
    pub fn parse(text: &str) -> Result<Self> {
        if text.starts_with("s3://") {
            let url = Url::parse(text).with_context(|| format!("{text} is no address: write s3://bucket/prefix"))?;
            let bucket = url.host_str().with_context(|| format!("{text} names no bucket"))?;
            let store = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry()).build()?;
            let prefix = Path::from_url_path(url.path())?;
            return Ok(Target { store: Arc::new(store), prefix, directory: None, url });
        }
        if text.contains("://") {
            bail!("{text}: a sealed set is a directory, or s3://bucket/prefix");
        }
        let cannot = || format!("cannot create the directory {text}");
        sync::create_directories(FilePath::new(text)).with_context(cannot)?;
        let directory = fs::canonicalize(text).with_context(|| format!("cannot open the directory {text}"))?;
        let url = Url::from_directory_path(&directory).map_err(|()| anyhow::anyhow!("{text} is no absolute path"))?;
        let prefix = Path::from_absolute_path(&directory)?;
        Ok(Target { store: Arc::new(LocalFileSystem::new()), prefix, directory: Some(directory), url })
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
            Ok(found) => Ok(Some(serde_json::from_slice(&found.bytes().await?)?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.refused(error)),
        }
    }

    /// What to do about a place that cannot be read.
    fn refused(&self, error: object_store::Error) -> anyhow::Error {
        let has_no_keys = error.to_string().contains(MACHINE_KEYS);
        let error = anyhow::Error::new(error).context(format!("cannot read {}", self.url));
        if !has_no_keys {
            return error;
        }
        error.context("there are no keys for the bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    }

    /// The complete partitions below a path in the set, in the order of their keys. `""` is all of them. A set that is in a
    /// directory beside the runs is none of this one.
    pub async fn manifests(&self, below: &str) -> Result<Vec<Manifest>> {
        let prefix = Path::from_iter(self.prefix.parts().chain(Path::parse(below)?.parts()));
        let listed = self.store.list(Some(&prefix)).try_collect().await;
        let objects: Vec<_> = listed.map_err(|error| self.refused(error))?;
        let sizes: BTreeMap<Path, u64> = objects.into_iter().map(|object| (object.location, object.size)).collect();
        let mut manifests = Vec::new();
        for key in sizes.keys().filter(|key| self.is_manifest(key)) {
            let bytes = self.store.get(key).await?.bytes().await?;
            let mut manifest: Manifest = serde_json::from_slice(&bytes).with_context(|| format!("{key} is damaged"))?;
            let size = |table: &String| sizes.get(&self.key(&manifest, &format!("{table}.parquet")));
            let is_missing = |table: &&String| size(table).is_none_or(|size| *size == 0);
            manifest.missing = manifest.tables.iter().filter(is_missing).cloned().collect();
            manifests.push(manifest);
        }
        Ok(manifests)
    }

    /// True for `run=…/host=…/process=…/sealed.json` directly in the set.
    fn is_manifest(&self, key: &Path) -> bool {
        let Some(parts) = key.prefix_match(&self.prefix) else { return false };
        let parts: Vec<_> = parts.collect();
        let is_named = |(part, name): (&PathPart<'_>, &str)| part.as_ref().starts_with(name);
        parts.len() == 4 && parts.iter().zip(["run=", "host=", "process=", MANIFEST]).all(is_named)
    }

    /// The key of a file of a partition.
    pub fn key(&self, of: &Manifest, file: &str) -> Path {
        let partition = of.partition();
        Path::from_iter(self.prefix.parts().chain(partition.parts())).join(file)
    }

    /// The directory of a partition; `None` in a bucket.
    pub fn place(&self, of: &Manifest) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(of.partition().as_ref()))
    }

    /// Makes a visible partition durable. A bucket's is.
    pub fn sync(&self, of: &Manifest) -> Result<()> {
        let (Some(directory), Some(place)) = (&self.directory, self.place(of)) else { return Ok(()) };
        sync::files(&place)?;
        place.ancestors().take_while(|it| it.starts_with(directory)).try_for_each(sync::path)
    }

    /// A directory for a partition: beside the partitions, or among the temporary files if the target is a bucket.
    pub fn work_directory(&self, of: &Manifest) -> Result<WorkDirectory> {
        let base = self.work_base();
        for attempt in 0..1_000 {
            let path =
                base.join(format!("{WORK}{}-{}-{attempt}", of.process.replace(['/', '\\'], "_"), std::process::id()));
            let lock = File::create(lock_file(&path)).with_context(|| format!("cannot write to {}", base.display()))?;
            if lock.try_lock().is_ok() && fs::create_dir(&path).is_ok() {
                return Ok(WorkDirectory { path, _lock: lock });
            }
        }
        bail!("cannot create a directory in {}", base.display())
    }

    /// Where partitions are made.
    fn work_base(&self) -> PathBuf {
        self.directory.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Removes directories whose seal was interrupted.
    pub fn remove_abandoned(&self) -> Result<()> {
        for entry in fs::read_dir(self.work_base())?.filter_map(Result::ok) {
            let path = entry.path();
            let is_work = entry.file_name().to_string_lossy().starts_with(WORK) && path.is_dir();
            if !is_work {
                continue;
            }
            let is_held =
                File::open(lock_file(&path)).is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
            if is_held {
                continue;
            }
            match fs::remove_dir_all(&path) {
                // Among the temporary files are those of others.
                Err(_) if self.directory.is_none() => continue,
                removed => removed.with_context(|| format!("cannot remove {}", path.display()))?,
            }
            let _ = fs::remove_file(lock_file(&path));
        }
        Ok(())
    }

    /// Makes a partition visible. False if another seal was faster.
    pub async fn publish(&self, work: WorkDirectory, manifest: &Manifest) -> Result<bool> {
        match &self.directory {
            Some(directory) => publish_by_rename(directory, &work, manifest),
            None => self.upload(&work, manifest).await,
        }
    }

    async fn upload(&self, work: &WorkDirectory, manifest: &Manifest) -> Result<bool> {
        let tables = manifest.tables.iter().map(|table| format!("{table}.parquet"));
        for file in tables.chain([REST.to_owned()]) {
            let cannot = || format!("cannot write {file} to {}", self.url);
            self.upload_file(&work.path().join(&file), &self.key(manifest, &file)).await.with_context(cannot)?;
        }
        let manifest_bytes = fs::read(work.path().join(MANIFEST))?;
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(&self.key(manifest, MANIFEST), manifest_bytes.into(), options).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(error).with_context(|| format!("cannot write to {}", self.url)),
        }
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

/// The set, and the partitions in it, if the path goes on into them: `sealed/run=…/host=…`.
pub fn split(set: &str) -> (String, String) {
    match set.find("run=").filter(|at| *at == 0 || set[..*at].ends_with('/')) {
        Some(0) => (".".to_owned(), set.trim_end_matches('/').to_owned()),
        Some(at) => (set[..at].to_owned(), set[at..].trim_end_matches('/').to_owned()),
        None => (set.to_owned(), String::new()),
    }
}

/// A store that does not answer for some seconds is reported. Whoever waits for it longer decides when to try again.
fn retry() -> RetryConfig {
    RetryConfig { max_retries: 4, retry_timeout: Duration::from_secs(30), ..RetryConfig::default() }
}

fn publish_by_rename(directory: &FilePath, work: &WorkDirectory, manifest: &Manifest) -> Result<bool> {
    let place = directory.join(manifest.partition().as_ref());
    let parent = place.parent().expect("a partition has three parts");
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    sync::files(work.path())?;
    match fs::rename(work.path(), &place) {
        Ok(()) => Ok(true),
        // A directory that is not empty is not replaced: another seal was faster.
        Err(_) if place.join(MANIFEST).exists() => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot write {}", place.display())),
    }
}

fn lock_file(directory: &FilePath) -> PathBuf {
    PathBuf::from(format!("{}.lock", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
