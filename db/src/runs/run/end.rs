//! The end of a run, recorded once: who pays for it, when it is tried again, and when the person must look.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::event::Event;
use domain::id::RunId;
use domain::runs::backoff::backoff;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::run::{Run, Usage};

use crate::board::{attention, task};
use crate::caller::Caller;
use crate::consequences;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::runs::run::progress::write_usage;
use crate::runs::run::read;
use crate::team::message::run_end::{close_run_inbox, tell_undelivered};
use crate::team::minion;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    pub class: EndClass,
    pub failure: Option<FailureClass>,
    /// What went wrong, for the person.
    pub error: Option<String>,
    pub exit_code: Option<i64>,
    pub usage: Option<Usage>,
    /// Whether the agent's last turn came to its end: then it has read what stands in its conversation.
    pub turn_ended: bool,
    /// Failed attempts in a row after which the card needs the person.
    pub max_attempts: u32,
}

impl Db {
    /// Records the end of a run; a second record changes nothing. One that a person stopped ended as stopped, whatever was found out about
    /// it before they did. A failure is stored with the time of the next attempt.
    ///
    /// # Errors
    /// When there is no such run.
    pub async fn end_run(&self, id: &RunId, mut end: RunEnd) -> Result<Run> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let run = read(&mut tx.connection, &id).await?;
                if !run.is_live() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(run);
                }
                if run.stop_requested_at.is_some() {
                    (end.class, end.failure, end.error) = (EndClass::Stopped, None, None);
                }
                if let Some(usage) = end.usage {
                    write_usage(tx, &id, usage).await?;
                }
                sqlx::query(
                    "UPDATE agent_runs SET completed_at = $2, exit_code = $3, end_class = $4, failure = $5, error = $6, port = NULL WHERE id = $1",
                )
                .bind(id.as_str())
                .bind(tx.now.to_string())
                .bind(end.exit_code)
                .bind(end.class.as_str())
                .bind(end.failure.map(FailureClass::as_str))
                .bind(&end.error)
                .execute(&mut tx.connection)
                .await?;
                let card = task::read::card(&mut tx.connection, &run.task_id).await?;
                let event = Event::RunEnded { end: end.class, failure: end.failure };
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, event);
                minion::fail_minions_of_run(tx, &id).await?;
                let name = Run::agent_name(run.phase, &run.task_id);
                let well = end.turn_ended && matches!(end.class, EndClass::Finished | EndClass::AwaitingAnswer);
                close_run_inbox(tx, &card.project_id, &name, well).await?;
                if !card.status.is_open() {
                    tell_undelivered(tx, &card.project_id, &card.id, &name).await?;
                }
                // What became of a card that is finished does not hang on how its last process ended.
                if end.class == EndClass::Failed && card.status.is_open() {
                    record_failure(tx, &card, &run, &end).await?;
                }
                consequences::task_changed(tx, &Caller::Runner, &card.project_id, &card.id).await?;
                read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

async fn record_failure(tx: &mut Tx, card: &Card, run: &Run, end: &RunEnd) -> Result<()> {
    let failure = end.failure.unwrap_or(FailureClass::Crashed);
    let failures: i64 = sqlx::query_scalar("UPDATE tasks SET failures = failures + 1, last_failure = $2 WHERE id = $1 RETURNING failures")
        .bind(card.id.as_str())
        .bind(failure.as_str())
        .fetch_one(&mut tx.connection)
        .await?;
    let failures = u32::try_from(failures).unwrap_or(u32::MAX);
    if failures < end.max_attempts {
        let retry_at = tx.now.after(backoff(failures, run.id.number()));
        sqlx::query("UPDATE tasks SET retry_at = $2 WHERE id = $1")
            .bind(card.id.as_str())
            .bind(retry_at.to_string())
            .execute(&mut tx.connection)
            .await?;
        return Ok(());
    }
    let kind = match failure {
        FailureClass::NoOutcome => AttentionKind::NoOutcome,
        FailureClass::Checkout => AttentionKind::Repository,
        FailureClass::Budget => AttentionKind::Budget,
        _ => AttentionKind::Failed,
    };
    let detail = match &end.error {
        Some(error) => format!("{failures} attempts failed; the last: {} ({error}). Press Retry when it is mended.", failure.sentence()),
        None => format!("{failures} attempts failed; the last: {}. Press Retry when it is mended.", failure.sentence()),
    };
    attention::request(tx, &Caller::Runner, &card.project_id, &card.id, Attention::new(kind, detail)).await
}
