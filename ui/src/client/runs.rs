//! Requests about the runs of a task, their output and what they consumed, and about landings.

use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::check::StageResults;
use domain::runs::diff::Diff;
use domain::runs::land::preview::LandingPreview;
use domain::runs::output::Output;
use domain::runs::preview::PreviewSubject;
use domain::runs::publication::{PublicationOffer, PublishOptions};
use domain::runs::rescue::{Rescue, RestoreRescue};
use domain::runs::run::Run;
use domain::runs::sandbox::{Access, SandboxStatus, SandboxTier};
use domain::wire::{InterruptOptions, LandOptions, LandingResult, List, PermissionDecision, ProjectUsage, SandboxChoice, TextBody, UndoLanding};
use gloo_net::http::Method;
use serde::de::IgnoredAny;

use super::{Client, Empty, Failure, project_path, run_path, task_path};

fn app_path(subject: &PreviewSubject, rest: &str) -> String {
    match subject {
        PreviewSubject::Task(id) => task_path(id, &format!("/preview{rest}")),
        PreviewSubject::Project(id) => project_path(id, &format!("/preview{rest}")),
    }
}

impl Client {
    /// Saves what the agent program of a run wrote.
    pub(crate) fn save_log(self, run: &RunId) {
        self.save_file(run_path(run, "/log"), format!("{run}.jsonl"));
    }

    /// Shows what a check printed.
    pub(crate) fn show_check_output(self, task: &TaskId, result: i64) {
        self.show_file(task_path(task, &format!("/checks/output?result={result}")));
    }

    /// Shows what an app printed.
    pub(crate) fn show_app_log(self, subject: &PreviewSubject) {
        self.show_file(app_path(subject, "/log"));
    }

    /// Starts an app, unless it runs.
    pub(crate) fn open_app(self, subject: &PreviewSubject) -> impl Future<Output = Result<IgnoredAny, Failure>> + use<> {
        let path = app_path(subject, "");
        async move { self.send(Method::POST, &path, &Empty {}).await }
    }

    /// Ends an app, or dismisses its failure.
    pub(crate) fn close_app(self, subject: &PreviewSubject) -> impl Future<Output = Result<IgnoredAny, Failure>> + use<> {
        let path = app_path(subject, "");
        async move { self.send(Method::DELETE, &path, &Empty {}).await }
    }

    pub(crate) async fn checks(self, task: TaskId) -> Result<List<StageResults>, Failure> {
        self.get(&task_path(&task, "/checks")).await
    }

    /// Returns the work that was kept before its branch or checkout was removed.
    pub(crate) async fn rescues(self, project: ProjectId) -> Result<List<Rescue>, Failure> {
        self.get(&project_path(&project, "/rescues")).await
    }

    /// Restores kept work to a new branch.
    pub(crate) async fn restore_rescue(self, project: ProjectId, restore: RestoreRescue) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/rescues/restore"), &restore).await
    }

    pub(crate) async fn runs(self, task: TaskId) -> Result<List<Run>, Failure> {
        self.get(&task_path(&task, "/runs")).await
    }

    pub(crate) async fn usage(self, project: ProjectId) -> Result<ProjectUsage, Failure> {
        self.get(&project_path(&project, "/usage")).await
    }

    pub(crate) async fn output(self, run: &RunId, offset: u64) -> Result<Output, Failure> {
        self.get(&run_path(run, &format!("/output?offset={offset}"))).await
    }

    /// Raises the limit that a task waits for.
    pub(crate) async fn raise(self, task: TaskId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/raise"), &Empty {}).await
    }

    /// Answers which sandbox agents get.
    pub(crate) async fn choose_sandbox(self, tier: SandboxTier) -> Result<SandboxStatus, Failure> {
        self.send(Method::POST, "/api/sandbox", &SandboxChoice { tier }).await
    }

    /// Allows what a sandbox refused, for the repository of a project.
    pub(crate) async fn allow_access(self, project: ProjectId, access: Access) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/access"), &access).await
    }

    /// Raises the budget of a project.
    pub(crate) async fn raise_budget(self, project: ProjectId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/raise"), &Empty {}).await
    }

    /// Pauses a project, or ends its pause.
    pub(crate) async fn set_paused(self, project: ProjectId, paused: bool) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, if paused { "/pause" } else { "/resume" }), &Empty {}).await
    }

    /// Pauses all projects, or ends their pause.
    pub(crate) async fn set_all_paused(self, paused: bool) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, if paused { "/api/pause" } else { "/api/resume" }, &Empty {}).await
    }

    /// Lands a project. `bring_back` confirms the commits that would return to the base branch.
    pub(crate) async fn land(self, project: ProjectId, bring_back: Option<String>) -> Result<LandingResult, Failure> {
        self.send(Method::POST, &project_path(&project, "/land"), &LandOptions { bring_back }).await
    }

    /// Takes a landing back, which must be the last one.
    pub(crate) async fn undo_landing(self, project: ProjectId, landing: i64) -> Result<LandingResult, Failure> {
        self.send(Method::POST, &project_path(&project, "/landing/undo"), &UndoLanding { landing: Some(landing) }).await
    }

    /// Returns where the project branch can be pushed.
    pub(crate) async fn publication_target(self, project: ProjectId) -> Result<PublicationOffer, Failure> {
        self.get(&project_path(&project, "/publication")).await
    }

    /// Pushes the project branch, and opens a pull request if that is wanted.
    pub(crate) async fn publish(self, project: ProjectId, pull_request: bool) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/publication"), &PublishOptions { pull_request }).await
    }

    /// Says that a person looked at the pull request that needed one.
    pub(crate) async fn settle_pull_request(self, project: ProjectId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/publication/settle"), &Empty {}).await
    }

    /// Returns what would land now, or what an earlier landing brought.
    pub(crate) async fn landing(self, project: ProjectId, landing: Option<i64>) -> Result<LandingPreview, Failure> {
        self.get(&project_path(&project, &format!("/landing{}", landing_query(landing)))).await
    }

    /// The combined change of what would land now, or of an earlier landing.
    pub(crate) async fn landing_diff(self, project: ProjectId, landing: Option<i64>) -> Result<Diff, Failure> {
        self.get(&project_path(&project, &format!("/landing/diff{}", landing_query(landing)))).await
    }

    pub(crate) async fn stop(self, run: RunId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &run_path(&run, "/stop"), &Empty {}).await
    }

    /// Ends the current turn of a running agent, which goes on with the message or waits for one.
    pub(crate) async fn interrupt(self, run: RunId, message: Option<String>) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &run_path(&run, "/interrupt"), &InterruptOptions { message }).await
    }

    /// Answers what a running agent asked to do.
    pub(crate) async fn answer_permission(self, run: RunId, decision: PermissionDecision) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &run_path(&run, "/permission"), &decision).await
    }

    /// Sends a message to a running agent.
    pub(crate) async fn message(self, run: RunId, content: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &run_path(&run, "/message"), &TextBody { content }).await
    }
}

fn landing_query(landing: Option<i64>) -> String {
    landing.map_or_else(String::new, |landing| format!("?landing={landing}"))
}
