//! A run ends: its minions fail, its inbox is settled, its claims pass on unless its work goes on, and a failure is retried or needs attention.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::board::status::{HeldBy, Status};
use domain::runs::agent_kind::AgentKind;
use domain::runs::backoff::backoff;
use domain::runs::failure::FailureClass;
use domain::runs::run::Run;
use domain::text::excerpt;
use domain::warroom::claim::ReleaseReason;
use sqlx::Row;

use crate::board::attention::write as attention;
use crate::board::task::row as tasks;
use crate::board::task::write::hold;
use crate::caller::Caller;
use crate::consequences::oracle_questions;
use crate::consequences::task_changed::task_changed;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::permission::write as permission;
use crate::team::message::run_end;
use crate::team::minion::write as minion;
use crate::warroom::claim::write as claim;
use crate::warroom::freshness::write as freshness;

/// How much of an error the askers of an oracle read, in characters.
const MAX_PROBLEM: usize = 400;

/// The result of an ended run.
pub(crate) struct Outcome<'a> {
    /// Whether the task is held, because the run ended while a person had interrupted it.
    pub(crate) holds: bool,
    /// Whether the agent read its whole conversation.
    pub(crate) read_inbox: bool,
    /// The failure that counts as an attempt, if the run failed.
    pub(crate) failure: Option<FailureClass>,
    pub(crate) error: Option<&'a str>,
    /// The facts of the failure.
    pub(crate) cause: Option<&'a str>,
    /// The question to the human because of a limit.
    pub(crate) question: Option<Attention>,
    /// Failed attempts in a row after which the task needs attention.
    pub(crate) max_attempts: u32,
}

/// Applies the consequences of an ended run.
pub(crate) async fn run_ended(tx: &mut Tx, card: &Card, run: &Run, outcome: &Outcome<'_>) -> Result<()> {
    minion::fail_minions_of_run(tx, &run.id).await?;
    let name = Run::agent_name(run.phase, &run.task_id);
    run_end::close_run_inbox(tx, &card.project_id, &name, outcome.read_inbox).await?;
    if !card.status.is_open() {
        run_end::tell_undelivered(tx, &card.project_id, Some(&card.id), &name).await?;
    }
    permission::close_all(tx, &run.id).await?;
    freshness::forget(tx, &run.id).await?;
    settle_claims(tx, card, &name, outcome).await?;
    let is_free = settle_waits(tx, card, outcome).await? || card.attention.is_none();
    // The outcome of a finished task does not depend on how its last process exited.
    if let Some(failure) = outcome.failure.filter(|_| card.status.is_open()) {
        record_failure(tx, card, run, failure, outcome).await?;
    }
    if let Some(question) = outcome.question.clone().filter(|_| card.status.is_open() && is_free) {
        attention::request(tx, &Caller::Runner, &card.project_id, &card.id, question).await?;
    }
    if card.phase == AgentKind::Oracle {
        oracle_questions::settle(tx, &card.id).await?;
    }
    task_changed(tx, &Caller::Runner, &card.project_id, &card.id).await
}

/// The claims of an attempt that failed or was stopped end with it: a retry asks again. Those of submitted work last until it is merged. Only
/// an agent that goes on later stays in line.
async fn settle_claims(tx: &mut Tx, card: &Card, agent: &str, outcome: &Outcome<'_>) -> Result<()> {
    if outcome.failure.is_some() || outcome.holds || card.held_by == Some(HeldBy::Stop) {
        return claim::release_all(tx, &Caller::Runner, &card.project_id, agent, ReleaseReason::Stopped).await;
    }
    if card.status != Status::InProgress {
        claim::drop_waits(tx, &card.project_id, agent).await?;
    }
    Ok(())
}

/// An agent that is gone waits for nobody: a person starts the task again. Returns whether that cleared the card's attention.
async fn settle_waits(tx: &mut Tx, card: &Card, outcome: &Outcome<'_>) -> Result<bool> {
    if outcome.holds && card.status.is_open() && card.held_by.is_none() {
        let task = tasks::task(&mut tx.connection, &card.id).await?;
        hold(tx, &Caller::Runner, &task, HeldBy::Stop).await?;
    }
    let waited = card.attention.as_ref().is_some_and(|attention| matches!(attention.kind, AttentionKind::Interrupted | AttentionKind::Permission));
    if waited {
        attention::clear(tx, &Caller::Runner, &card.project_id, &card.id).await?;
    }
    Ok(waited)
}

/// Counts a failed attempt and schedules the next one. After the last attempt the task needs attention.
async fn record_failure(tx: &mut Tx, card: &Card, run: &Run, failure: FailureClass, outcome: &Outcome<'_>) -> Result<()> {
    let failures: i64 = sqlx::query_scalar("UPDATE tasks SET failures = failures + 1, last_failure = $2 WHERE id = $1 RETURNING failures")
        .bind(card.id.as_str())
        .bind(failure.as_str())
        .fetch_one(&mut tx.connection)
        .await?;
    let failures = u32::try_from(failures).unwrap_or(u32::MAX);
    let is_repetition = failures > 1 && outcome.cause.is_some() && outcome.cause == earlier_cause(tx, run, failure).await?.as_deref();
    if failures < outcome.max_attempts && !is_repetition {
        let retry_at = tx.now.after(backoff(failures, run.id.number()));
        sqlx::query("UPDATE tasks SET retry_at = $2 WHERE id = $1")
            .bind(card.id.as_str())
            .bind(retry_at.to_string())
            .execute(&mut tx.connection)
            .await?;
        return Ok(());
    }
    if card.phase == AgentKind::Oracle {
        // Its askers need an answer, and the next question tries again. No person has to decide about it.
        let error = outcome.error.map(|error| format!(" ({})", excerpt(error, MAX_PROBLEM))).unwrap_or_default();
        let problem = format!("{failures} attempts failed; the last: {}{error}", failure.sentence());
        return oracle_questions::unanswerable(tx, &card.id, &problem).await;
    }
    let kind = match failure {
        FailureClass::NoOutcome => AttentionKind::NoOutcome,
        FailureClass::Checkout => AttentionKind::Repository,
        _ => AttentionKind::Failed,
    };
    let attempts =
        if is_repetition { format!("{failures} attempts failed in the same way") } else { format!("{failures} attempts failed; the last") };
    let detail = match outcome.error {
        Some(error) => format!("{attempts}: {} ({error}). {}", failure.sentence(), failure.remedy()),
        None => format!("{attempts}: {}. {}", failure.sentence(), failure.remedy()),
    };
    attention::request(tx, &Caller::Runner, &card.project_id, &card.id, Attention::new(kind, detail)).await
}

/// The facts of the failure before `run`, if it was of the same class.
async fn earlier_cause(tx: &mut Tx, run: &Run, failure: FailureClass) -> Result<Option<String>> {
    let earlier = sqlx::query(
        "SELECT failure, cause FROM agent_runs WHERE task_id = $1 AND phase = $2 AND id <> $3 AND end_class = 'failed'
         ORDER BY length(id) DESC, id DESC LIMIT 1",
    )
    .bind(run.task_id.as_str())
    .bind(run.phase.as_str())
    .bind(run.id.as_str())
    .fetch_optional(&mut tx.connection)
    .await?;
    let Some(earlier) = earlier else { return Ok(None) };
    let is_same_class = earlier.try_get::<Option<&str>, _>("failure")? == Some(failure.as_str());
    Ok(if is_same_class { earlier.try_get("cause")? } else { None })
}
