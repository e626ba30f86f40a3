//! A store in a temporary folder, with helpers for the situations in which tests begin.

use std::path::PathBuf;

use domain::board::card::Card;
use domain::board::project::{PlanApproval, Project};
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::board::task::{NewSubtask, NewTask, Task};
use domain::config::{Config, Durability};
use domain::event::Event;
use domain::id::{ProjectId, RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, EvidenceResult, RepositoryInfo};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::land::LandingEvidence;
use domain::runs::publication::Publication;
use domain::runs::sandbox::SandboxTier;
use domain::wire::{BoardView, FinishedColumn, NewProject};
use tempfile::TempDir;

use crate::{Caller, Db, Error, MoveRequest, NewRun, ReservedRun, Result, RunEnd};

pub(super) const MAX_ATTEMPTS: u32 = 3;

pub(super) struct Store {
    pub(super) db: Db,
    pub(super) config: Config,
    /// The project that every test starts with.
    pub(super) project: ProjectId,
    /// Keeps the database until the test ends.
    pub(super) folder: TempDir,
}

/// A run with its agent's caller and token.
pub(super) struct Agent {
    pub(super) caller: Caller,
    pub(super) run: RunId,
    pub(super) token: String,
}

impl Agent {
    /// Returns the agent's caller with a call id.
    pub(super) fn call(&self, id: &str) -> Caller {
        match self.caller.clone() {
            Caller::Run(mut run) => {
                run.call_id = Some(id.to_owned());
                Caller::Run(run)
            }
            other => other,
        }
    }
}

impl Store {
    /// Creates a board without planner and orchestrator.
    pub(super) async fn board() -> Self {
        Self::with(NewProject { title: "Board".to_owned(), ..NewProject::default() }).await
    }

    /// Creates a project whose planner has not started, and returns its planning task.
    pub(super) async fn plan(approval: PlanApproval) -> (Self, TaskId) {
        let goal = Some("A site that says hello".to_owned());
        let new = NewProject { title: "Site".to_owned(), description: goal, plan_approval: Some(approval), ..NewProject::default() };
        (Self::with(new).await, TaskId::new(1))
    }

    async fn with(new: NewProject) -> Self {
        Self::open(new, |_| {}).await
    }

    /// Creates a board with another configuration.
    pub(super) async fn with_config(change: impl FnOnce(&mut Config)) -> Self {
        Self::open(NewProject { title: "Board".to_owned(), ..NewProject::default() }, change).await
    }

    async fn open(new: NewProject, change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // These tests do not depend on the disk. The write benchmark and `open` use the default durability.
        let mut config = Config { db_path: folder.path().join("board.db"), durability: Durability::Normal, ..Config::default() };
        change(&mut config);
        let db = Db::open(&config).await.unwrap();
        let project = db.create_project(&Caller::owner(), new, probe()).await.unwrap().id;
        Self { db, config, project, folder }
    }

    pub(super) async fn project(&self) -> Project {
        self.db.project(&self.project).await.unwrap()
    }

    pub(super) async fn card(&self, id: &TaskId) -> Card {
        self.db.card(id).await.unwrap()
    }

    pub(super) async fn status(&self, id: &TaskId) -> Status {
        self.card(id).await.status
    }

    /// Creates a coder task that the runner may start.
    pub(super) async fn task(&self, title: &str) -> TaskId {
        self.task_after(title, &[]).await
    }

    /// Creates a coder task with dependencies.
    pub(super) async fn task_after(&self, title: &str, depends_on: &[&TaskId]) -> TaskId {
        let depends_on = depends_on.iter().map(|id| (*id).clone()).collect();
        let new = NewTask { start: true, depends_on, ..new_task(title) };
        self.db.create_task(&Caller::owner(), &self.project, new).await.unwrap().card.id
    }

    pub(super) async fn reserve(&self, task: &TaskId, phase: AgentKind, sha: &str) -> Result<ReservedRun> {
        let status = self.status(task).await;
        let run_dirs = PathBuf::from("runs");
        let new = NewRun {
            task: task.clone(),
            phase,
            status,
            sha: Some(sha.to_owned()),
            worktree_path: None,
            runs_root: run_dirs,
            port: None,
            sandbox: SandboxTier::None,
        };
        self.db.reserve_run(new).await
    }

    /// Starts an agent on the task, in a new session.
    pub(super) async fn agent(&self, task: &TaskId, phase: AgentKind) -> Agent {
        self.agent_at(task, phase, "base").await
    }

    pub(super) async fn agent_at(&self, task: &TaskId, phase: AgentKind, sha: &str) -> Agent {
        let ReservedRun { run, token, .. } = self.reserve(task, phase, sha).await.unwrap();
        self.db.run_session(&run.id, &format!("session of {}", run.id)).await.unwrap();
        let caller = self.db.caller(&token).await.unwrap().unwrap();
        Agent { caller, run: run.id, token }
    }

    pub(super) async fn end(&self, run: &RunId, class: EndClass, failure: Option<FailureClass>) {
        let end = RunEnd { failure, exit_code: Some(0), turn_ended: true, ..RunEnd::new(class, MAX_ATTEMPTS) };
        self.db.end_run(run, end).await.unwrap();
    }

    pub(super) async fn finish(&self, agent: &Agent) {
        self.end(&agent.run, EndClass::Finished, None).await;
    }

    pub(super) async fn move_to(&self, caller: &Caller, task: &TaskId, to: Status) -> Result<Task> {
        self.move_with(caller, task, to, None, EvidenceResult::Nothing).await
    }

    pub(super) async fn move_with(&self, caller: &Caller, task: &TaskId, to: Status, reason: Option<&str>, found: EvidenceResult) -> Result<Task> {
        let wish = MoveRequest { to, reason: reason.map(str::to_owned), merge: true };
        self.db.move_task(caller, task, wish, found).await
    }

    pub(super) async fn cancel(&self, task: &TaskId, reason: &str) {
        self.move_with(&Caller::owner(), task, Status::Cancelled, Some(reason), EvidenceResult::Nothing).await.unwrap();
    }

    /// Creates a task in review whose branch is at `head`.
    pub(super) async fn in_review(&self, title: &str) -> TaskId {
        let task = self.task(title).await;
        self.work(&task).await;
        task
    }

    /// Lets a coder bring a task into review.
    pub(super) async fn work(&self, task: &TaskId) {
        let coder = self.agent(task, AgentKind::Coder).await;
        self.db.record_checkout(task, &format!("vr/{task}/work"), &format!("worktrees/{task}")).await.unwrap();
        let found = EvidenceResult::Evidence(Evidence { head: self.head(task).await, ..clean() });
        self.move_with(&coder.caller, task, Status::InReview, None, found).await.unwrap();
        self.finish(&coder).await;
    }

    /// The tip of a task's branch: `head`, and another one after each time that the task was sent back.
    pub(super) async fn head(&self, task: &TaskId) -> String {
        let rejected: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM verdicts WHERE task_id = $1 AND verdict = 'sent_back'")
            .bind(task.as_str())
            .fetch_one(&self.db.readers)
            .await
            .unwrap();
        if rejected == 0 { "head".to_owned() } else { format!("head-{}", rejected + 1) }
    }

    /// Lets a reviewer approve the tip and the runner merge it.
    pub(super) async fn review_and_merge(&self, task: &TaskId) {
        let tip = self.head(task).await;
        let reviewer = self.agent_at(task, AgentKind::Reviewer, &tip).await;
        self.move_with(&reviewer.caller, task, Status::Done, None, head(&tip)).await.unwrap();
        self.finish(&reviewer).await;
        self.merge(task).await;
    }

    pub(super) async fn merge(&self, task: &TaskId) {
        let branch = self.project().await.integration_branch;
        self.db.record_merge(task, &self.head(task).await, &branch, &format!("merge of {task}"), "tree").await.unwrap();
    }

    /// Takes a coder task from backlog to done.
    pub(super) async fn complete(&self, task: &TaskId) {
        self.work(task).await;
        self.review_and_merge(task).await;
    }

    /// Lets the planner create `titles` and finish.
    pub(super) async fn planned(&self, planner: &TaskId, titles: &[&str]) -> Vec<TaskId> {
        let agent = self.agent(planner, AgentKind::Planner).await;
        let tasks = self.db.create_subtasks(&agent.caller, planner, parts(titles)).await.unwrap();
        self.move_to(&agent.caller, planner, Status::Done).await.unwrap();
        self.finish(&agent).await;
        tasks.into_iter().map(|task| task.card.id).collect()
    }

    /// Returns the events after `seq`.
    pub(super) async fn since(&self, seq: i64) -> Vec<Event> {
        self.db.events_after(seq, None, u32::MAX).await.unwrap().into_iter().map(|envelope| envelope.event).collect()
    }

    /// Returns the kinds of the events after `seq`.
    pub(super) async fn kinds_since(&self, seq: i64) -> Vec<&'static str> {
        self.since(seq).await.iter().map(Event::kind).collect()
    }

    /// Checks that the fold of the whole log equals the stored board.
    pub(super) async fn check_fold(&self) {
        let stored = whole_board(&self.db, &self.project).await.unwrap();
        let mut folded = Board { cards: Vec::new(), seq: 0, ..stored.clone() };
        folded.project.title = "not this".to_owned();
        for envelope in self.db.events_after(0, None, u32::MAX).await.unwrap() {
            folded.apply(&envelope);
        }
        assert_eq!(folded, stored);
        let counted = "SELECT COALESCE(SUM(to_land), 0) - (SELECT COUNT(*) FROM tasks WHERE merged_sha IS NOT NULL AND landing_id IS NULL
            AND status = 'done') FROM finished_sums WHERE status = 'done'";
        let difference: i64 = sqlx::query_scalar(counted).fetch_one(&self.db.readers).await.unwrap();
        assert_eq!(difference, 0, "the sum of work to land differs from the tasks");
    }

    /// Returns every row of every table as text.
    /// The rows of [`Self::dump`] with their texts readable.
    pub(super) async fn readable_rows(&self) -> Vec<String> {
        let decode = |part: &str| {
            let bytes: Option<Vec<u8>> =
                (0..part.len()).step_by(2).map(|at| part.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok())).collect();
            bytes.map_or_else(|| part.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        self.dump().await.iter().map(|row| row.split('"').map(decode).collect::<String>()).collect()
    }

    pub(super) async fn dump(&self) -> Vec<String> {
        let tables: Vec<(String, String)> = sqlx::query_as(
            "SELECT tables.name, group_concat('hex(' || columns.name || ')') FROM sqlite_master AS tables
             JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' GROUP BY tables.name ORDER BY tables.name",
        )
        .fetch_all(&self.db.readers)
        .await
        .unwrap();
        // One statement, because tests compare thousands of dumps.
        let selects: Vec<String> = tables.iter().map(|(table, columns)| format!("SELECT '{table} ' || json_array({columns}) FROM {table}")).collect();
        sqlx::query_scalar(sqlx::AssertSqlSafe(selects.join(" UNION ALL "))).fetch_all(&self.db.readers).await.unwrap()
    }
}

/// The board with all its finished cards, read page by page, whose sums are checked.
pub(super) async fn whole_board(db: &Db, project: &ProjectId) -> Result<Board> {
    let BoardView { mut board, finished } = db.board(project).await?;
    for (status, column) in [(Status::Done, &finished.done), (Status::Cancelled, &finished.cancelled)] {
        let mut next = column.next.clone();
        while let Some(before) = next {
            let page = db.finished_cards(project, status, Some(&before), 3).await?;
            board.add(page.items);
            next = page.next;
        }
        let cards: Vec<_> = board.cards.iter().filter(|card| card.status == status).collect();
        let counted = FinishedColumn {
            total: cards.len() as u32,
            merged: cards.iter().filter(|card| card.is_merged()).count() as u32,
            cost_micro_usd: cards.iter().map(|card| card.cost_micro_usd).sum(),
            next: column.next.clone(),
        };
        assert_eq!(*column, counted, "{status}");
    }
    Ok(board)
}

pub(super) fn probe() -> RepositoryInfo {
    RepositoryInfo {
        repo_path: "/home/ann/site".to_owned(),
        git_dir: "/home/ann/site/.git".to_owned(),
        base_branch: "main".to_owned(),
        base_sha: "base".to_owned(),
        branches: vec!["main".to_owned()],
        identity: None,
        ..RepositoryInfo::default()
    }
}

pub(super) fn new_task(title: &str) -> NewTask {
    NewTask {
        title: title.to_owned(),
        description: None,
        phase: None,
        parent_task_id: None,
        depends_on: Vec::new(),
        priority: None,
        files: Vec::new(),
        model: None,
        start: false,
        assigned_to: None,
        role_hat: None,
        goal_id: None,
        from_branch: None,
    }
}

pub(super) fn parts(titles: &[&str]) -> Vec<NewSubtask> {
    titles.iter().map(|title| NewSubtask { title: (*title).to_owned(), ..NewSubtask::default() }).collect()
}

/// Evidence of a clean checkout that is one commit ahead with a change.
/// A landing of the project branch at `tip`, after which the base branch is at `base`.
pub(super) fn landing(tip: &str, base: &str) -> LandingEvidence {
    LandingEvidence { base_branch: "main".to_owned(), sha: base.to_owned(), before_sha: "base".to_owned(), tip: tip.to_owned(), commits: 3 }
}

pub(super) fn publication(sha: &str) -> Publication {
    Publication {
        remote: "origin".to_owned(),
        branch: "vibe-relay/PROJ-001".to_owned(),
        sha: sha.to_owned(),
        at: domain::time::Timestamp::from_milliseconds(1_769_850_300_000),
        by: domain::actor::Actor::Owner,
        pull_request: Some("https://github.com/ann/site/pull/7".to_owned()),
        status: Some(domain::runs::publication::pull_request::PullRequestStatus::default()),
    }
}

pub(super) fn clean() -> Evidence {
    Evidence {
        head: "head".to_owned(),
        base: "base".to_owned(),
        ahead: 1,
        dirty_paths: Vec::new(),
        dirty_count: 0,
        diff_empty: false,
        patch_id: "patch".to_owned(),
        changed_paths: Vec::new(),
        nested: Vec::new(),
        protected: None,
    }
}

pub(super) fn evidence() -> EvidenceResult {
    EvidenceResult::Evidence(clean())
}

pub(super) fn head(sha: &str) -> EvidenceResult {
    EvidenceResult::head(sha)
}

/// Returns the refusal in `result`.
#[track_caller]
pub(super) fn refusal<T: std::fmt::Debug>(result: Result<T>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("expected a refusal and got {other:?}"),
    }
}

/// Returns the code of the refusal in `result`.
#[track_caller]
pub(super) fn code<T: std::fmt::Debug>(result: Result<T>) -> &'static str {
    refusal(result).code()
}
