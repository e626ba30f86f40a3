//! Settles the inbox of a managed agent when its run ends, or of a person who leaves, and notifies the senders of messages that it will never receive.

use domain::id::{ProjectId, TaskId};
use domain::team::agent::RUNNER;

use super::post::post;
use super::write::{Arrived, OutgoingMessage};
use super::{read, write};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Settles the deliveries to a run's agent when the run ends. After success, its conversation and its last response are read. Everything
/// else is delivered again to the next run, and messages that were never echoed are new.
pub(crate) async fn close_run_inbox(tx: &mut Tx, project: &ProjectId, name: &str, has_succeeded: bool) -> Result<()> {
    if has_succeeded {
        let since = read::blocking(&mut tx.connection, project, name).await?.last_response;
        write::mark_read(tx, project, name, Arrived { up_to: i64::MAX, since, conversation: true }).await?;
    }
    write::reset_unread(tx, project, name).await
}

/// Notifies each sender once when a managed agent ends, or a person leaves, before they received a direct message.
pub(crate) async fn tell_undelivered(tx: &mut Tx, project: &ProjectId, task: Option<&TaskId>, name: &str) -> Result<()> {
    for (id, from) in read::undelivered(&mut tx.connection, project, name).await? {
        let content = format!("[UNDELIVERED] {name} is gone; your message #{id} was not read");
        post(tx, &Caller::Runner, OutgoingMessage { project, from: RUNNER, to: &from, content: &content, task, reply_to: Some(id) }).await?;
    }
    Ok(())
}
