//! Context sessions: places in which agents of a project share what they found.
//!
//! A session that a caller may not read does not exist for it.

mod admin_read;
pub(crate) mod message;
pub(crate) mod row;
pub(crate) mod search;
pub(crate) mod write;

use domain::context::metadata::validate_metadata;
use domain::context::session::{
    ContextSession, ContextSessionId, MAX_SESSIONS, NewContextSession, SessionEvent, SessionKind, SessionRefusal, validate_limit,
};
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::person::Right;
use domain::text;

use self::write::NewSessionRow;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::team::participant::row as participant;

/// The sessions in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionListQuery {
    /// The sessions of this project, or those without one.
    pub project: Option<ProjectId>,
    pub include_closed: bool,
    pub limit: Option<u32>,
    pub offset: u32,
}

impl Db {
    /// Creates a session in a project, or one without a project for a person.
    ///
    /// # Errors
    /// When the caller does not take part in the project, or a text is invalid.
    pub async fn create_context_session(&self, caller: &Caller, project: Option<&ProjectId>, new: NewContextSession) -> Result<ContextSession> {
        let project = project.cloned();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let creator = match &project {
                    Some(project) => participant::load(&mut tx.connection, caller, project).await?.name,
                    None => {
                        caller.require_person("creating a session without a project")?;
                        caller.name().unwrap_or_default()
                    }
                };
                let purpose = text::validate_title("purpose", &new.purpose)?;
                let metadata = validate_metadata(new.metadata)?;
                let row = NewSessionRow { project: project.as_ref(), kind: SessionKind::Shared, task: None, purpose: &purpose, creator: &creator };
                let id = write::insert(tx, row, &metadata).await?;
                write::record(tx, caller, project.as_ref(), SessionEvent::Created { session: id.clone() });
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Closes a session that was created with [`Self::create_context_session`]. It can still be read.
    ///
    /// # Errors
    /// When the session does not exist for the caller, belongs to its project or plan, or was created by another participant and the caller is
    /// not a lead.
    pub async fn close_context_session(&self, caller: &Caller, id: &ContextSessionId) -> Result<ContextSession> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (session, reader) = row::read_for(&mut tx.connection, caller, &id).await?;
                if session.kind != SessionKind::Shared {
                    return Err(SessionRefusal::StaysOpen { session: id }.into());
                }
                let is_lead = match &session.project_id {
                    Some(project) => participant::load(&mut tx.connection, caller, project).await?.is_lead,
                    None => caller.is_person(),
                };
                if !is_lead && session.created_by != reader.name() {
                    return Err(SessionRefusal::NotYours { session: id, creator: session.created_by }.into());
                }
                if !session.is_active {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(session);
                }
                write::close(tx, &id).await?;
                write::record(tx, caller, session.project_id.as_ref(), SessionEvent::Closed { session: id.clone() });
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// # Errors
    /// When the session does not exist for the caller.
    pub async fn context_session(&self, caller: &Caller, id: &ContextSessionId) -> Result<ContextSession> {
        Ok(row::read_for(&mut *self.readers.acquire().await?, caller, id).await?.0)
    }

    /// Returns the session in which the caller takes part by itself: for a managed agent that of its plan, otherwise that of the project.
    ///
    /// # Errors
    /// When the project does not exist for the caller.
    pub async fn own_context_session(&self, caller: &Caller, project: &ProjectId) -> Result<ContextSession> {
        if caller.project().is_some_and(|own| own != project) {
            return Err(Refusal::not_found("project", project).into());
        }
        if let Caller::Invite(_) = caller {
            return Err(AgentRefusal::NotRegistered.into());
        }
        let task = match caller {
            Caller::Run(run) => Some(&run.task_id),
            Caller::Person(_) | Caller::Runner | Caller::Agent(_) | Caller::Invite(_) => None,
        };
        row::own(&mut *self.readers.acquire().await?, project, task).await
    }

    /// Returns the session in which a task takes part: that of its plan, or else that of its project.
    ///
    /// # Errors
    /// When the task does not exist, or the caller is not a person.
    pub async fn context_session_of_task(&self, caller: &Caller, task: &TaskId) -> Result<ContextSession> {
        caller.person(Right::Read, "reading the session of a task")?;
        let mut connection = self.readers.acquire().await?;
        let project = tasks::project_of_task(&mut connection, task).await?;
        row::own(&mut connection, &project, Some(task)).await
    }

    /// Whether a participant wrote a message into a session of the project.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn has_session_messages(&self, project: &ProjectId) -> Result<bool> {
        Ok(sqlx::query_scalar(row::IN_USE).bind(project.as_str()).fetch_one(&self.readers).await?)
    }

    /// Lists sessions, newest first.
    ///
    /// # Errors
    /// When the project does not exist for the caller, or the limit is out of range.
    pub async fn context_sessions(&self, caller: &Caller, query: &SessionListQuery) -> Result<Vec<ContextSession>> {
        let limit = validate_limit(query.limit, MAX_SESSIONS, MAX_SESSIONS)?;
        let mut connection = self.readers.acquire().await?;
        match &query.project {
            Some(project) => drop(participant::load(&mut connection, caller, project).await?),
            None => drop(caller.person(Right::Read, "listing sessions without a project")?),
        }
        row::list(&mut connection, query.project.as_ref(), query.include_closed, limit, message::validate_offset(query.offset)?).await
    }
}
