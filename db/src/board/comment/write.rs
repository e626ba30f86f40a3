//! Adds comments to the thread of a task. Must not decide who may comment.

use domain::board::comment::{AuthorRole, Comment, CommentEvent};
use domain::board::search::SearchKind;
use domain::id::{CommentId, ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::HUMAN;
use domain::text;

use crate::board::search::write::{self as search, Document};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Adds a comment as part of a larger use case.
pub(crate) async fn insert(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: &TaskId, content: &str) -> Result<Comment> {
    let comment = Comment {
        id: CommentId::new(tx.next_number(CommentId::PREFIX).await?),
        task_id: task.clone(),
        author_role: role(caller),
        author_name: author_name(caller),
        run_id: caller.run().cloned(),
        content: text::validate_body("content", content)?,
        created_at: tx.now,
        edited_at: None,
    };
    sqlx::query("INSERT INTO comments (id, task_id, author_role, author_name, run_id, content, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)")
        .bind(comment.id.as_str())
        .bind(comment.task_id.as_str())
        .bind(comment.author_role.as_str())
        .bind(&comment.author_name)
        .bind(comment.run_id.as_ref().map(RunId::as_str))
        .bind(&comment.content)
        .bind(comment.created_at.to_string())
        .execute(&mut tx.connection)
        .await?;
    let document = Document { kind: SearchKind::Comment, reference: comment.id.as_str(), project, task: Some(task) };
    search::add(tx, document, &comment.content).await?;
    let event = CommentEvent::Added { comment: comment.id.clone(), author_role: comment.author_role };
    tx.record_for_task(caller, project, task, event);
    Ok(comment)
}

/// Returns the author role of a caller.
pub(crate) fn role(caller: &Caller) -> AuthorRole {
    match caller {
        Caller::Person(_) => AuthorRole::Human,
        Caller::Runner => AuthorRole::Runner,
        Caller::Run(run) => match run.phase {
            AgentKind::Planner => AuthorRole::Planner,
            AgentKind::Coder => AuthorRole::Coder,
            AgentKind::Reviewer => AuthorRole::Reviewer,
            AgentKind::Orchestrator => AuthorRole::Orchestrator,
            AgentKind::Oracle => AuthorRole::Oracle,
        },
        Caller::Agent(_) | Caller::Invite(_) => AuthorRole::Agent,
    }
}

/// Returns the name that the role does not say: an external agent's, or that of a person other than the owner.
pub(super) fn author_name(caller: &Caller) -> Option<String> {
    match caller {
        Caller::Agent(_) => caller.name(),
        Caller::Person(_) => caller.name().filter(|name| name != HUMAN),
        Caller::Runner | Caller::Run(_) | Caller::Invite(_) => None,
    }
}
