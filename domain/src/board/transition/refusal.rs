//! Refusals of moves: the move is not in the table, or its requirement is not met.

use super::{Mover, Target, targets};
use crate::board::status::Status;
use crate::id::TaskId;
use crate::refusal::category::refusals;
use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::team::person::is_person;

refusals! {
    /// Why a task may not be moved.
    MoveRefusal {
        #[error("{} may not move {task} from {from} to {to}", subject(*who))]
        Illegal { task: TaskId, phase: AgentKind, from: Status, to: Status, who: Mover } => Unprocessable "illegal-move",
        #[error("{task} has {count} uncommitted files: {}", paths.join(", "))]
        NotClean { task: TaskId, count: u32, paths: Vec<String> } => Unprocessable "not-clean",
        #[error("{task} has no commit beyond {base}")]
        NoCommits { task: TaskId, base: String } => Unprocessable "no-commits",
        #[error("the commits of {task} change nothing")]
        EmptyDiff { task: TaskId } => Unprocessable "empty-diff",
        #[error("{task} commits nested repositories as links that nobody else can fetch: {}", paths.join(", "))]
        NestedRepository { task: TaskId, paths: Vec<String> } => Unprocessable "nested-repository",
        #[error("{task} was already sent back at {sha}")]
        AlreadySentBack { task: TaskId, sha: Sha } => Unprocessable "already-sent-back",
        #[error("moving {task} to {to} needs a comment from this review that says what to change")]
        CommentNeeded { task: TaskId, to: Status } => Unprocessable "comment-needed",
        #[error("moving {task} to {to} needs a reason")]
        ReasonNeeded { task: TaskId, to: Status } => Unprocessable "reason-needed",
        #[error("the session that wrote {task} cannot review it")]
        SelfReview { task: TaskId } => Unprocessable "own-work",
        #[error("{task} is now at {head}, but the review is of {judged}")]
        HeadMoved { task: TaskId, head: String, judged: String } => Unprocessable "head-moved",
        #[error("{task} has no commit to approve")]
        NothingToApprove { task: TaskId } => Unprocessable "nothing-to-approve",
        #[error("in the project of {task}, only a person approves work")]
        PersonApproves { task: TaskId } => Forbidden "person-approves",
        #[error("an agent must approve {task} at {sha} before a person does")]
        AgentApprovesFirst { task: TaskId, sha: Sha } => Unprocessable "agent-approves-first",
        #[error("{agent} {part} {task}, so another participant must {action} it")]
        NotIndependent { task: TaskId, agent: String, part: &'static str, action: &'static str } => Forbidden "not-independent",
    }
}

impl MoveRefusal {
    /// The legal targets of the task, if the move is not in the table.
    pub(crate) fn allowed(&self) -> Vec<Target> {
        if let Self::Illegal { phase, from, .. } = self { targets(*phase, *from) } else { Vec::new() }
    }

    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Illegal { phase, from, who, .. } => return legal_moves(*phase, *from, *who),
            Self::NotClean { .. } => "Commit the files of the task, remove or ignore the others, then move the task again.",
            Self::NoCommits { .. } => "Commit your work in the worktree, then move the task again.",
            Self::EmptyDiff { .. } => "If no change is needed, say why with add_comment, then move the task again.",
            Self::NestedRepository { .. } => {
                "Remove each link with `git rm --cached PATH`. Then delete the folder's own `.git` and add its files, or ignore the folder, and commit; \
                 or register it with `git submodule add URL PATH`."
            }
            Self::AlreadySentBack { .. } => {
                "Commit what the review asked for, then move the task again. If no change is needed, ask the human, who can move the card."
            }
            Self::CommentNeeded { .. } => "Call add_comment with the file, the line and the problem, or pass them to update_task as `result`; then move the task again.",
            Self::ReasonNeeded { to: Status::Cancelled, .. } => "Pass a reason with the move: failed, abandoned, obsolete or duplicate.",
            Self::ReasonNeeded { .. } => "Pass a reason with the move.",
            Self::SelfReview { .. } => "Leave the review to another agent or the human.",
            Self::HeadMoved { .. } => "The new commit gets its own review. End your turn.",
            Self::NothingToApprove { .. } => "Send it back to work, or close it without a merge.",
            Self::PersonApproves { .. } => "Leave it to a person, or send it back with a comment.",
            Self::AgentApprovesFirst { .. } => {
                "Wait for the reviewer, send it back, or let only people review the project (`vibe-relay project edit --review human`)."
            }
            Self::NotIndependent { agent, .. } if is_person(agent) => "Leave it to an agent that neither built nor approved it.",
            Self::NotIndependent { .. } => "Leave it to an agent that neither built nor approved it, or to the human.",
        }
        .to_owned()
    }
}

/// The mover in a sentence: people read about themselves.
const fn subject(who: Mover) -> &'static str {
    if matches!(who, Mover::Human) { "you" } else { who.as_str() }
}

fn legal_moves(phase: AgentKind, from: Status, who: Mover) -> String {
    let moves: Vec<String> = targets(phase, from)
        .into_iter()
        .filter(|target| target.who.contains(&who))
        .map(|target| match target.needs.sentence() {
            "" => format!("to {}", target.to),
            needs => format!("to {} (needs {needs})", target.to),
        })
        .collect();
    if moves.is_empty() {
        let who = if who == Mover::Human { "You".to_owned() } else { format!("A {who}") };
        format!("{who} cannot move this task from {from}.")
    } else {
        format!("From {from} you can move it {}.", moves.join(", or "))
    }
}
