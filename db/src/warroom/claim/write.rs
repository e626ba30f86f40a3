//! Writes claims: grants a path, puts an agent in line, and passes released paths on. Must not know why a claim ends.

pub(crate) mod submission;

use domain::id::{ProjectId, TaskId};
use domain::team::agent::RUNNER;
use domain::warroom::claim::{Claim, ClaimEvent, ClaimPath, ClaimWait, ReleaseReason};

use super::row::{ANY_WAIT, claim_of, load, scope, wait_of};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::message::{OutgoingMessage, post};

/// An agent that gets a path, or waits for it.
#[derive(Clone, Copy)]
pub(crate) struct Claimant<'a> {
    pub(crate) git_dir: &'a str,
    pub(crate) project: &'a ProjectId,
    pub(crate) agent: &'a str,
    pub(crate) task: Option<&'a TaskId>,
}

/// Stores a claim of a path that is free.
pub(crate) async fn grant(tx: &mut Tx, caller: &Caller, to: Claimant<'_>, path: &ClaimPath) -> Result<Claim> {
    let row = sqlx::query(
        "INSERT INTO claims (git_dir, project_id, agent_name, task_id, path, key, is_pattern, claimed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *",
    )
    .bind(to.git_dir)
    .bind(to.project.as_str())
    .bind(to.agent)
    .bind(to.task.map(TaskId::as_str))
    .bind(path.as_str())
    .bind(path.key())
    .bind(path.literal().is_none())
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    tx.record_without_card(caller, to.project, to.task, ClaimEvent::Granted { agent: to.agent.to_owned(), path: path.to_string() });
    claim_of(&row)
}

/// Puts an agent in line. Returns false if it is there already.
pub(crate) async fn enqueue(tx: &mut Tx, caller: &Caller, who: Claimant<'_>, path: &ClaimPath, holder: &str) -> Result<bool> {
    let added = sqlx::query(
        "INSERT INTO claim_waits (git_dir, project_id, agent_name, task_id, path, key, since) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (git_dir, project_id, agent_name, key) DO NOTHING",
    )
    .bind(who.git_dir)
    .bind(who.project.as_str())
    .bind(who.agent)
    .bind(who.task.map(TaskId::as_str))
    .bind(path.as_str())
    .bind(path.key())
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    if added.rows_affected() == 0 {
        return Ok(false);
    }
    let event = ClaimEvent::Queued { agent: who.agent.to_owned(), path: path.to_string(), holder: holder.to_owned() };
    tx.record_without_card(caller, who.project, who.task, event);
    Ok(true)
}

/// Ends one claim and passes its path on.
pub(crate) async fn release(tx: &mut Tx, caller: &Caller, claim: &Claim, git_dir: &str, reason: ReleaseReason) -> Result<()> {
    sqlx::query("DELETE FROM claims WHERE id = $1").bind(claim.id).execute(&mut tx.connection).await?;
    record(tx, caller, claim, reason);
    pass_on(tx, git_dir, &claim.agent, reason).await
}

/// Ends all claims and waits of an agent, and passes the paths on. Most agents have none, so that this is one read for them.
pub(crate) async fn release_all(tx: &mut Tx, caller: &Caller, project: &ProjectId, agent: &str, reason: ReleaseReason) -> Result<()> {
    drop_waits(tx, project, agent).await?;
    let rows = sqlx::query("DELETE FROM claims WHERE project_id = $1 AND agent_name = $2 RETURNING *")
        .bind(project.as_str())
        .bind(agent)
        .fetch_all(&mut tx.connection)
        .await?;
    if rows.is_empty() {
        return Ok(());
    }
    for row in &rows {
        let claim = claim_of(row)?;
        record(tx, caller, &claim, reason);
    }
    let git_dir = scope(&mut tx.connection, project).await?.git_dir;
    pass_on(tx, &git_dir, agent, reason).await
}

/// Ends all claims and waits of a project's agents.
pub(crate) async fn release_of_project(tx: &mut Tx, caller: &Caller, project: &ProjectId) -> Result<()> {
    let agents: Vec<String> =
        sqlx::query_scalar("SELECT agent_name FROM claims WHERE project_id = $1 UNION SELECT agent_name FROM claim_waits WHERE project_id = $1")
            .bind(project.as_str())
            .fetch_all(&mut tx.connection)
            .await?;
    for agent in agents {
        release_all(tx, caller, project, &agent, ReleaseReason::Stopped).await?;
    }
    Ok(())
}

/// Takes an agent out of every line.
pub(crate) async fn drop_waits(tx: &mut Tx, project: &ProjectId, agent: &str) -> Result<()> {
    sqlx::query("DELETE FROM claim_waits WHERE project_id = $1 AND agent_name = $2")
        .bind(project.as_str())
        .bind(agent)
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

fn record(tx: &mut Tx, caller: &Caller, claim: &Claim, reason: ReleaseReason) {
    let event = ClaimEvent::Released { agent: claim.agent.clone(), path: claim.path.to_string(), reason };
    tx.record_without_card(caller, &claim.project_id, claim.task_id.as_ref(), event);
}

/// Gives each free path to the first agent in line, and tells it. An agent is told once, when the path is its own.
async fn pass_on(tx: &mut Tx, git_dir: &str, former: &str, reason: ReleaseReason) -> Result<()> {
    if sqlx::query(ANY_WAIT).bind(git_dir).fetch_optional(&mut tx.connection).await?.is_none() {
        return Ok(());
    }
    let claims = load(&mut tx.connection, git_dir).await?;
    let next: Vec<ClaimWait> = claims.next_in_line().into_iter().cloned().collect();
    for wait in next {
        let row = sqlx::query("DELETE FROM claim_waits WHERE id = $1 RETURNING *").bind(wait.id).fetch_one(&mut tx.connection).await?;
        let ClaimWait { project_id, agent, task_id, path, .. } = wait_of(&row)?;
        let to = Claimant { git_dir, project: &project_id, agent: &agent, task: task_id.as_ref() };
        grant(tx, &Caller::Runner, to, &path).await?;
        let mut content = format!("[CLAIM] {path} is yours now: {}.", reason.sentence(former));
        if task_id.is_some() && reason == ReleaseReason::Finished {
            let branch = scope(&mut tx.connection, &project_id).await?.integration_branch;
            content += &format!(" Its work may be merged: run `git merge {branch}` before you edit the file.");
        }
        let message = OutgoingMessage { project: &project_id, from: RUNNER, to: &agent, content: &content, task: task_id.as_ref(), reply_to: None };
        post(tx, &Caller::Runner, message).await?;
    }
    Ok(())
}
