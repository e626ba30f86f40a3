//! Requests that may arrive twice are carried out once and answered the same each time. Must not know what a request does.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::engine::writer::UseCase;
use crate::error::Result;

/// How long an answer is stored for a repetition of its call.
const ANSWER_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

impl Db {
    /// Runs a use-case, unless the caller's request was carried out before: then its stored answer is returned, even to a run that can no
    /// longer write.
    ///
    /// # Errors
    /// When the run that calls is not the current one of its task, the stored answer is of another version, or the use-case refuses.
    pub(crate) async fn run_once<T, F>(&self, caller: &Caller, work: F) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
        F: for<'t> FnOnce(&'t mut Tx, &'t Caller) -> UseCase<'t, T> + Send + 'static,
    {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                if let Some(answer) = tx.stored_answer(&caller).await? {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(answer);
                }
                caller.require_may_write("changing the board")?;
                tx.require_current_run(&caller).await?;
                let answer = work(tx, &caller).await?;
                tx.store_answer(&caller, &answer).await?;
                Ok(answer)
            })
        })
        .await
    }
}

/// Removes at most `batch` answers that are past their retention. Returns how many were removed.
pub(crate) async fn remove_old_answers(tx: &mut Tx, batch: i64) -> Result<u64> {
    let removed = sqlx::query(
        "DELETE FROM calls WHERE (caller, call_id) IN (SELECT caller, call_id FROM calls WHERE created_at < $1 ORDER BY created_at LIMIT $2)",
    )
    .bind(tx.now.before(ANSWER_RETENTION).to_string())
    .bind(batch)
    .execute(&mut tx.connection)
    .await?;
    Ok(removed.rows_affected())
}
