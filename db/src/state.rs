//! What the runner plans from: everything that is open, read in one snapshot.

use std::collections::BTreeMap;

use domain::failure::FailureClass;
use domain::id::{ProjectId, TaskId};
use domain::park::Parking;
use domain::project::Project;
use domain::run::Run;
use domain::task::Task;
use domain::time::Timestamp;
use domain::why::Why;
use sqlx::Connection;

use crate::caller::Caller;
use crate::error::Result;
use crate::open::Db;
use crate::task::read::{count, optional, rows_of_project, task_of};
use crate::tx::Quiet;
use crate::{project, run};

/// Desired state (tasks) and what is on record about actual state (runs).
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub projects: BTreeMap<ProjectId, Project>,
    /// In the order of their ids. All of them: dependencies point to finished ones.
    pub tasks: Vec<TaskState>,
    pub live: Vec<Run>,
    pub parkings: Vec<Parking>,
}

/// A task with what only the runner asks about.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskState {
    pub task: Task,
    pub failures: u32,
    pub last_failure: Option<FailureClass>,
    pub retry_at: Option<Timestamp>,
}

impl Db {
    /// # Errors
    /// When the store fails.
    pub async fn state(&self) -> Result<State> {
        let parkings = self.parkings().await?;
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let mut projects = BTreeMap::new();
        let mut tasks = Vec::new();
        for row in sqlx::query("SELECT * FROM projects ORDER BY length(id), id").fetch_all(&mut *snapshot).await? {
            let project = project::project_of(&row)?;
            for row in rows_of_project(&mut snapshot, &project.id).await? {
                tasks.push(TaskState {
                    task: task_of(&row)?,
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
        Ok(State { projects, tasks, live, parkings })
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
