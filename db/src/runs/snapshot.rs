//! The runner's input: everything that is open, read in one snapshot. Must not decide what to do.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::board::project::Project;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::task::event::TaskEvent;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::Sha;
use domain::runs::failure::FailureClass;
use domain::runs::limit::LimitScope;
use domain::runs::parking::Parking;
use domain::runs::run::Run;
use domain::runs::usage::UsageSums;
use domain::time::Timestamp;
use domain::warroom::claim::ClaimPath;
use domain::warroom::trigger::TriggerWord;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use crate::board::project::row::{self as projects, select_project};
use crate::board::task::row::{SCHEDULED, task_of};
use crate::caller::Caller;
use crate::engine::column::{count, optional, parsed};
use crate::engine::open::Db;
use crate::engine::presence::Presence;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::pause::row as pauses;
use crate::runs::pause::row::Pause;
use crate::runs::run::row as runs;
use crate::runs::usage::row::{SPENT_ON_DAY, sums_of};
use crate::team::handshake::row as handshakes;
use crate::warroom::claim::row as claims;
use crate::warroom::trigger::row as triggers;
use crate::{now, uptime};

/// An open task that the scheduler must look at. A held task whose card says so already is settled: only a change of the task itself, which
/// also changes one of these columns, can give it another wait reason. An imported backlog therefore costs the scheduler nothing.
macro_rules! schedulable {
    () => {
        "status IN ('backlog', 'in_progress', 'in_review')
      AND (held_by IS NULL OR wait_reason IS DISTINCT FROM '{\"is\":\"held\",\"by\":\"' || held_by || '\"}')"
    };
}

/// Tasks that are schedulable, run, have a checkout, or need the human. Finished tasks that need the human without a branch decision are
/// removed afterwards.
macro_rules! active_tasks {
    () => {
        concat!(
            "SELECT id FROM tasks WHERE ",
            schedulable!(),
            "
    UNION SELECT task_id FROM agent_runs WHERE completed_at IS NULL
    UNION SELECT id FROM tasks WHERE worktree_path IS NOT NULL
    UNION SELECT id FROM tasks WHERE attention IS NOT NULL"
        )
    };
}

pub(crate) const ACTIVE: &str = concat!("WHERE t.id IN (", active_tasks!(), ")");

pub(crate) const ACTIVE_PROJECTS: &str =
    concat!(select_project!(), "WHERE p.id IN (SELECT project_id FROM tasks WHERE id IN (", active_tasks!(), "))");

/// The tasks that schedulable ones name as their parent or, while they wait, as a dependency. Active tasks among them are removed afterwards.
pub(crate) const REFERENCED: &str = concat!(
    "SELECT id, phase, status, cancel_reason FROM tasks WHERE id IN (
    SELECT parent_task_id FROM tasks WHERE ",
    schedulable!(),
    "
    UNION SELECT depends_on FROM dependencies WHERE task_id IN (SELECT id FROM tasks WHERE status = 'backlog' AND ",
    schedulable!(),
    "))"
);

pub(crate) const ASSIGNEES: &str = "SELECT a.project_id, a.name, a.last_seen, a.heartbeat_at, a.left_at
  FROM (SELECT DISTINCT project_id, assigned_to FROM tasks
        WHERE status IN ('backlog', 'in_progress', 'in_review') AND assigned_to IS NOT NULL) AS assigned
  JOIN agents a ON a.project_id = assigned.project_id AND a.name = assigned.assigned_to WHERE a.run_id IS NULL";

pub(crate) const SPENT: &str = concat!(
    "SELECT project_id, CAST(SUM(turns) AS BIGINT) AS turns, CAST(SUM(input_tokens) AS BIGINT) AS input_tokens,
       CAST(SUM(output_tokens) AS BIGINT) AS output_tokens, CAST(SUM(cost_micro_usd) AS BIGINT) AS cost_micro_usd
     FROM usage_by_kind WHERE project_id IN (SELECT project_id FROM tasks WHERE id IN (",
    active_tasks!(),
    ")) GROUP BY project_id"
);

/// The history of the limits of active tasks, their runs and projects, and of the day.
pub(crate) const LIMITS: &str = concat!(
    "SELECT scope, subject, raises, warned FROM limit_states WHERE scope = 'day' AND subject = $1
    UNION ALL SELECT scope, subject, raises, warned FROM limit_states WHERE scope = 'run'
      AND subject IN (SELECT id FROM agent_runs WHERE completed_at IS NULL)
    UNION ALL SELECT scope, subject, raises, warned FROM limit_states WHERE scope = 'task' AND subject IN (",
    active_tasks!(),
    ")
    UNION ALL SELECT scope, subject, raises, warned FROM limit_states WHERE scope = 'project'
      AND subject IN (SELECT project_id FROM tasks WHERE id IN (",
    active_tasks!(),
    "))"
);

/// Desired state (tasks) and recorded actual state (runs).
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    pub projects: BTreeMap<ProjectId, Project>,
    /// When the last agent of each project in `projects` was started; nothing for a project without runs.
    pub last_starts: BTreeMap<ProjectId, Timestamp>,
    /// The pause of each project in `projects`, on its own or with all.
    pub pauses: BTreeMap<ProjectId, Pause>,
    /// Active tasks, ordered by id: open and not settled on hold, with a live run, with a checkout, or with a pending branch decision. Their
    /// cards carry no counts of comments and attempts, no builders, and no dependencies once the task has started.
    pub tasks: Vec<TaskSnapshot>,
    /// Tasks that an active task names as its parent or as a dependency, unless they are in `tasks`.
    pub referenced: BTreeMap<TaskId, ReferencedTask>,
    pub live: Vec<Run>,
    /// How long each live run has worked. Time in which the machine was suspended or the run waited for a person does not count.
    pub worked: BTreeMap<RunId, Duration>,
    /// The usage of each project in `projects`.
    pub spent: BTreeMap<ProjectId, UsageSums>,
    /// The usage of all projects today, in UTC.
    pub spent_today: UsageSums,
    pub today: String,
    /// Raised limits, and those reported as nearly used up, by scope and subject.
    pub limits: BTreeMap<(LimitScope, String), LimitState>,
    pub parkings: Vec<Parking>,
    /// Deleted projects of which nothing is left outside of the store.
    pub removable: Vec<ProjectId>,
    /// Pending handshakes whose remaining targets are all unreachable, and when the last of them counts as unresponsive.
    pub unanswered: Vec<(i64, Timestamp)>,
    /// Tasks whose agents wait for a file, with its path and the agent that holds it.
    pub waiting_for_claims: BTreeMap<TaskId, (ClaimPath, String)>,
    /// External agents with claims that are not connected, and when their claims end.
    pub expiring_claims: Vec<(ProjectId, String, Timestamp)>,
    /// The order to stop of each project that has one, with its author: nothing starts there.
    pub stop_orders: BTreeMap<ProjectId, (TriggerWord, String)>,
    /// The paths of the zones that come first, by project.
    pub hot_zones: BTreeMap<ProjectId, Vec<ClaimPath>>,
    /// Orders to which an external agent owes an answer, and when it is removed without one.
    pub due_triggers: Vec<(i64, Timestamp)>,
    /// Since when this process has tracked heartbeats.
    pub tracking_since: Timestamp,
}

/// A task with the facts that only the runner needs.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSnapshot {
    pub task: Task,
    /// The commit that was last submitted for review.
    pub submitted_sha: Option<Sha>,
    /// How many review rounds had the same changes and findings as the last one, since a person last decided.
    pub repeated_rounds: u32,
    pub failures: u32,
    pub last_failure: Option<FailureClass>,
    pub retry_at: Option<Timestamp>,
    pub assignee: Option<AssigneePresence>,
}

/// The history of a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitState {
    pub raises: u32,
    /// Whether it was reported as nearly used up since it was last raised.
    pub warned: bool,
}

/// Facts about a task that decide whether the tasks that refer to it may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferencedTask {
    pub phase: AgentKind,
    pub status: Status,
    pub satisfies_dependents: bool,
}

/// The presence of the external agent that a task is assigned to.
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
        let external = external_agents(&mut snapshot, &self.presence).await?;
        let pause = pauses::of_all(&mut snapshot).await?;
        let unanswered = handshakes::pending_with_deadline(&mut snapshot, &self.presence, pause, now()).await?;
        let rows = sqlx::query(ACTIVE_PROJECTS).fetch_all(&mut *snapshot).await?;
        let started = rows.iter().map(|row| Ok((parsed(row, "id")?, optional(row, "agent_started_at")?)));
        let started = started.collect::<Result<Vec<(ProjectId, Option<Timestamp>)>>>()?;
        let pauses = rows.iter().map(|row| Ok((parsed(row, "id")?, pauses::of_project(row)?.and(pause)))).collect::<Result<_>>()?;
        let last_starts = started.into_iter().filter_map(|(id, at)| Some((id, at?))).collect();
        let projects = rows.iter().map(|row| projects::project_of(row).map(|project| (project.id.clone(), project)));
        let projects = projects.collect::<Result<BTreeMap<_, _>>>()?;
        let rows = sqlx::query(AssertSqlSafe(format!("{SCHEDULED} {ACTIVE}"))).fetch_all(&mut *snapshot).await?;
        let tasks = rows.iter().map(|row| task_snapshot(row, &external)).filter(|known| known.as_ref().map_or(true, |known| is_active(&known.task)));
        let mut tasks = tasks.collect::<Result<Vec<_>>>()?;
        tasks.sort_unstable_by_key(|known| known.task.card.id.number());
        let referenced = referenced(&mut snapshot, &tasks).await?;
        let rows = sqlx::query("SELECT * FROM agent_runs WHERE completed_at IS NULL ORDER BY length(id), id").fetch_all(&mut *snapshot).await?;
        let live = rows.iter().map(runs::run_of).collect::<Result<_>>()?;
        let worked = rows.iter().map(worked).collect::<Result<_>>()?;
        let spent = sqlx::query(SPENT).fetch_all(&mut *snapshot).await?;
        let spent = spent.iter().map(|row| Ok((parsed(row, "project_id")?, sums_of(row)?))).collect::<Result<_>>()?;
        let today = now().day();
        let spent_today = sums_of(&sqlx::query(SPENT_ON_DAY).bind(&today).fetch_one(&mut *snapshot).await?)?;
        let limits = sqlx::query(LIMITS).bind(&today).fetch_all(&mut *snapshot).await?;
        let limits = limits.iter().map(limit_state).collect::<Result<_>>()?;
        let removable = projects::removable(&mut snapshot).await?;
        let waiting_for_claims = claims::waiting_tasks(&mut snapshot).await?;
        let expiring_claims = claims::expiring(&mut snapshot, &self.presence).await?;
        let stop_orders = triggers::stopping(&mut snapshot).await?;
        let hot_zones = triggers::hot(&mut snapshot).await?;
        let due_triggers = triggers::due(&mut snapshot).await?;
        snapshot.rollback().await?;
        Ok(Snapshot {
            projects,
            last_starts,
            pauses,
            tasks,
            referenced,
            live,
            worked,
            spent,
            spent_today,
            today,
            limits,
            parkings,
            removable,
            unanswered,
            waiting_for_claims,
            expiring_claims,
            stop_orders,
            hot_zones,
            due_triggers,
            tracking_since: self.presence.tracking_since(),
        })
    }

    /// Stores the changed wait reasons of tasks.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn set_wait_reasons(&self, reasons: Vec<(TaskId, Option<WaitReason>)>) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::NothingChanged);
                for (id, reason) in reasons {
                    let text = reason.as_ref().map(serde_json::to_string).transpose()?;
                    // `updated_at` stays: nothing happened to the task itself.
                    let project: Option<String> = sqlx::query_scalar(
                        "UPDATE tasks SET wait_reason = $2 WHERE id = $1 AND wait_reason IS DISTINCT FROM $2 RETURNING project_id",
                    )
                    .bind(id.as_str())
                    .bind(text)
                    .fetch_optional(&mut tx.connection)
                    .await?;
                    if let Some(project) = project {
                        tx.record_for_task(&Caller::Runner, &project.parse()?, &id, TaskEvent::WaitReasonChanged { wait_reason: reason });
                    }
                }
                Ok(())
            })
        })
        .await
    }
}

fn worked(row: &SqliteRow) -> Result<(RunId, Duration)> {
    let until = row.try_get::<Option<i64>, _>("waits_since_ms")?.unwrap_or_else(uptime);
    let milliseconds = until - row.try_get::<i64, _>("started_uptime_ms")?;
    Ok((parsed(row, "id")?, Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default())))
}

fn limit_state(row: &SqliteRow) -> Result<((LimitScope, String), LimitState)> {
    let state = LimitState { raises: count(row, "raises")?, warned: row.try_get("warned")? };
    Ok(((parsed(row, "scope")?, row.try_get("subject")?), state))
}

fn is_active(task: &Task) -> bool {
    let card = &task.card;
    let decides_branch = card.attention.as_ref().is_some_and(|attention| attention.tip.is_some());
    card.status.is_open() || card.run.is_some() || task.worktree_path.is_some() || decides_branch
}

fn task_snapshot(row: &SqliteRow, external: &BTreeMap<(ProjectId, String), AssigneePresence>) -> Result<TaskSnapshot> {
    let task = task_of(row)?;
    let assignee = task.card.contributors.assigned_to.clone().map(|name| (task.card.project_id.clone(), name));
    Ok(TaskSnapshot {
        assignee: assignee.and_then(|assignee| external.get(&assignee).copied()),
        task,
        submitted_sha: row.try_get("submitted_sha")?,
        repeated_rounds: count(row, "repeated_rounds")?,
        failures: count(row, "failures")?,
        last_failure: optional(row, "last_failure")?,
        retry_at: optional(row, "retry_at")?,
    })
}

/// Facts about the tasks that active tasks refer to, except those in `active`, which are sorted.
async fn referenced(connection: &mut SqliteConnection, active: &[TaskSnapshot]) -> Result<BTreeMap<TaskId, ReferencedTask>> {
    let mut referenced = BTreeMap::new();
    for row in &sqlx::query(REFERENCED).fetch_all(connection).await? {
        let id: TaskId = parsed(row, "id")?;
        if active.binary_search_by_key(&id.number(), |known| known.task.card.id.number()).is_ok() {
            continue;
        }
        let status: Status = parsed(row, "status")?;
        let satisfies_dependents = status.satisfies_dependents(optional(row, "cancel_reason")?);
        referenced.insert(id, ReferencedTask { phase: parsed(row, "phase")?, status, satisfies_dependents });
    }
    Ok(referenced)
}

/// Reads the presence of the external assignees of open tasks. An assignee that left counts as not connected.
async fn external_agents(connection: &mut SqliteConnection, presence: &Presence) -> Result<BTreeMap<(ProjectId, String), AssigneePresence>> {
    let rows = sqlx::query(ASSIGNEES).fetch_all(connection).await?;
    let assignee = |row| {
        let (project, name): (ProjectId, String) = (parsed(row, "project_id")?, row.try_get("name")?);
        let known = presence.of(&project, &name);
        let connected = known.connections > 0 && row.try_get::<Option<&str>, _>("left_at")?.is_none();
        let last_seen = optional(row, "last_seen")?.max(optional(row, "heartbeat_at")?).max(known.last);
        Ok(((project, name), AssigneePresence { connected, last_seen }))
    };
    rows.iter().map(assignee).collect()
}
