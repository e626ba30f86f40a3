//! A server on a temporary database and repository, called without a network.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use db::{Caller, Db, MoveRequest, NewRun, ReservedRun, RunEnd};
use domain::board::status::Status;
use domain::board::task::{NewTask, Task};
use domain::config::live::LiveConfig;
use domain::config::{Config, Durability};
use domain::id::{ProjectId, RunId, TaskId};
use domain::rate_limit::RateLimits;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::runs::failure::EndClass;
use domain::runs::publication::Publication;
use domain::runs::publication::issue::Issue;
use domain::runs::publication::pull_request::PullRequestStatus;
use domain::runs::sandbox::{SandboxStatus, SandboxTier};
use domain::runs::tick::Ticks;
use domain::team::agent::Registration;
use domain::team::browser_session::{SESSION_KEY_FRAGMENT, SESSION_KEY_HEADER};
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::time::Timestamp;
use domain::warroom::code_map::{CodeMapSummary, CodeMapView};
use domain::wire::NewProject;
use repo::testing::TestRepository;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::openapi::Access;
use crate::routes::DOCUMENT;
use crate::sign_in::cookie_name;
use crate::testing::{Response, ResponseValidator};
use crate::{AppState, Asset, ImportIssue, Publish, SignIn, router};

pub(super) const PORT: u16 = 9400;
pub(super) const HOST: &str = "127.0.0.1:9400";
/// The host name that a browser uses for the same server.
pub(super) const BOARD: &str = "vibe-relay.localhost:9400";
pub(super) const TOKEN: &str = "the-humans-token";

/// The page without the board's code.
static ASSETS: [Asset; 1] = [Asset {
    path: "/",
    content_type: "text/html; charset=utf-8",
    bytes: b"<!doctype html><title>vibe-relay</title>",
    brotli: None,
    etag: "\"0123\"",
    immutable: false,
}];

/// Shared by all tests, because compiling the schemas takes a while.
pub(super) static VALIDATOR: LazyLock<ResponseValidator> = LazyLock::new(|| ResponseValidator::new(document()));

pub(super) fn document() -> Value {
    serde_json::to_value(&*DOCUMENT).unwrap()
}

/// One operation of the document.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// In lower case.
    pub(super) method: String,
    pub(super) path: String,
    pub(super) access: Access,
}

/// Every route, as the router and the document are built from them.
pub(super) fn routes() -> Vec<Route> {
    let document = document();
    let operations = document["paths"].as_object().unwrap().iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter().filter(|(_, operation)| operation["responses"].is_object());
        methods.map(|(method, operation)| {
            let access = if operation["security"].is_array() { Access::Person } else { Access::Any };
            Route { method: method.clone(), path: path.clone(), access }
        })
    });
    operations.collect()
}

pub(super) struct TestServer {
    pub(super) state: AppState,
    pub(super) sample: TestRepository,
    pub(super) folder: TempDir,
    router: Router,
}

pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
}

/// The session of a browser, as its parts are kept there.
#[derive(Clone)]
pub(super) struct Session {
    /// The value of the `Cookie` header, which every page of the host sends.
    pub(super) cookie: String,
    /// The session key, which only the board's page has.
    pub(super) key: String,
}

impl Session {
    pub(super) async fn open(server: &TestServer, person: i64) -> Self {
        let secret = server.state.db.open_browser_session(person, None, None).await.unwrap().unwrap();
        Self { cookie: format!("{}={}", cookie_name(server.state.port), secret.cookie), key: secret.key }
    }

    /// The session that the answer to a sign-in link opened.
    pub(super) fn of_answer(answer: &Answer) -> Self {
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        let (_, key) = answer.header(header::LOCATION).split_once(&format!("#{SESSION_KEY_FRAGMENT}")).unwrap();
        Self { cookie: answer.header(header::SET_COOKIE).split(';').next().unwrap().to_owned(), key: key.to_owned() }
    }

    /// The headers that a request of the board's page carries.
    pub(super) fn headers(&self) -> [(&'static str, String); 2] {
        [("cookie", self.cookie.clone()), (SESSION_KEY_HEADER, self.key.clone())]
    }
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(super) fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The owner has to choose, so that every route has something to do.
fn undecided_sandbox() -> SandboxStatus {
    SandboxStatus { tier: None, detail: Some("Choose one.".to_owned()), choices: vec![SandboxTier::None, SandboxTier::Jail] }
}

impl TestServer {
    pub(super) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(super) async fn with(change: impl FnOnce(&mut AppState)) -> Self {
        Self::with_limits(RateLimits::NONE, change).await
    }

    pub(super) async fn with_limits(rate_limits: RateLimits, change: impl FnOnce(&mut AppState)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("board.db"), durability: Durability::Normal, rate_limits, ..Config::default() };
        let db = Db::open(&config).await.unwrap();
        db.set_owner("owner", TOKEN).await.unwrap();
        let mut state = AppState {
            publish: publish(db.clone()),
            follow_base: Arc::new(|_| Box::pin(async { Ok(()) })),
            update_checkout: Arc::new(|_, _| Box::pin(async { Ok(()) })),
            can_open: Arc::new(|repository| Box::pin(async move { repository.starts_with("github.com/") })),
            read_issue: Arc::new(|_, _, _, given| Box::pin(async move { Ok(issue(&given)) })),
            import_issue: import_issue(db.clone()),
            db,
            config: watch::Sender::new(LiveConfig { config, notice: None }).subscribe(),
            port: PORT,
            assets: &ASSETS,
            sign_in: SignIn::default(),
            save_token: Arc::new(|_| Ok(())),
            restore_token: Arc::new(|| Ok(())),
            activity: watch::Sender::default(),
            ticks: watch::Sender::new(Ticks::new(db::now())).subscribe(),
            sandbox: watch::Sender::new(Some(undecided_sandbox())).subscribe(),
            map_code: Arc::new(|_| {
                let summary = CodeMapSummary { files: 3, ..CodeMapSummary::default() };
                Box::pin(async {
                    let path = "code-maps/PROJ-001/CODE_MAP.md".to_owned();
                    Ok(CodeMapView { summary, made_at: Timestamp::from_milliseconds(0), path, bytes: 7 })
                })
            }),
            shutdown: CancellationToken::new(),
            demo: None,
        };
        change(&mut state);
        let router = router(state.clone(), Router::new());
        Self { state, sample: TestRepository::new(), folder, router }
    }

    /// Sends a request as it is, and checks that the document describes the response.
    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().to_string());
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let content_type = parts.headers.get(header::CONTENT_TYPE).map_or("", |value| value.to_str().unwrap());
        let checked = Response { method: method.as_str(), path: &path, status: parts.status.as_u16(), content_type, body: &bytes };
        VALIDATOR.check(checked).unwrap();
        Answer { status: parts.status, headers: parts.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// Sends a request as a program of the human would; `body` is empty or JSON.
    pub(super) async fn call(&self, method: &str, path: &str, body: &str) -> Answer {
        let mut request = Request::builder().method(method.to_uppercase().as_str()).uri(path).header(header::HOST, HOST);
        request = request.header(header::AUTHORIZATION, format!("Bearer {TOKEN}"));
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    /// Creates a project without a description.
    pub(super) async fn project(&self) -> ProjectId {
        let probe = repo::probe(self.sample.top(), None).unwrap();
        self.state.db.create_project(&Caller::owner(), NewProject { title: "A page".into(), ..NewProject::default() }, probe).await.unwrap().id
    }

    /// Creates a task that may start.
    pub(super) async fn task(&self, project: &ProjectId) -> Task {
        let new = NewTask {
            title: "Add a footer".into(),
            description: Some("At the **end**.".into()),
            phase: None,
            parent_task_id: None,
            depends_on: Vec::new(),
            priority: None,
            files: Vec::new(),
            model: None,
            start: true,
            assigned_to: None,
            role_hat: None,
            goal_id: None,
            from_branch: None,
        };
        self.state.db.create_task(&Caller::owner(), project, new).await.unwrap()
    }

    /// Creates a trusted agent, and returns its token and its caller.
    pub(super) async fn agent(&self, project: &ProjectId, name: &str, roles: &[Role]) -> (String, Caller) {
        let registration = Registration { name: name.to_owned(), roles: roles.to_vec(), ..Registration::default() };
        let token = self.state.db.create_agent_token(&Caller::owner(), project, registration, TokenTerms::default()).await.unwrap();
        let caller = self.state.db.caller(&token).await.unwrap().unwrap();
        (token, caller)
    }

    /// Starts a run of `task`, which has `status`, and returns it with its caller.
    pub(super) async fn run(&self, task: &TaskId, phase: AgentKind, status: Status) -> (ReservedRun, Caller) {
        let new = NewRun {
            task: task.clone(),
            phase,
            status,
            sha: None,
            worktree_path: None,
            runs_root: self.folder.path().join("runs"),
            port: None,
            sandbox: SandboxTier::None,
        };
        let reserved = self.state.db.reserve_run(new).await.unwrap();
        let caller = self.state.db.caller(&reserved.token).await.unwrap().unwrap();
        (reserved, caller)
    }

    pub(super) async fn end(&self, run: &RunId) {
        let end = RunEnd { exit_code: Some(0), turn_ended: true, ..RunEnd::new(EndClass::Finished, 3) };
        self.state.db.end_run(run, end).await.unwrap();
    }

    /// Completes a task that changes `file`: the human approves it and the runner merges it.
    pub(super) async fn merged(&self, project: &ProjectId, file: &str, content: &str) {
        let task = self.task(project).await.card.id;
        let (branch, target) = (format!("vr/{task}/work"), format!("vibe-relay/{project}"));
        let repository = self.sample.repository();
        repository.ensure_project_branch(&target, "main").unwrap();
        let head = self.sample.commit_on(&branch, &[(file, Some(content))], "work");
        let db = &self.state.db;
        db.record_checkout(&task, &branch, "/nowhere").await.unwrap();
        db.move_task(&Caller::owner(), &task, MoveRequest::to(Status::InProgress), EvidenceResult::Nothing).await.unwrap();
        db.move_task(&Caller::owner(), &task, MoveRequest::to(Status::Done), EvidenceResult::head(head.clone())).await.unwrap();
        repository.merge(&target, &repository.ref_sha(&target).unwrap().unwrap(), &head, "Merge", &repository.identity("test").unwrap()).unwrap();
        let tip = repository.ref_sha(&target).unwrap().unwrap();
        db.record_merge(&task, &head, &target, &tip, "tree").await.unwrap();
    }
}

/// An issue that no host has.
fn issue(number: &str) -> Issue {
    let address = format!("https://github.com/ann/site/issues/{number}");
    Issue { address, title: "The menu is empty".to_owned(), body: "It is.".to_owned(), author: "eve".to_owned(), labels: Vec::new() }
}

fn import_issue(db: Db) -> Arc<ImportIssue> {
    Arc::new(move |caller, project, import| {
        let db = db.clone();
        Box::pin(async move { db.import_issue(&caller, &project, issue(&import.issue), import.start).await })
    })
}

/// Records a push that nobody made. The runner, which pushes, is tested without the interface.
fn publish(db: Db) -> Arc<Publish> {
    Arc::new(move |caller, project, options| {
        let db = db.clone();
        Box::pin(async move {
            let published = Publication {
                remote: "origin".to_owned(),
                branch: "vibe-relay/PROJ-001".to_owned(),
                sha: "0".repeat(40),
                at: db::now(),
                by: caller.actor(),
                pull_request: options.pull_request.then(|| "https://github.com/ann/site/pull/7".to_owned()),
                status: options.pull_request.then(PullRequestStatus::default),
            };
            db.record_publication(&caller, &project, published).await
        })
    })
}
