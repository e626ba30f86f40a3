//! Debriefs, and the end of a session of the war room.

pub(crate) mod row;
pub(crate) mod write;

use domain::id::ProjectId;
use domain::warroom::debrief::{Debrief, DebriefRefusal, MAX_NAMED, NewDebrief, SessionEnd};

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;
use crate::team::participant::row as participant;
use crate::warroom::battle_plan::write as battle_plan;
use crate::warroom::old_task::write as old_task;
use crate::warroom::raid_log::write as raid_log;
use crate::warroom::trigger::write as trigger;

/// The most debriefs that one call returns.
const MAX_DEBRIEFS: u32 = 50;

impl Db {
    /// Files a debrief of the session.
    ///
    /// # Errors
    /// When the caller is not a lead, or the text is not acceptable.
    pub async fn debrief(&self, caller: &Caller, project: &ProjectId, new: NewDebrief) -> Result<Debrief> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                participant::load(&mut tx.connection, caller, &project).await?.require_lead("filing a debrief")?;
                let summary = new.text()?;
                write::file(tx, caller, &project, &summary).await
            })
        })
        .await
    }

    /// Ends the session: its battle plans are completed, and entries of low priority leave the raid log. Leads need a new plan afterwards, and
    /// decide about the tasks that nobody has begun before they create others.
    ///
    /// # Errors
    /// When the caller is not a lead, tasks are open, or no debrief was filed in this session.
    pub async fn end_session(&self, caller: &Caller, project: &ProjectId) -> Result<SessionEnd> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                participant.require_lead("ending the session")?;
                participant.require_whole_project("ending the session")?;
                let mut tasks = row::open_tasks(&mut tx.connection, &project).await?;
                if !tasks.is_empty() {
                    let more = tasks.len().saturating_sub(MAX_NAMED);
                    tasks.truncate(MAX_NAMED);
                    return Err(DebriefRefusal::OpenTasks { tasks, more }.into());
                }
                if !row::is_filed(&mut tx.connection, &project).await? {
                    return Err(DebriefRefusal::Missing.into());
                }
                let waiting = row::waiting(&mut tx.connection, &project).await?;
                let plans = battle_plan::complete_all(tx, caller, &project).await?;
                trigger::end_all(tx, caller, &project).await?;
                let log_entries = raid_log::remove_routine(tx, &project).await?;
                old_task::mark(tx, caller, &project).await?;
                write::end_session(tx, caller, &project).await?;
                Ok(SessionEnd { ended_at: tx.now, plans, log_entries, waiting })
            })
        })
        .await
    }

    /// Lists the debriefs of a project, newest first, before the one with the number `before`.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn debriefs(&self, project: &ProjectId, before: Option<i64>, limit: u32) -> Result<Vec<Debrief>> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        row::list(&mut connection, project, before.unwrap_or(i64::MAX), limit.clamp(1, MAX_DEBRIEFS)).await
    }
}
