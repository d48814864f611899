//! [`Source`]: what a query reads: recordings in place, or a sealed set.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use datafusion::catalog::TableProvider;
use datafusion::common::DataFusionError;
use datafusion::execution::context::SessionContext;

use crate::functions;
use crate::recordings::Recording;
use crate::tables::{self, sealed::SealedSet};

/// What a query reads.
#[derive(Clone)]
pub enum Source {
    /// Recordings in place.
    Recordings(Arc<[Recording]>),
    /// Sealed recordings.
    Sealed(SealedSet),
}

impl Source {
    /// Opens recordings, or one sealed set.
    pub async fn open(sources: &[PathBuf]) -> Result<Self> {
        if let [only] = sources {
            let text = only.to_string_lossy();
            if text.starts_with("s3://") || only.is_dir() {
                match SealedSet::open(&text).await? {
                    Some(set) => return Ok(Source::Sealed(set)),
                    None if !only.is_dir() => {
                        bail!("{text} has no sealed recording: metaspy seal RECORDING --to {text}")
                    }
                    None => {}
                }
            }
        }
        Ok(Source::Recordings(Recording::open_all(sources)?))
    }

    /// The names of the tables.
    pub fn names(&self) -> Vec<String> {
        match self {
            Source::Recordings(recordings) => tables::names(recordings).into_iter().map(|(name, _)| name).collect(),
            Source::Sealed(set) => set.names(),
        }
    }

    /// The table with this name.
    pub async fn table(
        &self,
        context: &SessionContext,
        name: &str,
    ) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        match self {
            Source::Recordings(recordings) => tables::table(recordings, name),
            Source::Sealed(set) => {
                set.table(context, name).await.map_err(|error| DataFusionError::External(error.into()))
            }
        }
    }

    /// Adds the functions on events, which only recordings have.
    pub fn add_functions(&self, context: &SessionContext) {
        if let Source::Recordings(recordings) = self {
            functions::register(context, recordings);
        }
    }

    /// Sentences about what is wrong.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Source::Recordings(recordings) => recordings.iter().flat_map(Recording::warnings).collect(),
            Source::Sealed(_) => Vec::new(),
        }
    }

    /// True if a part cannot be read.
    pub fn is_damaged(&self) -> bool {
        matches!(self, Source::Recordings(recordings) if recordings.iter().any(Recording::is_damaged))
    }
}
