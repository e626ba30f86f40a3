//! What the runner plans from: everything that is open, read in one snapshot.

use std::collections::BTreeMap;

use domain::board::project::Project;
use domain::board::task::Task;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, TaskId};
use domain::runs::failure::FailureClass;
use domain::runs::parking::Parking;
use domain::runs::run::Run;
use domain::time::Timestamp;
use sqlx::{Connection, Row, SqliteConnection};

use crate::board::project;
use crate::board::task::read::{count, optional, parsed, planned_rows, task_of};
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::now;
use crate::runs::run;
use crate::team::handshake;
use crate::team::presence::Presence;

/// Desired state (tasks) and what is on record about actual state (runs).
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    pub projects: BTreeMap<ProjectId, Project>,
    /// In the order of their ids. All of them: dependencies point to finished ones. Nothing is planned from comments, attempts, costs and
    /// builders, nor from what a begun task once waited for: their cards have none.
    pub tasks: Vec<TaskSnapshot>,
    pub live: Vec<Run>,
    pub parkings: Vec<Parking>,
    /// Open handshakes for which only such are waited who do not listen, and when the last of these is given up.
    pub unanswered: Vec<(i64, Timestamp)>,
    /// Since when signs of life are heard.
    pub tracking_since: Timestamp,
}

/// A task with what only the runner asks about.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSnapshot {
    pub task: Task,
    pub failures: u32,
    pub last_failure: Option<FailureClass>,
    pub retry_at: Option<Timestamp>,
    pub assignee: Option<AssigneePresence>,
}

/// What was heard of the agent from outside that has a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssigneePresence {
    pub connected: bool,
    pub last_seen: Option<Timestamp>,
}

impl Db {
    /// # Errors
    /// When the store fails.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        let parkings = self.parkings().await?;
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let outside = external_agents(&mut snapshot, &self.presence).await?;
        let unanswered = handshake::pending_with_deadline(&mut snapshot, &self.presence, now()).await?;
        let mut projects = BTreeMap::new();
        let mut tasks = Vec::new();
        for row in sqlx::query("SELECT * FROM projects ORDER BY length(id), id").fetch_all(&mut *snapshot).await? {
            let project = project::project_of(&row)?;
            for row in planned_rows(&mut snapshot, &project.id).await? {
                let task = task_of(&row)?;
                let name = task.card.contributors.assigned_to.clone();
                tasks.push(TaskSnapshot {
                    assignee: name.and_then(|name| outside.get(&(project.id.clone(), name)).copied()),
                    task,
                    failures: count(&row, "failures")?,
                    last_failure: optional(&row, "last_failure")?,
                    retry_at: optional(&row, "retry_at")?,
                });
            }
            projects.insert(project.id.clone(), project);
        }
        let rows = sqlx::query("SELECT * FROM agent_runs WHERE completed_at IS NULL ORDER BY length(id), id").fetch_all(&mut *snapshot).await?;
        let live = rows.iter().map(run::run_of).collect::<Result<_>>()?;
        snapshot.rollback().await?;
        Ok(Snapshot { projects, tasks, live, parkings, unanswered, tracking_since: self.presence.tracking_since() })
    }

    /// Stores why tasks are not worked on, where it changed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn set_wait_reasons(&self, whys: Vec<(TaskId, Option<WaitReason>)>) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::NothingChanged);
                for (id, why) in whys {
                    let text = why.as_ref().map(serde_json::to_string).transpose()?;
                    // `updated_at` stays: nothing happened to the task itself.
                    let project: Option<String> = sqlx::query_scalar(
                        "UPDATE tasks SET wait_reason = $2 WHERE id = $1 AND wait_reason IS DISTINCT FROM $2 RETURNING project_id",
                    )
                    .bind(id.as_str())
                    .bind(text)
                    .fetch_optional(&mut tx.connection)
                    .await?;
                    if let Some(project) = project {
                        tx.record_for_task(&Caller::Runner, &project.parse()?, &id, domain::event::Event::WaitReasonChanged { why });
                    }
                }
                Ok(())
            })
        })
        .await
    }
}

/// The agents from outside, by project and name. Who left is connected to nothing that concerns its tasks.
async fn external_agents(connection: &mut SqliteConnection, presence: &Presence) -> Result<BTreeMap<(ProjectId, String), AssigneePresence>> {
    let rows =
        sqlx::query("SELECT project_id, name, last_seen, heartbeat_at, left_at FROM agents WHERE run_id IS NULL").fetch_all(connection).await?;
    let assignee = |row| {
        let (project, name): (ProjectId, String) = (parsed(row, "project_id")?, row.try_get("name")?);
        let signs = presence.of(&project, &name);
        let connected = signs.connections > 0 && row.try_get::<Option<&str>, _>("left_at")?.is_none();
        let last_seen = optional(row, "last_seen")?.max(optional(row, "heartbeat_at")?).max(signs.last);
        Ok(((project, name), AssigneePresence { connected, last_seen }))
    };
    rows.iter().map(assignee).collect()
}
