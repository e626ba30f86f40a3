//! Limits: reports that one is nearly used up, agents that are told to hand over, and raises. Must not decide when a limit is reached: the
//! runner does.

pub(crate) mod write;

use domain::board::attention::Attention;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::hand_over::HandOverReason;
use domain::runs::limit::{LimitEvent, LimitScope, LimitUse};

use crate::board::attention::write as attention;
use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run::row as runs;
use crate::runs::run::write::request_hand_over;

/// The subject of a limit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitSubject {
    Run {
        run: RunId,
        task: TaskId,
    },
    Task(TaskId),
    Project(ProjectId),
    /// A date in UTC.
    Day(String),
}

impl LimitSubject {
    pub const fn scope(&self) -> LimitScope {
        match self {
            Self::Run { .. } => LimitScope::Run,
            Self::Task(_) => LimitScope::Task,
            Self::Project(_) => LimitScope::Project,
            Self::Day(_) => LimitScope::Day,
        }
    }

    /// Returns the key in the store.
    pub fn key(&self) -> &str {
        match self {
            Self::Run { run, .. } => run.as_str(),
            Self::Task(task) => task.as_str(),
            Self::Project(project) => project.as_str(),
            Self::Day(day) => day,
        }
    }
}

impl Db {
    /// Reports once that a limit is nearly used up; again only after it was raised.
    ///
    /// # Errors
    /// When the task or the project does not exist.
    pub async fn warn_of_limit(&self, subject: &LimitSubject, limit: LimitUse) -> Result<()> {
        let subject = subject.clone();
        self.write(move |tx| {
            Box::pin(async move {
                if !write::warn(tx, subject.scope(), subject.key()).await? {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                let event = LimitEvent::Near { limit };
                match &subject {
                    LimitSubject::Run { task, .. } | LimitSubject::Task(task) => {
                        let project = tasks::project_of_task(&mut tx.connection, task).await?;
                        write::show_near(tx, task, Some(&limit)).await?;
                        tx.record_for_task(&Caller::Runner, &project, task, event);
                    }
                    LimitSubject::Project(project) => tx.record_for_project(&Caller::Runner, project, event),
                    LimitSubject::Day(_) => tx.record(&Caller::Runner, event),
                }
                Ok(())
            })
        })
        .await
    }

    /// Stores that the agent of a live run is to hand over, because a limit is reached.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn request_hand_over(&self, id: &RunId, limit: LimitUse) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                runs::read(&mut tx.connection, &id).await?;
                if !request_hand_over(tx, &Caller::Runner, &id, HandOverReason::Limit { limit }).await? {
                    tx.skip_event(NoEventReason::NothingChanged);
                }
                Ok(())
            })
        })
        .await
    }

    /// Asks the human to raise a limit that keeps a task from its agents. Changes nothing if the task needs attention already.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn flag_limit(&self, id: &TaskId, limit: LimitUse) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &id).await?;
                if !card.status.is_open() || card.attention.is_some() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                attention::request(tx, &Caller::Runner, &card.project_id, &id, Attention::limit_reached(&limit)).await?;
                task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }

    /// Settles the question about a limit of a task, its project or the day. Other attention stays.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn settle_limit(&self, id: &TaskId) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &id).await?;
                if card.attention.as_ref().and_then(|attention| attention.limit).is_none_or(|scope| scope == LimitScope::Run) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                attention::clear(tx, &Caller::Runner, &card.project_id, &id).await?;
                task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }

    /// Raises the limit that a task waits for: adds it once more. A task that waits for none gets a higher limit of its own.
    ///
    /// # Errors
    /// When the task does not exist, or the caller is not a person.
    pub async fn raise_task_limit(&self, caller: &Caller, id: &TaskId) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("raising limits")?;
                let card = tasks::card(&mut tx.connection, &id).await?;
                let scope = card.attention.as_ref().and_then(|attention| attention.limit).unwrap_or(LimitScope::Task);
                let day = tx.now.day();
                let subject = match scope {
                    LimitScope::Run | LimitScope::Task => id.as_str(),
                    LimitScope::Project => card.project_id.as_str(),
                    LimitScope::Day => &day,
                };
                match scope {
                    // The next run has the full limits again.
                    LimitScope::Run => write::reset(tx, &caller, scope, subject).await?,
                    _ => write::raise(tx, &caller, scope, subject).await?,
                }
                if scope == LimitScope::Task {
                    write::show_near(tx, &id, None).await?;
                }
                tx.record_for_task(&caller, &card.project_id, &id, LimitEvent::Raised { scope });
                task_changed(tx, &caller, &card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Raises the budget of a project: adds it once more.
    ///
    /// # Errors
    /// When the project does not exist, or the caller is not a person.
    pub async fn raise_project_limit(&self, caller: &Caller, id: &ProjectId) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("raising limits")?;
                let project = projects::read(&mut tx.connection, &id).await?;
                write::raise(tx, &caller, LimitScope::Project, id.as_str()).await?;
                tx.record_for_project(&caller, &id, LimitEvent::Raised { scope: LimitScope::Project });
                Ok(project)
            })
        })
        .await
    }
}
