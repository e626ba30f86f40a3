//! Tells an external agent once about files of its claims and zones that changed since it loaded them.
//!
//! It must not know who changed a file: an agent's own edits count until it reports its context again.

use std::time::Duration;

use db::{AgentCaller, AgentFiles, Db};
use domain::time::Timestamp;
use domain::warroom::freshness::{ChangedFile, Freshness};

use super::Notice;
use crate::checkout::{checkout_for, file_times};
use crate::reply::Failure;

/// How often the files of one agent are compared. Each look costs a few reads, and as many as there are files in its zones.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// The changes that an agent was told about.
#[derive(Debug, Clone, Default)]
pub(super) struct SeenFiles {
    checked_at: Option<Timestamp>,
    told: Vec<ChangedFile>,
}

impl SeenFiles {
    /// Returns the notice about files that changed since the last one.
    pub(super) async fn check(&mut self, db: &Db, agent: &AgentCaller, now: Timestamp) -> Option<Notice> {
        if self.checked_at.is_some_and(|at| !at.after(CHECK_INTERVAL).is_due(now, CHECK_INTERVAL)) {
            return None;
        }
        self.checked_at = Some(now);
        let fresh = match freshness(db, agent).await {
            Ok(fresh) => fresh?,
            // check_freshness says why.
            Err(failure) => {
                tracing::debug!(?failure, agent = agent.name, "the files of an agent were not found");
                return None;
            }
        };
        let count = fresh.count();
        let is_news = count > 0 && fresh.changed != self.told;
        self.told = fresh.changed;
        is_news.then_some(Notice::ChangedFiles { count })
    }
}

/// Compares the files of an agent. None for one without claims and zones.
async fn freshness(db: &Db, agent: &AgentCaller) -> Result<Option<Freshness>, Failure> {
    let AgentFiles { agent, claims, zone, worktree_of, loaded_at, loaded, .. } = db.agent_files(&agent.project_id, &agent.name).await?;
    let paths = [claims, zone].concat();
    if paths.is_empty() {
        return Ok(None);
    }
    let checkout = checkout_for(db, &agent.project_id, worktree_of.as_ref()).await?;
    let files = file_times(checkout, paths).await?;
    Ok(Some(Freshness::of(agent.name, loaded_at, &loaded, files.into_iter().flatten())))
}
