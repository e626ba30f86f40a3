//! A test of what an agent has read before its first own thought: its role, its tools and the frame of its first message. Every run pays
//! for it. It must not know how the texts are made: it builds them from a board, and lists the tools over MCP.

use axum::Router;
use axum::body::Body;
use db::{Caller, Db, MoveRequest, NewRun, ReservedRun, RunEnd};
use domain::board::goal::NewGoal;
use domain::board::project::Project;
use domain::board::status::Status;
use domain::board::task::NewSubtask;
use domain::config::Config;
use domain::config::live::LiveConfig;
use domain::context::handoff::Handoff;
use domain::id::TaskId;
use domain::prompt::Prompts;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, EvidenceResult};
use domain::runs::failure::EndClass;
use domain::runs::protected_paths::ProtectedChange;
use domain::runs::run::Run;
use domain::runs::sandbox::SandboxTier;
use domain::team::agent::Registration;
use domain::team::message::Inbox;
use domain::team::token::TokenTerms;
use domain::warroom::raid_log::NewRaidLogEntry;
use domain::warroom::zone::NewZone;
use domain::wire::NewProject;
use http::Request;
use http_body_util::BodyExt;
use repo::testing::TestRepository;
use runner::prompt::{self, PromptInput};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

const TITLE: &str = "Sell things";
const DESCRIPTION: &str = "In euros.";
/// The most tokens for each kind of agent outside of a jail, in a project that uses no feature and in one that uses every feature.
const LIMITS: [(AgentKind, [usize; 2]); 4] = [
    (AgentKind::Planner, [3_090, 3_090]),
    (AgentKind::Coder, [1_600, 1_840]),
    (AgentKind::Reviewer, [2_100, 2_100]),
    (AgentKind::Orchestrator, [3_350, 3_350]),
];
const SHA: &str = "0123456789012345678901234567890123456789";

struct TestBoard {
    db: Db,
    project: Project,
    mcp: Router,
    folder: TempDir,
    _sample: TestRepository,
}

impl TestBoard {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(&Config { db_path: folder.path().join("board.db"), ..Config::default() }).await.unwrap();
        let sample = TestRepository::new();
        let probe = repo::probe(sample.top(), None).unwrap();
        let new = NewProject { title: TITLE.to_owned(), description: Some(DESCRIPTION.to_owned()), ..NewProject::default() };
        let project = db.create_project(&Caller::owner(), new, probe).await.unwrap();
        let mcp = mcp::router(db.clone(), watch::channel(LiveConfig::default()).1, mcp::Proof::new(String::new(), 0), CancellationToken::new());
        Self { db, project, mcp, folder, _sample: sample }
    }

    /// Starts to use everything that adds tools.
    async fn use_every_feature(&self) {
        let (owner, project) = (Caller::owner(), &self.project.id);
        let mara = Registration { name: "mara".to_owned(), ..Registration::default() };
        self.db.create_agent_token(&owner, project, mara, TokenTerms::default()).await.unwrap();
        self.db.create_goal(&owner, project, NewGoal { title: TITLE.to_owned(), description: None }).await.unwrap();
        self.db.initiate_handshake(&owner, project, DESCRIPTION, vec!["mara".to_owned()]).await.unwrap();
        let entry = serde_json::from_value(json!({"key": "build", "value": "make"})).unwrap();
        self.db.set_memory(&self.mara(), entry).await.unwrap();
        let zone = NewZone { name: "all".to_owned(), paths: vec!["src/".to_owned()], oracle: Some("human".to_owned()), ..NewZone::default() };
        self.db.set_zone(&owner, project, zone).await.unwrap();
        self.db.log_raid(&owner, project, NewRaidLogEntry { entry: DESCRIPTION.to_owned(), priority: None }).await.unwrap();
    }

    fn mara(&self) -> Caller {
        Caller::Agent(db::AgentCaller {
            project_id: self.project.id.clone(),
            name: "mara".to_owned(),
            permissions: domain::team::token::Permissions::default(),
            call_id: None,
        })
    }

    /// Brings a coder into each situation that lists it a further tool: a value of its own, a handshake that waits for it, and another agent
    /// that waits for its file.
    async fn need_every_tool(&self, coder: &ReservedRun) {
        let (caller, project) = (self.caller(coder).await, &self.project.id);
        let entry = serde_json::from_value(json!({"key": "build", "value": "make"})).unwrap();
        self.db.set_memory(&caller, entry).await.unwrap();
        let name = Run::agent_name(AgentKind::Coder, &coder.run.task_id);
        self.db.initiate_handshake(&Caller::owner(), project, DESCRIPTION, vec![name]).await.unwrap();
        let file = "src/lib.rs".parse().unwrap();
        self.db.claim_file(&caller, project, &file).await.unwrap();
        self.db.claim_file(&self.mara(), project, &file).await.unwrap();
    }

    async fn start(&self, task: &TaskId, phase: AgentKind) -> ReservedRun {
        let status = self.db.card(task).await.unwrap().status;
        let runs_root = self.folder.path().join("runs");
        let new = NewRun {
            task: task.clone(),
            phase,
            status,
            sha: Some(SHA.to_owned()),
            worktree_path: None,
            runs_root,
            port: None,
            sandbox: SandboxTier::None,
        };
        self.db.reserve_run(new).await.unwrap()
    }

    async fn end(&self, run: &ReservedRun) {
        let end = RunEnd { exit_code: Some(0), turn_ended: true, ..RunEnd::new(EndClass::Finished, 3) };
        self.db.end_run(&run.run.id, end).await.unwrap();
    }

    async fn caller(&self, run: &ReservedRun) -> Caller {
        self.db.caller(&run.token).await.unwrap().unwrap()
    }

    async fn move_to(&self, caller: &Caller, task: &TaskId, request: MoveRequest, found: EvidenceResult) {
        self.db.move_task(caller, task, request, found).await.unwrap();
    }

    /// The tools that an agent is listed, as JSON.
    async fn tools(&self, token: &str) -> String {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
        let request = Request::post(mcp::PATH)
            .header("host", "127.0.0.1")
            .header("authorization", format!("Bearer {token}"))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/list");
        let response = self.mcp.clone().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
        let answer: Value = serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap();
        assert!(answer["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{answer}");
        answer["result"]["tools"].to_string()
    }

    /// The first message of a run, without the texts of the issue.
    async fn first_message(&self, run: &ReservedRun) -> String {
        let task = self.db.task(&run.run.task_id).await.unwrap();
        let goal = match &task.card.round_of {
            Some(plan) => Some(self.db.task(plan).await.unwrap()),
            None => None,
        };
        let text = prompt::prompt(&PromptInput {
            prompts: &Prompts::default(),
            project: &self.project,
            task: &task,
            goal: goal.as_ref(),
            run: &run.run,
            branch: "vr/TASK-002/work",
            worktree: "/home/ann/.vibe-relay/worktrees/PROJ-001/TASK-002",
            rules: matches!(run.run.phase, AgentKind::Reviewer | AgentKind::Orchestrator).then_some("/home/ann/.vibe-relay/runs/RUN-003/rules"),
            base: SHA,
            base_branch: &self.project.integration_branch,
            comments: &[],
            attempts: &[],
            commits: &[],
            handoff: &Handoff::default(),
            inbox: &Inbox { messages: Vec::new(), remaining: 0 },
            resumes: false,
            setup: "",
            oracle: None,
            checks: &[],
        });
        text.replace(TITLE, "").replace(DESCRIPTION, "")
    }

    /// Measures role, tools and first message of a run in tokens of four characters.
    async fn measure(&self, run: &ReservedRun) -> [usize; 4] {
        let (tools, message) = (self.tools(&run.token).await, self.first_message(run).await);
        let role = prompt::system_prompt(&Prompts::default(), run.run.phase, run.run.sandbox);
        let characters = [&role, &tools, &message].map(|text| text.chars().count());
        let [role, tools, message] = characters;
        [role, tools, message, role + tools + message].map(|count| count.div_ceil(4))
    }
}

/// Takes a project from its plan to its round, and measures an agent of each kind at work.
async fn measured(board: &TestBoard, uses_every_feature: bool) -> Vec<(AgentKind, [usize; 4])> {
    let mut measured = Vec::new();
    let plan = TaskId::new(1);
    let planner = board.start(&plan, AgentKind::Planner).await;
    measured.push((AgentKind::Planner, board.measure(&planner).await));
    let caller = board.caller(&planner).await;
    let new = NewSubtask { title: TITLE.to_owned(), description: Some(DESCRIPTION.to_owned()), ..NewSubtask::default() };
    let task = board.db.create_subtasks(&caller, &plan, vec![new]).await.unwrap().remove(0).card.id;
    board.move_to(&caller, &plan, MoveRequest::to(Status::Done), EvidenceResult::Nothing).await;
    board.end(&planner).await;

    let coder = board.start(&task, AgentKind::Coder).await;
    if uses_every_feature {
        board.need_every_tool(&coder).await;
    }
    measured.push((AgentKind::Coder, board.measure(&coder).await));
    let changed = [".claude/settings.json", ".github/workflows/release.yml", "CLAUDE.md"].map(str::to_owned);
    let protected = ProtectedChange::find(changed, &Config::default().protected_paths);
    let evidence = Evidence {
        head: SHA.to_owned(),
        base: "base".to_owned(),
        ahead: 1,
        dirty_paths: Vec::new(),
        dirty_count: 0,
        diff_empty: false,
        patch_id: "patch".to_owned(),
        changed_paths: Vec::new(),
        nested: Vec::new(),
        protected,
    };
    let caller = board.caller(&coder).await;
    board.move_to(&caller, &task, MoveRequest::to(Status::InReview), EvidenceResult::Evidence(evidence)).await;
    board.end(&coder).await;

    let reviewer = board.start(&task, AgentKind::Reviewer).await;
    let told = board.first_message(&reviewer).await;
    assert!(told.contains("\nChanges protected paths: .claude/settings.json, .github/workflows/release.yml, CLAUDE.md\n"), "{told}");
    measured.push((AgentKind::Reviewer, board.measure(&reviewer).await));
    board.end(&reviewer).await;
    let close = MoveRequest { merge: false, ..MoveRequest::to(Status::Done) };
    board.move_to(&Caller::owner(), &task, close, EvidenceResult::Nothing).await;

    let orchestrator = board.start(&TaskId::new(3), AgentKind::Orchestrator).await;
    measured.push((AgentKind::Orchestrator, board.measure(&orchestrator).await));
    measured
}

fn check(measured: &[(AgentKind, [usize; 4])], uses_every_feature: bool) {
    let limits = LIMITS.map(|(_, limits)| limits[usize::from(uses_every_feature)]);
    let over: Vec<AgentKind> = measured.iter().zip(limits).filter(|((_, [.., sum]), limit)| sum > limit).map(|((kind, _), _)| *kind).collect();
    assert!(over.is_empty(), "{over:?} exceed {limits:?} (role, tools, first message, sum): {measured:?}");
}

#[tokio::test]
async fn each_kind_starts_with_few_tokens() {
    let board = TestBoard::new().await;
    check(&measured(&board, false).await, false);
}

#[tokio::test]
async fn each_kind_starts_with_few_tokens_where_everything_is_used() {
    let board = TestBoard::new().await;
    let plain = board.start(&TaskId::new(1), AgentKind::Planner).await;
    let [_, few, ..] = board.measure(&plain).await;
    board.end(&plain).await;
    board.use_every_feature().await;
    let measured = measured(&board, true).await;
    assert!(measured[0].1[1] > few, "the features add no tools");
    check(&measured, true);
}

#[test]
fn rules_of_a_jail_are_short() {
    let roles =
        [SandboxTier::None, SandboxTier::JailNet].map(|tier| prompt::system_prompt(&Prompts::default(), AgentKind::Coder, tier).chars().count());
    let tokens = (roles[1] - roles[0]).div_ceil(4);
    assert!(tokens <= 200, "{tokens} tokens beside those of a role");
}
