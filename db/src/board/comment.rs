//! Comments: the thread of a task.

pub(crate) mod row;
pub(crate) mod write;

use domain::board::comment::{AuthorRole, Comment, CommentEvent, CommentRefusal};
use domain::board::search::SearchKind;
use domain::id::{CommentId, ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::RunRefusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::text;

use crate::board::comment::row::comment_of;
use crate::board::search::write as search;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::participant::row as participant;

impl Db {
    /// Adds a comment to a task's thread. `claimed` is the role that the caller states.
    ///
    /// # Errors
    /// When the content is invalid, the role is not the caller's, or the task belongs to another project.
    pub async fn add_comment(&self, caller: &Caller, task: &TaskId, content: &str, claimed: Option<AuthorRole>) -> Result<Comment> {
        let (task, content) = (task.clone(), content.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let own = write::role(caller);
                if let Some(claimed) = claimed.filter(|claimed| *claimed != own) {
                    return Err(AgentRefusal::WrongIdentity { own: own.to_string(), claimed: claimed.to_string() }.into());
                }
                let card = tasks::card(&mut tx.connection, &task).await?;
                if let Caller::Run(run) = caller {
                    if run.project_id != card.project_id {
                        return Err(Refusal::not_found("task", &task).into());
                    }
                    let only_own = matches!(run.phase, AgentKind::Coder | AgentKind::Reviewer);
                    if only_own && run.task_id != task {
                        return Err(RunRefusal::WrongTask { task, own: run.task_id.clone() }.into());
                    }
                } else {
                    participant::load(&mut tx.connection, caller, &card.project_id).await?;
                }
                write::insert(tx, caller, &card.project_id, &task, &content).await
            })
        })
        .await
    }

    /// Replaces the text of the caller's own comment.
    ///
    /// # Errors
    /// When the caller did not write it, or the content is invalid.
    pub async fn edit_comment(&self, caller: &Caller, id: &CommentId, content: &str) -> Result<Comment> {
        let (caller, id, content) = (caller.clone(), id.clone(), content.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let (before, project) = own_comment(tx, &caller, &id, "editing comments").await?;
                let content = text::validate_body("content", &content)?;
                if before.content == content {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(before);
                }
                sqlx::query("UPDATE comments SET content = $2, edited_at = $3 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(&content)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                search::replace(tx, SearchKind::Comment, id.as_str(), &content).await?;
                tx.record_for_task(&caller, &project, &before.task_id, CommentEvent::Edited { comment: id });
                Ok(Comment { content, edited_at: Some(tx.now), ..before })
            })
        })
        .await
    }

    /// Deletes the caller's own comment.
    ///
    /// # Errors
    /// When the caller did not write it.
    pub async fn remove_comment(&self, caller: &Caller, id: &CommentId) -> Result<()> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                let (comment, project) = own_comment(tx, &caller, &id, "deleting comments").await?;
                search::remove(tx, SearchKind::Comment, id.as_str()).await?;
                sqlx::query("DELETE FROM comments WHERE id = $1").bind(id.as_str()).execute(&mut tx.connection).await?;
                tx.record_for_task(&caller, &project, &comment.task_id, CommentEvent::Removed { comment: id });
                Ok(())
            })
        })
        .await
    }

    /// Returns a task's thread, oldest first.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn comments(&self, task: &TaskId) -> Result<Vec<Comment>> {
        let mut connection = self.readers.acquire().await?;
        tasks::card(&mut connection, task).await?;
        sqlx::query("SELECT * FROM comments WHERE task_id = $1 ORDER BY length(id), id")
            .bind(task.as_str())
            .fetch_all(&mut *connection)
            .await?
            .iter()
            .map(comment_of)
            .collect()
    }

    /// The last comments of each task of a project whose id lies in `range`, both ends included: at most `most` a task, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn last_comments(&self, project: &ProjectId, range: Option<(&TaskId, &TaskId)>, most: u32) -> Result<Vec<Comment>> {
        let Some((first, last)) = range else { return Ok(Vec::new()) };
        let length = |id: &TaskId| i64::try_from(id.as_str().len()).unwrap_or(i64::MAX);
        sqlx::query(
            "SELECT * FROM (SELECT c.*, ROW_NUMBER() OVER (PARTITION BY c.task_id ORDER BY length(c.id) DESC, c.id DESC) AS place
                            FROM comments c WHERE c.task_id IN (SELECT id FROM tasks WHERE project_id = $1
                              AND (length(id), id) >= ($2, $3) AND (length(id), id) <= ($4, $5))) AS placed
             WHERE place <= $6 ORDER BY length(id), id",
        )
        .bind(project.as_str())
        .bind(length(first))
        .bind(first.as_str())
        .bind(length(last))
        .bind(last.as_str())
        .bind(i64::from(most))
        .fetch_all(&self.readers)
        .await?
        .iter()
        .map(comment_of)
        .collect()
    }
}

/// Reads a comment that the caller, a person, wrote, and its project.
async fn own_comment(tx: &mut Tx, caller: &Caller, id: &CommentId, action: &str) -> Result<(Comment, ProjectId)> {
    caller.require_person(action)?;
    let row = sqlx::query("SELECT * FROM comments WHERE id = $1").bind(id.as_str()).fetch_optional(&mut tx.connection).await?;
    let comment = comment_of(&row.ok_or_else(|| Refusal::not_found("comment", id))?)?;
    if comment.author_role != AuthorRole::Human || comment.author_name != write::author_name(caller) {
        return Err(CommentRefusal::NotYours { comment: id.clone(), author: comment.author() }.into());
    }
    let project = tasks::project_of_task(&mut tx.connection, &comment.task_id).await?;
    Ok((comment, project))
}
