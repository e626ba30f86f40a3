//! Completes handshakes and removes departed targets from them. Must not decide who may acknowledge.

use domain::id::ProjectId;
use domain::team::agent::RUNNER;
use domain::team::handshake::HandshakeEvent;
use domain::team::person::is_person;

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row::roster::Roster;
use crate::team::handshake::row::{read, unresponsive_at};
use crate::team::message::{OutgoingMessage, post};

/// Removes a person who left the board from the pending handshakes of all projects.
pub(crate) async fn drop_departed_person(tx: &mut Tx, name: &str) -> Result<()> {
    let projects: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT h.project_id FROM handshakes h JOIN handshake_acks a ON a.handshake_id = h.id WHERE h.status = 'pending' AND a.agent_name = $1",
    )
    .bind(name)
    .fetch_all(&mut tx.connection)
    .await?;
    for project in projects {
        drop_departed_target(tx, &project.parse()?, name).await?;
    }
    Ok(())
}

/// Removes a departed agent from pending handshakes and completes those that only wait for unresponsive targets.
pub(crate) async fn drop_departed_target(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let pending: Vec<i64> = sqlx::query_scalar("SELECT id FROM handshakes WHERE project_id = $1 AND status = 'pending' ORDER BY id")
        .bind(project.as_str())
        .fetch_all(&mut tx.connection)
        .await?;
    for id in pending {
        mark_target_gone(tx, id, name).await?;
        complete_if_answered(tx, &Caller::Runner, id).await?;
    }
    Ok(())
}

/// Stops a handshake from waiting for a target that has not acknowledged it.
async fn mark_target_gone(tx: &mut Tx, id: i64, name: &str) -> Result<()> {
    sqlx::query("UPDATE handshake_acks SET left_at = $3 WHERE handshake_id = $1 AND agent_name = $2 AND acked_at IS NULL AND left_at IS NULL")
        .bind(id)
        .bind(name)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Completes a handshake when no pending target can still answer.
pub(crate) async fn complete_if_answered(tx: &mut Tx, caller: &Caller, id: i64) -> Result<()> {
    let mut handshake = read(&mut tx.connection, id).await?;
    if handshake.completed_at.is_some() {
        return Ok(());
    }
    let roster = Roster::load(tx, &handshake.project_id).await?;
    if unresponsive_at(handshake.created_at, handshake.pending(), &roster).is_none_or(|at| at > tx.now) {
        return Ok(());
    }
    let how = if handshake.pending().next().is_some() { "left or stopped responding" } else { "left" };
    for target in handshake.targets.iter_mut().filter(|target| target.acked_at.is_none() && !target.left) {
        mark_target_gone(tx, id, &target.agent_name).await?;
        target.left = true;
    }
    sqlx::query("UPDATE handshakes SET status = 'completed', completed_at = $2 WHERE id = $1")
        .bind(id)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    let project = &handshake.project_id;
    tx.record_without_card(caller, project, None, HandshakeEvent::Completed { handshake: id });
    let mut recipients: Vec<&str> = roster.leads().chain([handshake.initiated_by.as_str()]).collect();
    recipients.sort_unstable();
    recipients.dedup();
    let left: Vec<&str> = handshake.targets.iter().filter(|target| target.left).map(|target| target.agent_name.as_str()).collect();
    let without = if left.is_empty() { String::new() } else { format!(" without {}, who {how}", left.join(", ")) };
    let content = format!("[HANDSHAKE #{id}] ALL AGENTS SYNCED{without}");
    for name in recipients.into_iter().filter(|name| is_person(name) || roster.entry(name).is_some()) {
        let outgoing = OutgoingMessage { project, from: RUNNER, to: name, content: &content, task: None, reply_to: None };
        post(tx, &Caller::Runner, outgoing).await?;
    }
    Ok(())
}
