//! Writes questions to oracles and their answers, and counts them on their zones. Must not decide who may ask.

use domain::team::agent::{EVERYONE, HUMAN};
use domain::team::message::Message;
use domain::team::person::is_person;
use domain::time::Timestamp;
use domain::warroom::context_left::ContextUse;
use domain::warroom::oracle::{OracleEvent, OracleQuestion};

use super::row;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::warroom::context_left::row::reported;

/// Adds to the counts of the zone `$2` of a project `$1`: questions, answers, the bytes of answers, and the tokens of their oracles.
pub(crate) const COUNT: &str = "UPDATE zones SET questions = questions + $3, answers = answers + $4, answer_bytes = answer_bytes + $5,
      answer_context_tokens = answer_context_tokens + $6
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
    sqlx::query("INSERT INTO oracle_questions (id, project_id, zones, asker, oracle, question, asked_at) VALUES ($1, $2, $3, $4, $5, $6, $7)")
        .bind(question.id)
        .bind(question.project_id.as_str())
        .bind(serde_json::to_string(&question.zones)?)
        .bind(&question.asker)
        .bind(&question.oracle)
        .bind(&question.question)
        .bind(question.asked_at.to_string())
        .execute(&mut tx.connection)
        .await?;
    add(tx, question, [1, 0, 0, 0]).await?;
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
    let reported = reported(&mut tx.connection, &question.project_id, &reply.from_agent).await?;
    let tokens = reported.context_use.map(ContextUse::used).and_then(|tokens| i64::try_from(tokens).ok());
    sqlx::query("UPDATE oracle_questions SET answer_id = $2, answer = $3, answered_at = $4, context_tokens = $5 WHERE id = $1")
        .bind(question.id)
        .bind(reply.id)
        .bind(&reply.content)
        .bind(tx.now.to_string())
        .bind(tokens)
        .execute(&mut tx.connection)
        .await?;
    let bytes = i64::try_from(reply.content.len()).unwrap_or(i64::MAX);
    add(tx, &question, [0, 1, bytes, tokens.unwrap_or(0)]).await?;
    let event = OracleEvent::Answered { question: question.id, oracle: reply.from_agent.clone(), asker: question.asker };
    tx.record_without_card(caller, &question.project_id, None, event);
    Ok(())
}

async fn add(tx: &mut Tx, question: &OracleQuestion, [questions, answers, bytes, tokens]: [i64; 4]) -> Result<()> {
    for zone in &question.zones {
        sqlx::query(COUNT)
            .bind(question.project_id.as_str())
            .bind(zone)
            .bind(questions)
            .bind(answers)
            .bind(bytes)
            .bind(tokens)
            .execute(&mut tx.connection)
            .await?;
    }
    Ok(())
}
