//! Attention on open tasks whose assignee stopped responding. Must not judge when it did: the runner does.

use domain::board::attention::{Attention, AttentionKind};
use domain::id::TaskId;

use crate::board::attention::write as attention;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

impl Db {
    /// Flags an open task for attention because its assignee `name` stopped responding. Changes nothing if another agent has the task by
    /// now, or if it already needs attention.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn flag_unresponsive_assignee(&self, id: &TaskId, name: &str, detail: &str) -> Result<()> {
        let (id, name, attention) = (id.clone(), name.to_owned(), Attention::new(AttentionKind::AssigneeUnresponsive, detail));
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &id).await?;
                if !card.status.is_open() || card.attention.is_some() || card.contributors.assigned_to != Some(name) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                attention::request(tx, &Caller::Runner, &card.project_id, &id, attention).await?;
                task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }

    /// Clears the flag, because the assignee responded or is no longer needed. Other attention stays.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn clear_unresponsive_assignee(&self, id: &TaskId) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &id).await?;
                if card.attention.as_ref().is_none_or(|attention| attention.kind != AttentionKind::AssigneeUnresponsive) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                attention::clear(tx, &Caller::Runner, &card.project_id, &id).await?;
                // The flag may have hidden a cancelled dependency.
                task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }
}
