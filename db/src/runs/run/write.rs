//! Fences runs and stores their usage. Must not know the consequences.

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::id::{RunId, TaskId};
use domain::runs::hand_over::HandOverReason;
use domain::runs::run::{Run, RunChange};
use domain::runs::usage::{Usage, UsageSums};

use crate::board::attention::write as attention;
use crate::board::comment::write as comment;
use crate::board::finished::write as finished;
use crate::board::task::row::project_of_task;
use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::usage::write as sums;

/// Fences the live run of a task, so that its writes are refused. The runner ends its process.
pub(crate) async fn fence_run(tx: &mut Tx, caller: &Caller, card: &Card) -> Result<()> {
    let Some(live) = card.run.as_ref().filter(|live| !live.stopping) else { return Ok(()) };
    sqlx::query("UPDATE agent_runs SET stop_requested_at = $2 WHERE id = $1")
        .bind(live.id.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_run(caller, &card.project_id, &card.id, &live.id, RunChange::StopRequested {});
    Ok(())
}

/// Stores that the agent of a live run is to hand over. Returns whether that is new.
pub(crate) async fn request_hand_over(tx: &mut Tx, caller: &Caller, id: &RunId, reason: HandOverReason) -> Result<bool> {
    let task: Option<String> =
        sqlx::query_scalar("UPDATE agent_runs SET hand_over = $2 WHERE id = $1 AND completed_at IS NULL AND hand_over IS NULL RETURNING task_id")
            .bind(id.as_str())
            .bind(serde_json::to_string(&reason)?)
            .fetch_optional(&mut tx.connection)
            .await?;
    let Some(task) = task.map(|task| task.parse::<TaskId>()).transpose()? else { return Ok(false) };
    let project = project_of_task(&mut tx.connection, &task).await?;
    tx.record_for_run(caller, &project, &task, id, RunChange::HandOverRequested { reason });
    Ok(true)
}

/// Queues a message for the agent of a live run, and adds it to the task's thread for later runs. An agent that was interrupted no longer
/// waits.
pub(crate) async fn queue_message(tx: &mut Tx, caller: &Caller, card: &Card, run: &Run, content: &str) -> Result<()> {
    sqlx::query("INSERT INTO run_messages (run_id, content) VALUES ($1, $2)").bind(run.id.as_str()).bind(content).execute(&mut tx.connection).await?;
    comment::insert(tx, caller, &card.project_id, &card.id, content).await?;
    tx.record_for_run(caller, &card.project_id, &card.id, &run.id, RunChange::MessageQueued {});
    if card.attention.as_ref().is_some_and(|attention| attention.kind == AttentionKind::Interrupted) {
        attention::clear(tx, caller, &card.project_id, &card.id).await?;
        set_waiting(tx, &run.id, false).await?;
    }
    Ok(())
}

/// Starts or ends the time in which a run waits for a person.
pub(crate) async fn set_waiting(tx: &mut Tx, run: &RunId, waits: bool) -> Result<()> {
    let change = if waits {
        "UPDATE agent_runs SET waits_since_ms = COALESCE(waits_since_ms, $2) WHERE id = $1"
    } else {
        "UPDATE agent_runs SET started_uptime_ms = started_uptime_ms + $2 - waits_since_ms, waits_since_ms = NULL
         WHERE id = $1 AND waits_since_ms IS NOT NULL"
    };
    sqlx::query(change).bind(run.as_str()).bind(crate::uptime()).execute(&mut tx.connection).await?;
    Ok(())
}

/// Stores the usage of a run, and adds what is new to the sums of its task, its project and the day. A run that is read again from the
/// start of its output reports the same usage, so nothing counts twice.
pub(crate) async fn write_usage(tx: &mut Tx, run: &Run, usage: Usage) -> Result<()> {
    sqlx::query(
        "UPDATE agent_runs SET cost_micro_usd = $2, input_tokens = $3, output_tokens = $4, context_tokens = COALESCE($5, context_tokens),
                context_limit = COALESCE($6, context_limit), turns = $7 WHERE id = $1",
    )
    .bind(run.id.as_str())
    .bind(usage.cost_micro_usd)
    .bind(usage.input_tokens)
    .bind(usage.output_tokens)
    .bind(usage.context_tokens)
    .bind(usage.context_limit)
    .bind(usage.turns)
    .execute(&mut tx.connection)
    .await?;
    let added = UsageSums::from(usage).minus(run.consumed());
    if added == UsageSums::default() {
        return Ok(());
    }
    let task = sqlx::query("UPDATE tasks SET cost_micro_usd = cost_micro_usd + $2, tokens = tokens + $3 WHERE id = $1 RETURNING project_id, status")
        .bind(run.task_id.as_str())
        .bind(added.cost_micro_usd)
        .bind(added.tokens())
        .fetch_one(&mut tx.connection)
        .await?;
    let project = parsed(&task, "project_id")?;
    finished::add_cost(tx, &project, parsed(&task, "status")?, added.cost_micro_usd).await?;
    sums::add(tx, &project, run.phase, added).await
}
