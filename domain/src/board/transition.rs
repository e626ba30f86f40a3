//! The transition table: every legal move of a task, its movers and its requirement.
//!
//! The store enforces it, the board derives drop targets from it, and `docs/state-machine.md` is generated from it. No other file may
//! decide which moves are legal.

pub mod refusal;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::Status;
use crate::runs::agent_kind::AgentKind;
use crate::vocabulary::vocabulary;

use Mover::{Assignee, Coder, Human, Lead, Oracle, Orchestrator, Planner, Reviewer, Runner, Verifier};
use Requirement::{Answers, Approval, ChildrenOrReason, Comment, DependenciesDone, Evidence, Independence, Merged, Nothing, Reason, Verdict};
use Status::{Backlog, Cancelled, Done, InProgress, InReview};

vocabulary! {
    /// The party that moves a task. A managed agent moves as the kind of its run.
    Mover, "mover" {
        Human = "human",
        Runner = "runner",
        Planner = "planner",
        Coder = "coder",
        Reviewer = "reviewer",
        Orchestrator = "orchestrator",
        Oracle = "oracle",
        /// The external agent that the task is assigned to.
        Assignee = "assignee",
        /// A trusted agent with the role lead.
        Lead = "lead",
        /// A trusted agent.
        Verifier = "verifier",
    }
}

impl From<AgentKind> for Mover {
    fn from(phase: AgentKind) -> Self {
        match phase {
            AgentKind::Planner => Planner,
            AgentKind::Coder => Coder,
            AgentKind::Reviewer => Reviewer,
            AgentKind::Orchestrator => Orchestrator,
            AgentKind::Oracle => Oracle,
        }
    }
}

vocabulary! {
    /// The condition of a move.
    Requirement, "need" {
        Nothing = "nothing",
        /// Every dependency is done, and the task is not held.
        DependenciesDone = "dependencies_done",
        /// A clean checkout with commits beyond the base; an empty diff only with a comment from this run.
        Evidence = "evidence",
        /// Tasks were created, or a reason says why none are needed.
        ChildrenOrReason = "children_or_reason",
        /// Every question about the zone is answered.
        Answers = "answers",
        /// A verdict on the newest commit, from a session that did not write it.
        Verdict = "verdict",
        /// The move itself approves the newest commit and queues its merge; `merge: false` closes the task without a merge.
        Approval = "approval",
        /// The approved commit is in the project branch, or there is nothing to merge.
        Merged = "merged",
        /// A comment about the needed change.
        Comment = "comment",
        /// A participant that has neither built nor approved the task.
        Independence = "independence",
        /// A reason.
        Reason = "reason",
    }
}

impl Requirement {
    /// Describes what the mover must provide; empty if nothing.
    pub const fn sentence(self) -> &'static str {
        match self {
            Nothing => "",
            DependenciesDone => "every dependency done and no hold",
            Evidence => "a clean checkout with commits beyond the base (an empty diff needs a comment from this run)",
            ChildrenOrReason => "created tasks, or a reason why none are needed",
            Answers => "every question about the zone answered",
            Verdict => "a verdict on the newest commit, from a session that did not write it",
            Approval => "nothing: the move approves the newest commit and queues its merge",
            Merged => "the approved commit merged",
            Comment => "a comment that says what to change",
            Independence => "a participant that has neither built nor approved it and had no conflicting hat",
            Reason => "a reason",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    pub from: Status,
    pub to: Status,
    pub movers: &'static [Mover],
    /// The kinds of tasks that the rule covers.
    pub phases: &'static [AgentKind],
    pub requirement: Requirement,
}

const ANY: &[AgentKind] = AgentKind::ALL;
const CODER: &[AgentKind] = &[AgentKind::Coder];
const PLANNING: &[AgentKind] = &[AgentKind::Planner, AgentKind::Orchestrator];
const ORACLE: &[AgentKind] = &[AgentKind::Oracle];
/// Tasks that someone planned. A question, and nobody else, brings the task of an oracle back.
const PLANNED: &[AgentKind] = &[AgentKind::Planner, AgentKind::Coder, AgentKind::Reviewer, AgentKind::Orchestrator];

/// Every legal move. A move from in_review to itself is an approval, and one from done to itself a verification.
pub const TABLE: &[Rule] = &[
    Rule { from: Backlog, to: InProgress, movers: &[Runner], phases: ANY, requirement: DependenciesDone },
    Rule { from: Backlog, to: InProgress, movers: &[Human], phases: ANY, requirement: Nothing },
    Rule { from: Backlog, to: InProgress, movers: &[Assignee], phases: CODER, requirement: DependenciesDone },
    Rule { from: InProgress, to: InReview, movers: &[Coder, Human], phases: CODER, requirement: Evidence },
    // The assignee works in its own checkout, which the server cannot read.
    Rule { from: InProgress, to: InReview, movers: &[Assignee], phases: CODER, requirement: Nothing },
    Rule { from: InProgress, to: Done, movers: &[Planner, Orchestrator, Human], phases: PLANNING, requirement: ChildrenOrReason },
    Rule { from: InProgress, to: Done, movers: &[Human], phases: CODER, requirement: Approval },
    Rule { from: InReview, to: InReview, movers: &[Reviewer, Human], phases: CODER, requirement: Verdict },
    Rule { from: InReview, to: Done, movers: &[Runner], phases: CODER, requirement: Merged },
    Rule { from: InReview, to: Done, movers: &[Human, Lead], phases: CODER, requirement: Approval },
    Rule { from: InReview, to: InProgress, movers: &[Reviewer, Human, Runner, Lead], phases: CODER, requirement: Comment },
    Rule { from: Done, to: Done, movers: &[Verifier, Orchestrator, Human], phases: CODER, requirement: Independence },
    // The runner does when the findings about a pull request concern the task.
    Rule { from: Done, to: InProgress, movers: &[Verifier, Orchestrator, Human, Runner], phases: CODER, requirement: Reason },
    // The planner revises a plan that was sent back with a comment.
    Rule { from: Done, to: InProgress, movers: &[Human], phases: &[AgentKind::Planner], requirement: Reason },
    Rule { from: InProgress, to: Backlog, movers: &[Human], phases: ANY, requirement: Nothing },
    Rule { from: Backlog, to: Cancelled, movers: &[Human, Orchestrator], phases: ANY, requirement: Reason },
    Rule { from: InProgress, to: Cancelled, movers: &[Human, Orchestrator], phases: ANY, requirement: Reason },
    // A lead drops work that nobody has begun.
    Rule { from: Backlog, to: Cancelled, movers: &[Lead], phases: CODER, requirement: Reason },
    // It failed; a lead can reassign it.
    Rule { from: InProgress, to: Cancelled, movers: &[Assignee], phases: CODER, requirement: Reason },
    Rule { from: InReview, to: Cancelled, movers: &[Human, Orchestrator], phases: ANY, requirement: Reason },
    Rule { from: Cancelled, to: Backlog, movers: &[Human], phases: PLANNED, requirement: Nothing },
    Rule { from: Cancelled, to: Backlog, movers: &[Lead], phases: CODER, requirement: Nothing },
    // The task of an oracle is open while a question is.
    Rule { from: InProgress, to: Done, movers: &[Runner], phases: ORACLE, requirement: Answers },
    Rule { from: Backlog, to: Done, movers: &[Runner], phases: ORACLE, requirement: Answers },
    Rule { from: Done, to: Backlog, movers: &[Runner], phases: ORACLE, requirement: Nothing },
    Rule { from: Cancelled, to: Backlog, movers: &[Runner], phases: ORACLE, requirement: Nothing },
];

/// Returns the rule that allows `mover` to move a task of `phase`, or none if the move is illegal.
pub fn rule(phase: AgentKind, from: Status, to: Status, mover: Mover) -> Option<&'static Rule> {
    TABLE.iter().find(|rule| rule.from == from && rule.to == to && rule.movers.contains(&mover) && rule.phases.contains(&phase))
}

/// A status that a task can move to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Target {
    pub to: Status,
    pub who: Vec<Mover>,
    pub needs: Requirement,
}

/// Returns all targets of a task of `phase` in `from`, for all movers.
pub fn targets(phase: AgentKind, from: Status) -> Vec<Target> {
    TABLE
        .iter()
        .filter(|rule| rule.from == from && rule.phases.contains(&phase))
        .map(|rule| Target { to: rule.to, who: rule.movers.to_vec(), needs: rule.requirement })
        .collect()
}

/// Returns the columns to which `mover` can move a task of `phase`, each with its requirement, in the order of the board.
pub fn target_columns(phase: AgentKind, from: Status, mover: Mover) -> Vec<(Status, Requirement)> {
    Status::ALL.iter().filter(|to| **to != from).filter_map(|to| rule(phase, from, *to, mover).map(|rule| (*to, rule.requirement))).collect()
}

/// Returns the statuses that a managed agent of `kind` requests for its own task. A reviewer requests done to approve.
pub fn requested_statuses(kind: AgentKind) -> Vec<Status> {
    let (mover, phase) = (Mover::from(kind), if kind == AgentKind::Reviewer { AgentKind::Coder } else { kind });
    let is_own = |rule: &&Rule| rule.movers.contains(&mover) && rule.phases.contains(&phase);
    let requested = |rule: &Rule| if rule.requirement == Verdict { Done } else { rule.to };
    let targets: Vec<Status> = TABLE.iter().filter(is_own).map(requested).collect();
    Status::ALL.iter().copied().filter(|status| targets.contains(status)).collect()
}

/// Formats the table as Markdown for the documentation.
pub fn to_markdown() -> String {
    let join = |words: Vec<&str>| words.join(", ");
    let mut page = String::from("| from | to | movers | kinds of tasks | requirement |\n|---|---|---|---|---|\n");
    for rule in TABLE {
        let to = match (rule.from, rule.to) {
            (InReview, InReview) => "in_review (approved)",
            (Done, Done) => "done (verified)",
            (_, to) => to.as_str(),
        };
        let phases =
            if rule.phases.len() == AgentKind::ALL.len() { "any".to_owned() } else { join(rule.phases.iter().map(|phase| phase.as_str()).collect()) };
        let movers = join(rule.movers.iter().map(|mover| mover.as_str()).collect());
        page += &format!(
            "| {} | {to} | {movers} | {phases} | {} |\n",
            rule.from,
            if rule.requirement == Nothing { "nothing" } else { rule.requirement.sentence() }
        );
    }
    page
}

#[cfg(test)]
mod tests;
