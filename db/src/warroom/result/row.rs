//! Reads results and the facts that one is derived from, and refuses tasks without a result. Must not change anything.

use domain::board::card::Card;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::team::agent::is_managed_name;
use domain::team::person::is_person;
use domain::warroom::result::facts::{Attempt, Decision, Facts, MAX_LISTED};
use domain::warroom::result::{ResultRefusal, TaskResult};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{count, optional, parsed};
use crate::error::Result;

/// The newest result of a task `$1`.
pub(crate) const NEWEST: &str = "SELECT * FROM task_results WHERE task_id = $1 ORDER BY id DESC LIMIT 1";
/// The newest runs of a task `$1`, at most `$2`.
pub(crate) const ATTEMPTS: &str =
    "SELECT phase, attempt, end_class, failure, error FROM agent_runs WHERE task_id = $1 ORDER BY length(id) DESC, id DESC LIMIT $2";
/// The newest verdicts about a task `$1`, at most `$2`.
pub(crate) const VERDICTS: &str = "SELECT verdict, actor, sha, findings FROM verdicts WHERE task_id = $1 ORDER BY id DESC LIMIT $2";
/// The last comment of a coder on a task `$1`.
pub(crate) const LAST_COMMENT: &str =
    "SELECT content FROM comments WHERE task_id = $1 AND author_role = 'coder' ORDER BY length(id) DESC, id DESC LIMIT 1";
/// The paths that an agent `$2` of a project `$1` holds, at most `$3`.
pub(crate) const HELD: &str = "SELECT path FROM claims WHERE project_id = $1 AND agent_name = $2 ORDER BY key LIMIT $3";

pub(crate) async fn newest(connection: &mut SqliteConnection, task: &TaskId) -> Result<Option<TaskResult>> {
    sqlx::query(NEWEST).bind(task.as_str()).fetch_optional(connection).await?.as_ref().map(result_of).transpose()
}

/// Refuses a task without a result, if an external agent worked on it.
pub(crate) async fn require(connection: &mut SqliteConnection, card: &Card) -> Result<()> {
    let is_external = |name: &String| !is_managed_name(name) && !is_person(name);
    if !card.contributors.built_by.iter().any(is_external) || newest(connection, &card.id).await?.is_some() {
        return Ok(());
    }
    Err(ResultRefusal::Missing { task: card.id.clone() }.into())
}

/// Reads what managed agents did on a task. None if no coder among them ran.
pub(super) async fn facts(connection: &mut SqliteConnection, card: &Card) -> Result<Option<Facts>> {
    let most = i64::try_from(MAX_LISTED).unwrap_or(i64::MAX);
    let runs = sqlx::query(ATTEMPTS).bind(card.id.as_str()).bind(most).fetch_all(&mut *connection).await?;
    let attempts = runs.iter().rev().map(attempt_of).collect::<Result<Vec<_>>>()?;
    if !attempts.iter().any(|attempt| attempt.kind == AgentKind::Coder) {
        return Ok(None);
    }
    let verdicts = sqlx::query(VERDICTS).bind(card.id.as_str()).bind(most).fetch_all(&mut *connection).await?;
    let comment = sqlx::query_scalar(LAST_COMMENT).bind(card.id.as_str()).fetch_optional(&mut *connection).await?;
    let coder = Run::agent_name(AgentKind::Coder, &card.id);
    let held = sqlx::query_scalar(HELD).bind(card.project_id.as_str()).bind(coder).bind(most).fetch_all(connection).await?;
    Ok(Some(Facts { attempts, decisions: verdicts.iter().rev().map(decision_of).collect::<Result<_>>()?, comment, files: held }))
}

fn attempt_of(row: &SqliteRow) -> Result<Attempt> {
    let ended: [Option<String>; 3] = [row.try_get("error")?, row.try_get("failure")?, row.try_get("end_class")?];
    let end = ended.into_iter().flatten().next().unwrap_or_else(|| "at work".to_owned());
    Ok(Attempt { kind: parsed(row, "phase")?, number: count(row, "attempt")?, end })
}

fn decision_of(row: &SqliteRow) -> Result<Decision> {
    let verdict: &str = row.try_get("verdict")?;
    Ok(Decision { approved: verdict == "approved", by: row.try_get("actor")?, sha: row.try_get("sha")?, findings: row.try_get("findings")? })
}

pub(super) fn result_of(row: &SqliteRow) -> Result<TaskResult> {
    Ok(TaskResult {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        task_id: parsed(row, "task_id")?,
        author: row.try_get("author")?,
        run_id: optional(row, "run_id")?,
        derived: row.try_get("derived")?,
        file: row.try_get("file")?,
        content: row.try_get("content")?,
        created_at: parsed(row, "created_at")?,
    })
}
