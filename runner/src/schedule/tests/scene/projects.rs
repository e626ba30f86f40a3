//! The projects of a scene: their pauses, and how many agents they share.

use domain::board::project::{PlanApproval, Project, ProjectStatus, ReviewPolicy};
use domain::warroom::claim::ClaimMode;

use super::*;

impl Scene {
    /// Every project has this policy.
    pub(in crate::schedule::tests) fn reviewed_by(mut self, review: ReviewPolicy) -> Self {
        self.state.projects.values_mut().for_each(|project| project.review = review);
        self
    }

    /// So many agents, and no limit for any kind of them.
    pub(in crate::schedule::tests) fn agents(mut self, agents: u32) -> Self {
        self.config.max_parallel_agents = agents;
        self
    }

    /// The last agent of the project with this number was started at that time.
    pub(in crate::schedule::tests) fn started(mut self, number: u64, at: Timestamp) -> Self {
        self.state.last_starts.insert(ProjectId::new(number), at);
        self
    }

    /// So many projects, spread over some repositories.
    pub(in crate::schedule::tests) fn with_projects(mut self, projects: u64, repositories: u64) -> Self {
        self.state.projects = (1..=projects).map(|number| project(number, &format!("/{}/.git", number % repositories))).collect();
        self
    }

    /// A person paused that project.
    pub(in crate::schedule::tests) fn paused(mut self, number: u64) -> Self {
        self.state.pauses.insert(ProjectId::new(number), Pause { paused_at: Some(at(11, 0)), resumed_at: None, is_archived: false });
        self
    }

    /// A person archived that project.
    pub(in crate::schedule::tests) fn archived(mut self, number: u64) -> Self {
        self.state.pauses.insert(ProjectId::new(number), Pause { paused_at: Some(at(11, 0)), resumed_at: None, is_archived: true });
        self
    }

    /// That project was paused until then.
    pub(in crate::schedule::tests) fn resumed(mut self, number: u64, when: Timestamp) -> Self {
        self.state.pauses.insert(ProjectId::new(number), Pause { paused_at: None, resumed_at: Some(when), is_archived: false });
        self
    }
}

pub(super) fn project(number: u64, git_dir: &str) -> (ProjectId, Project) {
    let id = ProjectId::new(number);
    let project = Project {
        id: id.clone(),
        title: "Project".to_owned(),
        description: None,
        status: ProjectStatus::Active,
        repo_path: String::new(),
        git_dir: git_dir.to_owned(),
        base_branch: "main".to_owned(),
        base_head: "base".to_owned(),
        integration_branch: format!("vibe-relay/{id}"),
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
        review: ReviewPolicy::Agent,
        profile: domain::runs::profile::Profile::default(),
        profile_version: 1,
        paused_at: None,
        archived_at: None,
        deleted_at: None,
        created_at: at(9, 0),
        updated_at: at(9, 0),
    };
    (id, project)
}
