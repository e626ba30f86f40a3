//! Interrupts: a person ends the turn of a running agent, which goes on with their message or waits for one.

use domain::board::attention::AttentionKind;
use domain::id::RunId;
use domain::runs::interrupt::{Interrupt, InterruptEvent};
use domain::runs::run::{Run, RunRefusal};
use domain::text;
use uuid::Uuid;

use crate::board::attention::write as attention;
use crate::board::comment::write as comment;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run::row as runs;
use crate::runs::run::write::{queue_message, set_waiting};

impl Db {
    /// Ends the current turn of a running agent. It goes on with `message`, or waits until someone writes to it.
    ///
    /// # Errors
    /// When the text is invalid or the run has ended.
    pub async fn interrupt_run(&self, caller: &Caller, id: &RunId, message: Option<&str>) -> Result<Run> {
        let (caller, id, message) = (caller.clone(), id.clone(), message.map(str::to_owned));
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("interrupting agents")?;
                let message = text::validate_optional_body("message", message.as_deref())?;
                let run = runs::read(&mut tx.connection, &id).await?;
                if !run.is_live() || run.stop_requested_at.is_some() {
                    return Err(RunRefusal::NotLive(id.to_string()).into());
                }
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                let interrupt = Interrupt { id: Uuid::new_v4().to_string(), at: tx.now, by: caller.name().unwrap_or_default() };
                sqlx::query("UPDATE agent_runs SET interrupt = $2 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(serde_json::to_string(&interrupt)?)
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_for_run(&caller, &card.project_id, &card.id, &id, InterruptEvent::Requested {});
                match message {
                    Some(message) => queue_message(tx, &caller, &card, &run, &message).await?,
                    None => {
                        comment::insert(tx, &caller, &card.project_id, &card.id, "Interrupted the agent.").await?;
                        set_waiting(tx, &id, true).await?;
                        // A permission request ends with the turn.
                        if card.attention.as_ref().is_none_or(|attention| attention.kind == AttentionKind::Permission) {
                            attention::request(tx, &caller, &card.project_id, &card.id, interrupt.attention()).await?;
                        }
                    }
                }
                runs::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Records that a run went on after the interrupt with this id. A later interrupt stays.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn interrupt_over(&self, id: &RunId, interrupt: &str) -> Result<()> {
        let (id, interrupt) = (id.clone(), interrupt.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let run = runs::read(&mut tx.connection, &id).await?;
                if run.interrupt.is_none_or(|current| current.id != interrupt) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                sqlx::query("UPDATE agent_runs SET interrupt = NULL WHERE id = $1").bind(id.as_str()).execute(&mut tx.connection).await?;
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, InterruptEvent::Over {});
                Ok(())
            })
        })
        .await
    }
}
