//! [`CheckedStore`]: a store of sealed files. It checks every part of them when it is read.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};

use super::sealed_file::SealedFile;

/// The name of the store in errors.
const STORE: &str = "sealed set";

/// The words for a file that differs from the sealed one.
const DAMAGED: &str = "is damaged";

/// Sealed files by key; `None` for one that an older metaspy sealed without checksums.
pub type SealedFiles = HashMap<Path, Option<Arc<SealedFile>>>;

/// A store that only reads, and only what is sealed. An engine gets it in place of the store
/// itself.
#[derive(Debug)]
pub struct CheckedStore {
    store: Arc<dyn ObjectStore>,
    files: SealedFiles,
}

impl CheckedStore {
    /// These files of a store.
    pub fn new(store: Arc<dyn ObjectStore>, files: SealedFiles) -> Self {
        CheckedStore { store, files }
    }

    /// The checksums of a file, if it has some.
    fn file(&self, key: &Path) -> Result<Option<&SealedFile>> {
        match self.files.get(key) {
            Some(file) => Ok(file.as_deref()),
            // An engine takes a file that is not found for an empty directory.
            None => Err(Error::Generic {
                store: STORE,
                source: format!("{key} is in no sealed.json").into(),
            }),
        }
    }

    /// Compares the length of a file with the one in `sealed.json`.
    fn check_length(&self, key: &Path, file: &SealedFile, found: u64) -> Result<()> {
        if found == file.bytes {
            return Ok(());
        }
        Err(damaged(
            key,
            format!("it has {found} bytes, and had {} when it was sealed", file.bytes),
        ))
    }
}

/// Checks the bytes of whole blocks.
fn check(key: &Path, file: &SealedFile, blocks: &Range<u64>, bytes: &Bytes) -> Result<()> {
    if bytes.len() as u64 != blocks.end - blocks.start {
        return Err(damaged(key, format!("it has no bytes {}..{}", blocks.start, blocks.end)));
    }
    file.check(blocks.start, bytes).map_err(|error| damaged(key, error))
}

fn damaged(key: &Path, why: impl fmt::Display) -> Error {
    let next = "copy it from a whole set, or remove its directory and seal the recording again";
    Error::Generic { store: STORE, source: format!("{key} {DAMAGED}: {why}: {next}").into() }
}

/// True if the cause of an error is a file that differs from the sealed one. The cause names the
/// file.
pub fn is_damaged(error: &anyhow::Error) -> bool {
    error.root_cause().to_string().contains(DAMAGED)
}

fn only_reads() -> Error {
    Error::NotImplemented { operation: "write".to_owned(), implementer: "a sealed set".to_owned() }
}

#[async_trait]
impl ObjectStore for CheckedStore {
    async fn get_opts(&self, key: &Path, options: GetOptions) -> Result<GetResult> {
        let Some(file) = self.file(key)? else { return self.store.get_opts(key, options).await };
        if options.head {
            let found = self.store.get_opts(key, options).await?;
            self.check_length(key, file, found.meta.size)?;
            return Ok(found);
        }
        let wanted =
            options.range.as_ref().map_or(Ok(0..file.bytes), |range| range.as_range(file.bytes));
        let wanted =
            wanted.map_err(|error| Error::Generic { store: STORE, source: error.into() })?;
        let blocks = file.blocks(wanted.clone());
        let options = GetOptions { range: Some(GetRange::Bounded(blocks.clone())), ..options };
        let found = self.store.get_opts(key, options).await?;
        self.check_length(key, file, found.meta.size)?;
        let meta = found.meta.clone();
        let attributes = found.attributes.clone();
        let bytes = found.bytes().await?;
        check(key, file, &blocks, &bytes)?;
        let bytes = part(&bytes, &blocks, &wanted);
        let payload = GetResultPayload::Stream(stream::once(async move { Ok(bytes) }).boxed());
        Ok(GetResult { payload, meta, range: wanted, attributes })
    }

    async fn get_ranges(&self, key: &Path, wanted: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let Some(file) = self.file(key)? else { return self.store.get_ranges(key, wanted).await };
        let blocks = joined(wanted.iter().map(|range| file.blocks(range.clone())).collect());
        let found = self.store.get_ranges(key, &blocks).await?;
        for (range, bytes) in blocks.iter().zip(&found) {
            check(key, file, range, bytes)?;
        }
        let of = |range: &Range<u64>| {
            let at = blocks
                .iter()
                .position(|blocks| blocks.start <= range.start && range.end <= blocks.end);
            let at = at.ok_or_else(|| {
                damaged(key, format!("it has no bytes {}..{}", range.start, range.end))
            })?;
            Ok(part(&found[at], &blocks[at], range))
        };
        wanted.iter().map(of).collect()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(only_reads())
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(only_reads())
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        keys.map(|_| Err(only_reads())).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(only_reads())
    }
}

impl fmt::Display for CheckedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sealed files in {}", self.store)
    }
}

/// The bytes of a range within a larger one.
fn part(bytes: &Bytes, of: &Range<u64>, wanted: &Range<u64>) -> Bytes {
    bytes.slice((wanted.start - of.start) as usize..(wanted.end - of.start) as usize)
}

/// Ranges in their order. Those that meet are one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_are_one() {
        assert_eq!(joined(vec![8..12, 0..4, 4..6, 10..11, 20..24]), [0..6, 8..12, 20..24]);
    }
}
