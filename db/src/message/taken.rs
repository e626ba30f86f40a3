//! What an agent that we run has in its conversation, because its program echoed the line that the runner gave it.

use domain::id::RunId;
use domain::message::Received;
use domain::run::Run;

use super::delivery::heard;
use crate::error::Result;
use crate::open::Db;
use crate::run;
use crate::task::read::card;
use crate::tx::Quiet;

impl Db {
    /// Notes that the agent of a run has these messages in its conversation: they are not given again.
    ///
    /// # Errors
    /// When there is no such run.
    pub async fn run_inbox_taken(&self, id: &RunId, messages: Vec<Received>) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                tx.quiet(Quiet::SignsOfLife);
                let run = run::read(&mut tx.connection, &id).await?;
                let project = card(&mut tx.connection, &run.task_id).await?.project_id;
                let name = Run::agent_name(run.phase, &run.task_id);
                let ids = serde_json::to_string(&messages.iter().map(|received| received.message.id).collect::<Vec<i64>>())?;
                sqlx::query(
                    "UPDATE messages SET read_at = $1 WHERE to_agent <> 'all' AND delivered_at IS NOT NULL AND read_at IS NULL
                       AND id IN (SELECT value FROM json_each($2))",
                )
                .bind(tx.now.to_string())
                .bind(&ids)
                .execute(&mut tx.connection)
                .await?;
                sqlx::query(
                    "UPDATE broadcast_reads SET read_at = $1
                     WHERE agent_name = $2 AND read_at IS NULL AND message_id IN (SELECT value FROM json_each($3))",
                )
                .bind(tx.now.to_string())
                .bind(&name)
                .bind(&ids)
                .execute(&mut tx.connection)
                .await?;
                heard(tx, &project, &name).await
            })
        })
        .await
    }
}
