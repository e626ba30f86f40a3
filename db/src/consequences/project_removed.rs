//! After a project was deleted and nothing of it is left outside of the store: its rows are removed, in the order of their references.

use domain::board::project::ProjectEvent;
use domain::event::Event;
use domain::id::ProjectId;

use crate::engine::dialect::words_index;
use crate::engine::event_log;
use crate::engine::tx::Tx;
use crate::error::Result;

/// The statements, each about the project `$1`.
const STATEMENTS: [&str; 59] = [
    "DELETE FROM calls WHERE caller IN (SELECT r.id FROM tasks t JOIN agent_runs r ON r.task_id = t.id WHERE t.project_id = $1)",
    "DELETE FROM calls WHERE substr(caller, 1, length($1) + 1) = $1 || '/' OR caller = $1",
    "DELETE FROM limit_states WHERE scope = 'run'
       AND subject IN (SELECT r.id FROM tasks t JOIN agent_runs r ON r.task_id = t.id WHERE t.project_id = $1)",
    "DELETE FROM limit_states WHERE scope = 'task' AND subject IN (SELECT id FROM tasks WHERE project_id = $1)",
    "DELETE FROM limit_states WHERE scope = 'project' AND subject = $1",
    "DELETE FROM imported_records WHERE project_id = $1",
    "DELETE FROM usage_by_kind WHERE project_id = $1",
    "DELETE FROM usage_by_day WHERE project_id = $1",
    "DELETE FROM check_results WHERE project_id = $1",
    "DELETE FROM finished_sums WHERE project_id = $1",
    "DELETE FROM finished_by_day WHERE project_id = $1",
    "DELETE FROM search_documents WHERE project_id = $1",
    "DELETE FROM run_messages WHERE run_id IN (SELECT r.id FROM tasks t JOIN agent_runs r ON r.task_id = t.id WHERE t.project_id = $1)",
    "DELETE FROM run_files WHERE run_id IN (SELECT r.id FROM tasks t JOIN agent_runs r ON r.task_id = t.id WHERE t.project_id = $1)",
    "DELETE FROM permission_requests WHERE run_id IN (SELECT r.id FROM tasks t JOIN agent_runs r ON r.task_id = t.id WHERE t.project_id = $1)",
    "DELETE FROM verdicts WHERE task_id IN (SELECT id FROM tasks WHERE project_id = $1)",
    "DELETE FROM questions WHERE task_id IN (SELECT id FROM tasks WHERE project_id = $1)",
    "DELETE FROM comments WHERE task_id IN (SELECT id FROM tasks WHERE project_id = $1)",
    "DELETE FROM contributions WHERE task_id IN (SELECT id FROM tasks WHERE project_id = $1)",
    "DELETE FROM claims WHERE project_id = $1",
    "DELETE FROM claim_waits WHERE project_id = $1",
    "DELETE FROM hats WHERE project_id = $1",
    "DELETE FROM deliveries WHERE message_id IN (SELECT id FROM messages WHERE project_id = $1)",
    "UPDATE messages SET reply_to = NULL WHERE project_id = $1 AND reply_to IS NOT NULL",
    "DELETE FROM messages WHERE project_id = $1",
    "DELETE FROM handshake_acks WHERE handshake_id IN (SELECT id FROM handshakes WHERE project_id = $1)",
    "DELETE FROM handshakes WHERE project_id = $1",
    "DELETE FROM contract_versions WHERE contract_id IN (SELECT id FROM contracts WHERE project_id = $1)",
    "DELETE FROM contracts WHERE project_id = $1",
    "DELETE FROM spawn_policies WHERE project_id = $1",
    "DELETE FROM memories WHERE project_id = $1 OR session_id IN (SELECT id FROM context_sessions WHERE project_id = $1)",
    "DELETE FROM session_counts WHERE session_id IN (SELECT id FROM context_sessions WHERE project_id = $1)",
    "UPDATE session_messages SET parent_id = NULL WHERE parent_id IS NOT NULL AND session_id IN (SELECT id FROM context_sessions WHERE project_id = $1)",
    "DELETE FROM session_messages WHERE session_id IN (SELECT id FROM context_sessions WHERE project_id = $1)",
    "DELETE FROM context_sessions WHERE project_id = $1",
    "DELETE FROM minions WHERE project_id = $1",
    "DELETE FROM battle_plans WHERE project_id = $1",
    "DELETE FROM raid_log WHERE project_id = $1",
    "DELETE FROM handovers WHERE project_id = $1",
    "DELETE FROM knowledge_read WHERE knowledge_id IN (SELECT id FROM knowledge WHERE project_id = $1)",
    "DELETE FROM knowledge WHERE project_id = $1",
    "DELETE FROM task_results WHERE project_id = $1",
    "DELETE FROM debriefs WHERE project_id = $1",
    "DELETE FROM triggers WHERE project_id = $1",
    "DELETE FROM zones WHERE project_id = $1",
    "DELETE FROM oracle_questions WHERE project_id = $1",
    "DELETE FROM tokens WHERE run_id IN (SELECT r.id FROM tasks t JOIN agent_runs r ON r.task_id = t.id WHERE t.project_id = $1)",
    "DELETE FROM tokens WHERE project_id = $1",
    "DELETE FROM former_names WHERE project_id = $1",
    "DELETE FROM agents WHERE project_id = $1",
    "DELETE FROM dependencies WHERE task_id IN (SELECT id FROM tasks WHERE project_id = $1)",
    // The references stay: rescue refs keep what nobody merged.
    "UPDATE owned_refs SET task_id = NULL WHERE task_id IN (SELECT id FROM tasks WHERE project_id = $1)",
    "UPDATE tasks SET forgotten_run = NULL, parent_task_id = NULL, round_of = NULL, goal_id = NULL, landing_id = NULL WHERE project_id = $1",
    "DELETE FROM agent_runs WHERE task_id IN (SELECT id FROM tasks WHERE project_id = $1)",
    "DELETE FROM tasks WHERE project_id = $1",
    "DELETE FROM goals WHERE project_id = $1",
    "DELETE FROM landings WHERE project_id = $1",
    "DELETE FROM checkpoints WHERE project_id = $1",
    "DELETE FROM projects WHERE id = $1",
];

/// Removes the rows of a project, and what its events say. The log has no gaps, so its events stay as empty ones.
pub(crate) async fn remove_rows(tx: &mut Tx, id: &ProjectId) -> Result<()> {
    let texts: Vec<i64> =
        sqlx::query_scalar("SELECT id FROM search_documents WHERE project_id = $1").bind(id.as_str()).fetch_all(&mut tx.connection).await?;
    for text in texts {
        words_index::remove(&mut tx.connection, text).await?;
    }
    let messages: Vec<i64> =
        sqlx::query_scalar("SELECT m.id FROM context_sessions s JOIN session_messages m ON m.session_id = s.id WHERE s.project_id = $1")
            .bind(id.as_str())
            .fetch_all(&mut tx.connection)
            .await?;
    for message in messages {
        words_index::remove_message(&mut tx.connection, message).await?;
    }
    for statement in STATEMENTS {
        sqlx::query(statement).bind(id.as_str()).execute(&mut tx.connection).await?;
    }
    event_log::erase(&mut tx.connection, id, &Event::from(ProjectEvent::Erased {})).await?;
    tx.tokens_revoked = true;
    Ok(())
}
