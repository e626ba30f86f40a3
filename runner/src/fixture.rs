//! A repository and a store for tests that need both. Tests drive tasks through the store's use cases, as people and agents do.

pub(crate) mod checked;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use db::{Caller, Db, MoveRequest, NewRun, ReservedRun, RunEnd};
use domain::board::project::Project;
use domain::board::status::Status;
use domain::board::task::{NewTask, Task};
use domain::config::live::LiveConfig;
use domain::config::{Config, Durability};
use domain::id::{RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{RepositoryInfo, Sha};
use domain::runs::failure::EndClass;
use domain::runs::run::Run;
use domain::runs::sandbox::SandboxTier;
use domain::time::Timestamp;
use domain::wire::NewProject;
use repo::testing::{TestRepository, commit_all_in, write_in};
use repo::{GitCall, GitOutput, LandOutcome, LandRequest, Repository};
use tokio::sync::watch;

use crate::process::{self, Programs};
use crate::runs::checkout::{self, CheckoutError, CheckoutPlan};
use crate::runs::checkout_update::update_checkout;
use crate::runs::run::{RunContext, preparation};

pub(crate) struct TestBoard {
    pub(crate) sample: TestRepository,
    pub(crate) config: Config,
    pub(crate) db: Db,
    /// A board without a plan, on the repository.
    pub(crate) project: Project,
}

impl TestBoard {
    pub(crate) async fn new() -> Self {
        Self::on(TestRepository::new()).await
    }

    pub(crate) async fn on(sample: TestRepository) -> Self {
        Self::beginning_at(sample, None).await
    }

    /// A board whose project branch begins at `start` instead of at the base.
    pub(crate) async fn beginning_at(sample: TestRepository, start: Option<Sha>) -> Self {
        use_git();
        let config = Config {
            db_path: sample.beside("store/board.db"),
            worktrees_path: sample.beside("worktrees"),
            durability: Durability::Normal,
            sandbox: Some(SandboxTier::None),
            ..Config::default()
        };
        let db = Db::open(&config).await.unwrap();
        let probe = RepositoryInfo { start, ..repo::probe(sample.top(), None).unwrap() };
        let new = NewProject { title: "Board".to_owned(), ..NewProject::default() };
        let project = db.create_project(&Caller::owner(), new, probe).await.unwrap();
        Self { sample, config, db, project }
    }

    /// Everything that a run on this board needs, except for programs.
    pub(crate) fn context(&self) -> RunContext {
        let config = watch::Sender::new(LiveConfig { config: self.config.clone(), notice: None }).subscribe();
        let (programs, activity) = (Programs::at(PathBuf::from("/bin/false")), watch::Sender::default());
        RunContext { db: self.db.clone(), config, programs, activity, sandbox: watch::Sender::new(None) }
    }

    pub(crate) fn repository(&self) -> Repository {
        self.sample.repository()
    }

    pub(crate) fn tip(&self, branch: &str) -> Option<Sha> {
        self.repository().ref_sha(branch).unwrap()
    }

    /// Returns the names of all branches in order.
    pub(crate) fn branches(&self) -> Vec<String> {
        let heads = self.sample.git_dir().join("refs/heads");
        let (mut folders, mut names) = (vec![heads.clone()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    names.push(path.strip_prefix(&heads).unwrap().to_string_lossy().into_owned());
                }
            }
        }
        names.sort();
        names
    }

    /// Deletes a branch behind the server's back.
    pub(crate) fn delete_branch(&self, name: &str) {
        fs::remove_file(self.sample.git_dir().join("refs/heads").join(name)).unwrap();
    }

    pub(crate) async fn project(&self) -> Project {
        self.db.project(&self.project.id).await.unwrap()
    }

    pub(crate) async fn read(&self, task: &TaskId) -> Task {
        self.db.task(task).await.unwrap()
    }

    /// Creates a coder's task that can start.
    pub(crate) async fn task(&self, title: &str) -> TaskId {
        let new = NewTask { title: title.to_owned(), start: true, ..NewTask::default() };
        self.db.create_task(&Caller::owner(), &self.project.id, new).await.unwrap().card.id
    }

    pub(crate) async fn plan_checkout(&self, task: &TaskId, phase: AgentKind) -> Result<CheckoutPlan, CheckoutError> {
        checkout::plan_checkout(&self.db, &self.config.worktrees_path, &self.project().await, &self.read(task).await, phase).await
    }

    /// Reserves a run and creates its checkout. Returns its agent as a caller.
    pub(crate) async fn agent(&self, task: &TaskId, phase: AgentKind) -> (CheckoutPlan, ReservedRun, Caller) {
        let plan = self.plan_checkout(task, phase).await.unwrap();
        let new = NewRun {
            task: task.clone(),
            phase,
            status: self.read(task).await.card.status,
            sha: Some(plan.sha.clone()),
            worktree_path: Some(plan.path.to_string_lossy().into_owned()),
            runs_root: self.sample.beside("store/runs"),
            port: None,
            sandbox: SandboxTier::None,
        };
        let reserved = self.db.reserve_run(new).await.unwrap();
        checkout::create(&plan).await.unwrap();
        preparation::plan(&self.project().await, &plan, phase).await.unwrap();
        let caller = self.db.caller(&reserved.token).await.unwrap().unwrap();
        (plan, reserved, caller)
    }

    /// Moves a task with the evidence that the move needs.
    pub(crate) async fn move_to(&self, caller: &Caller, task: &TaskId, to: Status, reason: Option<&str>) {
        let look = self.db.required_evidence(caller, task, to).await.unwrap();
        let found = repo::collect_evidence(&look).unwrap();
        let wish = MoveRequest { to, reason: reason.map(str::to_owned), merge: true };
        self.db.move_task(caller, task, wish, found).await.unwrap();
    }

    /// Lets a coder commit these files and submit them. Returns its checkout and its commit.
    pub(crate) async fn work(&self, task: &TaskId, files: &[(&str, &str)]) -> (PathBuf, Sha) {
        let (plan, reserved, coder) = self.agent(task, AgentKind::Coder).await;
        for (path, content) in files {
            write_in(&plan.path, path, content);
        }
        let sha = commit_all_in(&plan.path, "work");
        self.move_to(&coder, task, Status::InReview, None).await;
        self.end(&reserved).await;
        (plan.path, sha)
    }

    pub(crate) async fn end(&self, reserved: &ReservedRun) {
        let end = RunEnd { exit_code: Some(0), turn_ended: true, ..RunEnd::new(EndClass::Finished, 3) };
        self.db.end_run(&reserved.run.id, end).await.unwrap();
    }

    /// Approves the work as the human, which queues its merge.
    pub(crate) async fn approve(&self, task: &TaskId) {
        self.move_to(&Caller::owner(), task, Status::Done, None).await;
        assert!(self.read(task).await.card.is_approved());
    }

    pub(crate) async fn cancel(&self, task: &TaskId) {
        self.move_to(&Caller::owner(), task, Status::Cancelled, Some("abandoned")).await;
    }

    /// Lands the project as its route does.
    pub(crate) async fn land(&self) -> db::Result<LandOutcome> {
        let (repository, project) = (self.repository(), self.project().await);
        let identity = repository.identity("land").unwrap();
        let request = LandRequest {
            project_branch: &project.integration_branch,
            base_branch: &project.base_branch,
            base_head: &project.base_head,
            bring_back: None,
            workdir: Path::new(&project.repo_path),
            message: "land",
            identity: &identity,
        };
        let outcome = repository.land(request).map_err(CheckoutError::from)?;
        if let LandOutcome::NeedsGit { update, .. } = &outcome {
            update_checkout(&self.db, &std::env::var_os("PATH").unwrap(), &project, update.clone()).await?;
            repository.finish_landing(&project.base_branch, update, &project.integration_branch).map_err(CheckoutError::from)?;
        }
        Ok(outcome)
    }

    /// Cleans up after a finished task as the runner does, and returns the rescue reference.
    pub(crate) async fn clean(&self, task: &TaskId) -> Option<String> {
        let kept = checkout::clean(&self.db, &self.project().await, &self.read(task).await).await.unwrap();
        self.db.checkout_removed(task, kept.clone()).await.unwrap();
        kept.own
    }

    /// Reads a file in the commit that a full reference name points to.
    pub(crate) fn kept(&self, reference: &str, path: &str) -> Option<String> {
        let sha = fs::read_to_string(self.sample.git_dir().join(reference)).unwrap().trim().to_owned();
        let bytes = self.repository().file_at(&sha, path).unwrap()?;
        Some(String::from_utf8(bytes).unwrap())
    }
}

/// The configuration of the person for all repositories: a filter that changes each letter from `a` to `z`, there and back, and Git LFS.
const GLOBAL: [&str; 6] = [
    "filter.rot13.clean=tr a-z n-za-m",
    "filter.rot13.smudge=tr a-z n-za-m",
    "filter.lfs.clean=git-lfs clean -- %f",
    "filter.lfs.smudge=git-lfs smudge -- %f",
    "filter.lfs.process=git-lfs filter-process",
    "filter.lfs.required=true",
];

/// Lets `repo` call `git` with this configuration.
pub(crate) fn use_git() {
    repo::use_git(run_git);
}

fn run_git(mut call: GitCall) -> io::Result<GitOutput> {
    call.settings.extend(GLOBAL.map(str::to_owned));
    // Tests call `repo` on the thread that drives them.
    thread::scope(|scope| scope.spawn(|| process::run_git(call)).join().unwrap())
}

/// Runs `git` in `folder` and returns what it prints.
pub(crate) async fn git(folder: &Path, arguments: &[&str]) -> String {
    let program = process::find_program("git", &std::env::var_os("PATH").unwrap()).unwrap();
    let folder = folder.display().to_string();
    let global: Vec<&str> = GLOBAL.iter().flat_map(|setting| ["-c", setting]).collect();
    let output = process::probe(&program, &[&["-C", &folder], &global[..], arguments].concat(), Duration::from_secs(60)).await.unwrap();
    assert_eq!(output.code, Some(0), "git {arguments:?}: {}", output.stderr);
    output.stdout
}

/// A live run that has consumed nothing.
pub(crate) fn live_run(number: u64, task: TaskId, phase: AgentKind, started_at: Timestamp) -> Run {
    Run {
        id: RunId::new(number),
        task_id: task,
        phase,
        attempt: 1,
        session_id: None,
        worktree_path: None,
        sha: None,
        port: None,
        sandbox: SandboxTier::None,
        refusals: Vec::new(),
        checkpoints: Vec::new(),
        started_at,
        completed_at: None,
        stop_requested_at: None,
        condition: None,
        checkout_left: None,
        hand_over: None,
        interrupt: None,
        exit_code: None,
        end_class: None,
        failure: None,
        error: None,
        cost_micro_usd: 0,
        input_tokens: 0,
        output_tokens: 0,
        context_tokens: None,
        context_limit: None,
        turns: 0,
    }
}
