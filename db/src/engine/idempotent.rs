//! Use-cases whose request may arrive twice: carried out once, answered the same each time. What they do is theirs to know.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::engine::writer::UseCase;
use crate::error::Result;

impl Db {
    /// Runs a use-case, unless the caller's very request was carried out before: then its stored answer is given again, even to a run that
    /// may not write any more.
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
                tx.require_current_run(&caller).await?;
                let answer = work(tx, &caller).await?;
                tx.store_answer(&caller, &answer).await?;
                Ok(answer)
            })
        })
        .await
    }
}
