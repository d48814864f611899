//! [`Recent`]: the recordings that are served, at most a second old.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use metaspy_reader::text::print_message;
use tokio::sync::Mutex;

use crate::query::Source;

/// Answers are at most this old.
const AGE: Duration = Duration::from_secs(1);

/// The recordings that are served.
#[derive(Clone)]
pub struct Recent {
    names: Arc<[PathBuf]>,
    memory: u64,
    read: Arc<Mutex<(Instant, Source)>>,
}

impl Recent {
    /// Opens them.
    pub async fn open(names: Vec<PathBuf>, memory: u64) -> Result<Self> {
        let source = Source::open(&names).await?;
        for warning in source.warnings() {
            print_message(&format_args!("metaspy serve: {warning}"));
        }
        Ok(Recent {
            names: names.into(),
            memory,
            read: Arc::new(Mutex::new((Instant::now(), source))),
        })
    }

    /// Their names, as the command has them.
    pub fn names(&self) -> &[PathBuf] {
        &self.names
    }

    /// The memory of a query of a client at most.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Their present content. If they are gone, this is what was read before.
    pub async fn source(&self) -> Source {
        let mut read = self.read.lock().await;
        let (at, source) = &mut *read;
        if at.elapsed() >= AGE && (source.may_grow() || self.names.iter().any(|name| name.is_dir()))
        {
            *at = Instant::now();
            if let Ok(newer) = Source::open(&self.names).await {
                *source = newer;
            }
        }
        source.clone()
    }
}
