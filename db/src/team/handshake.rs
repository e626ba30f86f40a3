//! Handshakes: a plan that a lead sends to agents, and each target's acknowledgement.

use domain::event::Event;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::{EVERYONE, RUNNER};
use domain::team::handshake::{Handshake, HandshakeTarget};
use domain::team::person::is_person;
use domain::text;
use domain::time::Timestamp;
use sqlx::{Row, SqliteConnection};

use crate::board::task::read::{optional, parsed};
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::agent::Roster;
use crate::team::message::{OutgoingMessage, post};
use crate::team::participant;
use crate::team::presence::Presence;

impl Db {
    /// Sends a plan that each of `targets` must acknowledge. An empty list means all active agents except leads.
    ///
    /// # Errors
    /// When the caller is not a lead, the message is invalid, a target is unknown or gone, or no agent is left to ask.
    pub async fn initiate_handshake(&self, caller: &Caller, project: &ProjectId, message: &str, targets: Vec<String>) -> Result<Handshake> {
        let (project, message) = (project.clone(), message.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let roster = Roster::load(tx, &project).await?;
                let participant = participant::from_roster(tx, caller, &roster).await?;
                participant.require_lead("initiating a handshake")?;
                let message = text::validate_body("message", &message)?;
                let mut names: Vec<String> = Vec::new();
                for given in &targets {
                    match roster.recipient(tx, &participant.name, given).await? {
                        all if all == EVERYONE => names.extend(roster.active_non_leads().map(str::to_owned)),
                        name => names.push(name),
                    }
                }
                if targets.is_empty() {
                    names.extend(roster.active_non_leads().map(str::to_owned));
                }
                names.sort_unstable();
                names.dedup();
                names.retain(|name| *name != participant.name);
                if names.is_empty() {
                    let hint = "Call who to see which agents are active, or wait until one registers.";
                    return Err(Refusal::invalid("agents", "no active agent can acknowledge it", hint).into());
                }
                let id: i64 =
                    sqlx::query_scalar("INSERT INTO handshakes (project_id, initiated_by, content, created_at) VALUES ($1, $2, $3, $4) RETURNING id")
                        .bind(project.as_str())
                        .bind(&participant.name)
                        .bind(&message)
                        .bind(tx.now.to_string())
                        .fetch_one(&mut tx.connection)
                        .await?;
                let content = format!("[HANDSHAKE #{id}] {message}\n\nAcknowledge it with ack_handshake, handshake_id {id}.");
                for name in &names {
                    sqlx::query("INSERT INTO handshake_acks (handshake_id, agent_name) VALUES ($1, $2)")
                        .bind(id)
                        .bind(name)
                        .execute(&mut tx.connection)
                        .await?;
                    let outgoing =
                        OutgoingMessage { project: &project, from: &participant.name, to: name, content: &content, task: None, reply_to: None };
                    post(tx, caller, outgoing).await?;
                }
                tx.record_without_card(caller, &project, None, Event::HandshakeInitiated { handshake: id });
                read(&mut tx.connection, id).await
            })
        })
        .await
    }

    /// Acknowledges a handshake. The last acknowledgement notifies its initiator and all leads.
    ///
    /// # Errors
    /// When the caller is not a target, or has already acknowledged.
    pub async fn acknowledge(&self, caller: &Caller, id: i64) -> Result<Handshake> {
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let known = read(&mut tx.connection, id).await?;
                let foreign = caller.project().is_some_and(|own| *own != known.project_id);
                if foreign {
                    return Err(Refusal::not_found("handshake", id).into());
                }
                let agent = participant::load(&mut tx.connection, caller, &known.project_id).await?.name;
                let Some(target) = known.targets.iter().find(|target| target.agent_name == agent) else {
                    return Err(Refusal::NotATarget { handshake: id, agent }.into());
                };
                if target.acked_at.is_some() {
                    return Err(Refusal::AlreadyAcknowledged { handshake: id, agent }.into());
                }
                sqlx::query("UPDATE handshake_acks SET acked_at = $3, left_at = NULL WHERE handshake_id = $1 AND agent_name = $2")
                    .bind(id)
                    .bind(&agent)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_without_card(caller, &known.project_id, None, Event::HandshakeAcknowledged { handshake: id, agent });
                complete_if_answered(tx, caller, id).await?;
                read(&mut tx.connection, id).await
            })
        })
        .await
    }

    /// Completes a handshake when no pending target can still answer. Otherwise it changes nothing.
    ///
    /// # Errors
    /// When the handshake does not exist.
    pub async fn complete_handshake(&self, id: i64) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::NothingChanged);
                complete_if_answered(tx, &Caller::Runner, id).await
            })
        })
        .await
    }

    /// # Errors
    /// When the handshake does not exist.
    pub async fn handshake(&self, id: i64) -> Result<Handshake> {
        read(&mut *self.readers.acquire().await?, id).await
    }

    /// Lists the handshakes of a project, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn handshakes(&self, project: &ProjectId) -> Result<Vec<Handshake>> {
        let mut connection = self.readers.acquire().await?;
        let ids: Vec<i64> = sqlx::query_scalar("SELECT id FROM handshakes WHERE project_id = $1 ORDER BY id DESC")
            .bind(project.as_str())
            .fetch_all(&mut *connection)
            .await?;
        let mut handshakes = Vec::with_capacity(ids.len());
        for id in ids {
            handshakes.push(read(&mut connection, id).await?);
        }
        Ok(handshakes)
    }
}

/// Lists the handshakes whose pending targets are all unreachable, with the time when the last of them counts as unresponsive.
pub(crate) async fn pending_with_deadline(connection: &mut SqliteConnection, presence: &Presence, now: Timestamp) -> Result<Vec<(i64, Timestamp)>> {
    let rows = sqlx::query(PENDING).fetch_all(&mut *connection).await?;
    let (mut unanswered, mut known) = (Vec::new(), None::<Roster>);
    for targets in rows.chunk_by(|one, next| one.get::<i64, _>("id") == next.get::<i64, _>("id")) {
        let Some(row) = targets.first() else { continue };
        let (project, asked): (ProjectId, Timestamp) = (parsed(row, "project_id")?, parsed(row, "created_at")?);
        let roster = match known.take().filter(|roster| roster.project == project) {
            Some(roster) => roster,
            None => Roster::load_at(connection, presence, &project, now).await?,
        };
        let names = targets.iter().map(|target| target.try_get::<Option<&str>, _>("agent_name")).collect::<Result<Vec<_>, _>>()?;
        let lost_at = lost_at(asked, names.into_iter().flatten(), &roster);
        unanswered.extend(lost_at.map(|at| (row.get::<i64, _>("id"), at)));
        known = Some(roster);
    }
    Ok(unanswered)
}

/// The pending handshakes of all projects, one row for each agent that is waited for.
pub(crate) const PENDING: &str = "SELECT h.id, h.project_id, h.created_at, a.agent_name FROM handshakes h
  LEFT JOIN handshake_acks a ON a.handshake_id = h.id AND a.acked_at IS NULL AND a.left_at IS NULL
  WHERE h.status = 'pending' ORDER BY h.project_id, h.id, a.agent_name";

/// When the last of those who are waited for since `asked` is given up; none while somebody is among them who listens.
fn lost_at<'name>(asked: Timestamp, mut pending: impl Iterator<Item = &'name str>, roster: &Roster) -> Option<Timestamp> {
    pending.try_fold(asked, |latest, name| Some(latest.max(roster.unresponsive_at(name, asked)?)))
}

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
async fn complete_if_answered(tx: &mut Tx, caller: &Caller, id: i64) -> Result<()> {
    let mut handshake = read(&mut tx.connection, id).await?;
    if handshake.completed_at.is_some() {
        return Ok(());
    }
    let roster = Roster::load(tx, &handshake.project_id).await?;
    if lost_at(handshake.created_at, handshake.pending(), &roster).is_none_or(|at| at > tx.now) {
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
    tx.record_without_card(caller, project, None, Event::HandshakeCompleted { handshake: id });
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

async fn read(connection: &mut SqliteConnection, id: i64) -> Result<Handshake> {
    let row = sqlx::query("SELECT * FROM handshakes WHERE id = $1").bind(id).fetch_optional(&mut *connection).await?;
    let row = row.ok_or_else(|| Refusal::not_found("handshake", id))?;
    let acks = sqlx::query("SELECT * FROM handshake_acks WHERE handshake_id = $1 ORDER BY agent_name").bind(id).fetch_all(connection).await?;
    let targets = acks.iter().map(|ack| {
        Ok(HandshakeTarget {
            agent_name: ack.try_get("agent_name")?,
            acked_at: optional(ack, "acked_at")?,
            left: ack.try_get::<Option<&str>, _>("left_at")?.is_some(),
        })
    });
    Ok(Handshake {
        id,
        project_id: parsed(&row, "project_id")?,
        initiated_by: row.try_get("initiated_by")?,
        message: row.try_get("content")?,
        status: parsed(&row, "status")?,
        targets: targets.collect::<Result<_>>()?,
        created_at: parsed(&row, "created_at")?,
        completed_at: optional(&row, "completed_at")?,
    })
}
