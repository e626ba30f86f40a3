//! The project branch in the store: its recorded tip, the question about unapproved commits, and the tip that the human accepted.
//!
//! The caller that reads the repository compares the tip with this record.

pub(crate) mod write;

use domain::board::attention::Attention;
use domain::board::project::{Project, ProjectEvent};
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::evidence::Sha;
use sqlx::{Connection, Row};

use crate::board::attention::write as attention;
use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::{Error, Result};
use crate::runs::branch::write::{disputed_tip, record_tip};

/// The record that the tip of a project branch is compared with, from one snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct BranchRecord {
    /// Its `integration_head` is the recorded tip.
    pub project: Project,
    /// Approved commits whose merge is not recorded. A server that is killed before recording a merge leaves one of them at the tip.
    pub approved: Vec<Sha>,
    /// A tip with unapproved commits that the human accepted.
    pub accepted_tip: Option<Sha>,
}

impl BranchRecord {
    /// Whether a comparison with `other` has the same result.
    pub fn is_same_tip(&self, other: &Self) -> bool {
        let tip = |record: &Self| (record.project.integration_head.clone(), record.approved.clone(), record.accepted_tip.clone());
        tip(self) == tip(other)
    }
}

impl Db {
    /// # Errors
    /// When the project does not exist.
    pub async fn branch_record(&self, id: &ProjectId) -> Result<BranchRecord> {
        let mut connection = self.readers.acquire().await?;
        // One snapshot, so that a concurrent merge is in both reads or in neither.
        let mut snapshot = connection.begin().await?;
        let row = sqlx::query(projects::ONE).bind(id.as_str()).fetch_optional(&mut *snapshot).await?;
        let row = row.ok_or_else(|| Error::Refused(Refusal::not_found("project", id)))?;
        let approved =
            sqlx::query_scalar("SELECT approved_sha FROM tasks WHERE project_id = $1 AND status = 'in_review' AND approved_sha IS NOT NULL")
                .bind(id.as_str())
                .fetch_all(&mut *snapshot)
                .await?;
        snapshot.rollback().await?;
        Ok(BranchRecord { project: projects::project_of(&row)?, approved, accepted_tip: row.try_get("accepted_sha")? })
    }

    /// Records the name and the tip of the project branch, unless the recorded tip is no longer `from`.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn record_branch_tip(&self, id: &ProjectId, branch: &str, from: Option<&Sha>, sha: &Sha) -> Result<()> {
        let (id, branch, from, sha) = (id.clone(), branch.to_owned(), from.cloned(), sha.clone());
        self.write(move |tx| {
            Box::pin(async move {
                if projects::read(&mut tx.connection, &id).await?.integration_head != from {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                record_tip(tx, &Caller::Runner, &id, &branch, &sha).await
            })
        })
        .await
    }

    /// Records that the base branch gained commits, unless its recorded tip is no longer `from`. `sha` must hold everything that `from` holds.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn record_base_tip(&self, id: &ProjectId, from: &Sha, sha: &Sha) -> Result<()> {
        let (id, from, sha) = (id.clone(), from.clone(), sha.clone());
        self.write(move |tx| {
            Box::pin(async move {
                if projects::read(&mut tx.connection, &id).await?.base_head != from || from == sha {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                sqlx::query("UPDATE projects SET base_head = $2 WHERE id = $1").bind(id.as_str()).bind(&sha).execute(&mut tx.connection).await?;
                tx.record_for_project(&Caller::Runner, &id, ProjectEvent::BaseMoved { sha });
                Ok(())
            })
        })
        .await
    }

    /// Requests a decision about unapproved commits at the `tip` of the project branch. Only one task of the project asks: the first that
    /// needs the branch.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn request_branch_decision(&self, id: &TaskId, tip: &Sha, detail: &str) -> Result<()> {
        let (id, attention) = (id.clone(), Attention::unapproved_commits(tip.clone(), detail));
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &id).await?;
                let stored: Vec<String> = sqlx::query_scalar("SELECT attention FROM tasks WHERE project_id = $1 AND attention IS NOT NULL")
                    .bind(card.project_id.as_str())
                    .fetch_all(&mut tx.connection)
                    .await?;
                let attentions = stored.iter().map(|text| serde_json::from_str(text)).collect::<serde_json::Result<Vec<Attention>>>()?;
                let is_requested = attentions.iter().any(|attention| attention.tip.is_some());
                if is_requested || card.attention.is_some() || !card.status.is_open() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                attention::request(tx, &Caller::Runner, &card.project_id, &id, attention).await?;
                task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }

    /// Clears the branch question once the tip matches the record again.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn clear_branch_decision(&self, id: &TaskId) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &id).await?;
                if disputed_tip(&card).is_none() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                attention::clear(tx, &Caller::Runner, &card.project_id, &id).await?;
                task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }
}
