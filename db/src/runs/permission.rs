//! Permission requests of running agents: asked once, answered once, and closed when the agent's program took the answer or needs none.

pub(crate) mod row;
pub(crate) mod write;

use domain::id::{RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::permission::{PermissionAnswer, PermissionEvent, PermissionRefusal, PermissionRequest};
use domain::text;

use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::permission::write::{NewPermission, PermissionDelivery};
use crate::runs::run::row as runs;

impl Db {
    /// Records that a running agent asks to use a tool. An earlier answer for the whole task answers it; otherwise the card needs the human.
    /// A repeated record changes nothing.
    ///
    /// # Errors
    /// When the caller is not a run.
    pub async fn ask_permission(&self, caller: &Caller, new: NewPermission) -> Result<()> {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let Some(run) = caller.run() else {
                    let hint = "Only the runner records what an agent asks.";
                    return Err(Refusal::invalid("request", "only a running agent asks for permissions", hint).into());
                };
                let run = runs::read(&mut tx.connection, run).await?;
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                let Some(id) = write::insert(tx, &run, &new).await? else {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                };
                let asked = PermissionEvent::Asked { request: id, tool: new.tool };
                tx.record_for_run(&caller, &card.project_id, &card.id, &run.id, asked);
                if write::is_allowed(tx, &run.task_id, new.rule.as_ref()).await? {
                    write::answer(tx, &Caller::Runner, id, PermissionAnswer::Always, None).await?;
                    let answered = PermissionEvent::Answered { request: id, answer: PermissionAnswer::Always };
                    tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &run.id, answered);
                }
                write::settle(tx, &Caller::Runner, &card.id).await
            })
        })
        .await
    }

    /// Answers a permission request of a running agent.
    ///
    /// # Errors
    /// When the request is answered already, the agent no longer waits, or the reason is invalid.
    pub async fn answer_permission(
        &self,
        caller: &Caller,
        run: &RunId,
        request: i64,
        answer: PermissionAnswer,
        reason: Option<&str>,
    ) -> Result<PermissionRequest> {
        let (caller, run, reason) = (caller.clone(), run.clone(), reason.map(str::to_owned));
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("answering permission requests")?;
                let reason = text::validate_optional_body("reason", reason.as_deref())?;
                let run = runs::read(&mut tx.connection, &run).await?;
                let (known, is_closed) = write::read(tx, &run.id, request).await?;
                if let Some(answer) = known.answer {
                    return Err(PermissionRefusal::Answered { request, answer }.into());
                }
                if is_closed || !run.is_live() || run.stop_requested_at.is_some() {
                    return Err(PermissionRefusal::Closed { request }.into());
                }
                if answer == PermissionAnswer::Always && known.rule.is_none() {
                    let hint = "Allow this one use, or deny it.";
                    return Err(Refusal::invalid("answer", "the input of the tool is too long to allow it for the whole task", hint).into());
                }
                write::answer(tx, &caller, request, answer, reason).await?;
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&caller, &card.project_id, &card.id, &run.id, PermissionEvent::Answered { request, answer });
                write::settle(tx, &caller, &card.id).await?;
                Ok(write::read(tx, &run.id, request).await?.0)
            })
        })
        .await
    }

    /// Records that the agent's program took the answer to a request, or no longer waits for one.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn close_permission(&self, run: &RunId, key: &str) -> Result<()> {
        let (run, key) = (run.clone(), key.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let run = runs::read(&mut tx.connection, &run).await?;
                let Some(request) = write::close(tx, &run.id, &key).await? else {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                };
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &run.id, PermissionEvent::Closed { request });
                write::settle(tx, &Caller::Runner, &card.id).await
            })
        })
        .await
    }

    /// Lists the answers that the program of a run has not taken, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn permission_answers(&self, run: &RunId) -> Result<Vec<PermissionDelivery>> {
        let rows = sqlx::query(
            "SELECT key, tool, answer, reason FROM permission_requests
             WHERE run_id = $1 AND closed_at IS NULL AND answer IS NOT NULL ORDER BY id",
        )
        .bind(run.as_str())
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(write::delivery_of).collect()
    }

    /// Lists the requests for which the agent of a task waits, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn open_permissions(&self, task: &TaskId) -> Result<Vec<PermissionRequest>> {
        let mut connection = self.readers.acquire().await?;
        row::open(&mut connection, task).await
    }
}
