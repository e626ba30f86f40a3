//! Refusals: a stable code, what was attempted, and the next legal step.
//!
//! Must not know HTTP statuses or MCP wording, which the adapters choose.

use crate::board::stage::Stage;
use crate::board::status::Status;
use crate::board::transition::{Mover, Target, targets};
use crate::id::{GoalId, RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::team::agent::NameError;
use crate::team::person::{PersonRole, is_person};
use crate::team::role::Role;
use crate::time::Timestamp;

/// The command with which the human creates a token for an external agent.
pub const TOKEN_COMMAND: &str = "vibe-relay token new --agent NAME --role ROLE";

/// The category of a refusal, which each protocol maps to its own status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    NotFound,
    /// The caller is unknown.
    Unauthorized,
    /// This caller is not allowed to do it.
    Forbidden,
    /// The request conflicts with the current state of something.
    Conflict,
    /// A value is invalid, or the state of the board does not allow it.
    Unprocessable,
}

/// Declares each refusal with its sentence, its category and its code, which never changes after a release.
macro_rules! refusals {
    ($($(#[$meta:meta])* $variant:ident $({ $($field:ident: $type:ty),* })? $(($inner:ty))? => $category:ident $code:literal,)+) => {
        /// The reason why a valid request is not allowed. Nothing was changed.
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        pub enum Refusal {
            $($(#[$meta])* $variant $({ $($field: $type),* })? $(($inner))?,)+
        }

        impl Refusal {
            /// The category of this refusal.
            pub fn category(&self) -> Category {
                match self {
                    $(Self::$variant { .. } => Category::$category,)+
                }
            }

            /// The code for programs.
            pub fn code(&self) -> &'static str {
                if let Self::Repository { code, .. } = self {
                    return code;
                }
                match self {
                    $(Self::$variant { .. } => $code,)+
                }
            }
        }
    };
}

refusals! {
    // Any noun.
    #[error("{what} {id} does not exist")]
    NotFound { what: &'static str, id: String } => NotFound "not-found",
    #[error("{field}: {problem}")]
    Invalid { field: &'static str, problem: String, hint: String } => Unprocessable "invalid",
    // board
    #[error("{who} may not move {task} from {from} to {to}")]
    IllegalMove { task: TaskId, phase: AgentKind, from: Status, to: Status, who: Mover } => Unprocessable "illegal-move",
    #[error("{task} has {count} uncommitted files: {}", paths.join(", "))]
    NotClean { task: TaskId, count: u32, paths: Vec<String> } => Unprocessable "not-clean",
    #[error("{task} has no commit beyond {base}")]
    NoCommits { task: TaskId, base: String } => Unprocessable "no-commits",
    #[error("the commits of {task} change nothing")]
    EmptyDiff { task: TaskId } => Unprocessable "empty-diff",
    #[error("moving {task} to {to} needs a comment from this review that says what to change")]
    CommentNeeded { task: TaskId, to: Status } => Unprocessable "comment-needed",
    #[error("moving {task} to {to} needs a reason")]
    ReasonNeeded { task: TaskId, to: Status } => Unprocessable "reason-needed",
    #[error("{task} created no tasks and gave no reason")]
    EmptyPlan { task: TaskId } => Unprocessable "empty-plan",
    #[error("the session that wrote {task} cannot review it")]
    SelfReview { task: TaskId } => Unprocessable "own-work",
    #[error("{task} is now at {head}, but the review is of {judged}")]
    HeadMoved { task: TaskId, head: String, judged: String } => Unprocessable "head-moved",
    #[error("{task} has no commit to approve")]
    NothingToApprove { task: TaskId } => Unprocessable "nothing-to-approve",
    #[error("{task} depends on unfinished tasks: {}", open.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))]
    DependenciesUnfinished { task: TaskId, open: Vec<TaskId> } => Unprocessable "dependencies-open",
    #[error("the dependencies form a cycle: {}", cycle.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" → "))]
    DependencyCycle { cycle: Vec<TaskId> } => Unprocessable "dependency-circle",
    #[error("{task} is {status}: {problem}")]
    WrongStatus { task: TaskId, status: Status, problem: String, hint: String } => Unprocessable "not-now",
    #[error("{task} has no open question")]
    NoQuestion { task: TaskId } => Unprocessable "no-question",
    #[error("no plan awaits approval")]
    NoPendingPlan => Unprocessable "no-plan-waiting",
    #[error("{action} requires the assignee, and {task} is assigned to {}", assignee.as_deref().unwrap_or("no agent"))]
    NotAssignee { task: TaskId, assignee: Option<String>, action: String } => Forbidden "not-assignee",
    #[error("{agent} may not change {task} from {from} to {to}")]
    IllegalStage { task: TaskId, from: Stage, to: Stage, agent: String, next: Vec<Stage> } => Unprocessable "illegal-stage",
    #[error("{agent} {part} {task}, so another participant must {action} it")]
    NotIndependent { task: TaskId, agent: String, part: &'static str, action: &'static str } => Forbidden "not-independent",
    #[error("{goal} has unverified tasks: {}", open.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))]
    GoalUnfinished { goal: GoalId, open: Vec<TaskId> } => Conflict "goal-open",
    // runs
    #[error("{run} is no longer the current run of its task; its writes are rejected")]
    StaleRun { run: RunId } => Conflict "stale-run",
    #[error("a {phase} may not {action}")]
    WrongAgentKind { phase: AgentKind, action: String, hint: String } => Forbidden "not-your-role",
    #[error("this run works on {own}, not on {task}")]
    WrongTask { task: TaskId, own: TaskId } => Forbidden "not-your-task",
    #[error("{task} has a run that is still ending")]
    RunEnding { task: TaskId, run: RunId } => Unprocessable "run-ending",
    #[error("{0} has no running agent")]
    NoLiveRun(String) => Unprocessable "no-live-run",
    #[error("there is nothing to land: {detail}")]
    NothingToLand { detail: String } => Unprocessable "nothing-to-land",
    /// A problem with the repository, as `repo` describes it with a code of its own.
    #[error("{detail}")]
    Repository { code: &'static str, detail: String, hint: String } => Unprocessable "repository",
    // team
    #[error("this token belongs to {own}, not to {claimed}")]
    WrongIdentity { own: String, claimed: String } => Forbidden "not-you",
    #[error("the request carries no valid token")]
    Unauthorized => Unauthorized "unauthorized",
    #[error("{action} is reserved for the human")]
    HumanOnly { action: String } => Forbidden "human-only",
    #[error("{action} is not allowed for a {role}")]
    PersonRole { role: PersonRole, action: String } => Forbidden "person-role",
    #[error("this invite token can only be used to register")]
    NotRegistered => Forbidden "not-registered",
    #[error("{agent} left the project")]
    AgentLeft { agent: String } => Forbidden "not-registered",
    #[error("no participant is named {name}")]
    UnknownAgent { name: String, nearest: Vec<String> } => Unprocessable "unknown-agent",
    #[error("{name} could be {}", candidates.join(" or "))]
    AmbiguousAgent { name: String, candidates: Vec<String> } => Unprocessable "ambiguous-agent",
    #[error("{name} is not active{}", since.map(|since| format!(" (last seen {})", since.clock())).unwrap_or_default())]
    AgentUnresponsive { name: String, since: Option<Timestamp> } => Conflict "dead-agent",
    #[error("the name {name} is taken")]
    NameTaken { name: String } => Conflict "name-taken",
    #[error("BLOCKED: You have {count} unread message(s). Call check_inbox first")]
    UnreadMessages { count: u32 } => Conflict "unread",
    #[error("{action} requires a lead, and {agent} is not one")]
    LeadOnly { agent: String, action: String } => Forbidden "lead-only",
    #[error("{agent} joined with an invite token, but {action} requires a trusted agent")]
    Untrusted { agent: String, action: String } => Forbidden "unverified",
    #[error("{agent} cannot take the hat {hat}, because it had the hat {worn} on {task}")]
    HatConflict { agent: String, hat: Role, worn: Role, task: TaskId } => Conflict "hat-conflict",
    #[error("{agent} already acknowledged handshake #{handshake}")]
    AlreadyAcknowledged { handshake: i64, agent: String } => Conflict "acknowledged-before",
    #[error("{agent} is not a target of handshake #{handshake}")]
    NotATarget { handshake: i64, agent: String } => Forbidden "not-asked",
    #[error("{agent} cannot start a helper: {problem}")]
    MinionLimit { agent: String, problem: String } => Conflict "no-minion",
}

impl Refusal {
    pub fn invalid(field: &'static str, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid { field, problem: problem.into(), hint: hint.into() }
    }

    pub fn not_found(what: &'static str, id: impl ToString) -> Self {
        Self::NotFound { what, id: id.to_string() }
    }

    /// The legal targets of the task, if the move is not in the table.
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
            Self::NotFound { what, .. } => format!("Look up the {what} on the board; ids have the form {}.", example_id(what)),
            Self::Invalid { hint, .. } | Self::WrongAgentKind { hint, .. } | Self::WrongStatus { hint, .. } | Self::Repository { hint, .. } => {
                hint.clone()
            }
            Self::StaleRun { .. } => "The task was stopped, moved or given to a newer run. End your turn.".to_owned(),
            Self::WrongTask { own, .. } => format!("Use {own}, the id in your <issue>."),
            Self::WrongIdentity { own, .. } if is_person(own) => {
                format!(
                    "Omit the name to act as the person who owns this token. As an agent, ask the human for a token of your own: {TOKEN_COMMAND}."
                )
            }
            Self::WrongIdentity { own, .. } => format!("Write as {own}: your token determines your identity."),
            Self::NotClean { .. } => "Commit the files of the task, remove or ignore the others, then move the task again.".to_owned(),
            Self::NoCommits { .. } => "Commit your work in the worktree, then move the task again.".to_owned(),
            Self::EmptyDiff { .. } => "If no change is needed, say why with add_comment, then move the task again.".to_owned(),
            Self::CommentNeeded { .. } => "Call add_comment with the file, the line and the problem, then move the task again.".to_owned(),
            Self::ReasonNeeded { .. } => "Pass a reason with the move.".to_owned(),
            Self::EmptyPlan { task } => format!("Call create_subtasks for {task}, or complete_task with the reason why no tasks are needed."),
            Self::SelfReview { .. } => "Leave the review to another agent or the human.".to_owned(),
            Self::HeadMoved { .. } => "The new commit gets its own review. End your turn.".to_owned(),
            Self::NothingToApprove { .. } => "Send it back to work, or close it without a merge.".to_owned(),
            Self::DependenciesUnfinished { .. } => "Wait until they are done, or remove the dependency.".to_owned(),
            Self::DependencyCycle { .. } => "Remove one of these dependencies.".to_owned(),
            Self::RunEnding { run, .. } => format!("Wait a few seconds until {run} has ended."),
            Self::NoLiveRun(_) => "Add a comment instead: the next run reads the whole thread.".to_owned(),
            Self::NoQuestion { .. } => "Add a comment instead.".to_owned(),
            Self::NoPendingPlan => "A plan awaits approval only while it holds its tasks. Press Start to start a single task.".to_owned(),
            Self::NothingToLand { .. } => "Wait until a task is merged into the project branch.".to_owned(),
            Self::Unauthorized => {
                "Open the link that `vibe-relay serve` printed, or send `Authorization: Bearer` with the token from the file next to the database."
                    .to_owned()
            }
            Self::HumanOnly { .. } => "Ask the human with add_comment.".to_owned(),
            Self::PersonRole { .. } => "Ask the owner of the board to do it, or to give you another role.".to_owned(),
            Self::NotRegistered => "Call register and choose a name; you act under that name from then on.".to_owned(),
            Self::AgentLeft { agent } => format!("Call register to return as {agent}; messages to you are kept."),
            Self::UnknownAgent { nearest, .. } if nearest.is_empty() => "Call who to see the names.".to_owned(),
            Self::UnknownAgent { nearest, .. } => format!("Did you mean {}? Call who to see all names.", nearest.join(" or ")),
            Self::AmbiguousAgent { candidates, .. } => {
                format!("Use the full name, such as {}.", candidates.first().map_or("team/name", String::as_str))
            }
            Self::AgentUnresponsive { .. } => "Call who to see who is active. Put anything that must last into a comment on the task.".to_owned(),
            Self::NameTaken { .. } => "Choose another name, or register with the token of that agent. If you are that agent and its token was \
                                       lost, register again after a minute."
                .to_owned(),
            Self::UnreadMessages { .. } => "Call check_inbox, read the messages, then send again.".to_owned(),
            Self::LeadOnly { .. } => "Ask a lead with send; call who to see the leads.".to_owned(),
            Self::Untrusted { .. } => format!("Ask the human for a token of your own: {TOKEN_COMMAND}."),
            Self::NotAssignee { .. } => "Leave it to the assignee. A lead can assign the task to you with update_task and assigned_to.".to_owned(),
            Self::IllegalStage { from, next, .. } if next.is_empty() => format!("You cannot change this task now. {}", who_acts_next(*from)),
            Self::IllegalStage { next, .. } => {
                format!("You can change it to {}.", next.iter().map(|stage| stage.as_str()).collect::<Vec<_>>().join(" or "))
            }
            Self::HatConflict { .. } => "Give the hat to another agent; call hat_history to see all hats.".to_owned(),
            Self::NotIndependent { agent, .. } if is_person(agent) => "Leave it to an agent that neither built nor approved it.".to_owned(),
            Self::NotIndependent { .. } => "Leave it to an agent that neither built nor approved it, or to the human.".to_owned(),
            Self::AlreadyAcknowledged { .. } => "No further answer is needed; handshake_status shows who has not answered.".to_owned(),
            Self::NotATarget { .. } => "Leave it to the targets; handshake_status lists them.".to_owned(),
            Self::GoalUnfinished { .. } => "First have agents that neither built nor approved these tasks verify them with verify_task.".to_owned(),
            Self::MinionLimit { .. } => "Do the work yourself, or wait until a helper has ended and log it with log_minion.".to_owned(),
        }
    }
}

impl From<NameError> for Refusal {
    fn from(error: NameError) -> Self {
        match error {
            NameError::Invalid { .. } => {
                Self::invalid("agent_name", error.to_string(), "Choose a name such as mara, or mara with the team platform.")
            }
            NameError::Unknown { name, nearest } => Self::UnknownAgent { name, nearest },
            NameError::Ambiguous { name, candidates } => Self::AmbiguousAgent { name, candidates },
        }
    }
}

fn example_id(what: &str) -> &'static str {
    match what {
        "project" => "PROJ-001",
        "run" => "RUN-001",
        "goal" => "GOAL-001",
        "message" | "handshake" | "contract" | "browser session" | "person" => "1",
        _ => "TASK-001",
    }
}

/// Says who acts next on a task of this stage. The caller can itself be a lead, so it never says "ask a lead".
fn who_acts_next(stage: Stage) -> &'static str {
    match stage {
        Stage::Pending => "A lead or the human assigns it first, with update_task and assigned_to.",
        Stage::Assigned => "Its assignee starts and submits it first; a lead can reassign it with update_task and assigned_to.",
        Stage::Ready => "It starts automatically when a slot is free.",
        Stage::Blocked => "It depends on other tasks; get_task lists them.",
        Stage::InProgress => "Its agent submits it first, with submit_for_review.",
        Stage::Review => "A lead reviews it, with approve_task or reject_task.",
        Stage::Approved => "It is approved and will be merged automatically.",
        Stage::Completed => "A participant that neither built nor approved it verifies it, with verify_task.",
        Stage::Failed | Stage::Stale => "It needs attention: the human decides, or a lead reassigns it.",
        Stage::Verified | Stage::Closed | Stage::Abandoned | Stage::Obsolete => "It is closed. Create a new task for any remaining work.",
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
        format!("A {who} cannot move this task from {from}.")
    } else {
        format!("From {from} you can move it {}.", moves.join(", or "))
    }
}

#[cfg(test)]
mod tests;
