//! A repository and a store of their own, for the tests of what needs both. Tasks are driven through the store's use-cases, as people
//! and agents do it.

use std::fs;
use std::path::PathBuf;

use db::{Caller, Db, MoveRequest, NewRun, ReservedRun, RunEnd};
use domain::board::project::Project;
use domain::board::status::Status;
use domain::board::task::{NewTask, Task};
use domain::config::{Config, Durability};
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::Sha;
use domain::runs::failure::EndClass;
use domain::wire::NewProject;
use repo::Repository;
use repo::testing::{TestRepository, commit_all_in, write_in};

use crate::checkout::{self, CheckoutError, Site};

pub(crate) struct Board {
    pub(crate) sample: TestRepository,
    pub(crate) config: Config,
    pub(crate) db: Db,
    /// A standing board on the sample.
    pub(crate) project: Project,
}

impl Board {
    pub(crate) async fn new() -> Self {
        Self::on(TestRepository::new()).await
    }

    pub(crate) async fn on(sample: TestRepository) -> Self {
        let config = Config {
            db_path: sample.beside("store/board.db"),
            worktrees_path: sample.beside("worktrees"),
            durability: Durability::Normal,
            ..Config::default()
        };
        let db = Db::open(&config).await.unwrap();
        let probe = repo::probe(sample.top(), None).unwrap();
        let new = NewProject { title: "Board".to_owned(), ..NewProject::default() };
        let project = db.create_project(&Caller::Human, new, probe).await.unwrap();
        Self { sample, config, db, project }
    }

    pub(crate) fn repository(&self) -> Repository {
        self.sample.repository()
    }

    pub(crate) fn tip(&self, branch: &str) -> Option<Sha> {
        self.repository().ref_sha(branch).unwrap()
    }

    /// The name of every branch, in order.
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

    /// Deletes a branch as a person does who does not ask us.
    pub(crate) fn delete_branch(&self, name: &str) {
        fs::remove_file(self.sample.git_dir().join("refs/heads").join(name)).unwrap();
    }

    pub(crate) async fn project(&self) -> Project {
        self.db.project(&self.project.id).await.unwrap()
    }

    pub(crate) async fn read(&self, task: &TaskId) -> Task {
        self.db.task(task).await.unwrap()
    }

    /// A coder's task that may be started.
    pub(crate) async fn task(&self, title: &str) -> TaskId {
        let new = NewTask {
            title: title.to_owned(),
            description: None,
            phase: None,
            parent_task_id: None,
            depends_on: Vec::new(),
            priority: None,
            model: None,
            start: true,
            assigned_to: None,
            role_hat: None,
            goal_id: None,
        };
        self.db.create_task(&Caller::Human, &self.project.id, new).await.unwrap().card.id
    }

    pub(crate) async fn site(&self, task: &TaskId, phase: AgentKind) -> Result<Site, CheckoutError> {
        checkout::site(&self.db, &self.config.worktrees_path, &self.project().await, &self.read(task).await, phase).await
    }

    /// A run whose checkout is laid out, and its agent's way in.
    pub(crate) async fn agent(&self, task: &TaskId, phase: AgentKind) -> (Site, ReservedRun, Caller) {
        let site = self.site(task, phase).await.unwrap();
        let new = NewRun {
            task: task.clone(),
            phase,
            status: self.read(task).await.card.status,
            sha: Some(site.sha.clone()),
            worktree_path: Some(site.path.to_string_lossy().into_owned()),
            runs_root: self.sample.beside("store/runs"),
            port: None,
        };
        let reserved = self.db.reserve_run(new).await.unwrap();
        checkout::lay_out(&site).await.unwrap();
        let caller = self.db.caller(&reserved.token).await.unwrap().unwrap();
        (site, reserved, caller)
    }

    /// Moves a task with what the move needs of the repository.
    pub(crate) async fn move_to(&self, caller: &Caller, task: &TaskId, to: Status, reason: Option<&str>) {
        let look = self.db.required_evidence(caller, task, to).await.unwrap();
        let found = repo::collect_evidence(&look).unwrap();
        let wish = MoveRequest { to, reason: reason.map(str::to_owned), merge: true };
        self.db.move_task(caller, task, wish, found).await.unwrap();
    }

    /// Lets a coder commit these files and hand in. Answers where it worked and its commit.
    pub(crate) async fn work(&self, task: &TaskId, files: &[(&str, &str)]) -> (PathBuf, Sha) {
        let (site, reserved, coder) = self.agent(task, AgentKind::Coder).await;
        for (path, content) in files {
            write_in(&site.path, path, content);
        }
        let sha = commit_all_in(&site.path, "work");
        self.move_to(&coder, task, Status::InReview, None).await;
        self.end(&reserved).await;
        (site.path, sha)
    }

    pub(crate) async fn end(&self, reserved: &ReservedRun) {
        let end =
            RunEnd { class: EndClass::Finished, failure: None, error: None, exit_code: Some(0), usage: None, turn_ended: true, max_attempts: 3 };
        self.db.end_run(&reserved.run.id, end).await.unwrap();
    }

    /// A person's word that the work is good, which queues its merge.
    pub(crate) async fn approve(&self, task: &TaskId) {
        self.move_to(&Caller::Human, task, Status::Done, None).await;
        assert!(self.read(task).await.card.is_approved());
    }

    pub(crate) async fn cancel(&self, task: &TaskId) {
        self.move_to(&Caller::Human, task, Status::Cancelled, Some("abandoned")).await;
    }

    /// Cleans up after a finished task as the runner does, and answers the rescue reference.
    pub(crate) async fn clean(&self, task: &TaskId) -> Option<String> {
        let rescue = checkout::clean(&self.db, &self.project().await, &self.read(task).await).await.unwrap();
        self.db.checkout_removed(task, rescue.clone()).await.unwrap();
        rescue
    }

    /// The content of a file in the commit that a full reference name points to.
    pub(crate) fn kept(&self, reference: &str, path: &str) -> Option<String> {
        let sha = fs::read_to_string(self.sample.git_dir().join(reference)).unwrap().trim().to_owned();
        let bytes = self.repository().file_at(&sha, path).unwrap()?;
        Some(String::from_utf8(bytes).unwrap())
    }
}
