//! Publications: the last push of a project branch. Must not know how it was pushed.

pub(crate) mod issue;
pub(crate) mod pull_request;
pub(crate) mod task_pull_request;

use domain::board::project::{Project, ProjectEvent};
use domain::board::task::{NewTask, TaskFields};
use domain::id::ProjectId;
use domain::runs::publication::Publication;
use domain::runs::publication::pull_request::PullRequestState;
use domain::runs::publication::task_text::TaskText;

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;

impl Db {
    /// Records that the project branch was pushed. The publication before is in the event log only.
    ///
    /// # Errors
    /// When the caller is not a person who may work, or the project does not exist.
    pub async fn record_publication(&self, caller: &Caller, id: &ProjectId, published: Publication) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("publishing")?;
                projects::read(&mut tx.connection, &id).await?;
                store(tx, &id, &published).await?;
                let Publication { remote, branch, sha, pull_request, .. } = published;
                tx.record_for_project(&caller, &id, ProjectEvent::Published { remote, branch, sha, pull_request });
                projects::read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// Writes the last push of a project. Its pull request is followed as long as it is open.
async fn store(tx: &mut Tx, id: &ProjectId, published: &Publication) -> Result<()> {
    let is_open = published.status.as_ref().is_some_and(|status| status.state == PullRequestState::Open);
    sqlx::query("UPDATE projects SET published = $2, pull_request_open = $3, updated_at = $4 WHERE id = $1")
        .bind(id.as_str())
        .bind(serde_json::to_string(published)?)
        .bind(is_open)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// The fields of a task whose text came from outside.
fn fields_of(TaskText { title, description }: TaskText) -> Result<TaskFields> {
    Ok(NewTask { title, description: Some(description), ..NewTask::default() }.fields()?)
}
