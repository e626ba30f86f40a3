//! All database calls of the growth benchmarks, because a changed interface must change only this file. It must not measure.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use db::{ActivityQuery, Caller, CardFilter, Db, Error, MoveRequest, NewRun, PersonCaller, RunEnd, SearchQuery};
use domain::board::project::ProjectStatus;
use domain::board::status::{HeldBy, Status};
use domain::board::task::NewTask;
use domain::board::wait_reason::WaitReason;
use domain::config::{Config, Durability};
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::checkout::KeptWork;
use domain::runs::evidence::{Evidence, EvidenceResult, RepositoryInfo};
use domain::runs::failure::EndClass;
use domain::runs::sandbox::SandboxTier;
use domain::runs::usage::Usage;
use domain::team::agent::Registration;
use domain::team::person::{OWNER, PersonRole};
use domain::team::role::Role;
use domain::team::token::{TokenAudience, TokenTerms};
use domain::wire::NewProject;
use serde_json::{Value, json};

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The size of one finished plan: a planner, its parts, and one round of orchestration.
pub(crate) const PLAN_SIZE: usize = 50;
const PARTS: usize = PLAN_SIZE - 2;
/// One part in this many is sent back once, and another one is cancelled.
const IRREGULAR: usize = 12;
/// Commits: where the work begins, and what the last review approves.
const BASE: &str = "base";
const APPROVED: &str = "approved";

const CLOSE_TIMEOUT: Duration = Duration::from_secs(60);

const DESCRIPTION: &str = "The page lists every entry of the journal with its date, title and first paragraph, newest first, twenty to a page. \
    A reader pages back with a link at the end and sees the number of the page in the title.\n\n\
    - The list reads from the store, not from the files.\n- A draft is shown to its author only.\n- An empty journal says how to write the first entry.\n\n\
    Tests cover an empty journal, one page, two pages and a draft. The styles follow the tokens of the site; nothing is loaded from elsewhere.";
const COMMENT: &str = "I added the list with its two pages and the test for drafts. `cargo test` passes with 214 tests. The first paragraph \
    is cut at the end of a word after 240 characters, because longer ones push the second entry below the fold.";

/// A database with one project.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    db: Db,
    project: ProjectId,
}

struct Agent {
    caller: Caller,
    run: RunId,
}

/// The owner of the board.
fn owner() -> Caller {
    Caller::Person(PersonCaller { id: OWNER, name: "owner".to_owned(), role: PersonRole::Owner, is_companion: false })
}

impl Store {
    /// Opens a database file, with the project that it holds or a new one.
    pub(crate) async fn open(file: &Path, durable: bool) -> Outcome<Self> {
        let durability = if durable { Durability::Full } else { Durability::Normal };
        let config = Config { db_path: file.to_owned(), durability, ..Config::default() };
        // A store that was dropped right before may still be closing the file.
        let deadline = Instant::now() + CLOSE_TIMEOUT;
        let db = loop {
            match Db::open(&config).await {
                Err(Error::Locked { .. }) if Instant::now() < deadline => {}
                opened => break opened?,
            }
        };
        let project = match db.projects().await?.into_iter().next() {
            Some(project) => project.id,
            None => db.create_project(&owner(), NewProject { title: "Growth".to_owned(), ..NewProject::default() }, probe()).await?.id,
        };
        Ok(Self { db, project })
    }

    /// Completes a plan: planner, coders, reviewers, merges and one round of orchestration.
    pub(crate) async fn finish_plan(&self) -> Outcome {
        let planner = self.create(&json!({"title": "Plan the journal", "phase": "planner", "description": DESCRIPTION, "start": true})).await?;
        let agent = self.agent(&planner, AgentKind::Planner, Status::Backlog, BASE).await?;
        // Every third part begins a chain of three.
        let after = |number: usize| if number.is_multiple_of(3) { json!([]) } else { json!([number - 1]) };
        let parts = (0..PARTS)
            .map(|number| json!({"title": format!("Part {number} of the journal"), "description": DESCRIPTION, "depends_on": after(number)}));
        let parts = serde_json::from_value(Value::Array(parts.collect()))?;
        let parts = self.db.create_subtasks(&agent.caller, &planner, parts).await?;
        self.change(&agent.caller, &planner, Status::Done, None, EvidenceResult::Nothing).await?;
        self.end(agent).await?;
        for (number, part) in parts.iter().map(|part| &part.card.id).enumerate() {
            match number % IRREGULAR {
                // The last part of a chain, so no other part depends on it.
                8 => self.change(&owner(), part, Status::Cancelled, Some("obsolete"), EvidenceResult::Nothing).await?,
                3 => self.finish_part(part, true).await?,
                _ => self.finish_part(part, false).await?,
            }
        }
        let round =
            self.db.board(&self.project).await?.board.cards.into_iter().find(|card| card.phase == AgentKind::Orchestrator && card.status.is_open());
        let round = round.ok_or("no round of orchestration began")?.id;
        let agent = self.agent(&round, AgentKind::Orchestrator, Status::InProgress, BASE).await?;
        self.change(&agent.caller, &round, Status::Done, Some("The plan is complete."), EvidenceResult::Nothing).await?;
        self.end(agent).await?;
        let complete = self.db.project(&self.project).await?.status == ProjectStatus::Complete;
        if complete { Ok(()) } else { Err("the plan was not finished".into()) }
    }

    /// Builds, reviews and merges a part. With `sent_back`, the first review rejects it.
    async fn finish_part(&self, task: &TaskId, sent_back: bool) -> Outcome {
        let clean = Evidence {
            head: String::new(),
            base: BASE.to_owned(),
            ahead: 1,
            dirty_paths: Vec::new(),
            dirty_count: 0,
            diff_empty: false,
            patch_id: "patch".to_owned(),
            changed_paths: Vec::new(),
            nested: Vec::new(),
            protected: None,
        };
        // Work that was sent back needs a new commit.
        let heads = if sent_back { ["first", APPROVED].as_slice() } else { [APPROVED].as_slice() };
        for head in heads.iter().copied() {
            let status = self.db.card(task).await?.status;
            let coder = self.agent(task, AgentKind::Coder, status, BASE).await?;
            self.db.record_checkout(task, &format!("vr/{task}/work"), &format!("worktrees/{task}")).await?;
            for _ in 0..2 {
                self.db.add_comment(&coder.caller, task, COMMENT, None).await?;
            }
            self.change(&coder.caller, task, Status::InReview, None, EvidenceResult::Evidence(Evidence { head: head.to_owned(), ..clean.clone() }))
                .await?;
            self.end(coder).await?;
            let reviewer = self.agent(task, AgentKind::Reviewer, Status::InReview, head).await?;
            self.db.add_comment(&reviewer.caller, task, COMMENT, None).await?;
            let to = if head == APPROVED { Status::Done } else { Status::InProgress };
            self.change(&reviewer.caller, task, to, Some("The second page is missing."), EvidenceResult::head(head)).await?;
            self.end(reviewer).await?;
        }
        let branch = self.db.project(&self.project).await?.integration_branch;
        self.db.record_merge(task, APPROVED, &branch, &format!("merge of {task}"), "tree").await?;
        self.db.checkout_removed(task, KeptWork::default()).await?;
        Ok(())
    }

    async fn agent(&self, task: &TaskId, phase: AgentKind, status: Status, sha: &str) -> Outcome<Agent> {
        let sha = Some(sha.to_owned());
        let new = NewRun {
            task: task.clone(),
            phase,
            status,
            sha,
            worktree_path: None,
            runs_root: PathBuf::from("runs"),
            port: None,
            sandbox: SandboxTier::None,
        };
        let reserved = self.db.reserve_run(new).await?;
        self.db.run_session(&reserved.run.id, &format!("session of {}", reserved.run.id)).await?;
        let holder = self.db.identify(&reserved.token, TokenAudience::Mcp).await?.ok_or("the run has no caller")?;
        Ok(Agent { caller: holder.caller, run: reserved.run.id })
    }

    async fn end(&self, agent: Agent) -> Outcome {
        let usage = Usage { cost_micro_usd: 120_000, input_tokens: 40_000, output_tokens: 3_000, turns: 12, ..Usage::default() };
        let end = RunEnd { exit_code: Some(0), usage: Some(usage), turn_ended: true, ..RunEnd::new(EndClass::Finished, 3) };
        self.db.end_run(&agent.run, end).await?;
        Ok(())
    }

    async fn change(&self, caller: &Caller, task: &TaskId, to: Status, reason: Option<&str>, found: EvidenceResult) -> Outcome {
        self.db.move_task(caller, task, MoveRequest { to, reason: reason.map(str::to_owned), merge: true }, found).await?;
        Ok(())
    }

    async fn create(&self, task: &Value) -> Outcome<TaskId> {
        let new: NewTask = serde_json::from_value(task.clone())?;
        Ok(self.db.create_task(&owner(), &self.project, new).await?.card.id)
    }

    /// Creates a card that is held until a person presses Start.
    pub(crate) async fn create_held(&self) -> Outcome<TaskId> {
        self.create(&json!({"title": "An imported card", "description": DESCRIPTION})).await
    }

    /// Sets the wait reason of a held card, as the first tick of the scheduler after its creation does.
    pub(crate) async fn settle(&self, task: TaskId) -> Outcome {
        let held = WaitReason::Held { by: HeldBy::Human };
        Ok(self.db.set_wait_reasons(vec![(task, Some(held))]).await?)
    }

    /// Creates open cards that depend on a finished one. Every fifth card is not held but depends on the card before it.
    pub(crate) async fn create_open(&self, count: usize, finished: &TaskId) -> Outcome<Vec<TaskId>> {
        let mut tasks: Vec<TaskId> = Vec::new();
        for number in 0..count {
            let before = tasks.last().filter(|_| number % 5 == 4).unwrap_or(finished);
            let new = json!({"title": format!("Open {number}"), "description": DESCRIPTION, "depends_on": [before], "start": number % 5 == 4});
            tasks.push(self.create(&new).await?);
        }
        Ok(tasks)
    }

    /// Returns a finished part of a plan.
    pub(crate) async fn finished_part(&self) -> Outcome<TaskId> {
        let done = CardFilter { statuses: vec![Status::Done], ..CardFilter::of_project(self.project.clone()) };
        let cards = self.db.cards(&done).await?;
        Ok(cards.into_iter().find(|card| card.phase == AgentKind::Coder).ok_or("nothing is finished")?.id)
    }

    pub(crate) async fn comment(&self, task: &TaskId) -> Outcome {
        self.db.add_comment(&owner(), task, COMMENT, None).await?;
        Ok(())
    }

    pub(crate) async fn cancel(&self, task: &TaskId) -> Outcome {
        self.change(&owner(), task, Status::Cancelled, Some("obsolete"), EvidenceResult::Nothing).await
    }

    pub(crate) async fn reopen(&self, task: &TaskId) -> Outcome {
        self.change(&owner(), task, Status::Backlog, None, EvidenceResult::Nothing).await
    }

    /// Reads the state that the runner reads on each tick.
    pub(crate) async fn plan_tick(&self) -> Outcome<usize> {
        Ok(self.db.snapshot().await?.tasks.len())
    }

    /// Reads the first answer of the board.
    pub(crate) async fn board(&self) -> Outcome<usize> {
        Ok(self.db.board(&self.project).await?.board.cards.len())
    }

    /// Adds agents that are present, beside the departed ones of finished runs.
    pub(crate) async fn add_agents(&self, count: usize) -> Outcome {
        for number in 0..count {
            let registration = Registration { name: format!("agent-{number}"), roles: vec![Role::Builder], ..Registration::default() };
            self.db.create_agent_token(&owner(), &self.project, registration, TokenTerms::default()).await?;
        }
        Ok(())
    }

    pub(crate) async fn agents(&self) -> Outcome<usize> {
        Ok(self.db.agents(&self.project).await?.len())
    }

    /// Reads the list of projects, with what needs the human.
    pub(crate) async fn projects(&self) -> Outcome<usize> {
        Ok(self.db.project_summaries(&owner(), false).await?.len())
    }

    /// Reads the first page of the history of the project.
    pub(crate) async fn history(&self) -> Outcome<usize> {
        let query = ActivityQuery { limit: 50, ..ActivityQuery::default() };
        Ok(self.db.activity(&owner(), &self.project, &query).await?.0.len())
    }

    /// Searches for two words of many texts, one of them with a typing error.
    pub(crate) async fn search(&self) -> Outcome<usize> {
        let query = SearchQuery { text: "journal paragaph".to_owned(), project: None, limit: 20 };
        Ok(self.db.search(&owner(), &query).await?.len())
    }

    pub(crate) async fn replay(&self) -> Outcome<usize> {
        Ok(self.db.replay(&owner(), &self.project, None).await?.steps.len())
    }

    pub(crate) async fn statistics(&self) -> Outcome<usize> {
        Ok(self.db.statistics(&self.project, 30).await?.days.len())
    }

    /// Reads the last hundred events, as a client does that reconnects.
    pub(crate) async fn last_events(&self) -> Outcome<usize> {
        Ok(self.db.events_after(self.db.latest() - 100, Some(&self.project), 1000).await?.len())
    }
}

fn probe() -> RepositoryInfo {
    RepositoryInfo {
        repo_path: String::new(),
        git_dir: String::new(),
        base_branch: "main".to_owned(),
        base_sha: String::new(),
        branches: Vec::new(),
        identity: None,
        ..RepositoryInfo::default()
    }
}
