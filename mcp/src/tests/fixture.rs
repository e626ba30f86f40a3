//! A board on a sample repository, its server, and clients of all revisions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use db::{Caller, Db, NewRun, ReservedRun, RunEnd};
use domain::board::project::{PlanApproval, Project};
use domain::board::status::Status;
use domain::board::task::NewTask;
use domain::config::Config;
use domain::config::live::LiveConfig;
use domain::id::TaskId;
use domain::rate_limit::RateLimits;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::sandbox::SandboxTier;
use domain::team::agent::Registration;
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::warroom::battle_plan::NewBattlePlan;
use domain::wire::NewProject;
use http::StatusCode;
use repo::testing::{TestRepository, commit_all_in, write_in};
use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion, RequestMetaObject};
use rmcp::service::{Peer, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Proof;

pub(super) type Client = RunningService<RoleClient, ()>;

pub(super) const PERSON: &str = "the-person";

/// A complete result of a task.
pub(super) const RESULT: &str = "# What I tried\nA trie\n# What worked\nThe trie\n# Next agent\nUmlauts: src/search.rs:12";

/// The secret in `server.json`.
pub(super) const SECRET: &str = "the-secret";

pub(super) struct Board {
    pub(super) db: Db,
    pub(super) sample: TestRepository,
    pub(super) project: Project,
    pub(super) folder: TempDir,
}

pub(super) struct Coder {
    pub(super) task: TaskId,
    pub(super) run: ReservedRun,
    pub(super) worktree: PathBuf,
}

impl Board {
    /// A project with its planning task, TASK-001.
    pub(super) async fn new() -> Self {
        Self::with_limits(RateLimits::default()).await
    }

    /// The same with other rate limits.
    pub(super) async fn with_limits(rate_limits: RateLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("board.db"), rate_limits, ..Config::default() };
        let db = Db::open(&config).await.unwrap();
        db.set_owner("owner", PERSON).await.unwrap();
        let sample = TestRepository::new();
        let probe = repo::probe(sample.top(), None).unwrap();
        let new = NewProject {
            title: "A shop".to_owned(),
            description: Some("Sell things".to_owned()),
            plan_approval: Some(PlanApproval::Auto),
            ..NewProject::default()
        };
        let project = db.create_project(&Caller::owner(), new, probe).await.unwrap();
        Self { db, sample, project, folder }
    }

    pub(super) async fn reserve(&self, task: &TaskId, phase: AgentKind, status: Status, sha: Option<String>) -> ReservedRun {
        let runs_root = self.folder.path().join("runs");
        let new = NewRun { task: task.clone(), phase, status, sha, worktree_path: None, runs_root, port: None, sandbox: SandboxTier::None };
        self.db.reserve_run(new).await.unwrap()
    }

    pub(super) async fn planner(&self) -> ReservedRun {
        self.reserve(&TaskId::new(1), AgentKind::Planner, Status::InProgress, None).await
    }

    /// A running coder with a new task and a worktree.
    pub(super) async fn coder(&self) -> Coder {
        let new = NewTask {
            title: "Add a page".to_owned(),
            description: None,
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
        let task = self.db.create_task(&Caller::owner(), &self.project.id, new).await.unwrap().card.id;
        let repository = self.sample.repository();
        let start = repository.ensure_project_branch(&self.project.integration_branch, "main").unwrap();
        let (branch, worktree) = (format!("vr/{task}/work"), self.sample.beside(task.as_str()));
        repository.add_worktree(task.as_str(), &worktree, &branch, &start).unwrap();
        self.db.record_checkout(&task, &branch, worktree.to_str().unwrap()).await.unwrap();
        let run = self.reserve(&task, AgentKind::Coder, Status::Backlog, None).await;
        self.db.run_session(&run.run.id, "session-of-the-coder").await.unwrap();
        Coder { task, run, worktree }
    }

    /// A reviewer of a coder's commit, which is created and submitted first.
    pub(super) async fn reviewer(&self) -> (Coder, ReservedRun, String) {
        let coder = self.coder().await;
        let head = coder.commit();
        let caller = self.db.caller(&coder.run.token).await.unwrap().unwrap();
        let look = self.db.required_evidence(&caller, &coder.task, Status::InReview).await.unwrap();
        let found = repo::collect_evidence(&look).unwrap();
        self.db.move_task(&caller, &coder.task, db::MoveRequest::to(Status::InReview), found).await.unwrap();
        self.end(&coder.run).await;
        let run = self.reserve(&coder.task, AgentKind::Reviewer, Status::InReview, Some(head.clone())).await;
        self.db.run_session(&run.run.id, "session-of-the-reviewer").await.unwrap();
        (coder, run, head)
    }

    /// Creates a trusted external agent and returns its token. A lead finds a battle plan.
    pub(super) async fn agent(&self, name: &str, roles: &[Role]) -> String {
        if roles.contains(&Role::Lead) {
            let new = NewBattlePlan { plan: "Win".to_owned(), ..NewBattlePlan::default() };
            self.db.set_battle_plan(&Caller::owner(), &self.project.id, new).await.unwrap();
        }
        let who = Registration { name: name.to_owned(), roles: roles.to_vec(), ..Registration::default() };
        self.db.create_agent_token(&Caller::owner(), &self.project.id, who, TokenTerms::default()).await.unwrap()
    }

    /// The same with other terms and no role.
    pub(super) async fn agent_with(&self, name: &str, terms: TokenTerms) -> String {
        let who = Registration { name: name.to_owned(), ..Registration::default() };
        self.db.create_agent_token(&Caller::owner(), &self.project.id, who, terms).await.unwrap()
    }

    /// Registers an untrusted external agent with an invite token and returns its own token.
    pub(super) async fn stranger(&self, server: &Server, name: &str) -> String {
        let room = server.modern(&self.db.create_invite_token(&Caller::owner(), &self.project.id).await.unwrap()).await;
        let registered = done(&room, "register", serde_json::json!({"agent_name": name, "role": "researcher"})).await;
        registered.data["token"].as_str().unwrap().to_owned()
    }

    pub(super) async fn end(&self, run: &ReservedRun) {
        let end = RunEnd { exit_code: Some(0), turn_ended: true, ..RunEnd::new(EndClass::Finished, 3) };
        self.db.end_run(&run.run.id, end).await.unwrap();
    }

    pub(super) async fn serve(&self) -> Server {
        Server::start(self.router(CancellationToken::new())).await
    }

    /// A server whose connections can break.
    pub(super) async fn serve_with_breaks(&self) -> (Server, Breaks) {
        let breaks = Breaks::default();
        let breaking = breaks.clone();
        let layer = from_fn(move |request: Request, next: Next| {
            let breaking = breaking.clone();
            async move {
                let response = next.run(request).await;
                if breaking.0.swap(false, Ordering::SeqCst) { StatusCode::BAD_GATEWAY.into_response() } else { response }
            }
        });
        (Server::start(self.router(CancellationToken::new()).layer(layer)).await, breaks)
    }

    pub(super) fn router(&self, shutdown: CancellationToken) -> axum::Router {
        crate::router(self.db.clone(), watch::channel(LiveConfig::default()).1, Proof::new(SECRET.to_owned(), 0), shutdown)
    }
}

impl Coder {
    pub(super) fn commit(&self) -> String {
        write_in(&self.worktree, "page.html", "<h1>Shop</h1>\n");
        commit_all_in(&self.worktree, "Add a page")
    }
}

/// Whether the next response is dropped before it is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Breaks(Arc<AtomicBool>);

impl Breaks {
    /// Lets the client call `check_inbox` and lose the answer.
    pub(super) async fn lose_inbox(&self, client: &Peer<RoleClient>) {
        self.0.store(true, Ordering::SeqCst);
        assert!(client.call_tool(CallToolRequestParams::new("check_inbox")).await.is_err());
    }
}

/// Stops with the test's runtime.
pub(super) struct Server {
    pub(super) url: String,
    pub(super) router: axum::Router,
}

impl Server {
    pub(super) async fn start(router: axum::Router) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let served = router.clone();
        tokio::spawn(async move { axum::serve(listener, served).await.unwrap() });
        Self { url, router }
    }

    pub(super) async fn client(&self, token: &str, era: Era) -> Client {
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{}{}", self.url, crate::PATH)).auth_header(token);
        ().serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), era.lifecycle()).await.unwrap()
    }

    pub(super) async fn modern(&self, token: &str) -> Client {
        self.client(token, Era::Modern).await
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Era {
    Modern,
    Legacy,
}

impl Era {
    pub(super) const BOTH: [Self; 2] = [Self::Modern, Self::Legacy];

    pub(super) fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Modern => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
            Self::Legacy => ClientLifecycleMode::Initialize,
        }
    }
}

/// The result of a call on the wire.
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) data: Value,
    pub(super) is_error: bool,
}

pub(super) async fn call(client: &Peer<RoleClient>, tool: &str, arguments: Value) -> Outcome {
    outcome(client.call_tool(request(tool, arguments, None)).await.unwrap())
}

/// A call with an id from the client, as Claude Code sends it.
pub(super) async fn named_call(client: &Peer<RoleClient>, tool: &str, arguments: Value, id: &str) -> Outcome {
    outcome(client.call_tool(request(tool, arguments, Some(id))).await.unwrap())
}

fn request(tool: &str, arguments: Value, id: Option<&str>) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let mut request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    if let Some(id) = id {
        let mut meta = RequestMetaObject::new();
        meta.insert(crate::meta::TOOL_USE_ID.to_owned(), id.into());
        request.meta = Some(meta);
    }
    request
}

fn outcome(result: CallToolResult) -> Outcome {
    let wire = serde_json::to_value(&result).unwrap();
    let texts: Vec<&str> = wire["content"].as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap()).collect();
    Outcome { text: texts.join("\n"), data: wire["structuredContent"].clone(), is_error: wire["isError"] == true }
}

/// A call that must succeed.
pub(super) async fn done(client: &Peer<RoleClient>, tool: &str, arguments: Value) -> Outcome {
    let outcome = call(client, tool, arguments).await;
    assert!(!outcome.is_error, "{tool}: {}", outcome.text);
    outcome
}

/// The text of a call that must be refused.
pub(super) async fn refused(client: &Peer<RoleClient>, tool: &str, arguments: Value) -> String {
    let outcome = call(client, tool, arguments).await;
    assert!(outcome.is_error, "{tool}: {}", outcome.text);
    assert!(outcome.text.contains("\nNext: "), "{}", outcome.text);
    outcome.text
}
