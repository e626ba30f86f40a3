//! The project branch as the store knows it: where it was left, what of it the person was asked about, and what they accepted.
//!
//! The caller that reads the repository compares the tip with this record.

use domain::board::attention::Attention;
use domain::board::card::Card;
use domain::board::project::Project;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::evidence::Sha;
use sqlx::{Connection, Row};

use crate::board::attention;
use crate::board::project::{project_of, read};
use crate::board::task::read as tasks;
use crate::caller::Caller;
use crate::consequences;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::{Error, Result};

/// What the tip of a project branch is compared with, as it was at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct BranchRecord {
    /// Its `integration_head` is where we left the branch.
    pub project: Project,
    /// Commits that are approved and not merged by the record. A server that is killed in between leaves such a merge.
    pub approved: Vec<Sha>,
    /// A tip that was not ours and that the person took as it is.
    pub accepted_tip: Option<Sha>,
}

impl Db {
    /// # Errors
    /// When there is no such project.
    pub async fn branch_record(&self, id: &ProjectId) -> Result<BranchRecord> {
        let mut connection = self.readers.acquire().await?;
        // One snapshot, so that a merge between the two reads is in both of them or in neither.
        let mut snapshot = connection.begin().await?;
        let row = sqlx::query("SELECT * FROM projects WHERE id = $1").bind(id.as_str()).fetch_optional(&mut *snapshot).await?;
        let row = row.ok_or_else(|| Error::Refused(Refusal::not_found("project", id)))?;
        let approved =
            sqlx::query_scalar("SELECT approved_sha FROM tasks WHERE project_id = $1 AND status = 'in_review' AND approved_sha IS NOT NULL")
                .bind(id.as_str())
                .fetch_all(&mut *snapshot)
                .await?;
        snapshot.rollback().await?;
        Ok(BranchRecord { project: project_of(&row)?, approved, accepted_tip: row.try_get("accepted_sha")? })
    }

    /// Remembers what the project branch is called and where it points, unless it was recorded elsewhere than at `from` meanwhile.
    ///
    /// # Errors
    /// When there is no such project.
    pub async fn record_branch_tip(&self, id: &ProjectId, branch: &str, from: Option<&Sha>, sha: &Sha) -> Result<()> {
        let (id, branch, from, sha) = (id.clone(), branch.to_owned(), from.cloned(), sha.clone());
        self.write(move |tx| {
            Box::pin(async move {
                if read(&mut tx.connection, &id).await?.integration_head != from {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                record_tip(tx, &Caller::Runner, &id, &branch, &sha).await
            })
        })
        .await
    }

    /// Asks the person about commits at the `tip` of the project branch that nobody approved. They are asked on one card of the project,
    /// which is the first that needs the branch.
    ///
    /// # Errors
    /// When there is no such task.
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
                consequences::task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }

    /// Takes back what was asked about the project branch: it is where it should be again.
    ///
    /// # Errors
    /// When there is no such task.
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
                consequences::task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }
}

fn disputed_tip(card: &Card) -> Option<&Sha> {
    card.attention.as_ref().and_then(|attention| attention.tip.as_ref())
}

/// The person goes on with a card on which they were asked about a tip: they take the branch as it was shown to them.
/// The caller records what happened to the card.
pub(crate) async fn accept_tip(tx: &mut Tx, card: &Card) -> Result<()> {
    if let Some(tip) = disputed_tip(card) {
        sqlx::query("UPDATE projects SET accepted_sha = $2 WHERE id = $1")
            .bind(card.project_id.as_str())
            .bind(tip)
            .execute(&mut tx.connection)
            .await?;
    }
    Ok(())
}

pub(crate) async fn record_tip(tx: &mut Tx, caller: &Caller, id: &ProjectId, branch: &str, sha: &Sha) -> Result<()> {
    read(&mut tx.connection, id).await?;
    let changed = sqlx::query(
        "UPDATE projects SET integration_branch = $2, integration_head = $3, accepted_sha = NULL, updated_at = $4
         WHERE id = $1 AND (integration_branch <> $2 OR integration_head IS DISTINCT FROM $3)",
    )
    .bind(id.as_str())
    .bind(branch)
    .bind(sha)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    if changed.rows_affected() == 0 {
        tx.skip_event(NoEventReason::NothingChanged);
    } else {
        tx.record_for_project(caller, id, Event::ProjectBranchMoved { sha: sha.clone() });
    }
    Ok(())
}
