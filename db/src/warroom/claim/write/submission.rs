//! Compares submitted work with the claims: the files that it changes stay claimed until it is merged, and readers learn which of them other
//! agents edit. Must not refuse the work.

use domain::board::task::Task;
use domain::warroom::claim::queue::Decision;
use domain::warroom::claim::{ClaimPath, MAX_CLAIMS};

use super::{Claimant, grant};
use crate::board::comment::write as comment;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::warroom::claim::row::{load, scope};

/// How many files of others are named.
const SHOWN: usize = 10;

/// Claims the changed files of a managed agent that are free, such as those that a command wrote, until its work is merged. Comments on those
/// that other agents hold.
pub(crate) async fn compare_with_claims(tx: &mut Tx, caller: &Caller, task: &Task, changed: &[String]) -> Result<()> {
    let Some(agent) = caller.name().filter(|_| matches!(caller, Caller::Run(_) | Caller::Agent(_))) else { return Ok(()) };
    let project = &task.card.project_id;
    let git_dir = scope(&mut tx.connection, project).await?.git_dir;
    let mut claims = load(&mut tx.connection, &git_dir).await?;
    let is_managed = caller.run().is_some();
    let to = Claimant { git_dir: &git_dir, project, agent: &agent, task: Some(&task.card.id) };
    let mut held = claims.claims.iter().filter(|claim| claim.project_id == *project && claim.agent == agent).count();
    let mut taken = Vec::new();
    // Nobody can claim a name with a line break, or one that is too long.
    for path in changed.iter().filter_map(|path| ClaimPath::parse(path, &[]).ok()) {
        match claims.decide(project, &agent, &path) {
            Decision::Held(_) => {}
            Decision::Free if is_managed && held < MAX_CLAIMS => {
                let claim = grant(tx, caller, to, &path).await?;
                claims.claims.push(claim);
                held += 1;
            }
            Decision::Free => {}
            Decision::Taken { holder, .. } | Decision::Deadlock { holder, .. } => taken.push(format!("- {path} ({})", holder.agent)),
        }
    }
    if taken.is_empty() {
        return Ok(());
    }
    let more = if taken.len() > SHOWN { format!("\n- and {} more", taken.len() - SHOWN) } else { String::new() };
    taken.truncate(SHOWN);
    let text = format!("This work changes files that other agents hold, so it may conflict with theirs:\n\n{}{more}", taken.join("\n"));
    comment::insert(tx, &Caller::Runner, project, &task.card.id, &text).await.map(drop)
}
