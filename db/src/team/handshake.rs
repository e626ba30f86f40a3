//! Handshakes: a plan that a lead sends to agents, and each target's acknowledgement.

pub(crate) mod row;
pub(crate) mod write;

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::EVERYONE;
use domain::team::handshake::{Handshake, HandshakeEvent, HandshakeRefusal};
use domain::text;

use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::team::agent::row::roster::Roster;
use crate::team::handshake::row::read;
use crate::team::handshake::write::complete_if_answered;
use crate::team::message::send::require_may_write;
use crate::team::message::{OutgoingMessage, post};
use crate::team::participant::row as participant;

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
                // It is a message to each of them.
                require_may_write(tx, caller, &participant).await?;
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
                tx.record_without_card(caller, &project, None, HandshakeEvent::Initiated { handshake: id });
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
                let is_foreign = caller.project().is_some_and(|own| *own != known.project_id);
                if is_foreign {
                    return Err(Refusal::not_found("handshake", id).into());
                }
                let agent = participant::load(&mut tx.connection, caller, &known.project_id).await?.name;
                let Some(target) = known.targets.iter().find(|target| target.agent_name == agent) else {
                    return Err(HandshakeRefusal::NotATarget { handshake: id, agent }.into());
                };
                if target.acked_at.is_some() {
                    return Err(HandshakeRefusal::AlreadyAcknowledged { handshake: id, agent }.into());
                }
                sqlx::query("UPDATE handshake_acks SET acked_at = $3, left_at = NULL WHERE handshake_id = $1 AND agent_name = $2")
                    .bind(id)
                    .bind(&agent)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_without_card(caller, &known.project_id, None, HandshakeEvent::Acknowledged { handshake: id, agent });
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
