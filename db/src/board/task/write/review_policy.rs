//! Checks that the reviewers that a project wants approve its work. Must not decide which moves are approvals.

use domain::board::card::Card;
use domain::board::project::ReviewPolicy;
use domain::board::transition::refusal::MoveRefusal;
use domain::runs::evidence::{Evidence, EvidenceResult, Sha, short};
use domain::team::agent::{HUMAN, RUNNER};
use domain::team::person::is_person;

use crate::board::comment::write as comment;
use crate::board::task::write::change::Change;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::person::row as persons;

/// Requires that the caller may approve `head` now, or close the task without a merge if there is none.
pub(crate) async fn require_approver(tx: &mut Tx, caller: &Caller, card: &Card, head: Option<&Sha>) -> Result<()> {
    let person_approves = || Err(MoveRefusal::PersonApproves { task: card.id.clone() }.into());
    match (policy(tx, card).await?, caller.is_person()) {
        (ReviewPolicy::Agent, _) | (ReviewPolicy::Human, true) => Ok(()),
        (ReviewPolicy::Human, false) => person_approves(),
        (ReviewPolicy::Both, false) => {
            if head.is_some() {
                Ok(())
            } else {
                person_approves()
            }
        }
        (ReviewPolicy::Both, true) => match head {
            Some(sha) if !is_approved_by_agent(tx, card, sha).await? => {
                Err(MoveRefusal::AgentApprovesFirst { task: card.id.clone(), sha: sha.clone() }.into())
            }
            _ => Ok(()),
        },
    }
}

/// Requires for a merge that a person approved it, where the project wants that.
pub(crate) async fn require_approval_for_merge(tx: &mut Tx, card: &Card) -> Result<()> {
    if card.lacks_approval_of_a_person() && policy(tx, card).await?.needs_person() {
        return Err(MoveRefusal::PersonApproves { task: card.id.clone() }.into());
    }
    Ok(())
}

/// Keeps the approval of a commit that a person submits again, if only the runner has sent it back since: its merge or its checks failed for
/// another reason than the work. Its approver must still be one who may approve it.
pub(crate) async fn keep_approval(tx: &mut Tx, caller: &Caller, card: &Card, found: &EvidenceResult, change: &mut Change) -> Result<()> {
    let EvidenceResult::Evidence(Evidence { head, .. }) = found else { return Ok(()) };
    let verdicts: Vec<(String, String, Option<String>)> =
        sqlx::query_as("SELECT verdict, actor, run_id FROM verdicts WHERE task_id = $1 AND sha = $2 ORDER BY id DESC")
            .bind(card.id.as_str())
            .bind(head)
            .fetch_all(&mut tx.connection)
            .await?;
    let newest = verdicts.into_iter().find(|(_, actor, _)| actor != RUNNER);
    let Some((_, approver, run)) = newest.filter(|(verdict, ..)| caller.is_person() && verdict == "approved") else { return Ok(()) };
    let is_entitled = match policy(tx, card).await? {
        // An external agent may have lost its token since.
        ReviewPolicy::Agent | ReviewPolicy::Both if run.is_some() => true,
        _ => approver == HUMAN || persons::further_participants(tx).await?.contains(&approver),
    };
    if is_entitled {
        let note = format!("{approver} approved {} before, so it is not reviewed again.", short(head));
        comment::insert(tx, &Caller::Runner, &card.project_id, &card.id, &note).await?;
        change.approved = Some(head.clone());
        change.approver = Some(approver);
        change.is_approved_before = true;
    }
    Ok(())
}

async fn policy(tx: &mut Tx, card: &Card) -> Result<ReviewPolicy> {
    let stored: String =
        sqlx::query_scalar("SELECT review FROM projects WHERE id = $1").bind(card.project_id.as_str()).fetch_one(&mut tx.connection).await?;
    Ok(stored.parse()?)
}

/// Whether an agent approved exactly this commit, and it was not sent back since.
async fn is_approved_by_agent(tx: &mut Tx, card: &Card, sha: &Sha) -> Result<bool> {
    let verdicts: Vec<(String, String)> = sqlx::query_as("SELECT verdict, actor FROM verdicts WHERE task_id = $1 AND sha = $2 ORDER BY id DESC")
        .bind(card.id.as_str())
        .bind(sha)
        .fetch_all(&mut tx.connection)
        .await?;
    let mut approvals = verdicts.iter().take_while(|(verdict, _)| verdict == "approved");
    Ok(approvals.any(|(_, actor)| !is_person(actor)))
}
