//! Cards, boards and agents for tests. Must not be part of the product.

use domain::board::card::{Card, Contributors};
use domain::board::project::{PlanApproval, Project, ProjectStatus};
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::{Agent, Health};
use domain::team::role::Role;
use domain::time::Timestamp;
use domain::warroom::claim::ClaimMode;
use domain::warroom::class::AgentClass;
use domain::warroom::transport::Transport;
use domain::wire::{BoardView, FinishedCards};

/// A coder's card with empty optional fields.
pub(crate) fn card(number: u64, status: Status) -> Card {
    Card {
        id: TaskId::new(number),
        project_id: ProjectId::new(1),
        parent_task_id: None,
        title: format!("Task {number}"),
        phase: AgentKind::Coder,
        status,
        held_by: None,
        attention: None,
        wait_reason: None,
        cancel_reason: None,
        depends_on: Vec::new(),
        priority: 0,
        position: None,
        approved_sha: None,
        contributors: Contributors::default(),
        goal_id: None,
        round_of: None,
        round: None,
        run: None,
        comments: 0,
        runs: 0,
        cost_micro_usd: 10,
        tokens: 100,
        near_limit: None,
        protected_paths: None,
        checks: Vec::new(),
        preview: None,
        pull_request: None,
        activity_count: 0,
        old: None,
        created_at: Timestamp::from_milliseconds(0),
        updated_at: Timestamp::from_milliseconds(0),
    }
}

/// A trusted external builder without any heartbeat.
pub(crate) fn agent(name: &str) -> Agent {
    Agent {
        project_id: ProjectId::new(1),
        name: name.to_owned(),
        team: None,
        roles: vec![Role::Builder],
        class: AgentClass::Coder,
        lead_role: None,
        zone: None,
        model: None,
        transport: Transport::Terminal,
        description: None,
        status: None,
        trusted: true,
        run_id: None,
        task_id: None,
        context_left: None,
        context: None,
        context_reported_at: None,
        health: Health::Unknown,
        connected: false,
        unread: 0,
        registered_at: Timestamp::from_milliseconds(0),
        last_seen: None,
        last_inbox_check: None,
        left_at: None,
    }
}

/// The board of a project with these cards.
pub(crate) fn board(cards: Vec<Card>) -> BoardView {
    let project = Project {
        id: ProjectId::new(1),
        title: "Project".to_owned(),
        description: None,
        status: ProjectStatus::Active,
        repo_path: String::new(),
        git_dir: String::new(),
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
        knowledge: domain::warroom::knowledge::KnowledgePlace::Beside,
        budget_micro_usd: None,
        max_coders: None,
        review: domain::board::project::ReviewPolicy::default(),
        profile: domain::runs::profile::Profile::default(),
        profile_version: 1,
        paused_at: None,
        archived_at: None,
        deleted_at: None,
        created_at: Timestamp::from_milliseconds(0),
        updated_at: Timestamp::from_milliseconds(0),
    };
    BoardView { board: Board { project, cards, seq: 10, epoch: "e".to_owned() }, finished: FinishedCards::default() }
}
