//! Resources: what a client can read, and be told of when it changes: the caller's inbox, a project's board, a task.
//!
//! They only read, and show nobody what the tools would not; a long one is cut where a tool begins a new page. How a change reaches a client is in `push` and `handler`.

use std::fmt;
use std::str::FromStr;

use db::{Caller, Db, Error};
use domain::event::Envelope;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use crate::page;
use crate::push::stream;

const SCHEME: &str = "vibe-relay://";
const JSON: &str = "application/json";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Uri {
    /// What waits for the caller to be read.
    Inbox,
    Board(ProjectId),
    Task(TaskId),
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inbox => write!(f, "{SCHEME}inbox"),
            Self::Board(project) => write!(f, "{SCHEME}board/{project}"),
            Self::Task(task) => write!(f, "{SCHEME}task/{task}"),
        }
    }
}

impl FromStr for Uri {
    type Err = ErrorData;

    fn from_str(given: &str) -> Result<Self, ErrorData> {
        let parsed = match given.strip_prefix(SCHEME).map(|path| path.split_once('/').unwrap_or((path, ""))) {
            Some(("inbox", "")) => Some(Self::Inbox),
            Some(("board", project)) => project.parse().ok().map(Self::Board),
            Some(("task", task)) => task.parse().ok().map(Self::Task),
            _ => None,
        };
        parsed.ok_or_else(|| unknown(given, "There are vibe-relay://inbox, vibe-relay://board/PROJ-001 and vibe-relay://task/TASK-001."))
    }
}

impl Uri {
    /// The resources that read otherwise after an event, inboxes aside.
    pub(crate) fn changed_by(event: &Envelope) -> impl Iterator<Item = Self> {
        let shown = event.card.is_some() || event.project.is_some();
        let board = event.project_id.clone().filter(|_| shown).map(Self::Board);
        let task = event.card.as_ref().map(|card| Self::Task(card.id.clone()));
        board.into_iter().chain(task)
    }

    /// What the resource holds for the caller.
    ///
    /// # Errors
    /// When it is not there for the caller, which may be because it belongs to others.
    pub(crate) async fn read(&self, db: &Db, caller: &Caller) -> Result<ReadResourceResult, ErrorData> {
        let text = self.value(db, caller).await.map_err(|error| self.failed(error))?.to_string();
        let contents = ResourceContents::text(text, self.to_string()).with_mime_type(JSON);
        Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    /// Whether the resource is there for the caller, who may then be told that it changed.
    ///
    /// # Errors
    /// When it is not, which may be because it belongs to others.
    pub(crate) async fn admit(&self, db: &Db, caller: &Caller) -> db::Result<()> {
        db.require_active_reader(caller).await?;
        match self {
            Self::Inbox => match caller {
                Caller::Run(_) | Caller::Agent(_) => Ok(()),
                Caller::Human | Caller::Runner => Err(Refusal::not_found("inbox", "of the person").into()),
                Caller::Invite(_) => Err(Refusal::NotRegistered.into()),
            },
            Self::Board(project) => {
                within(caller, project, "project", project)?;
                db.project(project).await.map(|_| ())
            }
            Self::Task(task) => within(caller, &db.card(task).await?.project_id, "task", task),
        }
    }

    async fn value(&self, db: &Db, caller: &Caller) -> db::Result<Value> {
        self.admit(db, caller).await?;
        match self {
            Self::Inbox => Ok(json!(stream::unread(db, caller).await?)),
            Self::Board(project) => {
                let mut board = db.board(project).await?;
                let page = page::cards(std::mem::take(&mut board.cards).iter(), |card| (String::new(), json!(card)));
                let mut value = json!(board);
                value["cards"] = json!(page.tasks);
                value["next"] = json!(page.next);
                Ok(value)
            }
            Self::Task(task) => {
                let (comments, older) = page::newest(db.comments(task).await?.into_iter().map(|comment| json!(comment)).collect());
                Ok(json!({"task": db.card(task).await?, "comments": comments, "older_comments": older}))
            }
        }
    }

    /// What went wrong, in words for a client.
    pub(crate) fn failed(&self, error: Error) -> ErrorData {
        match error {
            Error::Refused(refusal) => unknown(&self.to_string(), &format!("{refusal}. {}", refusal.hint())),
            error => {
                tracing::error!(%error, uri = %self, "a resource could not be read");
                ErrorData::internal_error(format!("{self} could not be read: {error}"), None)
            }
        }
    }
}

/// Refuses what belongs to other projects as if it did not exist; before it registered, nothing exists for anybody.
fn within(caller: &Caller, project: &ProjectId, kind: &'static str, name: impl fmt::Display) -> db::Result<()> {
    match (caller, caller.project()) {
        (Caller::Invite(_), _) => Err(Refusal::NotRegistered.into()),
        (_, Some(own)) if own != project => Err(Refusal::not_found(kind, name).into()),
        _ => Ok(()),
    }
}

fn unknown(uri: &str, hint: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("there is no resource {uri} for you. {hint}"), Some(json!({"uri": uri})))
}

/// What the caller can read without knowing an id.
///
/// # Errors
/// When the store fails.
pub(crate) async fn list(db: &Db, caller: &Caller) -> Result<ListResourcesResult, ErrorData> {
    let board = |project: &ProjectId| {
        let uri = Uri::Board(project.clone());
        Resource::new(uri.to_string(), format!("board of {project}")).with_description("The project with all its tasks.").with_mime_type(JSON)
    };
    let inbox =
        Resource::new(Uri::Inbox.to_string(), "inbox").with_description("How many messages wait for you, and from whom.").with_mime_type(JSON);
    let resources = match caller {
        Caller::Run(_) | Caller::Agent(_) => [inbox].into_iter().chain(caller.project().map(board)).collect(),
        Caller::Human | Caller::Runner => {
            let projects = db.projects().await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            projects.iter().map(|project| board(&project.id)).collect()
        }
        Caller::Invite(_) => Vec::new(),
    };
    Ok(ListResourcesResult::with_all_items(resources).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |kind: &str, id: &str, description: &str| {
        ResourceTemplate::new(format!("{SCHEME}{kind}/{{{id}}}"), kind).with_description(description).with_mime_type(JSON)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template("board", "project_id", "A project with all its tasks."),
        template("task", "task_id", "A task with its comments."),
    ])
    .with_ttl_ms(0)
    .with_cache_scope(CacheScope::Private)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for uri in [Uri::Inbox, Uri::Board(ProjectId::new(1)), Uri::Task(TaskId::new(12))] {
            assert_eq!(uri.to_string().parse::<Uri>().unwrap(), uri);
        }
        for bad in ["", "inbox", "vibe-relay://inbox/mara", "vibe-relay://board/", "vibe-relay://task/PROJ-001", "file:///etc/passwd"] {
            let error = bad.parse::<Uri>().unwrap_err();
            assert!(error.message.contains("vibe-relay://board/PROJ-001"), "{bad}: {}", error.message);
        }
    }
}
