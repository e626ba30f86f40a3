//! Records which messages are in a run's conversation, because the agent program echoed their stdin line.

use domain::id::RunId;
use domain::runs::run::Run;

use super::delivery::IN_CONVERSATION;
use crate::board::task::row::card;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run::row as runs;

impl Db {
    /// Records that the messages of a line are in the run's conversation. They are read when the run succeeds or its agent acknowledges them.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn record_echo(&self, id: &RunId, line: &str) -> Result<()> {
        let (id, line) = (id.clone(), line.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Heartbeat);
                let run = runs::read(&mut tx.connection, &id).await?;
                let project = card(&mut tx.connection, &run.task_id).await?.project_id;
                sqlx::query(
                    "UPDATE messages SET answer_seq = $4, stdin_line_id = NULL WHERE project_id = $1 AND to_agent = $2 AND read_at IS NULL AND stdin_line_id = $3;
                     UPDATE broadcast_reads SET answer_seq = $4, stdin_line_id = NULL WHERE agent_name = $2 AND read_at IS NULL AND stdin_line_id = $3",
                )
                .bind(project.as_str())
                .bind(Run::agent_name(run.phase, &run.task_id))
                .bind(&line)
                .bind(IN_CONVERSATION)
                .execute(&mut tx.connection)
                .await?;
                Ok(())
            })
        })
        .await
    }
}
