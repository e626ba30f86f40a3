//! Writes results. Must not decide who may submit one.

use domain::board::card::Card;
use domain::id::RunId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::warroom::result::{ResultEvent, TaskResult};

use super::row;
use crate::board::task::write::index;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// A result to insert.
struct NewRow<'a> {
    author: &'a str,
    run: Option<&'a RunId>,
    derived: bool,
    file: Option<&'a str>,
    content: &'a str,
}

/// Stores what a participant wrote.
pub(super) async fn submit(tx: &mut Tx, caller: &Caller, card: &Card, file: Option<&str>, content: &str) -> Result<TaskResult> {
    let author = caller.name().unwrap_or_default();
    let result = insert(tx, card, NewRow { author: &author, run: caller.run(), derived: false, file, content }).await?;
    tx.record_without_card(caller, &card.project_id, Some(&card.id), ResultEvent::Submitted { result: result.id });
    Ok(result)
}

/// Stores the result that follows from the facts about the work of managed agents on a task that is done. The event of its move covers it.
pub(crate) async fn derive(tx: &mut Tx, card: &Card) -> Result<()> {
    let Some(facts) = row::facts(&mut tx.connection, card).await? else { return Ok(()) };
    let author = Run::agent_name(AgentKind::Coder, &card.id);
    insert(tx, card, NewRow { author: &author, run: None, derived: true, file: None, content: &facts.worded() }).await.map(drop)
}

async fn insert(tx: &mut Tx, card: &Card, new: NewRow<'_>) -> Result<TaskResult> {
    let row = sqlx::query(
        "INSERT INTO task_results (project_id, task_id, author, run_id, derived, file, content, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *",
    )
    .bind(card.project_id.as_str())
    .bind(card.id.as_str())
    .bind(new.author)
    .bind(new.run.map(RunId::as_str))
    .bind(new.derived)
    .bind(new.file)
    .bind(new.content)
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    index(tx, &card.id).await?;
    row::result_of(&row)
}
