//! Every request that the board makes, and what becomes of a refusal.
//!
//! Must not know which requests are sensible when: the server refuses, and its words are shown.

mod room;

pub(crate) use room::Said;

use std::future::Future;

use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::board::task::NewTask;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::diff::Diff;
use domain::runs::evidence::RepositoryInfo;
use domain::runs::output::Output;
use domain::runs::run::Run;
use domain::team::agent::HUMAN;
use domain::wire::{Cancel, CommentView, LandingResult, List, NewProject, Problem, ServerInfo, TaskPatch, TaskView, TextBody};
use gloo_net::http::{Method, Request, RequestBuilder, Response};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::components::badge::among::name_word;
use crate::components::toast::Toasts;

/// Why a request brought nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// The server refused and said why.
    Refused(Box<Problem>),
    /// The browser carries no valid cookie.
    SignedOut,
    /// The server did not answer, or not in a form that was understood.
    Unreachable(String),
}

/// What the address of a thing looks like below `/api`.
fn project_path(project: &ProjectId, rest: &str) -> String {
    format!("/api/projects/{project}{rest}")
}

fn task_path(task: &TaskId, rest: &str) -> String {
    format!("/api/tasks/{task}{rest}")
}

fn run_path(run: &RunId, rest: &str) -> String {
    format!("/api/runs/{run}{rest}")
}

/// The connection to the server's requests, and what a person is told when one fails.
#[derive(Clone, Copy)]
pub(crate) struct Client {
    signed_out: RwSignal<bool>,
    toasts: Toasts,
}

impl Client {
    pub(crate) fn provide(toasts: Toasts) -> Self {
        let client = Self { signed_out: RwSignal::new(false), toasts };
        provide_context(client);
        client
    }

    pub(crate) fn here() -> Self {
        expect_context()
    }

    /// Whether the server asked for a sign-in.
    pub(crate) fn signed_out(self) -> bool {
        self.signed_out.get()
    }

    /// Carries out a request that a person asked for: `then` gets the answer, a refusal becomes a toast.
    pub(crate) fn act<T: 'static>(self, request: impl Future<Output = Result<T, Failure>> + 'static, then: impl FnOnce(T) + 'static) {
        self.watch(request, move |result| {
            if let Ok(answer) = result {
                then(answer);
            }
        });
    }

    /// Like [`Self::act`], and `then` is told about the failure too, for example to enable a button again.
    pub(crate) fn watch<T: 'static>(
        self,
        request: impl Future<Output = Result<T, Failure>> + 'static,
        then: impl FnOnce(Result<T, Failure>) + 'static,
    ) {
        spawn_local(async move {
            let result = request.await;
            match &result {
                Err(Failure::Refused(problem)) => self.toasts.refusal(&refusal_words(&problem.detail), &problem.hint),
                Err(Failure::Unreachable(what)) => {
                    self.toasts.refusal(what, "It is tried again when you repeat it; nothing was changed.");
                }
                Ok(_) | Err(Failure::SignedOut) => {}
            }
            then(result);
        });
    }

    pub(crate) async fn server(self) -> Result<ServerInfo, Failure> {
        self.get("/api/server").await
    }

    pub(crate) async fn projects(self) -> Result<List<Project>, Failure> {
        self.get("/api/projects").await
    }

    pub(crate) async fn create_project(self, new: NewProject) -> Result<Project, Failure> {
        self.send(Method::POST, "/api/projects", &new).await
    }

    /// What is found at a path that may become a project's repository.
    pub(crate) async fn probe(self, path: &str, base_branch: Option<&str>) -> Result<RepositoryInfo, Failure> {
        let mut query = vec![("path", path)];
        query.extend(base_branch.map(|branch| ("base_branch", branch)));
        self.finish(Request::get("/api/repository").query(query)).await
    }

    pub(crate) async fn board(self, project: &ProjectId) -> Result<Board, Failure> {
        self.get(&project_path(project, "/board")).await
    }

    pub(crate) async fn create_task(self, project: ProjectId, new: NewTask) -> Result<TaskView, Failure> {
        self.send(Method::POST, &project_path(&project, "/tasks"), &new).await
    }

    pub(crate) async fn approve_plan(self, project: ProjectId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/plan/approve"), &empty()).await
    }

    /// Sends the plan back to the planner.
    pub(crate) async fn revise_plan(self, project: ProjectId, content: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/plan/revise"), &TextBody { content }).await
    }

    pub(crate) async fn land(self, project: ProjectId) -> Result<LandingResult, Failure> {
        self.send(Method::POST, &project_path(&project, "/land"), &empty()).await
    }

    pub(crate) async fn task(self, task: TaskId) -> Result<TaskView, Failure> {
        self.get(&task_path(&task, "")).await
    }

    pub(crate) async fn patch_task(self, task: TaskId, patch: TaskPatch) -> Result<TaskView, Failure> {
        self.send(Method::PATCH, &task_path(&task, ""), &patch).await
    }

    pub(crate) async fn start(self, task: TaskId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/start"), &empty()).await
    }

    pub(crate) async fn retry(self, task: TaskId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/retry"), &empty()).await
    }

    pub(crate) async fn cancel(self, task: TaskId, reason: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/cancel"), &Cancel { reason }).await
    }

    /// Answers the task's open question.
    pub(crate) async fn answer(self, task: TaskId, content: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/answer"), &TextBody { content }).await
    }

    pub(crate) async fn comments(self, task: TaskId) -> Result<List<CommentView>, Failure> {
        self.get(&task_path(&task, "/comments")).await
    }

    pub(crate) async fn comment(self, task: TaskId, content: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/comments"), &TextBody { content }).await
    }

    pub(crate) async fn runs(self, task: TaskId) -> Result<List<Run>, Failure> {
        self.get(&task_path(&task, "/runs")).await
    }

    pub(crate) async fn diff(self, task: TaskId) -> Result<Diff, Failure> {
        self.get(&task_path(&task, "/diff")).await
    }

    pub(crate) async fn output(self, run: &RunId, offset: u64) -> Result<Output, Failure> {
        self.get(&run_path(run, &format!("/output?offset={offset}"))).await
    }

    pub(crate) async fn stop(self, run: RunId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &run_path(&run, "/stop"), &empty()).await
    }

    /// Says something to a running agent.
    pub(crate) async fn message(self, run: RunId, content: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &run_path(&run, "/message"), &TextBody { content }).await
    }

    /// In the demonstration: kills the server, which a supervisor starts again.
    pub(crate) async fn pull_the_plug(self) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, "/api/demo/pull-the-plug", &empty()).await
    }

    async fn get<T: DeserializeOwned>(self, path: &str) -> Result<T, Failure> {
        self.finish(Request::get(path)).await
    }

    async fn send<T: DeserializeOwned>(self, method: Method, path: &str, body: &impl Serialize) -> Result<T, Failure> {
        let request = RequestBuilder::new(path).method(method).json(body);
        let response = request.map_err(unreachable)?.send().await.map_err(unreachable)?;
        self.read(response).await
    }

    async fn finish<T: DeserializeOwned>(self, request: RequestBuilder) -> Result<T, Failure> {
        let response = request.send().await.map_err(unreachable)?;
        self.read(response).await
    }

    async fn read<T: DeserializeOwned>(self, response: Response) -> Result<T, Failure> {
        let status = response.status();
        if status == 401 {
            self.signed_out.set(true);
            return Err(Failure::SignedOut);
        }
        let text = response.text().await.map_err(unreachable)?;
        if response.ok() {
            // An answer without a body is read as `null`.
            let body = if text.is_empty() { "null" } else { &text };
            return serde_json::from_str(body).map_err(|error| Failure::Unreachable(format!("The server's answer was not understood ({error}).")));
        }
        match serde_json::from_str(&text) {
            Ok(problem) => Err(Failure::Refused(Box::new(problem))),
            Err(_) => Err(Failure::Unreachable(format!("The server answered {status} without an explanation."))),
        }
    }
}

/// A refusal that names the person speaks to them.
fn refusal_words(detail: &str) -> String {
    match detail.split_once(' ') {
        Some((HUMAN, did)) => format!("{} {did}", name_word(HUMAN)),
        _ => detail.to_owned(),
    }
}

fn unreachable(error: gloo_net::Error) -> Failure {
    Failure::Unreachable(format!("The server did not answer ({error})."))
}

/// The body of a request that needs none: the server takes JSON only.
fn empty() -> Value {
    Value::Object(serde_json::Map::new())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_refusal_speaks_to_the_person() {
        assert_eq!(
            super::refusal_words("human approved TASK-002, so somebody else must verify it"),
            "you approved TASK-002, so somebody else must verify it"
        );
        assert_eq!(super::refusal_words("TASK-002 has no commit"), "TASK-002 has no commit");
        assert_eq!(super::refusal_words("human"), "human");
    }
}
