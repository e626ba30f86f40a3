//! The handoff of a run: what the session before it left, public findings, and the keys of its own memory.

use domain::context::handoff::{CONSIDERED, Handoff};
use domain::context::memory::{MemoryOwner, MemoryPlace};
use domain::context::reader::Reader;
use domain::context::session::visibility::Visibility;
use domain::id::{ProjectId, RunId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::warroom::knowledge::{Knowledge, KnowledgeKind};
use sqlx::SqliteConnection;

use crate::board::task::row::{project_of_task, task};
use crate::context::memory::row as memory;
use crate::context::session::row::{self as sessions, Part};
use crate::engine::open::Db;
use crate::error::Result;
use crate::now;
use crate::runs::run::row as runs;
use crate::warroom::briefing::row as briefing;
use crate::warroom::claim::row as claims;
use crate::warroom::handover::row as handovers;
use crate::warroom::knowledge::row as knowledge;

impl Db {
    /// Returns the handoff of a run. Only what everyone may read, and the memory of the agents that it succeeds.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn handoff(&self, run: &RunId) -> Result<Handoff> {
        let mut connection = self.readers.acquire().await?;
        let run = runs::read(&mut connection, run).await?;
        let project = project_of_task(&mut connection, &run.task_id).await?;
        let session = sessions::own(&mut connection, &project, Some(&run.task_id)).await?;
        let predecessor = handovers::unread(&mut connection, &project, &Run::agent_name(run.phase, &run.task_id)).await?;
        let log = if predecessor.is_some() { briefing::newest_entries(&mut connection, &project).await? } else { Vec::new() };
        let traps = if run.phase == AgentKind::Coder { traps(&mut connection, &project, &run).await? } else { Vec::new() };
        let reader = Reader::Run { project, run: run.id, kind: run.phase, task: run.task_id };
        let public = sessions::audience_words(&reader, &session, Some(Visibility::Public));
        let found = sessions::messages(&mut connection, &session.id, &Part::Before(i64::MAX), &public, (CONSIDERED, 0)).await?;
        let total = sessions::count_messages(&mut connection, &session.id, |audience, _| public.iter().any(|word| word == audience)).await?;
        let places = MemoryPlace::for_reading(&reader, None);
        let mut kept = memory::list(&mut connection, &MemoryOwner::of_reader(&reader), now()).await?;
        kept.retain(|entry| places.iter().any(|place| place.session == entry.session_id && place.task == entry.task_id));
        let findings: Vec<_> = found.into_iter().map(|(_, message)| message).collect();
        Ok(Handoff { older: total.saturating_sub(findings.len() as u64), findings, memory: kept, predecessor, log, traps })
    }
}

/// The most traps of a handoff. A prompt has room for fewer.
const MAX_TRAPS: usize = 20;

/// Returns the live traps of the files that the task of a coder is planned to change and that the coder holds; all where none are known.
async fn traps(connection: &mut SqliteConnection, project: &ProjectId, run: &Run) -> Result<Vec<Knowledge>> {
    let mut traps = knowledge::live_of_kind(connection, project, KnowledgeKind::Trap).await?;
    if !traps.is_empty() {
        let git_dir = claims::scope(connection, project).await?.git_dir;
        let claims = claims::load(connection, &git_dir).await?.claims.into_iter();
        let mut files = task(connection, &run.task_id).await?.files.paths().to_vec();
        files.extend(claims.filter(|claim| claim.task_id.as_ref() == Some(&run.task_id)).map(|claim| claim.path));
        traps.retain(|trap| files.is_empty() || trap.concerns(&files));
        traps.truncate(MAX_TRAPS);
    }
    Ok(traps)
}
