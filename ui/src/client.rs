//! The HTTP client: requests in the folders of their areas, and one way to report a failure.
//!
//! Must not know which request is legal when: the server refuses, and its sentence is shown.

mod audit;
mod board;
mod context;
mod file;
mod runs;
mod team;
mod warroom;

pub(crate) use audit::AuditFilter;
pub(crate) use board::{ActivityFilter, ChangedTask, OfferedAnswers};
pub(crate) use context::ThreadPart;
pub(crate) use file::FileCopy;
pub(crate) use team::MessageFilter;

use std::future::Future;
use std::pin::Pin;

use domain::config::setting::SettingsView;
use domain::id::{ProjectId, RunId, TaskId};
use domain::team::browser_session::SESSION_KEY_HEADER;
use domain::team::person::is_person;
use domain::wire::{MarkdownTexts, Problem, RenderedTexts, ServerInfo};
use gloo_net::http::{Method, Request, RequestBuilder, Response};
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use wasm_split_helpers::SplitLoaderError;

use crate::components::toast::Toasts;
use crate::session_key::SessionKey;

/// The reason why a request failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// The server refused and gave a reason.
    Refused(Box<Problem>),
    /// The browser has no valid session.
    SignedOut,
    /// The server did not answer, or its answer could not be read.
    Unreachable(String),
}

impl Failure {
    /// The reason for the reader, and the next step.
    pub(crate) fn describe(&self) -> (String, String) {
        match self {
            Self::Refused(problem) => (refusal_text(&problem.detail), problem.hint.clone()),
            Self::SignedOut => ("Your session has ended.".to_owned(), String::new()),
            Self::Unreachable(reason) => (reason.clone(), "Nothing was changed, and your text is kept. Try again.".to_owned()),
        }
    }
}

/// The code for an answer was not loaded, because the server is gone or was replaced.
impl From<SplitLoaderError> for Failure {
    fn from(_reason: SplitLoaderError) -> Self {
        Self::Unreachable("The server did not answer.".to_owned())
    }
}

/// A request on its way.
pub(crate) type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Failure>>>>;

fn project_path(project: &ProjectId, rest: &str) -> String {
    format!("/api/projects/{project}{rest}")
}

fn task_path(task: &TaskId, rest: &str) -> String {
    format!("/api/tasks/{task}{rest}")
}

fn run_path(run: &RunId, rest: &str) -> String {
    format!("/api/runs/{run}{rest}")
}

/// Sends requests and shows their failures as toasts.
#[derive(Clone, Copy)]
pub(crate) struct Client {
    signed_out: RwSignal<bool>,
    session_key: StoredValue<SessionKey>,
    toasts: Toasts,
}

impl Client {
    pub(crate) fn provide(toasts: Toasts, session_key: SessionKey) -> Self {
        let client = Self { signed_out: RwSignal::new(false), session_key: StoredValue::new(session_key), toasts };
        provide_context(client);
        client
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Whether the server asked for a sign-in.
    pub(crate) fn signed_out(self) -> bool {
        self.signed_out.get()
    }

    /// The subprotocols that the live connection offers.
    pub(crate) fn socket_protocols(self) -> Vec<String> {
        self.session_key.with_value(SessionKey::protocols)
    }

    /// Sends a request: `then` receives the answer, and a refusal becomes a toast.
    pub(crate) fn act<T: 'static>(self, request: impl Future<Output = Result<T, Failure>> + 'static, then: impl FnOnce(T) + 'static) {
        self.watch(request, move |result| {
            if let Ok(answer) = result {
                then(answer);
            }
        });
    }

    /// Like [`Self::act`], but `then` receives the failure too, for example to enable a button again.
    pub(crate) fn watch<T: 'static>(
        self,
        request: impl Future<Output = Result<T, Failure>> + 'static,
        then: impl FnOnce(Result<T, Failure>) + 'static,
    ) {
        spawn_local(async move {
            let result = request.await;
            match &result {
                // The dialog that asks about them shows them.
                Err(Failure::Refused(problem)) if problem.returning.is_some() => {}
                Ok(_) | Err(Failure::SignedOut) => {}
                Err(failure) => self.show(failure),
            }
            then(result);
        });
    }

    /// Shows a failure as a toast.
    pub(crate) fn show(self, failure: &Failure) {
        let (reason, hint) = failure.describe();
        self.toasts.refusal(&reason, &hint);
    }

    /// Whether the server asks for a sign-in.
    pub(crate) async fn asks_for_sign_in(self) -> bool {
        self.get::<IgnoredAny>("/api/server").await == Err(Failure::SignedOut)
    }

    pub(crate) async fn server(self) -> Result<ServerInfo, Failure> {
        self.get("/api/server").await
    }

    pub(crate) async fn settings(self) -> Result<SettingsView, Failure> {
        self.get("/api/settings").await
    }

    /// Renders texts as HTML, in their order.
    pub(crate) async fn markdown(self, texts: Vec<String>) -> Result<RenderedTexts, Failure> {
        self.send(Method::POST, "/api/markdown", &MarkdownTexts { texts }).await
    }

    /// In the demonstration: kills the server, which a supervisor restarts.
    pub(crate) async fn pull_the_plug(self) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, "/api/demo/pull-the-plug", &Empty {}).await
    }

    async fn get<T: DeserializeOwned>(self, path: &str) -> Result<T, Failure> {
        self.finish(Request::get(path)).await
    }

    async fn send<T: DeserializeOwned>(self, method: Method, path: &str, body: &impl Serialize) -> Result<T, Failure> {
        let body = serde_json::to_string(body).map_err(unreadable)?;
        read(&self.exchange(RequestBuilder::new(path).method(method), Some(body)).await?)
    }

    async fn finish<T: DeserializeOwned>(self, request: RequestBuilder) -> Result<T, Failure> {
        read(&self.exchange(request, None).await?)
    }

    /// Sends a request and returns the text of the answer. In a box, so that its code exists once for all requests.
    fn exchange(self, request: RequestBuilder, body: Option<String>) -> Answer<String> {
        Box::pin(async move { self.respond(request, body).await?.text().await.map_err(unreachable) })
    }

    /// Sends a request with the session key and returns the answer, unless it is a refusal.
    fn respond(self, request: RequestBuilder, body: Option<String>) -> Answer<Response> {
        Box::pin(async move {
            let request = self.session_key.with_value(|key| match key.value() {
                Some(key) => request.header(SESSION_KEY_HEADER, key),
                None => request,
            });
            let request = match body {
                Some(body) => request.header("Content-Type", "application/json").body(body),
                None => request.build(),
            };
            let response = request.map_err(unreachable)?.send().await.map_err(unreachable)?;
            let status = response.status();
            if status == 401 {
                if self.session_key.with_value(SessionKey::is_outdated) {
                    // The page starts again with the other key.
                    let _reloading = window().location().reload();
                } else {
                    self.signed_out.set(true);
                }
                return Err(Failure::SignedOut);
            }
            if response.ok() {
                self.session_key.update_value(SessionKey::settle);
                return Ok(response);
            }
            let text = response.text().await.map_err(unreachable)?;
            match serde_json::from_str(&text) {
                Ok(problem) => Err(Failure::Refused(Box::new(problem))),
                Err(_) => Err(Failure::Unreachable(format!("The server answered {status} without an explanation."))),
            }
        })
    }
}

/// The text of a refusal, with `you` in place of the reader's name. A refusal names no other person first.
fn refusal_text(detail: &str) -> String {
    match detail.split_once(' ') {
        Some((name, did)) if is_person(name) => format!("you {did}"),
        _ => detail.to_owned(),
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    // An empty body counts as `null`.
    serde_json::from_str(if text.is_empty() { "null" } else { text }).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> Failure {
    Failure::Unreachable(format!("The server's answer could not be read ({error})."))
}

/// The reason that the browser gives differs from one to the next and helps nobody.
fn unreachable(_reason: gloo_net::Error) -> Failure {
    Failure::Unreachable("The server did not answer.".to_owned())
}

/// The body of a request without arguments, because the server accepts only JSON.
#[derive(Serialize)]
struct Empty {}

#[cfg(test)]
mod tests {
    #[test]
    fn refusal_addresses_the_reader_as_you() {
        assert_eq!(super::refusal_text("human approved TASK-002 and cannot verify it"), "you approved TASK-002 and cannot verify it");
        assert_eq!(super::refusal_text("human/ann built TASK-002"), "you built TASK-002");
        assert_eq!(super::refusal_text("TASK-002 has no commit"), "TASK-002 has no commit");
        assert_eq!(super::refusal_text("human"), "human");
    }
}
