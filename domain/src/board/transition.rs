//! THE TABLE: which move of a task is legal, for whom, and what it needs.
//!
//! The store enforces it, the board draws its drop targets from it, and `docs/state-machine.md` is printed from it. Nothing else may
//! know which move is legal.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::Status;
use crate::runs::agent_kind::AgentKind;
use crate::vocabulary::vocabulary;

use Mover::{Assignee, Coder, Human, Lead, Orchestrator, Planner, Reviewer, Runner, Verifier};
use Requirement::{Approval, ChildrenOrReason, Comment, DependenciesDone, Evidence, Independence, Merged, Nothing, Reason, Verdict};
use Status::{Backlog, Cancelled, Done, InProgress, InReview};

vocabulary! {
    /// Who moves a task. An agent moves in the phase of its run.
    Mover, "mover" {
        Human = "human",
        Runner = "runner",
        Planner = "planner",
        Coder = "coder",
        Reviewer = "reviewer",
        Orchestrator = "orchestrator",
        /// The agent from outside that the task is assigned to.
        Assignee = "assignee",
        /// An agent whom the person gave the lead.
        Lead = "lead",
        /// An agent that the person vouches for.
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
        }
    }
}

vocabulary! {
    /// What must be there for a move to be made.
    Requirement, "need" {
        Nothing = "nothing",
        /// Every dependency is done, and nobody holds the task.
        DependenciesDone = "dependencies_done",
        /// A clean checkout with commits beyond the base; an empty diff only with a comment of this run.
        Evidence = "evidence",
        /// Children were created, or a reason says why none.
        ChildrenOrReason = "children_or_reason",
        /// A verdict about the commit at the tip, from a session that did not write it.
        Verdict = "verdict",
        /// The tip is approved by the move itself and joins the merge queue; `merge: false` closes the task without it.
        Approval = "approval",
        /// The approved commit is in the project branch, or there is nothing to merge.
        Merged = "merged",
        /// A comment that says what to change.
        Comment = "comment",
        /// Eyes that have neither built nor approved the task.
        Independence = "independence",
        /// A reason.
        Reason = "reason",
    }
}

impl Requirement {
    /// What the mover must bring along, as a sentence; empty when nothing.
    pub const fn sentence(self) -> &'static str {
        match self {
            Nothing => "",
            DependenciesDone => "every dependency done and nobody holding the task",
            Evidence => "a clean checkout with commits beyond the base (an empty diff needs a comment of this run)",
            ChildrenOrReason => "created tasks, or a reason why none",
            Verdict => "a verdict about the newest commit, from another session than its author's",
            Approval => "nothing: the newest commit is approved by the move and joins the merge queue",
            Merged => "the approved commit merged",
            Comment => "a comment that says what to change",
            Independence => "somebody who has neither built nor approved it, and wore no conflicting hat",
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
    /// The phases of the tasks that may be moved so.
    pub phases: &'static [AgentKind],
    pub requirement: Requirement,
}

const ANY: &[AgentKind] = AgentKind::ALL;
const CODER: &[AgentKind] = &[AgentKind::Coder];
const PLANNING: &[AgentKind] = &[AgentKind::Planner, AgentKind::Orchestrator];

/// Every legal move. A move that stays in review is an approval, one that stays in done a verification.
pub const TABLE: &[Rule] = &[
    Rule { from: Backlog, to: InProgress, movers: &[Runner], phases: ANY, requirement: DependenciesDone },
    Rule { from: Backlog, to: InProgress, movers: &[Human], phases: ANY, requirement: Nothing },
    Rule { from: Backlog, to: InProgress, movers: &[Assignee], phases: CODER, requirement: DependenciesDone },
    Rule { from: InProgress, to: InReview, movers: &[Coder, Human], phases: CODER, requirement: Evidence },
    // The assignee works in a checkout of its own, which nobody here can look at.
    Rule { from: InProgress, to: InReview, movers: &[Assignee], phases: CODER, requirement: Nothing },
    Rule { from: InProgress, to: Done, movers: &[Planner, Orchestrator, Human], phases: PLANNING, requirement: ChildrenOrReason },
    Rule { from: InProgress, to: Done, movers: &[Human], phases: CODER, requirement: Approval },
    Rule { from: InReview, to: InReview, movers: &[Reviewer, Human], phases: CODER, requirement: Verdict },
    Rule { from: InReview, to: Done, movers: &[Runner], phases: CODER, requirement: Merged },
    Rule { from: InReview, to: Done, movers: &[Human, Lead], phases: CODER, requirement: Approval },
    Rule { from: InReview, to: InProgress, movers: &[Reviewer, Human, Runner, Lead], phases: CODER, requirement: Comment },
    Rule { from: Done, to: Done, movers: &[Verifier, Orchestrator, Human], phases: CODER, requirement: Independence },
    Rule { from: Done, to: InProgress, movers: &[Verifier, Orchestrator, Human], phases: CODER, requirement: Reason },
    // A plan goes back to its planner with words.
    Rule { from: Done, to: InProgress, movers: &[Human], phases: &[AgentKind::Planner], requirement: Reason },
    Rule { from: InProgress, to: Backlog, movers: &[Human], phases: ANY, requirement: Nothing },
    Rule { from: Backlog, to: Cancelled, movers: &[Human, Orchestrator], phases: ANY, requirement: Reason },
    Rule { from: InProgress, to: Cancelled, movers: &[Human, Orchestrator], phases: ANY, requirement: Reason },
    // It failed; a lead may give it out again.
    Rule { from: InProgress, to: Cancelled, movers: &[Assignee], phases: CODER, requirement: Reason },
    Rule { from: InReview, to: Cancelled, movers: &[Human, Orchestrator], phases: ANY, requirement: Reason },
    Rule { from: Cancelled, to: Backlog, movers: &[Human], phases: ANY, requirement: Nothing },
    Rule { from: Cancelled, to: Backlog, movers: &[Lead], phases: CODER, requirement: Nothing },
];

/// The rule under which `who` may move a task of `phase`, or none when the move is illegal.
pub fn rule(phase: AgentKind, from: Status, to: Status, who: Mover) -> Option<&'static Rule> {
    TABLE.iter().find(|rule| rule.from == from && rule.to == to && rule.movers.contains(&who) && rule.phases.contains(&phase))
}

/// A status that a task could go to from where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Target {
    pub to: Status,
    pub who: Vec<Mover>,
    pub needs: Requirement,
}

/// Everywhere a task of `phase` in `from` may go, by anybody.
pub fn targets(phase: AgentKind, from: Status) -> Vec<Target> {
    TABLE
        .iter()
        .filter(|rule| rule.from == from && rule.phases.contains(&phase))
        .map(|rule| Target { to: rule.to, who: rule.movers.to_vec(), needs: rule.requirement })
        .collect()
}

/// The columns to which `who` may move a task of `phase`, each with what it needs, in the order of the board.
pub fn target_columns(phase: AgentKind, from: Status, who: Mover) -> Vec<(Status, Requirement)> {
    Status::ALL.iter().filter(|to| **to != from).filter_map(|to| rule(phase, from, *to, who).map(|rule| (*to, rule.requirement))).collect()
}

/// The table as Markdown, for the documentation.
pub fn to_markdown() -> String {
    let join = |words: Vec<&str>| words.join(", ");
    let mut page = String::from("| from | to | who | tasks of phase | needs |\n|---|---|---|---|---|\n");
    for rule in TABLE {
        let to = match (rule.from, rule.to) {
            (InReview, InReview) => "in_review (approved)",
            (Done, Done) => "done (verified)",
            (_, to) => to.as_str(),
        };
        let phases =
            if rule.phases.len() == AgentKind::ALL.len() { "any".to_owned() } else { join(rule.phases.iter().map(|phase| phase.as_str()).collect()) };
        let who = join(rule.movers.iter().map(|who| who.as_str()).collect());
        page += &format!(
            "| {} | {to} | {who} | {phases} | {} |\n",
            rule.from,
            if rule.requirement == Nothing { "nothing" } else { rule.requirement.sentence() }
        );
    }
    page
}

#[cfg(test)]
mod tests;
