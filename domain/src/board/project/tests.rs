//! When an orchestration round is due, and when a project is complete.

use super::*;
use crate::board::attention::{Attention, AttentionKind};
use crate::board::status::CancelReason;
use crate::id::TaskId;
use crate::warroom::claim::ClaimMode;
use crate::warroom::knowledge::KnowledgePlace;

/// Creates a project for tests.
pub(crate) fn project() -> Project {
    let at = Timestamp::from_milliseconds(1_769_850_300_000);
    Project {
        id: ProjectId::new(1),
        title: "Site".to_owned(),
        description: Some("Say hello".to_owned()),
        status: ProjectStatus::Active,
        repo_path: "/home/ann/site".to_owned(),
        git_dir: "/home/ann/site/.git".to_owned(),
        base_branch: "main".to_owned(),
        base_head: "base".to_owned(),
        integration_branch: "vibe-relay/PROJ-001".to_owned(),
        integration_head: None,
        landed_sha: None,
        fetch_problem: None,
        landed: None,
        published: None,
        issue: None,
        preview: None,
        merged_at: None,
        allowed_access: Vec::new(),
        plan_approval: PlanApproval::Auto,
        claim_mode: ClaimMode::Enforced,
        knowledge: KnowledgePlace::Beside,
        budget_micro_usd: None,
        max_coders: None,
        review: ReviewPolicy::default(),
        profile: crate::runs::profile::Profile::default(),
        profile_version: 1,
        paused_at: None,
        archived_at: None,
        deleted_at: None,
        created_at: at,
        updated_at: at,
    }
}

/// Creates a card for tests.
pub(crate) fn card(number: u64, phase: AgentKind, status: Status) -> Card {
    let at = Timestamp::from_milliseconds(1_769_850_300_000);
    Card {
        id: TaskId::new(number),
        project_id: ProjectId::new(1),
        parent_task_id: None,
        title: format!("Task {number}"),
        phase,
        status,
        held_by: None,
        attention: None,
        wait_reason: None,
        cancel_reason: (status == Status::Cancelled).then_some(CancelReason::Obsolete),
        depends_on: Vec::new(),
        priority: 0,
        position: None,
        approved_sha: None,
        contributors: crate::board::card::Contributors::default(),
        goal_id: None,
        round_of: None,
        round: None,
        run: None,
        comments: 0,
        runs: 0,
        cost_micro_usd: 0,
        tokens: 0,
        near_limit: None,
        protected_paths: None,
        checks: Vec::new(),
        preview: None,
        pull_request: None,
        activity_count: 0,
        old: None,
        created_at: at,
        updated_at: at,
    }
}

fn coder(number: u64, status: Status) -> Card {
    card(number, AgentKind::Coder, status)
}

fn round(number: u64, round: u32, status: Status) -> Card {
    Card { round: Some(round), round_of: Some(TaskId::new(1)), ..card(number, AgentKind::Orchestrator, status) }
}

fn due(root: &Card, children: &[Card], rounds: &[Card], max_rounds: u32) -> Option<u32> {
    round_due(root, &children.iter().collect::<Vec<_>>(), &rounds.iter().collect::<Vec<_>>(), max_rounds)
}

#[test]
fn first_round_is_due_when_plan_and_tasks_are_finished() {
    use Status::{Backlog, Cancelled, Done, InProgress, InReview};
    let root = card(1, AgentKind::Planner, Done);
    assert_eq!(due(&root, &[coder(2, Done)], &[], 3), Some(1));
    assert_eq!(due(&root, &[coder(2, Done), coder(3, Cancelled)], &[], 3), Some(1));
    for open in [Backlog, InProgress, InReview] {
        assert_eq!(due(&root, &[coder(2, Done), coder(3, open)], &[], 3), None, "{open}");
        assert_eq!(due(&card(1, AgentKind::Planner, open), &[coder(2, Done)], &[], 3), None, "{open}");
    }
    assert_eq!(due(&root, &[coder(2, Cancelled)], &[], 3), None, "no task is done");
    assert_eq!(due(&root, &[], &[], 3), None);
    assert_eq!(due(&root, &[coder(2, Done)], &[], 0), None, "rounds are disabled");
    assert_eq!(due(&card(1, AgentKind::Coder, Done), &[coder(2, Done)], &[], 3), None, "only plans have rounds");
}

#[test]
fn next_round_is_due_only_if_the_last_added_tasks() {
    use Status::{Cancelled, Done, InProgress};
    let root = card(1, AgentKind::Planner, Done);
    let first = round(3, 1, Done);
    assert_eq!(due(&root, &[coder(2, Done)], std::slice::from_ref(&first), 3), None);
    assert_eq!(due(&root, &[coder(2, Done), coder(4, Done)], std::slice::from_ref(&first), 3), Some(2));
    assert_eq!(due(&root, &[coder(2, Done), coder(4, Done)], &[round(3, 1, InProgress)], 3), None);
    assert_eq!(due(&root, &[coder(2, Done)], &[round(3, 1, Cancelled)], 3), None, "a cancelled round is not repeated");
    let rounds = [round(5, 2, Done), first];
    assert_eq!(due(&root, &[coder(2, Done), coder(4, Done)], &rounds, 3), None, "the order of the list does not matter");
    assert_eq!(due(&root, &[coder(2, Done), coder(6, Done)], &rounds, 3), Some(3));
    assert_eq!(due(&root, &[coder(2, Done), coder(6, Done)], &rounds, 2), None);
}

#[test]
fn project_is_complete_when_no_work_remains() {
    let complete = |cards: &[Card]| is_complete(&cards.iter().collect::<Vec<_>>(), false);
    let done = coder(1, Status::Done);
    let held = |by| Card { held_by: Some(by), ..coder(2, Status::Backlog) };
    assert!(!complete(&[]) && !complete(&[coder(1, Status::Cancelled)]), "no card is done");
    assert!(complete(&[done.clone(), coder(2, Status::Cancelled)]));
    assert!(complete(&[done.clone(), held(HeldBy::Human)]) && complete(&[done.clone(), held(HeldBy::Stop)]));
    assert!(!complete(&[done.clone(), held(HeldBy::Plan)]), "the plan awaits approval");
    assert!(!is_complete(&[&done], true));
    for status in [Status::Backlog, Status::InProgress, Status::InReview] {
        assert!(!complete(&[done.clone(), coder(2, status)]), "{status}");
    }
    let attention = Some(Attention::new(AttentionKind::EmptyPlan, "x"));
    assert!(!complete(&[Card { attention: attention.clone(), ..done.clone() }]));
    assert!(!complete(&[done, Card { attention, ..held(HeldBy::Human) }]), "a held card with attention is not ignored");
}

#[test]
fn project_branch_contains_the_project_id() {
    assert_eq!(project_branch(&ProjectId::new(12)), "vibe-relay/PROJ-012");
}

#[test]
fn branches_of_this_program_are_refused() {
    for branch in ["main", "release/2", "vr", "vibe-relay-docs", "feature/vr/x"] {
        assert_eq!(refuse_managed_branch("base_branch", branch), Ok(()), "{branch}");
    }
    for branch in ["vibe-relay/PROJ-001", "vibe-relay/PROJ-001-2", "vr/TASK-001/work"] {
        assert_eq!(refuse_managed_branch("base_branch", branch).unwrap_err().code(), "invalid", "{branch}");
    }
}

#[test]
fn branch_of_a_project_names_it() {
    for (branch, project) in [("vibe-relay/PROJ-007", 7), ("vibe-relay/PROJ-012-2", 12)] {
        assert_eq!(project_of_branch(branch), Some(ProjectId::new(project)), "{branch}");
    }
    for branch in ["vibe-relay/notes", "vibe-relay/PROJ-007-draft", "vibe-relay/PROJ-7", "vr/TASK-007/work", "PROJ-007"] {
        assert_eq!(project_of_branch(branch), None, "{branch}");
    }
    assert_eq!(project_of_branch(&project_branch(&ProjectId::new(3))), Some(ProjectId::new(3)));
}
