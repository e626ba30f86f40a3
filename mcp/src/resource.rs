//! The resources that a client can read and subscribe to: the caller's inbox, the board of a project, a task.
//!
//! They show no more than the tools do, and long ones are cut after one page. It must not know how changes reach clients.

use std::fmt;
use std::str::FromStr;

use db::{Caller, CardFilter, Db, Error};
use domain::event::Envelope;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::refusal::AgentRefusal;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use crate::page;
use crate::push::stream;

const SCHEME: &str = "vibe-relay://";
const JSON: &str = "application/json";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Uri {
    /// The caller's unread messages.
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
        parsed.ok_or_else(|| unknown(given, "Use vibe-relay://inbox, vibe-relay://board/PROJ-001 or vibe-relay://task/TASK-001."))
    }
}

impl Uri {
    /// Returns the resources that an event changes, except inboxes.
    pub(crate) fn changed_by(event: &Envelope) -> impl Iterator<Item = Self> {
        let shown = event.card.is_some() || event.project.is_some();
        let board = event.project_id.clone().filter(|_| shown).map(Self::Board);
        let task = event.card.as_ref().map(|card| Self::Task(card.id.clone()));
        board.into_iter().chain(task)
    }

    /// Returns the contents of the resource for the caller.
    ///
    /// # Errors
    /// When it does not exist or belongs to another project.
    pub(crate) async fn read(&self, db: &Db, caller: &Caller) -> Result<ReadResourceResult, ErrorData> {
        let text = self.value(db, caller).await.map_err(|error| self.failed(error))?.to_string();
        let contents = ResourceContents::text(text, self.to_string()).with_mime_type(JSON);
        Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    /// Checks that the caller may read the resource and be notified of its changes.
    ///
    /// # Errors
    /// When it does not exist or belongs to another project.
    pub(crate) async fn admit(&self, db: &Db, caller: &Caller) -> db::Result<()> {
        db.require_active_reader(caller).await?;
        match self {
            Self::Inbox => match caller {
                Caller::Run(_) | Caller::Agent(_) => Ok(()),
                Caller::Person(_) | Caller::Runner => Err(Refusal::not_found("inbox", "of the human").into()),
                Caller::Invite(_) => Err(AgentRefusal::NotRegistered.into()),
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
                let mut board = db.board(project).await?.board;
                board.cards = Vec::new();
                let cards = db.cards(&CardFilter::of_project(project.clone())).await?;
                let page = page::cards(cards.iter(), |card| (String::new(), json!(card)));
                let mut value = json!(board);
                value["cards"] = json!(page.tasks);
                value["next"] = json!(page.next);
                Ok(value)
            }
            Self::Task(task) => {
                let (comments, older) = page::newest_that_fit(db.comments(task).await?.into_iter().map(|comment| json!(comment)).collect());
                Ok(json!({"task": db.card(task).await?, "comments": comments, "older_comments": older}))
            }
        }
    }

    /// Turns a failure into an error for the client.
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

/// Refuses a resource of another project as if it did not exist. A guest that has not registered sees none.
fn within(caller: &Caller, project: &ProjectId, kind: &'static str, name: impl fmt::Display) -> db::Result<()> {
    match (caller, caller.project()) {
        (Caller::Invite(_), _) => Err(AgentRefusal::NotRegistered.into()),
        (_, Some(own)) if own != project => Err(Refusal::not_found(kind, name).into()),
        _ => Ok(()),
    }
}

fn unknown(uri: &str, hint: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("the resource {uri} does not exist for you. {hint}"), Some(json!({"uri": uri})))
}

/// Lists the resources of the caller.
///
/// # Errors
/// When the store fails.
pub(crate) async fn list(db: &Db, caller: &Caller) -> Result<ListResourcesResult, ErrorData> {
    let board = |project: &ProjectId| {
        let uri = Uri::Board(project.clone());
        Resource::new(uri.to_string(), format!("board of {project}")).with_description("The project with all its tasks.").with_mime_type(JSON)
    };
    let inbox = Resource::new(Uri::Inbox.to_string(), "inbox")
        .with_description("The number of your unread messages, and their senders.")
        .with_mime_type(JSON);
    let resources = match caller {
        Caller::Run(_) | Caller::Agent(_) => [inbox].into_iter().chain(caller.project().map(board)).collect(),
        Caller::Person(_) | Caller::Runner => {
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
    fn uris_round_trip() {
        for uri in [Uri::Inbox, Uri::Board(ProjectId::new(1)), Uri::Task(TaskId::new(12))] {
            assert_eq!(uri.to_string().parse::<Uri>().unwrap(), uri);
        }
        for bad in ["", "inbox", "vibe-relay://inbox/mara", "vibe-relay://board/", "vibe-relay://task/PROJ-001", "file:///etc/passwd"] {
            let error = bad.parse::<Uri>().unwrap_err();
            assert!(error.message.contains("vibe-relay://board/PROJ-001"), "{bad}: {}", error.message);
        }
    }
}
