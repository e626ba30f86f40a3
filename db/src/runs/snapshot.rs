//! What the runner plans from: everything that is open, read in one snapshot.

use std::collections::{BTreeMap, BTreeSet};

use domain::board::card::Card;
use domain::board::project::Project;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
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
    /// Active tasks, ordered by id: open, with a live run, with a checkout, or with a pending branch decision. Their cards carry no counts of
    /// comments, attempts and costs, no builders, and no dependencies once the task has started.
    pub tasks: Vec<TaskSnapshot>,
    /// Finished tasks that an open task names as its parent or as a dependency, unless they are in `tasks`.
    pub referenced: BTreeMap<TaskId, ReferencedTask>,
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

/// Facts about a finished task that decide whether the tasks that refer to it may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferencedTask {
    pub phase: AgentKind,
    pub status: Status,
    pub satisfies_dependents: bool,
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
        let (tasks, finished): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|known| is_active(&known.task));
        let referenced = referenced_by(&tasks, &finished);
        Ok(Snapshot { projects, tasks, referenced, live, parkings, unanswered, tracking_since: self.presence.tracking_since() })
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
                        tx.record_for_task(&Caller::Runner, &project.parse()?, &id, domain::event::Event::WaitReasonChanged { wait_reason: why });
                    }
                }
                Ok(())
            })
        })
        .await
    }
}

fn is_active(task: &Task) -> bool {
    let card = &task.card;
    let decides_branch = card.attention.as_ref().is_some_and(|attention| attention.tip.is_some());
    card.status.is_open() || card.run.is_some() || task.worktree_path.is_some() || decides_branch
}

fn referenced_by(active: &[TaskSnapshot], finished: &[TaskSnapshot]) -> BTreeMap<TaskId, ReferencedTask> {
    let open = active.iter().map(|known| &known.task.card).filter(|card| card.status.is_open());
    let ids: BTreeSet<&TaskId> = open.flat_map(|card| card.depends_on.iter().chain(&card.parent_task_id)).collect();
    let facts = |card: &Card| ReferencedTask { phase: card.phase, status: card.status, satisfies_dependents: card.satisfies_dependents() };
    let cards = finished.iter().map(|known| &known.task.card).filter(|card| ids.contains(&card.id));
    cards.map(|card| (card.id.clone(), facts(card))).collect()
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
