//! Inboxes: each message is delivered at least once and shown as new only once.
//!
//! A message is delivered when a response contains it. It is read once that response was acknowledged: explicitly, by the next `send`, by a
//! later call of the same agent if the response was written to its end, or because the recipient's run succeeded. Unacknowledged messages are redelivered and marked as such, except to a live run that already
//! has them in its conversation.

use domain::id::{ProjectId, RunId};
use domain::runs::run::Run;
use domain::team::message::{Inbox, InboxMessage, MessageEvent, Unread};
use sqlx::SqliteConnection;

use super::write::{Arrived, Channel};
use super::{read, write};
use crate::board::task::row::project_of_task;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::runs::run::row as runs;
use crate::team::participant::row as participant;

impl Db {
    /// Delivers up to 50 messages that fit into 48 KiB. New messages come first and copies last, so that the messages that block `send`
    /// arrive first. `ack` is the highest id of an earlier response and acknowledges it.
    ///
    /// A repeated call returns the current inbox and marks the messages of its lost response as redelivered, because a client that restarts
    /// its call numbers each turn would otherwise get an old answer forever. It acknowledges nothing twice.
    ///
    /// # Errors
    /// When the caller has not registered.
    pub async fn check_inbox(&self, caller: &Caller, project: &ProjectId, ack: Option<i64>) -> Result<Inbox> {
        let (caller, project) = (caller.clone(), project.clone());
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Heartbeat);
                caller.require_may_write("changing the board")?;
                tx.require_current_run(&caller).await?;
                let name = participant::load(&mut tx.connection, &caller, &project).await?.name;
                if let Some(ack) = ack
                    && tx.stored_answer::<()>(&caller).await?.is_none()
                {
                    acknowledge(tx, &project, &name, ack).await?;
                    tx.store_answer(&caller, &()).await?;
                }
                let inbox = read::page(&mut tx.connection, &project, &name).await?;
                let answer = Channel::Response(tx.seq);
                deliver(tx, &caller, &project, &name, &inbox.messages, answer).await?;
                record_check(tx, &project, &name).await?;
                Ok(inbox)
            })
        })
        .await
    }

    /// Marks messages as read whose answer is known to have arrived. One that was delivered again in another way waits for that.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn confirm_inbox(&self, caller: &Caller, messages: Vec<i64>) -> Result<()> {
        let Some(name) = caller.name() else { return Ok(()) };
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Heartbeat);
                write::mark_arrived(tx, &name, &messages).await
            })
        })
        .await
    }

    /// Counts the undelivered messages of a participant and names their senders.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn unread(&self, project: &ProjectId, name: &str) -> Result<Unread> {
        read::unread(&mut *self.readers.acquire().await?, project, name).await
    }

    /// Returns the waiting messages of a run's agent without delivering them.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn run_inbox(&self, id: &RunId) -> Result<Inbox> {
        let mut connection = self.readers.acquire().await?;
        let (project, name) = agent_of(&mut connection, id).await?;
        read::page(&mut connection, &project, &name).await
    }

    /// Records that the runner sends these messages to a run's agent in one line: its prompt or a later stdin line. If the run ends before
    /// the line is echoed, the messages stay new.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn run_inbox_delivered(&self, id: &RunId, line: &str, messages: Vec<InboxMessage>) -> Result<()> {
        let (id, line) = (id.clone(), line.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Heartbeat);
                let (project, name) = agent_of(&mut tx.connection, &id).await?;
                deliver(tx, &Caller::Runner, &project, &name, &messages, Channel::Stdin(&line)).await
            })
        })
        .await
    }

    /// Records that the messages of a line are in the run's conversation. They are read when the run succeeds or its agent acknowledges them.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn record_echo(&self, id: &RunId, line: &str) -> Result<()> {
        let (id, line) = (id.clone(), line.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Heartbeat);
                let (project, name) = agent_of(&mut tx.connection, &id).await?;
                write::mark_echoed(tx, &project, &name, &line).await
            })
        })
        .await
    }
}

/// The project and the name of a run's agent.
async fn agent_of(connection: &mut SqliteConnection, id: &RunId) -> Result<(ProjectId, String)> {
    let run = runs::read(connection, id).await?;
    Ok((project_of_task(connection, &run.task_id).await?, Run::agent_name(run.phase, &run.task_id)))
}

/// Acknowledges the response that contained message `ack`, and the conversation. An id that is in neither of them has no effect.
async fn acknowledge(tx: &mut Tx, project: &ProjectId, name: &str, ack: i64) -> Result<()> {
    let receipt = read::receipt(&mut tx.connection, project, name, ack).await?;
    if let Some(receipt) = receipt.filter(|receipt| receipt.answer.is_some() || receipt.is_in_conversation) {
        write::mark_read(tx, project, name, Arrived { up_to: ack, since: receipt.answer, conversation: true }).await?;
    }
    Ok(())
}

/// Marks `messages` as sent to `name`, and records how many of them are new.
async fn deliver(tx: &mut Tx, caller: &Caller, project: &ProjectId, name: &str, messages: &[InboxMessage], channel: Channel<'_>) -> Result<()> {
    let ids: Vec<i64> = messages.iter().map(|received| received.message.id).collect();
    write::mark_sent(tx, name, &ids, channel).await?;
    let new = messages.iter().filter(|received| !received.redelivered).count();
    if new > 0 {
        let messages = u32::try_from(new).unwrap_or(u32::MAX);
        tx.record_without_card(caller, project, None, MessageEvent::InboxDelivered { agent: name.to_owned(), messages });
    }
    Ok(())
}

async fn record_check(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    sqlx::query("UPDATE agents SET last_inbox_check = $3 WHERE project_id = $1 AND name = $2")
        .bind(project.as_str())
        .bind(name)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}
