//! Follows the base before a landing of a project with checks. These can take long, so the landing does not wait for their end.
//!
//! Nothing is stored: a server that restarts begins again, and finds the check that still runs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::id::ProjectId;
use domain::runs::land::LandRefusal;
use tokio::sync::watch;
use tokio::time::timeout;

use super::fetch::Freshness;
use super::{Checks, Followed, follow, report};
use crate::runs::run::RunContext;

/// How long a landing waits. Known results and a base that has not moved need less.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// How following ended, once it has.
type Ending = watch::Receiver<Option<Followed>>;

/// The projects that follow their base for a landing, and those whose person was not told yet how that ended. The key has the folder of the store.
static FOLLOWING: LazyLock<Mutex<HashMap<(PathBuf, ProjectId), Ending>>> = LazyLock::new(Mutex::default);

fn following() -> MutexGuard<'static, HashMap<(PathBuf, ProjectId), Ending>> {
    FOLLOWING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Follows the base of a project before its branch lands on it, with the checks of the project.
///
/// # Errors
/// The checks still run, or cannot run. A conflict and red checks are a task of their own, which the caller looks for.
pub async fn follow_before_landing(context: &RunContext, id: &ProjectId) -> db::Result<()> {
    let project = context.db.project(id).await?;
    if project.profile.checks.full.commands.is_empty() {
        report(id, follow(context, id, Freshness::Now, &Checks::None).await);
        return Ok(());
    }
    let key = (context.db.folder(), id.clone());
    let mut ending = {
        let mut following = following();
        let known = following.get(&key).filter(|ending| matches!(*ending.borrow(), None | Some(Followed::NotChecked { .. })));
        let ending = known.cloned().unwrap_or_else(|| start(context, id));
        following.insert(key.clone(), ending.clone());
        ending
    };
    let ended = timeout(CHECK_TIMEOUT, ending.wait_for(Option::is_some)).await.map(|ended| ended.map(|ended| ended.clone()));
    let (project, base_branch) = (id.clone(), project.base_branch);
    match ended {
        Err(_) => Err(LandRefusal::BaseChecking { project, base_branch }.into()),
        Ok(ended) => {
            following().remove(&key);
            match ended {
                Ok(Some(Followed::NotChecked { why })) => Err(LandRefusal::BaseNotChecked { project, base_branch, why }.into()),
                // One that panicked is in the log.
                Ok(Some(Followed::AsFarAsPossible | Followed::Interrupted) | None) | Err(_) => Ok(()),
            }
        }
    }
}

fn start(context: &RunContext, id: &ProjectId) -> Ending {
    let (sender, ending) = watch::channel(None);
    let (context, id) = (context.clone(), id.clone());
    tokio::spawn(async move {
        let checks = Checks::Of { work: Vec::new() };
        let followed = report(&id, follow(&context, &id, Freshness::Now, &checks).await);
        sender.send_replace(Some(followed));
    });
    ending
}
