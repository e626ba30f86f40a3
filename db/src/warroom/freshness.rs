//! The files that managed agents at work have loaded, as their output shows. Must not look at files, and keeps nothing of runs that ended.

pub(crate) mod row;
pub(crate) mod write;

use domain::id::RunId;
use domain::warroom::freshness::LoadedFile;

use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

impl Db {
    /// Records files that a run has read or written, each with the last time. The last 500 are kept, until the run ends.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn record_loaded_files(&self, run: &RunId, files: Vec<LoadedFile>) -> Result<()> {
        let run = run.clone();
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::LoadedFiles);
                write::record(tx, &run, &files).await
            })
        })
        .await
    }
}
