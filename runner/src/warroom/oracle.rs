//! The briefing of a managed oracle, with the files of its zone that changed since its session read them.
//!
//! It must not know how a prompt is worded, or who asked.

use db::Db;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::team::message::Inbox;
use domain::warroom::claim::ClaimPath;
use domain::warroom::oracle::briefing::OracleBriefing;
use domain::warroom::oracle::note::covers;

use crate::runs::checkout::{CheckoutPlan, with_repository};

/// Returns the briefing of a run; none for an agent of another kind.
///
/// # Errors
/// When the store fails.
pub(crate) async fn briefing(db: &Db, plan: &CheckoutPlan, run: &Run, resumes: bool) -> db::Result<Option<OracleBriefing>> {
    if run.phase != AgentKind::Oracle {
        return Ok(None);
    }
    let mut briefing = db.oracle_briefing(&run.id, resumes).await?;
    if let Some(read) = briefing.read.clone().filter(|read| *read != plan.sha) {
        let now = plan.sha.clone();
        // Without them, the oracle is only not reminded.
        let changed = with_repository(&plan.git_dir, move |repository| repository.differing_paths(&read, &now)).await.unwrap_or_default();
        let is_own = |path: &String| path.parse::<ClaimPath>().is_ok_and(|path| covers(&briefing.paths, &path));
        briefing.changed = changed.into_iter().filter(is_own).collect();
    }
    Ok(Some(briefing))
}

/// The messages of an inbox that are not the questions of a briefing.
pub(crate) fn other_messages(inbox: &Inbox, briefing: Option<&OracleBriefing>) -> Inbox {
    let is_other = |id: i64| briefing.is_none_or(|briefing| briefing.questions.iter().all(|question| question.id != id));
    let messages = inbox.messages.iter().filter(|received| is_other(received.message.id)).cloned().collect();
    Inbox { messages, remaining: inbox.remaining }
}
