//! The resources that a client can read and subscribe to: the caller's inbox, boards, tasks, context sessions, its memory, this server.
//!
//! They show no more than the tools do, and long ones are cut after one page. It must not know how changes reach clients.

mod context;
mod list;
mod uri;

use std::fmt;

use db::{Caller, CardFilter, Db, Error};
use domain::audit::AuditKind;
use domain::context::session::ContextSessionId;
use domain::context::session::validate_limit;
use domain::event::Envelope;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::refusal::AgentRefusal;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ReadResourceResult, ResourceContents, Tool};
use serde_json::{Value, json};

pub(crate) use self::context::session_value;
pub(crate) use self::list::{list, templates};
use crate::bearer::Bearer;
use crate::page;
use crate::push::stream;

const JSON: &str = "application/json";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Uri {
    /// The caller's unread messages.
    Inbox,
    Board(ProjectId),
    Task(TaskId),
    /// A context session with its newest messages.
    Session(ContextSessionId),
    /// The newest messages of a context session, this many.
    Messages(ContextSessionId, u32),
    /// The memory of the agent with this name. Only its own exists for a caller.
    Memory(String),
    /// This server.
    Server,
    /// The caller's tools.
    Tools,
}

impl Uri {
    /// Returns the boards and tasks that an event changes.
    pub(crate) fn changed_by(event: &Envelope) -> impl Iterator<Item = Self> {
        let shown = event.card.is_some() || event.project.is_some();
        let board = event.project_id.clone().filter(|_| shown).map(Self::Board);
        let task = event.card.as_ref().map(|card| Self::Task(card.id.clone()));
        board.into_iter().chain(task)
    }

    /// Returns the session whose messages the resource shows.
    pub(crate) const fn session(&self) -> Option<&ContextSessionId> {
        match self {
            Self::Session(session) | Self::Messages(session, _) => Some(session),
            Self::Inbox | Self::Board(_) | Self::Task(_) | Self::Memory(_) | Self::Server | Self::Tools => None,
        }
    }

    /// Returns the contents of the resource for the caller, who is listed `tools`.
    ///
    /// # Errors
    /// When it does not exist or belongs to another project.
    pub(crate) async fn read(&self, db: &Db, caller: &Caller, tools: Vec<Tool>) -> Result<ReadResourceResult, ErrorData> {
        let text = self.value(db, caller, tools).await.map_err(|error| self.failed(error))?.to_string();
        let contents = ResourceContents::text(text, self.to_string()).with_mime_type(JSON);
        Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    /// Checks that the caller may read the resource and be notified of its changes.
    ///
    /// # Errors
    /// When it does not exist or belongs to another project or agent.
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
            Self::Session(session) => db.context_session(caller, session).await.map(|_| ()),
            Self::Messages(session, limit) => {
                validate_limit(Some(*limit), context::MESSAGES, context::MAX_MESSAGES)?;
                db.context_session(caller, session).await.map(|_| ())
            }
            // Nothing is looked up, so the answer about another agent is the same as about one that does not exist.
            Self::Memory(agent) => match caller.reader()?.name() == *agent {
                true => Ok(()),
                false => Err(Refusal::not_found("memory", format_args!("of {agent}")).into()),
            },
            Self::Server | Self::Tools => match caller {
                Caller::Invite(_) => Err(AgentRefusal::NotRegistered.into()),
                Caller::Person(_) | Caller::Runner | Caller::Run(_) | Caller::Agent(_) => Ok(()),
            },
        }
    }

    async fn value(&self, db: &Db, caller: &Caller, tools: Vec<Tool>) -> db::Result<Value> {
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
            Self::Session(session) => session_value(db, caller, session).await,
            Self::Messages(session, limit) => context::messages_value(db, caller, session, *limit).await,
            Self::Memory(agent) => context::memory_value(db, caller, agent).await,
            Self::Server => Ok(context::server_value(caller, tools.len())),
            Self::Tools => Ok(context::tools_value(&tools)),
        }
    }

    /// Returns the resource with the address `given`, if the caller may read it and be notified of its changes.
    ///
    /// # Errors
    /// When it does not exist for the caller.
    pub(crate) async fn admitted(given: &str, db: &Db, caller: &Caller) -> Result<Self, ErrorData> {
        let uri: Self = given.parse()?;
        uri.admit(db, caller).await.map_err(|error| uri.failed(error))?;
        Ok(uri)
    }

    /// Turns a failure into an error for the client.
    pub(crate) fn failed(&self, error: Error) -> ErrorData {
        match error {
            Error::Refused(refusal) => unknown(&self.to_string(), refusal.code(), &format!("{refusal}. {}", refusal.hint())),
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

fn unknown(uri: &str, code: &str, hint: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("the resource {uri} does not exist for you. {hint}"), Some(json!({"uri": uri, "code": code})))
}

/// Adds a refused resource to the audit log. A failure of the board is not a refusal.
pub(crate) fn record_refusal(db: &Db, bearer: &Bearer, action: &str, uri: &str, error: &ErrorData) {
    if let Some(code) = error.data.as_ref().and_then(|data| data.get("code")?.as_str()) {
        db.record_fact(AuditKind::Refusal, &bearer.act(action), Some(&bearer.caller), Some(uri), code);
    }
}
