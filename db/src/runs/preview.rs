//! Previews in the store: the apps that run on the files of tasks and of project branches. Must not know how an app is started.

use std::path::PathBuf;

use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::ProjectId;
use domain::runs::output::COMMAND_OUTPUT_FILE;
use domain::runs::preview::{Preview, PreviewEvent, PreviewRefusal, PreviewState, PreviewSubject};
use domain::time::Timestamp;
use sqlx::{Row, SqliteConnection};

use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::column::{json, parsed};
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;

/// The previews of tasks that are starting, running or stopping. Reads those that the index names, whatever else has ended.
pub(crate) const OF_TASKS: &str = "SELECT t.id, t.preview, t.worktree_path IS NOT NULL AND t.status IN ('in_progress', 'in_review')
      AND (SELECT p.archived_at FROM projects p WHERE p.id = t.project_id) IS NULL AS has_files
  FROM tasks t WHERE t.preview ->> 'state' <> 'failed'";

pub(crate) const OF_PROJECTS: &str = "SELECT p.id, p.preview, p.archived_at IS NULL AS has_files FROM projects p
  WHERE p.preview ->> 'state' <> 'failed'";

/// A preview with a process, or that is to get one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivePreview {
    pub subject: PreviewSubject,
    pub preview: Preview,
    /// Whether the files are there on which it runs.
    pub has_files: bool,
}

impl Db {
    /// Lists the previews that are starting, running or stopping.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn live_previews(&self) -> Result<Vec<LivePreview>> {
        let mut found = Vec::new();
        for row in sqlx::query(OF_TASKS).fetch_all(&self.readers).await? {
            let Some(preview) = json(&row, "preview")? else { continue };
            found.push(LivePreview { subject: PreviewSubject::Task(parsed(&row, "id")?), preview, has_files: row.try_get("has_files")? });
        }
        for row in sqlx::query(OF_PROJECTS).fetch_all(&self.readers).await? {
            let Some(preview) = json(&row, "preview")? else { continue };
            found.push(LivePreview { subject: PreviewSubject::Project(parsed(&row, "id")?), preview, has_files: row.try_get("has_files")? });
        }
        Ok(found)
    }

    /// Returns the preview of a task or a project, if it runs or failed.
    ///
    /// # Errors
    /// When the task or the project does not exist.
    pub async fn preview(&self, subject: &PreviewSubject) -> Result<Option<Preview>> {
        let mut connection = self.readers.acquire().await?;
        Ok(Owner::read(&mut connection, subject).await?.preview())
    }

    /// The folder with those of the apps of a project.
    pub fn previews_folder(&self, project: &ProjectId) -> PathBuf {
        self.folder().join("previews").join(project.as_str())
    }

    /// The folder of one app, in which its log is.
    pub fn preview_folder(&self, project: &ProjectId, subject: &PreviewSubject, started_at: Timestamp) -> PathBuf {
        self.previews_folder(project).join(format!("{}-{}", subject.name(), started_at.milliseconds()))
    }

    /// Returns the file with everything that the app of a task or a project printed. It does not exist before the app starts.
    ///
    /// # Errors
    /// When there is no preview.
    pub async fn preview_log(&self, subject: &PreviewSubject) -> Result<PathBuf> {
        let mut connection = self.readers.acquire().await?;
        let owner = Owner::read(&mut connection, subject).await?;
        let preview = owner.preview().ok_or_else(|| PreviewRefusal::NotRunning { name: subject.name() })?;
        Ok(self.preview_folder(&owner.project().id, subject, preview.started_at).join(COMMAND_OUTPUT_FILE))
    }

    /// Asks for the app of a task or a project. One that is live already stays.
    ///
    /// # Errors
    /// When the caller is not a person who may work, the profile has no command for it, or there are no files to run it on.
    pub async fn request_preview(&self, caller: &Caller, subject: &PreviewSubject) -> Result<Preview> {
        let (caller, subject) = (caller.clone(), subject.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("opening an app")?;
                let owner = Owner::read(&mut tx.connection, &subject).await?;
                if let Some(live) = owner.preview().filter(Preview::is_live) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(live);
                }
                owner.require_files()?;
                let preview = Preview::requested(tx.now);
                owner.store(tx, &caller, Some(&preview), PreviewEvent::Requested {}).await?;
                Ok(preview)
            })
        })
        .await
    }

    /// Asks the app of a task or a project to end. A failure is forgotten.
    ///
    /// # Errors
    /// When the caller is not a person who may work, or there is no preview.
    pub async fn stop_preview(&self, caller: &Caller, subject: &PreviewSubject) -> Result<()> {
        let (caller, subject) = (caller.clone(), subject.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("ending an app")?;
                let owner = Owner::read(&mut tx.connection, &subject).await?;
                let preview = owner.preview().ok_or_else(|| PreviewRefusal::NotRunning { name: subject.name() })?;
                let (stopping, why) = match preview.state {
                    PreviewState::Stopping => {
                        tx.skip_event(NoEventReason::NothingChanged);
                        return Ok(());
                    }
                    PreviewState::Failed => (None, "its failure was read"),
                    PreviewState::Starting | PreviewState::Running => {
                        (Some(Preview { state: PreviewState::Stopping, ..preview }), "a person asked for it")
                    }
                };
                owner.store(tx, &caller, stopping.as_ref(), PreviewEvent::Ended { why: why.to_owned() }).await
            })
        })
        .await
    }

    /// Records that the command of a preview was started, with the ports that it leases.
    ///
    /// # Errors
    /// When the task or the project does not exist.
    pub async fn record_preview_start(&self, subject: &PreviewSubject, started_at: Timestamp, ports: &[u16]) -> Result<()> {
        let event = PreviewEvent::Started { port: ports.first().copied().unwrap_or_default() };
        let (owner, ports) = (subject.clone(), ports.to_vec());
        self.change_preview(subject, started_at, event, move |before| Some(before.started(&owner, ports))).await
    }

    /// Records that the app of a preview answers.
    ///
    /// # Errors
    /// When the task or the project does not exist.
    pub async fn record_preview_answer(&self, subject: &PreviewSubject, started_at: Timestamp, port: u16) -> Result<()> {
        let answered = |before: Preview| match before.state {
            PreviewState::Starting => Some(Preview { state: PreviewState::Running, ..before }),
            _ => Some(before),
        };
        self.change_preview(subject, started_at, PreviewEvent::Answered { port }, answered).await
    }

    /// Records that a preview ended because it was to.
    ///
    /// # Errors
    /// When the task or the project does not exist.
    pub async fn end_preview(&self, subject: &PreviewSubject, started_at: Timestamp, why: &str) -> Result<()> {
        self.change_preview(subject, started_at, PreviewEvent::Ended { why: why.to_owned() }, |_| None).await
    }

    /// Records that a preview ended by itself or could not start.
    ///
    /// # Errors
    /// When the task or the project does not exist.
    pub async fn fail_preview(&self, subject: &PreviewSubject, started_at: Timestamp, why: &str) -> Result<()> {
        let (event, why) = (PreviewEvent::Failed { why: why.to_owned() }, why.to_owned());
        self.change_preview(subject, started_at, event, move |before| Some(before.failed(&why))).await
    }

    /// Changes the preview that started at `started_at`. Nothing happens if another one replaced it.
    async fn change_preview(
        &self,
        subject: &PreviewSubject,
        started_at: Timestamp,
        event: PreviewEvent,
        change: impl FnOnce(Preview) -> Option<Preview> + Send + 'static,
    ) -> Result<()> {
        let subject = subject.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let owner = Owner::read(&mut tx.connection, &subject).await?;
                match owner.preview().filter(|known| known.started_at == started_at) {
                    Some(before) => {
                        let after = change(before.clone());
                        if after.as_ref() != Some(&before) {
                            return owner.store(tx, &Caller::Runner, after.as_ref(), event).await;
                        }
                    }
                    None => tracing::debug!(subject = subject.name(), "a preview was replaced meanwhile"),
                }
                tx.skip_event(NoEventReason::NothingChanged);
                Ok(())
            })
        })
        .await
    }
}

/// The row that shows a preview.
enum Owner {
    Task(Box<Task>, Box<Project>),
    Project(Box<Project>),
}

impl Owner {
    async fn read(connection: &mut SqliteConnection, subject: &PreviewSubject) -> Result<Self> {
        Ok(match subject {
            PreviewSubject::Task(id) => {
                let task = tasks::task(connection, id).await?;
                let project = projects::read(connection, &task.card.project_id).await?;
                Self::Task(Box::new(task), Box::new(project))
            }
            PreviewSubject::Project(id) => Self::Project(Box::new(projects::read(connection, id).await?)),
        })
    }

    const fn project(&self) -> &Project {
        let (Self::Task(_, project) | Self::Project(project)) = self;
        project
    }

    fn preview(&self) -> Option<Preview> {
        match self {
            Self::Task(task, _) => task.card.preview.clone(),
            Self::Project(project) => project.preview.clone(),
        }
    }

    fn require_files(&self) -> Result<(), PreviewRefusal> {
        let project = self.project();
        if project.profile.preview.is_none() {
            return Err(PreviewRefusal::NoCommand { project: project.id.clone() });
        }
        match self {
            Self::Task(task, _) if !task.card.can_run_app(task.worktree_path.as_deref()) => {
                Err(PreviewRefusal::NoFiles { task: task.card.id.clone(), status: task.card.status })
            }
            Self::Project(project) if project.merged_at.is_none() => Err(PreviewRefusal::NothingMerged { project: project.id.clone() }),
            Self::Task(..) | Self::Project(_) => Ok(()),
        }
    }

    async fn store(&self, tx: &mut Tx, caller: &Caller, preview: Option<&Preview>, event: PreviewEvent) -> Result<()> {
        let (statement, id) = match self {
            Self::Task(task, _) => ("UPDATE tasks SET preview = $2, updated_at = $3 WHERE id = $1", task.card.id.as_str()),
            Self::Project(project) => ("UPDATE projects SET preview = $2, updated_at = $3 WHERE id = $1", project.id.as_str()),
        };
        sqlx::query(statement)
            .bind(id)
            .bind(preview.map(serde_json::to_string).transpose()?)
            .bind(tx.now.to_string())
            .execute(&mut tx.connection)
            .await?;
        match self {
            Self::Task(task, project) => tx.record_for_task(caller, &project.id, &task.card.id, event),
            Self::Project(project) => tx.record_for_project(caller, &project.id, event),
        }
        Ok(())
    }
}
