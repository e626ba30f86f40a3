//! Rescues in the store: what a person restored or dropped. The repository itself lists what is kept.

use domain::id::ProjectId;
use domain::runs::evidence::Sha;
use domain::runs::rescue::RescueEvent;

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Records that a person restored kept work to a new branch.
    ///
    /// # Errors
    /// When the caller is not a person, or the project does not exist.
    pub async fn record_restored_rescue(&self, caller: &Caller, id: &ProjectId, reference: &str, branch: &str) -> Result<()> {
        let (caller, id, reference, branch) = (caller.clone(), id.clone(), reference.to_owned(), branch.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("restoring work")?;
                projects::read(&mut tx.connection, &id).await?;
                tx.record_without_card(&caller, &id, None, RescueEvent::Restored { reference, branch });
                Ok(())
            })
        })
        .await
    }

    /// Records that a person dropped kept work, which no longer owns its reference.
    ///
    /// # Errors
    /// When the caller is not a person, or the project does not exist.
    pub async fn record_dropped_rescue(&self, caller: &Caller, id: &ProjectId, reference: &str, sha: &Sha) -> Result<()> {
        let (caller, id, reference, sha) = (caller.clone(), id.clone(), reference.to_owned(), sha.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("dropping work")?;
                let project = projects::read(&mut tx.connection, &id).await?;
                sqlx::query("DELETE FROM owned_refs WHERE git_dir = $1 AND name = $2")
                    .bind(&project.git_dir)
                    .bind(&reference)
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_without_card(&caller, &id, None, RescueEvent::Dropped { reference, sha });
                Ok(())
            })
        })
        .await
    }
}
