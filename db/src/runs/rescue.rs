//! Rescues in the store: what a person restored or dropped. The repository itself lists what is kept.

use std::collections::BTreeMap;
use std::path::PathBuf;

use domain::id::ProjectId;
use domain::runs::evidence::Sha;
use domain::runs::rescue::RescueEvent;
use domain::time::Timestamp;
use sqlx::Row;

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;

/// Kept work whose time is over, in repositories that still have a project. Reads the references with the prefix only, and kept work ends.
pub(crate) const EXPIRED: &str =
    "SELECT o.git_dir, o.name, (SELECT p.id FROM projects p WHERE p.git_dir = o.git_dir ORDER BY length(p.id), p.id LIMIT 1) AS project_id
  FROM owned_refs o WHERE o.name >= $2 AND o.name < $3 AND o.claimed_at < $1
    AND EXISTS (SELECT 1 FROM projects p WHERE p.git_dir = o.git_dir) ORDER BY o.claimed_at, o.name";

/// A rescue ref whose time is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiredRescue {
    /// A project on the repository.
    pub project: ProjectId,
    pub git_dir: PathBuf,
    pub reference: String,
}

impl Db {
    /// Returns when each reference of a repository with this prefix was last written by this program.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn references_kept_at(&self, git_dir: &str, prefix: &str) -> Result<BTreeMap<String, Timestamp>> {
        let rows = sqlx::query("SELECT name, claimed_at FROM owned_refs WHERE git_dir = $1 AND name >= $2 AND name < $3")
            .bind(git_dir)
            .bind(prefix)
            .bind(end_of(prefix))
            .fetch_all(&self.readers)
            .await?;
        rows.iter().map(|row| Ok((row.try_get("name")?, parsed(row, "claimed_at")?))).collect()
    }

    /// Lists the references with this prefix that were written before `cutoff`.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn expired_rescues(&self, prefix: &str, cutoff: Timestamp) -> Result<Vec<ExpiredRescue>> {
        let rows = sqlx::query(EXPIRED).bind(cutoff.to_string()).bind(prefix).bind(end_of(prefix)).fetch_all(&self.readers).await?;
        let expired = |row| -> Result<ExpiredRescue> {
            Ok(ExpiredRescue {
                project: parsed(row, "project_id")?,
                git_dir: PathBuf::from(row.try_get::<String, _>("git_dir")?),
                reference: row.try_get("name")?,
            })
        };
        rows.iter().map(expired).collect()
    }

    /// Records that kept work was removed because its time was over, at the commit `sha`; none if it was gone already.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn record_expired_rescue(&self, expired: &ExpiredRescue, sha: Option<&Sha>) -> Result<()> {
        let (expired, sha) = (expired.clone(), sha.cloned());
        self.write(move |tx| {
            Box::pin(async move {
                let ExpiredRescue { project, git_dir, reference } = expired;
                forget(tx, &git_dir.to_string_lossy(), &reference).await?;
                match sha {
                    Some(sha) => tx.record_without_card(&Caller::Runner, &project, None, RescueEvent::Expired { reference, sha }),
                    None => tx.skip_event(NoEventReason::References),
                }
                Ok(())
            })
        })
        .await
    }

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
                caller.require_decision("dropping work")?;
                let project = projects::read(&mut tx.connection, &id).await?;
                forget(tx, &project.git_dir, &reference).await?;
                tx.record_without_card(&caller, &id, None, RescueEvent::Dropped { reference, sha });
                Ok(())
            })
        })
        .await
    }
}

async fn forget(tx: &mut Tx, git_dir: &str, reference: &str) -> Result<()> {
    sqlx::query("DELETE FROM owned_refs WHERE git_dir = $1 AND name = $2").bind(git_dir).bind(reference).execute(&mut tx.connection).await?;
    Ok(())
}

/// The first name after all that begin with `prefix`, which ends with a slash.
fn end_of(prefix: &str) -> String {
    format!("{}0", prefix.trim_end_matches('/'))
}
