//! Why something was not done: a stable code, what was attempted, and the next legal step.
//!
//! HTTP status and MCP wording are decided elsewhere, each in one place.

use crate::board::stage::Stage;
use crate::board::status::Status;
use crate::board::transition::{Mover, Target, targets};
use crate::id::{GoalId, RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::team::agent::HUMAN;
use crate::team::role::Role;
use crate::time::Timestamp;

/// How the person makes a token for an agent of their own.
pub const TOKEN_COMMAND: &str = "vibe-relay token new --agent NAME --role ROLE";

/// A request that was understood and may not be carried out. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{who} may not move {task} from {from} to {to}")]
    IllegalMove { task: TaskId, phase: AgentKind, from: Status, to: Status, who: Mover },
    #[error("{what} {id} does not exist")]
    NotFound { what: &'static str, id: String },
    #[error("{field}: {problem}")]
    Invalid { field: &'static str, problem: String, hint: String },
    #[error("{run} is no longer the current run of its task, so nothing it writes is taken")]
    StaleRun { run: RunId },
    #[error("a {phase} may not {action}")]
    WrongAgentKind { phase: AgentKind, action: String, hint: String },
    #[error("{task} is not the task of this run, which is {own}")]
    WrongTask { task: TaskId, own: TaskId },
    #[error("this token writes as {own}, not as {claimed}")]
    WrongIdentity { own: String, claimed: String },
    #[error("{task} has {count} files that are not committed: {}", paths.join(", "))]
    NotClean { task: TaskId, count: u32, paths: Vec<String> },
    #[error("{task} has no commit beyond {base}")]
    NoCommits { task: TaskId, base: String },
    #[error("the commits of {task} change nothing")]
    EmptyDiff { task: TaskId },
    #[error("moving {task} to {to} needs a comment of this review that says what to change")]
    CommentNeeded { task: TaskId, to: Status },
    #[error("moving {task} to {to} needs a reason")]
    ReasonNeeded { task: TaskId, to: Status },
    #[error("{task} has no children and no reason says why")]
    EmptyPlan { task: TaskId },
    #[error("the session that wrote {task} may not judge it")]
    SelfReview { task: TaskId },
    #[error("{task} is at {head} now, and {judged} was judged")]
    HeadMoved { task: TaskId, head: String, judged: String },
    #[error("{task} has no commit that could be approved")]
    NothingToApprove { task: TaskId },
    #[error("{task} waits for {}", open.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))]
    DependenciesUnfinished { task: TaskId, open: Vec<TaskId> },
    #[error("the dependencies make a circle: {}", circle.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" → "))]
    DependencyCycle { circle: Vec<TaskId> },
    #[error("{task} has a run that is still ending")]
    RunEnding { task: TaskId, run: RunId },
    #[error("{0} has no agent at work")]
    NoLiveRun(String),
    #[error("{task} is {status}: {problem}")]
    WrongStatus { task: TaskId, status: Status, problem: String, hint: String },
    #[error("{task} has no open question")]
    NoQuestion { task: TaskId },
    #[error("no plan waits for approval")]
    NoPendingPlan,
    #[error("there is nothing to land: {detail}")]
    NothingToLand { detail: String },
    /// Something about the repository, in the words of the code that looked.
    #[error("{detail}")]
    Repository { code: &'static str, detail: String, hint: String },
    #[error("the request carries no valid token")]
    Unauthorized,
    #[error("{action} is for the person only")]
    HumanOnly { action: String },
    #[error("this token belongs to a room and to no agent yet")]
    NotRegistered,
    #[error("{agent} left the project")]
    AgentLeft { agent: String },
    #[error("nobody here is called {name}")]
    UnknownAgent { name: String, nearest: Vec<String> },
    #[error("{name} could be {}", candidates.join(" or "))]
    AmbiguousAgent { name: String, candidates: Vec<String> },
    #[error("{name} is gone{}", since.map(|since| format!(" since {}", since.clock())).unwrap_or_default())]
    AgentUnresponsive { name: String, since: Option<Timestamp> },
    #[error("the name {name} is taken")]
    NameTaken { name: String },
    #[error("BLOCKED: You have {count} unread message(s). Call check_inbox first")]
    UnreadMessages { count: u32 },
    #[error("{action} is for a lead, and {agent} is none")]
    LeadOnly { agent: String, action: String },
    #[error("{agent} joined with a room token, and {action} asks for an agent that the person vouches for")]
    Untrusted { agent: String, action: String },
    #[error("{task} is assigned to {}, and {action} is for its assignee", assignee.as_deref().unwrap_or("nobody"))]
    NotAssignee { task: TaskId, assignee: Option<String>, action: String },
    #[error("{task} is {from}: {agent} may not make it {to}")]
    IllegalStage { task: TaskId, from: Stage, to: Stage, agent: String, next: Vec<Stage> },
    #[error("{agent} may not wear the hat {hat}: it wore {worn} for {task}")]
    HatConflict { agent: String, hat: Role, worn: Role, task: TaskId },
    #[error("{agent} {part} {task}, so somebody else must {action} it")]
    NotIndependent { task: TaskId, agent: String, part: &'static str, action: &'static str },
    #[error("{agent} acknowledged handshake #{handshake} already")]
    AlreadyAcknowledged { handshake: i64, agent: String },
    #[error("handshake #{handshake} does not ask {agent}")]
    NotATarget { handshake: i64, agent: String },
    #[error("{goal} has tasks that are not verified: {}", open.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))]
    GoalUnfinished { goal: GoalId, open: Vec<TaskId> },
    #[error("{agent} may start no minion: {problem}")]
    MinionLimit { agent: String, problem: String },
}

/// The kind of a refusal, which each protocol maps to a code of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    NotFound,
    /// The caller is unknown.
    Unauthorized,
    /// The caller may not do it; another one might.
    Forbidden,
    /// The request conflicts with something that exists.
    Conflict,
    /// A value is invalid, or the state of the board does not allow it.
    Unprocessable,
}

impl Refusal {
    pub fn invalid(field: &'static str, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid { field, problem: problem.into(), hint: hint.into() }
    }

    pub fn not_found(what: &'static str, id: impl ToString) -> Self {
        Self::NotFound { what, id: id.to_string() }
    }

    /// A word for programs. It never changes once released.
    pub fn code(&self) -> &'static str {
        match self {
            Self::IllegalMove { .. } => "illegal-move",
            Self::NotFound { .. } => "not-found",
            Self::Invalid { .. } => "invalid",
            Self::StaleRun { .. } => "stale-run",
            Self::WrongAgentKind { .. } => "not-your-role",
            Self::WrongTask { .. } => "not-your-task",
            Self::WrongIdentity { .. } => "not-you",
            Self::NotClean { .. } => "not-clean",
            Self::NoCommits { .. } => "no-commits",
            Self::EmptyDiff { .. } => "empty-diff",
            Self::CommentNeeded { .. } => "comment-needed",
            Self::ReasonNeeded { .. } => "reason-needed",
            Self::EmptyPlan { .. } => "empty-plan",
            Self::SelfReview { .. } => "own-work",
            Self::HeadMoved { .. } => "head-moved",
            Self::NothingToApprove { .. } => "nothing-to-approve",
            Self::DependenciesUnfinished { .. } => "dependencies-open",
            Self::DependencyCycle { .. } => "dependency-circle",
            Self::RunEnding { .. } => "run-ending",
            Self::NoLiveRun(_) => "no-live-run",
            Self::WrongStatus { .. } => "not-now",
            Self::NoQuestion { .. } => "no-question",
            Self::NoPendingPlan => "no-plan-waiting",
            Self::NothingToLand { .. } => "nothing-to-land",
            Self::Repository { code, .. } => code,
            Self::Unauthorized => "unauthorized",
            Self::HumanOnly { .. } => "human-only",
            Self::NotRegistered | Self::AgentLeft { .. } => "not-registered",
            Self::UnknownAgent { .. } => "unknown-agent",
            Self::AmbiguousAgent { .. } => "ambiguous-agent",
            Self::AgentUnresponsive { .. } => "dead-agent",
            Self::NameTaken { .. } => "name-taken",
            Self::UnreadMessages { .. } => "unread",
            Self::LeadOnly { .. } => "lead-only",
            Self::Untrusted { .. } => "unverified",
            Self::NotAssignee { .. } => "not-assignee",
            Self::IllegalStage { .. } => "illegal-stage",
            Self::HatConflict { .. } => "hat-conflict",
            Self::NotIndependent { .. } => "not-independent",
            Self::AlreadyAcknowledged { .. } => "acknowledged-before",
            Self::NotATarget { .. } => "not-asked",
            Self::GoalUnfinished { .. } => "goal-open",
            Self::MinionLimit { .. } => "no-minion",
        }
    }

    /// The kind of this refusal.
    pub fn category(&self) -> Category {
        match self {
            Self::NotFound { .. } => Category::NotFound,
            Self::Unauthorized => Category::Unauthorized,
            Self::HumanOnly { .. }
            | Self::WrongAgentKind { .. }
            | Self::WrongTask { .. }
            | Self::WrongIdentity { .. }
            | Self::NotRegistered
            | Self::AgentLeft { .. }
            | Self::LeadOnly { .. }
            | Self::Untrusted { .. }
            | Self::NotAssignee { .. }
            | Self::NotIndependent { .. }
            | Self::NotATarget { .. } => Category::Forbidden,
            Self::StaleRun { .. }
            | Self::AgentUnresponsive { .. }
            | Self::NameTaken { .. }
            | Self::UnreadMessages { .. }
            | Self::HatConflict { .. }
            | Self::AlreadyAcknowledged { .. }
            | Self::GoalUnfinished { .. }
            | Self::MinionLimit { .. } => Category::Conflict,
            Self::IllegalMove { .. }
            | Self::Invalid { .. }
            | Self::NotClean { .. }
            | Self::NoCommits { .. }
            | Self::EmptyDiff { .. }
            | Self::CommentNeeded { .. }
            | Self::ReasonNeeded { .. }
            | Self::EmptyPlan { .. }
            | Self::SelfReview { .. }
            | Self::HeadMoved { .. }
            | Self::NothingToApprove { .. }
            | Self::DependenciesUnfinished { .. }
            | Self::DependencyCycle { .. }
            | Self::RunEnding { .. }
            | Self::NoLiveRun(_)
            | Self::WrongStatus { .. }
            | Self::NoQuestion { .. }
            | Self::NoPendingPlan
            | Self::NothingToLand { .. }
            | Self::UnknownAgent { .. }
            | Self::AmbiguousAgent { .. }
            | Self::IllegalStage { .. }
            | Self::Repository { .. } => Category::Unprocessable,
        }
    }

    /// Where the task could go instead, when a move was refused for not being in the table.
    pub fn allowed(&self) -> Vec<Target> {
        match self {
            Self::IllegalMove { phase, from, .. } => targets(*phase, *from),
            _ => Vec::new(),
        }
    }

    /// The next legal step.
    pub fn hint(&self) -> String {
        match self {
            Self::IllegalMove { phase, from, who, .. } => legal_moves(*phase, *from, *who),
            Self::NotFound { what, .. } => format!("Look up the {what} on the board; ids are written like {}.", example_id(what)),
            Self::Invalid { hint, .. } | Self::WrongAgentKind { hint, .. } | Self::WrongStatus { hint, .. } | Self::Repository { hint, .. } => {
                hint.clone()
            }
            Self::StaleRun { .. } => "Stop here: the task was stopped, moved or given to a newer run. End your turn.".to_owned(),
            Self::WrongTask { own, .. } => format!("Use {own}, or leave the argument as your <issue> names it."),
            Self::WrongIdentity { own, .. } if own == HUMAN => format!(
                "Leave the name out to act as the person, whose token this is. As an agent, ask the person for a token of your own: {TOKEN_COMMAND}."
            ),
            Self::WrongIdentity { own, .. } => format!("Write as {own}: who you are is decided by your token."),
            Self::NotClean { .. } => "Commit what belongs to the task, remove or ignore the rest, then move the task again.".to_owned(),
            Self::NoCommits { .. } => "Commit your work in the worktree, then move the task again.".to_owned(),
            Self::EmptyDiff { .. } => "If nothing had to change, say why with add_comment, then move the task again.".to_owned(),
            Self::CommentNeeded { .. } => "Call add_comment with file, line and what is wrong, then move the task again.".to_owned(),
            Self::ReasonNeeded { .. } => "Give the reason along with the move.".to_owned(),
            Self::EmptyPlan { task } => format!("Call create_subtasks for {task}, or complete_task with a reason why there is nothing to do."),
            Self::SelfReview { .. } => "Another agent or the person must judge it.".to_owned(),
            Self::HeadMoved { .. } => "The newest commit gets a review of its own: end your turn.".to_owned(),
            Self::NothingToApprove { .. } => "Send it back to work, or close it without a merge.".to_owned(),
            Self::DependenciesUnfinished { .. } => "Wait for them, or remove the dependency.".to_owned(),
            Self::DependencyCycle { .. } => "Remove one of these dependencies.".to_owned(),
            Self::RunEnding { run, .. } => format!("Wait until {run} has ended; that takes seconds."),
            Self::NoLiveRun(_) => "Add a comment instead: the next run reads the whole thread.".to_owned(),
            Self::NoQuestion { .. } => "Add a comment instead.".to_owned(),
            Self::NoPendingPlan => "A plan waits only while its tasks are held by it; start single tasks with Start.".to_owned(),
            Self::NothingToLand { .. } => "Wait until a task was merged into the project branch.".to_owned(),
            Self::Unauthorized => {
                "Open the link that `vibe-relay serve` printed, or send `Authorization: Bearer` with the token from the file beside the database."
                    .to_owned()
            }
            Self::HumanOnly { .. } => "Leave it to the person; tell them with add_comment.".to_owned(),
            Self::NotRegistered => "Call register with a name of your own; what you do afterwards is done under it.".to_owned(),
            Self::AgentLeft { agent } => format!("Call register to come back as {agent}; what was written to you is kept."),
            Self::UnknownAgent { nearest, .. } if nearest.is_empty() => "Call who to see the names.".to_owned(),
            Self::UnknownAgent { nearest, .. } => format!("Did you mean {}? Call who to see all names.", nearest.join(" or ")),
            Self::AmbiguousAgent { candidates, .. } => {
                format!("Write the whole name, like {}.", candidates.first().map_or("team/name", String::as_str))
            }
            Self::AgentUnresponsive { .. } => "Call who to see who is there; what must not be lost belongs into a comment on the task.".to_owned(),
            Self::NameTaken { .. } => "Choose another name, or show the token that the name's agent was given. If that agent is you and the \
                                       answer was lost, register again after a minute."
                .to_owned(),
            Self::UnreadMessages { .. } => "Call check_inbox, read, then send again.".to_owned(),
            Self::LeadOnly { .. } => "Ask a lead with send; who shows who leads.".to_owned(),
            Self::Untrusted { .. } => format!("Ask the person for a token of your own: {TOKEN_COMMAND}. Until then, leave it to others."),
            Self::NotAssignee { .. } => "Leave it to the assignee. A lead may assign the task to you, with update_task and assigned_to.".to_owned(),
            Self::IllegalStage { from, next, .. } if next.is_empty() => format!("Nothing about it is yours to change now. {}", who_acts_next(*from)),
            Self::IllegalStage { next, .. } => {
                format!("You may make it {}.", next.iter().map(|stage| stage.as_str()).collect::<Vec<_>>().join(" or "))
            }
            Self::HatConflict { .. } => "Give the hat to another agent; hat_history shows who wore what.".to_owned(),
            Self::NotIndependent { agent, .. } if agent == HUMAN => "Leave it to an agent that neither built nor approved it.".to_owned(),
            Self::NotIndependent { .. } => "Leave it to an agent that neither built nor approved it, or to the person.".to_owned(),
            Self::AlreadyAcknowledged { .. } => "Nothing more is asked of you; handshake_status shows who is still waited for.".to_owned(),
            Self::NotATarget { .. } => "Leave it to those who were asked; handshake_status names them.".to_owned(),
            Self::GoalUnfinished { .. } => "Have these verified with verify_task first, by agents that neither built nor approved them.".to_owned(),
            Self::MinionLimit { .. } => "Do it yourself, or wait until a minion has ended and log it with log_minion.".to_owned(),
        }
    }
}

fn example_id(what: &str) -> &'static str {
    match what {
        "project" => "PROJ-001",
        "run" => "RUN-001",
        "goal" => "GOAL-001",
        "message" | "handshake" | "contract" | "browser session" => "1",
        _ => "TASK-001",
    }
}

/// Who goes on with a task of this stage, whoever asks.
fn who_acts_next(stage: Stage) -> &'static str {
    match stage {
        Stage::Pending => "A lead or the person gives it to somebody first, with update_task and assigned_to.",
        Stage::Assigned => "Its assignee begins it and hands it in first; a lead may give it to another one, with update_task and assigned_to.",
        Stage::Ready => "It starts by itself as soon as there is room.",
        Stage::Blocked => "It waits for other tasks, which get_task names.",
        Stage::InProgress => "Whoever works on it hands it in first, with submit_for_review.",
        Stage::Review => "A lead judges it, with approve_task or reject_task.",
        Stage::Approved => "It is approved and merged by itself.",
        Stage::Completed => "Somebody who neither built nor approved it verifies it, with verify_task.",
        Stage::Failed | Stage::Stale => "It is stuck: the person decides what becomes of it, or a lead who gives it to another one.",
        Stage::Verified | Stage::Closed | Stage::Abandoned | Stage::Obsolete => "It is over: what is still to be done belongs into a new task.",
    }
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
        format!("From {from} this task is not yours to move as {who}.")
    } else {
        format!("From {from} you may move it {}.", moves.join(", or "))
    }
}

#[cfg(test)]
mod tests;
