//! Writes questions to oracles and their answers, and counts them on their zones. Must not decide who may ask.

use domain::id::{ProjectId, TaskId};
use domain::team::agent::{EVERYONE, HUMAN};
use domain::team::message::Message;
use domain::team::person::is_person;
use domain::time::Timestamp;
use domain::warroom::context_left::ContextUse;
use domain::warroom::oracle::expert::failed_answer;
use domain::warroom::oracle::note::topic;
use domain::warroom::oracle::{OracleEvent, OracleQuestion};
use sqlx::Row;

use super::row::{self, Noted};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::message::write::mark_settled;
use crate::team::message::{OutgoingMessage, post};
use crate::warroom::context_left::row::reported;

/// Adds to the counts of the zone `$2` of a project `$1`: questions, answers, the bytes of answers, the tokens of their oracles, and the answers
/// from notes.
pub(crate) const COUNT: &str = "UPDATE zones SET questions = questions + $3, answers = answers + $4, answer_bytes = answer_bytes + $5,
      answer_context_tokens = answer_context_tokens + $6, note_answers = note_answers + $7
    WHERE project_id = $1 AND name = $2";

/// Removes at most `$2` questions between agents that were asked before `$1`. The counts of their zones stay.
pub(crate) const REMOVE_OLD: &str = "DELETE FROM oracle_questions WHERE id IN (
    SELECT id FROM oracle_questions INDEXED BY oracle_questions_removable
    WHERE asked_at < $1 AND asker <> 'human' AND substr(asker, 1, 6) <> 'human/' AND oracle <> 'human' AND substr(oracle, 1, 6) <> 'human/'
    LIMIT $2)";

/// Removes questions that were asked before `cutoff`, answered or not, and returns their number.
pub(crate) async fn remove_old(tx: &mut Tx, cutoff: Timestamp, batch: i64) -> Result<u64> {
    let removed = sqlx::query(REMOVE_OLD).bind(cutoff.to_string()).bind(batch).execute(&mut tx.connection).await?;
    Ok(removed.rows_affected())
}

/// Stores a question that was just sent.
pub(super) async fn insert(tx: &mut Tx, caller: &Caller, question: &OracleQuestion) -> Result<()> {
    sqlx::query(
        "INSERT INTO oracle_questions (id, project_id, zones, asker, oracle, question, asked_at, task_id, topic)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(question.id)
    .bind(question.project_id.as_str())
    .bind(serde_json::to_string(&question.zones)?)
    .bind(&question.asker)
    .bind(&question.oracle)
    .bind(&question.question)
    .bind(question.asked_at.to_string())
    .bind(question.task_id.as_ref().map(TaskId::as_str))
    .bind(question.task_id.as_ref().map(|_| topic(&question.question)))
    .execute(&mut tx.connection)
    .await?;
    add(tx, question, Counts { questions: 1, ..Counts::default() }).await?;
    let event = OracleEvent::Asked { question: question.id, zones: question.zones.clone(), oracle: question.oracle.clone() };
    tx.record_without_card(caller, &question.project_id, None, event);
    Ok(())
}

/// Records a message as the answer to the open question that it replies to, if the oracle wrote it and the asker receives it.
pub(crate) async fn answered(tx: &mut Tx, caller: &Caller, reply: &Message) -> Result<()> {
    let Some(id) = reply.reply_to else { return Ok(()) };
    let Some(question) = row::read(&mut tx.connection, id).await?.filter(|question| question.answer.is_none()) else { return Ok(()) };
    // A message to `human` may be answered by any person.
    let is_oracle = reply.from_agent == question.oracle || (question.oracle == HUMAN && is_person(&reply.from_agent));
    let reaches_asker = [question.asker.as_str(), EVERYONE].contains(&reply.to_agent.as_str()) || reply.cc.contains(&question.asker);
    if !is_oracle || !reaches_asker {
        return Ok(());
    }
    let given = Given::now(tx, &question, reply).await?;
    record(tx, caller, &question, given).await
}

/// Answers an open question to a managed oracle in its name.
pub(crate) async fn reply_for(tx: &mut Tx, caller: &Caller, question: &OracleQuestion, text: &str) -> Result<()> {
    let reply = post_reply(tx, caller, question, text).await?;
    let given = Given::now(tx, question, &reply).await?;
    record(tx, caller, question, given).await
}

/// Answers an open question with what the oracle said before.
pub(super) async fn reply_from_notes(tx: &mut Tx, question: &OracleQuestion, noted: &Noted) -> Result<()> {
    let reply = post_reply(tx, &Caller::Runner, question, &noted.answer.text).await?;
    let tokens = noted.answer.context_tokens.and_then(|tokens| i64::try_from(tokens).ok());
    let noted_at = noted.answer.noted_at.unwrap_or(noted.answer.answered_at);
    let given = Given { message: reply.id, text: &noted.answer.text, tokens, sha: Some(noted.sha.clone()), noted_at: Some(noted_at), failed: false };
    record(tx, &Caller::Runner, question, given).await
}

/// Tells everyone who waits for a managed oracle why it cannot answer.
pub(crate) async fn fail_open(tx: &mut Tx, task: &TaskId, problem: &str) -> Result<()> {
    let text = failed_answer(problem);
    for question in row::open_of_task(&mut tx.connection, task).await? {
        let reply = post_reply(tx, &Caller::Runner, &question, &text).await?;
        let given = Given { message: reply.id, text: &text, tokens: None, sha: None, noted_at: None, failed: true };
        record(tx, &Caller::Runner, &question, given).await?;
    }
    Ok(())
}

async fn post_reply(tx: &mut Tx, caller: &Caller, question: &OracleQuestion, content: &str) -> Result<Message> {
    let (project, from, to) = (&question.project_id, question.oracle.as_str(), question.asker.as_str());
    post(tx, caller, OutgoingMessage { project, from, to, content, task: None, reply_to: Some(question.id) }).await
}

/// An answer, and what it is based on.
struct Given<'a> {
    message: i64,
    text: &'a str,
    tokens: Option<i64>,
    sha: Option<String>,
    noted_at: Option<Timestamp>,
    failed: bool,
}

impl<'a> Given<'a> {
    /// An answer that an oracle gives now, with the measured context of a managed one.
    async fn now(tx: &mut Tx, question: &OracleQuestion, reply: &'a Message) -> Result<Self> {
        let (tokens, sha) = match &question.task_id {
            Some(task) => {
                let run = sqlx::query("SELECT context_tokens, sha FROM agent_runs WHERE task_id = $1 AND completed_at IS NULL")
                    .bind(task.as_str())
                    .fetch_optional(&mut tx.connection)
                    .await?;
                run.map_or(Ok((None, None)), |run| Ok::<_, sqlx::Error>((run.try_get("context_tokens")?, run.try_get("sha")?)))?
            }
            None => {
                let reported = reported(&mut tx.connection, &question.project_id, &reply.from_agent).await?;
                (reported.context_use.map(ContextUse::used).and_then(|tokens| i64::try_from(tokens).ok()), None)
            }
        };
        Ok(Self { message: reply.id, text: &reply.content, tokens, sha, noted_at: None, failed: false })
    }
}

async fn record(tx: &mut Tx, caller: &Caller, question: &OracleQuestion, given: Given<'_>) -> Result<()> {
    sqlx::query(
        "UPDATE oracle_questions SET answer_id = $2, answer = $3, answered_at = $4, context_tokens = $5, sha = $6, noted_at = $7, failed = $8
         WHERE id = $1",
    )
    .bind(question.id)
    .bind(given.message)
    .bind(given.text)
    .bind(tx.now.to_string())
    .bind(given.tokens)
    .bind(&given.sha)
    .bind(given.noted_at.map(|at| at.to_string()))
    .bind(given.failed)
    .execute(&mut tx.connection)
    .await?;
    if question.task_id.is_some() {
        mark_settled(tx, question.id, &question.oracle).await?;
    }
    if !given.failed {
        let bytes = i64::try_from(given.text.len()).unwrap_or(i64::MAX);
        let (tokens, from_notes) = (given.tokens.unwrap_or(0), given.noted_at.is_some().into());
        add(tx, question, Counts { questions: 0, answers: 1, bytes, tokens, from_notes }).await?;
    }
    let event = OracleEvent::Answered { question: question.id, oracle: question.oracle.clone(), asker: question.asker.clone() };
    tx.record_without_card(caller, &question.project_id, None, event);
    Ok(())
}

/// Stores the task of the managed oracle of a zone.
pub(crate) async fn set_task(tx: &mut Tx, project: &ProjectId, zone: &str, task: &TaskId) -> Result<()> {
    sqlx::query("UPDATE zones SET task_id = $3 WHERE project_id = $1 AND name = $2")
        .bind(project.as_str())
        .bind(zone)
        .bind(task.as_str())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Additions to the counts of a zone.
#[derive(Default)]
struct Counts {
    questions: i64,
    answers: i64,
    bytes: i64,
    tokens: i64,
    from_notes: i64,
}

async fn add(tx: &mut Tx, question: &OracleQuestion, counts: Counts) -> Result<()> {
    for zone in &question.zones {
        sqlx::query(COUNT)
            .bind(question.project_id.as_str())
            .bind(zone)
            .bind(counts.questions)
            .bind(counts.answers)
            .bind(counts.bytes)
            .bind(counts.tokens)
            .bind(counts.from_notes)
            .execute(&mut tx.connection)
            .await?;
    }
    Ok(())
}
