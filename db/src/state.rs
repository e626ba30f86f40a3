//! What the runner plans from: everything that is open, read in one snapshot.

use std::collections::{BTreeMap, BTreeSet};

use domain::failure::FailureClass;
use domain::id::{ProjectId, TaskId};
use domain::park::Parking;
use domain::project::Project;
use domain::run::Run;
use domain::task::{Card, Phase, Status, Task};
use domain::time::Timestamp;
use domain::why::Why;
use sqlx::{Connection, Row, SqliteConnection};

use crate::caller::Caller;
use crate::error::Result;
use crate::open::Db;
use crate::presence::Presence;
use crate::task::read::{count, optional, parsed, planned_rows, task_of};
use crate::tx::Quiet;
use crate::{handshake, now, project, run};

/// Desired state (tasks) and what is on record about actual state (runs).
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub projects: BTreeMap<ProjectId, Project>,
    /// Active tasks, ordered by id: open, with a live run, with a checkout, or with a pending branch decision. Their cards carry no counts of
    /// comments, attempts and costs, no builders, and no dependencies once the task has started.
    pub tasks: Vec<TaskState>,
    /// Finished tasks that an open task names as its parent or as a dependency, unless they are in `tasks`.
    pub referenced: BTreeMap<TaskId, ReferencedTask>,
    pub live: Vec<Run>,
    pub parkings: Vec<Parking>,
    /// Open handshakes for which only such are waited who do not listen, and when the last of these is given up.
    pub unanswered: Vec<(i64, Timestamp)>,
    /// Since when signs of life are heard.
    pub listening_since: Timestamp,
}

/// A task with what only the runner asks about.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskState {
    pub task: Task,
    pub failures: u32,
    pub last_failure: Option<FailureClass>,
    pub retry_at: Option<Timestamp>,
    pub assignee: Option<Assignee>,
}

/// Facts about a finished task that decide whether the tasks that refer to it may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferencedTask {
    pub phase: Phase,
    pub status: Status,
    pub satisfies_dependents: bool,
}

/// What was heard of the agent from outside that has a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assignee {
    pub connected: bool,
    pub last_seen: Option<Timestamp>,
}

impl Db {
    /// # Errors
    /// When the store fails.
    pub async fn state(&self) -> Result<State> {
        let parkings = self.parkings().await?;
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let outside = outside(&mut snapshot, &self.presence).await?;
        let unanswered = handshake::unanswered(&mut snapshot, &self.presence, now()).await?;
        let mut projects = BTreeMap::new();
        let mut tasks = Vec::new();
        for row in sqlx::query("SELECT * FROM projects ORDER BY length(id), id").fetch_all(&mut *snapshot).await? {
            let project = project::project_of(&row)?;
            for row in planned_rows(&mut snapshot, &project.id).await? {
                let task = task_of(&row)?;
                let name = task.card.hands.assigned_to.clone();
                tasks.push(TaskState {
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
        Ok(State { projects, tasks, referenced, live, parkings, unanswered, listening_since: self.presence.listening_since() })
    }

    /// Stores why tasks are not worked on, where it changed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn set_whys(&self, whys: Vec<(TaskId, Option<Why>)>) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                tx.quiet(Quiet::NothingChanged);
                for (id, why) in whys {
                    let text = why.as_ref().map(serde_json::to_string).transpose()?;
                    // `updated_at` stays: nothing happened to the task itself.
                    let project: Option<String> =
                        sqlx::query_scalar("UPDATE tasks SET why = $2 WHERE id = $1 AND why IS NOT $2 RETURNING project_id")
                            .bind(id.as_str())
                            .bind(text)
                            .fetch_optional(&mut tx.connection)
                            .await?;
                    if let Some(project) = project {
                        tx.record_for_task(&Caller::Runner, &project.parse()?, &id, domain::event::Event::WhyChanged { why });
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

fn referenced_by(active: &[TaskState], finished: &[TaskState]) -> BTreeMap<TaskId, ReferencedTask> {
    let open = active.iter().map(|known| &known.task.card).filter(|card| card.status.is_open());
    let ids: BTreeSet<&TaskId> = open.flat_map(|card| card.depends_on.iter().chain(&card.parent_task_id)).collect();
    let facts = |card: &Card| ReferencedTask { phase: card.phase, status: card.status, satisfies_dependents: card.satisfies_dependents() };
    let cards = finished.iter().map(|known| &known.task.card).filter(|card| ids.contains(&card.id));
    cards.map(|card| (card.id.clone(), facts(card))).collect()
}

/// The agents from outside, by project and name. Who left is connected to nothing that concerns its tasks.
async fn outside(connection: &mut SqliteConnection, presence: &Presence) -> Result<BTreeMap<(ProjectId, String), Assignee>> {
    let rows =
        sqlx::query("SELECT project_id, name, last_seen, heartbeat_at, left_at FROM agents WHERE run_id IS NULL").fetch_all(connection).await?;
    let assignee = |row| {
        let (project, name): (ProjectId, String) = (parsed(row, "project_id")?, row.try_get("name")?);
        let signs = presence.of(&project, &name);
        let connected = signs.connections > 0 && row.try_get::<Option<&str>, _>("left_at")?.is_none();
        let last_seen = optional(row, "last_seen")?.max(optional(row, "heartbeat_at")?).max(signs.last);
        Ok(((project, name), Assignee { connected, last_seen }))
    };
    rows.iter().map(assignee).collect()
}
