//! A running use-case: its connection and time, and the events that it must record. Must not know any noun: the hooks do.

use std::collections::BTreeSet;

use domain::actor::Actor;
use domain::event::{Envelope, Event, Seq};
use domain::id::{ProjectId, RunId, TaskId};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::SqliteConnection;

use crate::caller::Caller;
use crate::engine::act::Act;
use crate::engine::audit::Audit;
use crate::engine::caller_cache::CallerCache;
use crate::engine::event_log;
use crate::engine::hooks::Hooks;
use crate::engine::presence::Presence;
use crate::error::{Error, Result};

/// The only reasons to change rows without recording an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoEventReason {
    /// The request was carried out before, or asked for the current state.
    NothingChanged,
    /// Samples of an agent's context, tokens and models: shown on request, too frequent for the log.
    UsageSamples,
    /// Heartbeats of agents and browsers: shown on request, too frequent for the log.
    Heartbeat,
    /// The files that an agent has read: shown on request, too frequent for the log.
    LoadedFiles,
    /// The identity of a run's process: only the runner reads it.
    ProcessIdentity,
    /// A reference is recorded before it is created in the repository.
    References,
    /// Rows past their retention are removed.
    Retention,
    /// An agent has read knowledge of its project: only its own next call depends on it.
    KnowledgeRead,
    /// A webhook was told what happened. An event about it would be told to it, too.
    WebhookProgress,
}

/// A running use-case.
#[derive(Debug)]
pub(crate) struct Tx {
    pub(crate) connection: SqliteConnection,
    /// The time of the use-case: the same for all its rows and events.
    pub(crate) now: Timestamp,
    pub(crate) seq: Seq,
    /// The configured maximum of orchestration rounds.
    pub(crate) max_rounds: u32,
    /// The connected agents, which are only in memory.
    pub(crate) presence: Presence,
    pub(crate) caller_cache: CallerCache,
    /// Whether a token was revoked. The caller cache is cleared after the commit.
    pub(crate) tokens_revoked: bool,
    pub(crate) audit: Audit,
    /// The request that the use case belongs to.
    act: Option<Act>,
    hooks: Hooks,
    pending: Vec<PendingEvent>,
    no_event: Option<NoEventReason>,
}

#[derive(Debug)]
struct PendingEvent {
    actor: Actor,
    project_id: Option<ProjectId>,
    task_id: Option<TaskId>,
    run_id: Option<RunId>,
    event: Event,
    /// Whether the event is about the project or the task itself, so that it may carry its snapshot.
    attach_snapshot: bool,
}

impl Tx {
    pub(crate) fn new(
        connection: SqliteConnection,
        seq: Seq,
        max_rounds: u32,
        hooks: Hooks,
        presence: Presence,
        caller_cache: CallerCache,
        audit: Audit,
    ) -> Self {
        let now = crate::now();
        let (act, pending, no_event) = (None, Vec::new(), None);
        Self { connection, now, seq, max_rounds, presence, caller_cache, tokens_revoked: false, audit, act, hooks, pending, no_event }
    }

    /// Clears the state of the last use-case.
    pub(crate) fn begin(&mut self, now: Timestamp, act: Option<Act>) {
        self.now = now;
        self.act = act;
        self.pending.clear();
        self.no_event = None;
    }

    /// Allows this use-case to record no event.
    pub(crate) fn skip_event(&mut self, reason: NoEventReason) {
        self.no_event = Some(reason);
    }

    pub(crate) fn record_for_project(&mut self, caller: &Caller, project: &ProjectId, event: impl Into<Event>) {
        self.push(caller, Some(project), None, event.into());
    }

    pub(crate) fn record_for_task(&mut self, caller: &Caller, project: &ProjectId, task: &TaskId, event: impl Into<Event>) {
        self.push(caller, Some(project), Some(task), event.into());
    }

    /// Records an event that changed neither the project nor a card.
    pub(crate) fn record_without_card(&mut self, caller: &Caller, project: &ProjectId, task: Option<&TaskId>, event: impl Into<Event>) {
        self.push(caller, Some(project), task, event.into());
        if let Some(last) = self.pending.last_mut() {
            last.attach_snapshot = false;
        }
    }

    pub(crate) fn record(&mut self, caller: &Caller, event: impl Into<Event>) {
        self.push(caller, None, None, event.into());
    }

    /// Records an event of a run that is not the caller's own.
    pub(crate) fn record_for_run(&mut self, caller: &Caller, project: &ProjectId, task: &TaskId, run: &RunId, event: impl Into<Event>) {
        self.push(caller, Some(project), Some(task), event.into());
        if let Some(last) = self.pending.last_mut() {
            last.run_id = Some(run.clone());
        }
    }

    fn push(&mut self, caller: &Caller, project: Option<&ProjectId>, task: Option<&TaskId>, event: Event) {
        self.pending.push(PendingEvent {
            actor: caller.actor(),
            project_id: project.cloned(),
            task_id: task.cloned(),
            run_id: caller.run().cloned(),
            event,
            attach_snapshot: true,
        });
    }

    /// Refuses a caller that may no longer write: a run that is not the current one of its task.
    pub(crate) async fn require_current_run(&mut self, caller: &Caller) -> Result<()> {
        (self.hooks.admit_writer)(&mut self.connection, caller).await
    }

    /// Returns the stored answer if this call was carried out before.
    pub(crate) async fn stored_answer<T: DeserializeOwned>(&mut self, caller: &Caller) -> Result<Option<T>> {
        let Some((owner, call)) = caller.idempotency_key() else { return Ok(None) };
        let answer: Option<String> = sqlx::query_scalar("SELECT answer FROM calls WHERE caller = $1 AND call_id = $2")
            .bind(owner)
            .bind(call)
            .fetch_optional(&mut self.connection)
            .await?;
        let other_version =
            |_| Refusal::invalid("call_id", "its stored answer is of another version", "Check what was done, then call again with a new id.");
        Ok(answer.map(|answer| serde_json::from_str(&answer).map_err(other_version)).transpose()?)
    }

    /// Stores the answer for a repetition of the call.
    pub(crate) async fn store_answer<T: Serialize>(&mut self, caller: &Caller, answer: &T) -> Result<()> {
        let Some((owner, call)) = caller.idempotency_key() else { return Ok(()) };
        sqlx::query(
            "INSERT INTO calls (caller, call_id, answer, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (caller, call_id) DO UPDATE SET answer = excluded.answer, created_at = excluded.created_at",
        )
        .bind(owner)
        .bind(call)
        .bind(serde_json::to_string(answer)?)
        .bind(self.now.to_string())
        .execute(&mut self.connection)
        .await?;
        Ok(())
    }

    /// Deletes the answers stored under a key, because another caller will use the key.
    pub(crate) async fn delete_answers(&mut self, key: &str) -> Result<()> {
        sqlx::query("DELETE FROM calls WHERE caller = $1").bind(key).execute(&mut self.connection).await?;
        Ok(())
    }

    /// Returns the next number of a kind of id, starting at 1.
    pub(crate) async fn next_number(&mut self, kind: &str) -> Result<u64> {
        let number: i64 = sqlx::query_scalar(
            "INSERT INTO counters (kind, value) VALUES ($1, 1) ON CONFLICT (kind) DO UPDATE SET value = counters.value + 1 RETURNING value",
        )
        .bind(kind)
        .fetch_one(&mut self.connection)
        .await?;
        Ok(u64::try_from(number).unwrap_or_default())
    }

    /// Writes the events. The last event about each task or project carries its snapshot.
    pub(crate) async fn finish(&mut self) -> Result<Vec<Envelope>> {
        if self.pending.is_empty() && self.no_event.is_none() {
            return Err(Error::NoEvent);
        }
        let pending = std::mem::take(&mut self.pending);
        let mut envelopes = Vec::with_capacity(pending.len());
        let (mut tasks_seen, mut projects_seen) = (BTreeSet::new(), BTreeSet::new());
        for (place, pending) in pending.into_iter().enumerate().rev() {
            let is_last = pending.attach_snapshot
                && match (&pending.task_id, &pending.project_id) {
                    (Some(task), _) => tasks_seen.insert(task.clone()),
                    (None, Some(project)) => projects_seen.insert(project.clone()),
                    (None, None) => false,
                };
            let mut envelope = Envelope {
                seq: self.seq + 1 + Seq::try_from(place).unwrap_or_default(),
                at: self.now,
                project_id: pending.project_id,
                task_id: pending.task_id,
                run_id: pending.run_id,
                actor: pending.actor,
                event: pending.event,
                card: None,
                project: None,
            };
            if is_last {
                (self.hooks.attach_snapshot)(&mut self.connection, &mut envelope).await?;
            }
            envelopes.push(envelope);
        }
        envelopes.reverse();
        for envelope in &envelopes {
            event_log::insert(&mut self.connection, envelope).await?;
        }
        self.seq += Seq::try_from(envelopes.len()).unwrap_or_default();
        self.audit.add_write(self.act.as_ref(), &envelopes);
        Ok(envelopes)
    }
}
