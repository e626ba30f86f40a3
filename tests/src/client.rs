//! A client of a running board that sends what a person would send, and checks every response against the OpenAPI document that the board
//! serves. It must not know how the board was started.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use api::testing::{Response, ResponseValidator};
use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::event::Envelope;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::output::Output;
use domain::runs::run::Run;
use domain::wire::{CommentView, List, NewProject, Problem, TaskView};
use reqwest::{Method, RequestBuilder, StatusCode, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::OnceCell;

/// How long a story may take: machines are slow, and only a test that fails waits so long.
const STATE_TIMEOUT: Duration = Duration::from_secs(180);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Responses of all clients of this process that the document describes.
static VALIDATED: AtomicUsize = AtomicUsize::new(0);

/// The person at a board.
#[derive(Debug, Default)]
pub struct Client {
    pub url: String,
    pub token: String,
    client: reqwest::Client,
    /// Made from the served document when the first response arrives.
    validator: OnceCell<ResponseValidator>,
}

impl Client {
    /// The person at the board that is served at `url`.
    pub fn new(url: &str, token: &str) -> Self {
        Self { url: url.to_owned(), token: token.trim().to_owned(), client: reqwest::Client::new(), validator: OnceCell::new() }
    }

    /// # Errors
    /// The server does not answer, or answers otherwise than with success and an `A`.
    pub async fn get<A: DeserializeOwned>(&self, path: &str) -> io::Result<A> {
        self.answer(self.request(Method::GET, path)).await
    }

    /// # Errors
    /// The server does not answer, or answers otherwise than with success and an `A`.
    pub async fn post<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> io::Result<A> {
        self.answer(self.request(Method::POST, path).json(body)).await
    }

    /// # Errors
    /// The server does not answer, or answers otherwise than with success and an `A`.
    pub async fn patch<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> io::Result<A> {
        self.answer(self.request(Method::PATCH, path).json(body)).await
    }

    /// # Errors
    /// The server does not answer, or answers otherwise than with success and an `A`.
    pub async fn put<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> io::Result<A> {
        self.answer(self.request(Method::PUT, path).json(body)).await
    }

    /// A request with the person's token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token)
    }

    /// The error of a refused request.
    ///
    /// # Errors
    /// It carries it out, or does not answer as it should.
    pub async fn refusal(&self, request: RequestBuilder) -> io::Result<Problem> {
        let (status, body) = self.send(request).await?;
        let body = String::from_utf8_lossy(&body);
        let problem: Problem = serde_json::from_str(&body).map_err(|error| io::Error::other(format!("{status}: {error}: {body}")))?;
        if problem.status == status.as_u16() { Ok(problem) } else { Err(io::Error::other(format!("{status}: {body}"))) }
    }

    /// Sends a request, and returns a response that the document describes.
    async fn send(&self, request: RequestBuilder) -> io::Result<(StatusCode, Vec<u8>)> {
        let (client, request) = request.build_split();
        let request = request.map_err(io::Error::other)?;
        let method = request.method().clone();
        let response = client.execute(request).await.map_err(io::Error::other)?;
        let (status, path) = (response.status(), response.url().path().to_owned());
        let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let body = response.bytes().await.map_err(io::Error::other)?.to_vec();
        let seen = Response { method: method.as_str(), path: &path, status: status.as_u16(), content_type: &content_type, body: &body };
        let described = self.validator().await?.check(seen);
        if let Err(problem) = described {
            panic!("the document does not describe a response: {problem}");
        }
        VALIDATED.fetch_add(1, Ordering::Relaxed);
        Ok((status, body))
    }

    async fn validator(&self) -> io::Result<&ResponseValidator> {
        let load = async || {
            let document = self.request(Method::GET, "/api/openapi.json").send().await.map_err(io::Error::other)?;
            Ok(ResponseValidator::new(document.json().await.map_err(io::Error::other)?))
        };
        self.validator.get_or_try_init(load).await
    }

    async fn answer<A: DeserializeOwned>(&self, request: RequestBuilder) -> io::Result<A> {
        let (status, body) = self.send(request).await?;
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(io::Error::other);
        }
        let problem: Problem = serde_json::from_slice(&body).map_err(|error| io::Error::other(format!("{status}: {error}")))?;
        Err(io::Error::other(format!("{status} {}: {} {}", problem.code, problem.detail, problem.hint)))
    }

    /// Creates a project on the repository, with a goal.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn project(&self, title: &str, goal: Option<&str>) -> io::Result<Project> {
        let new = NewProject { title: title.to_owned(), description: goal.map(str::to_owned), ..NewProject::default() };
        self.post("/api/projects", &new).await
    }

    /// # Errors
    /// The server does not answer.
    pub async fn board(&self, project: &ProjectId) -> io::Result<Board> {
        self.get(&format!("/api/projects/{project}/board")).await
    }

    /// # Errors
    /// The server does not answer.
    pub async fn task(&self, task: &TaskId) -> io::Result<TaskView> {
        self.get(&format!("/api/tasks/{task}")).await
    }

    /// # Errors
    /// The server does not answer.
    pub async fn runs(&self, task: &TaskId) -> io::Result<Vec<Run>> {
        Ok(self.get::<List<Run>>(&format!("/api/tasks/{task}/runs")).await?.items)
    }

    /// # Errors
    /// The server does not answer.
    pub async fn comments(&self, task: &TaskId) -> io::Result<Vec<CommentView>> {
        Ok(self.get::<List<CommentView>>(&format!("/api/tasks/{task}/comments")).await?.items)
    }

    /// The events of a project, oldest first.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn events(&self, project: &ProjectId) -> io::Result<Vec<Envelope>> {
        let mut events: Vec<Envelope> = Vec::new();
        let mut after = Some(0);
        while let Some(seq) = after {
            let page: List<Envelope> = self.get(&format!("/api/events?project={project}&limit=1000&after={seq}")).await?;
            events.extend(page.items);
            after = page.next;
        }
        Ok(events)
    }

    /// # Errors
    /// The server does not answer.
    pub async fn output(&self, run: &RunId) -> io::Result<Output> {
        self.get(&format!("/api/runs/{run}/output?offset=0")).await
    }

    /// Waits until the board is as `holds` says, and gives it back.
    ///
    /// # Panics
    /// It does not become so; the board is shown.
    pub async fn until(&self, project: &ProjectId, what: &str, holds: impl Fn(&Board) -> bool) -> Board {
        self.until_within(STATE_TIMEOUT, project, what, holds).await
    }

    /// The same for a state that takes longer.
    ///
    /// # Panics
    /// As [`Client::until`].
    pub async fn until_within(&self, limit: Duration, project: &ProjectId, what: &str, holds: impl Fn(&Board) -> bool) -> Board {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            // A server that is restarting does not answer. Keep waiting for the state.
            let board = self.board(project).await;
            match board {
                Ok(board) if holds(&board) => return board,
                board if tokio::time::Instant::now() > deadline => panic!("waited until {what}; the board is {}", shown(&board)),
                _ => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }
}

fn shown(board: &io::Result<Board>) -> String {
    match board {
        Ok(board) => board.cards.iter().map(|card| format!("\n{card:?}")).collect(),
        Err(error) => error.to_string(),
    }
}

impl Drop for Client {
    #[expect(clippy::print_stdout, reason = "the count belongs to the output of the tests")]
    fn drop(&mut self) {
        if self.validator.initialized() {
            println!("{} responses validated against the OpenAPI document", VALIDATED.load(Ordering::Relaxed));
        }
    }
}
