//! The wire format of HTTP bodies and WebSocket frames, on which other programs rely.

use serde::de::DeserializeOwned;

use super::*;
use crate::actor::Actor;
use crate::board::comment::AuthorRole;
use crate::board::comment::Comment;
use crate::board::planned_files::PlannedFiles;
use crate::board::project::tests::card;
use crate::board::status::{HeldBy, Status};
use crate::board::task::TaskPatch;
use crate::board::transition::Mover;
use crate::board::transition::refusal::MoveRefusal;
use crate::board::wait_reason::WaitReason;
use crate::id::{CommentId, ProjectId, QuestionId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::runs::agent_kind::AgentKind;
use crate::runs::failure::FailureClass;
use crate::runs::parking::ParkReason;
use crate::runs::sandbox::SandboxTier;
use crate::team::message::Message;
use crate::team::person::PersonRole;
use crate::team::token::TokenEvent;
use crate::time::Timestamp;

fn at() -> Timestamp {
    Timestamp::from_milliseconds(1_769_850_300_000)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// Serializes `value` and checks that it parses back.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let text = json(value);
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
    text
}

fn task() -> Task {
    Task {
        card: card(1, AgentKind::Coder, Status::InProgress),
        description: Some("Do it".to_owned()),
        worktree_path: None,
        branch: Some("vr/TASK-001/work".to_owned()),
        session_id: None,
        model: None,
        merged_sha: None,
        review_rounds: 0,
        files: PlannedFiles::default(),
        created_by: None,
        result: None,
        completed_at: None,
        verified_at: None,
        from_branch: None,
    }
}

#[test]
fn frames_have_a_stable_json_form() {
    let event = Envelope {
        seq: 2,
        at: at(),
        project_id: None,
        task_id: None,
        run_id: None,
        actor: Actor::Owner,
        event: TokenEvent::Created {}.into(),
        card: None,
        project: None,
    };
    let frames = [
        Frame::Hello { epoch: "e".to_owned(), seq: 1 },
        Frame::Event { event: Box::new(event) },
        Frame::Activity { run_id: RunId::new(3), line: "Reads a.rs".to_owned() },
        Frame::Server {},
        Frame::Resync {},
    ];
    insta::assert_snapshot!(frames.iter().map(round_trip).collect::<Vec<_>>().join("\n"), @r#"
    {"type":"hello","epoch":"e","seq":1}
    {"type":"event","event":{"seq":2,"at":"2026-01-31T09:05:00.000Z","project_id":null,"task_id":null,"run_id":null,"actor":"human","event":{"kind":"token_made"}}}
    {"type":"activity","run_id":"RUN-003","line":"Reads a.rs"}
    {"type":"server"}
    {"type":"resync"}
    "#);
}

#[test]
fn problem_omits_empty_lists_of_moves() {
    let refusal = Refusal::from(MoveRefusal::Illegal {
        task: TaskId::new(1),
        phase: AgentKind::Coder,
        from: Status::Done,
        to: Status::Backlog,
        who: Mover::Human,
    });
    let full = Problem {
        status: 422,
        code: refusal.code().to_owned(),
        detail: refusal.to_string(),
        hint: refusal.hint(),
        missing: None,
        from: Some(Status::Done),
        to: Some(Status::Backlog),
        allowed: refusal.allowed(),
        returning: None,
    };
    let bare = Problem { from: None, to: None, allowed: Vec::new(), ..full.clone() };
    insta::assert_snapshot!(format!("{}\n{}", round_trip(&full), round_trip(&bare)), @r#"
    {"status":422,"code":"illegal-move","detail":"you may not move TASK-001 from done to backlog","hint":"From done you can move it to done (needs a participant that has neither built nor approved it and had no conflicting hat), or to in_progress (needs a reason).","from":"done","to":"backlog","allowed":[{"to":"done","who":["verifier","orchestrator","human"],"needs":"independence"},{"to":"in_progress","who":["verifier","orchestrator","human","runner"],"needs":"reason"}]}
    {"status":422,"code":"illegal-move","detail":"you may not move TASK-001 from done to backlog","hint":"From done you can move it to done (needs a participant that has neither built nor approved it and had no conflicting hat), or to in_progress (needs a reason)."}
    "#);
}

#[test]
fn task_view_has_all_fields_at_the_top() {
    let question = Question {
        id: QuestionId::new(1),
        task_id: TaskId::new(1),
        run_id: RunId::new(1),
        question: "Which?".to_owned(),
        options: vec!["a".to_owned()],
        default: None,
        asked_at: at(),
        answer: None,
        answered_at: None,
    };
    let view = TaskView {
        task: task(),
        description_html: Some("<p>Do it</p>".to_owned()),
        question: Some(question),
        permissions: Vec::new(),
        takeover: None,
        note: None,
    };
    insta::assert_snapshot!(round_trip(&view), @r#"{"id":"TASK-001","project_id":"PROJ-001","parent_task_id":null,"title":"Task 1","phase":"coder","status":"in_progress","held_by":null,"attention":null,"wait_reason":null,"cancel_reason":null,"depends_on":[],"priority":0,"approved_sha":null,"verified_by":null,"round_of":null,"round":null,"run":null,"comments":0,"runs":0,"cost_micro_usd":0,"tokens":0,"created_at":"2026-01-31T09:05:00.000Z","updated_at":"2026-01-31T09:05:00.000Z","description":"Do it","worktree_path":null,"branch":"vr/TASK-001/work","session_id":null,"model":null,"merged_sha":null,"review_rounds":0,"description_html":"<p>Do it</p>","question":{"id":"ASK-001","task_id":"TASK-001","run_id":"RUN-001","question":"Which?","options":["a"],"default":null,"asked_at":"2026-01-31T09:05:00.000Z","answer":null,"answered_at":null}}"#);
}

#[test]
fn comment_view_includes_html() {
    let comment = Comment {
        id: CommentId::new(1),
        task_id: TaskId::new(1),
        author_role: AuthorRole::Reviewer,
        author_name: None,
        run_id: Some(RunId::new(2)),
        content: "*no*".to_owned(),
        created_at: at(),
        edited_at: None,
    };
    let view = CommentView { comment, content_html: "<p><em>no</em></p>".to_owned() };
    let list = List { items: vec![view], next: Some(1) };
    insta::assert_snapshot!(round_trip(&list), @r#"{"items":[{"id":"NOTE-001","task_id":"TASK-001","author_role":"reviewer","run_id":"RUN-002","content":"*no*","created_at":"2026-01-31T09:05:00.000Z","content_html":"<p><em>no</em></p>"}],"next":1}"#);
}

#[test]
fn message_view_includes_html() {
    let message = Message {
        id: 7,
        project_id: ProjectId::new(1),
        from_agent: "ben".to_owned(),
        to_agent: "human".to_owned(),
        content: "*no*".to_owned(),
        is_cc: false,
        cc_original_to: None,
        cc: vec!["mara".to_owned()],
        task_id: Some(TaskId::new(1)),
        reply_to: None,
        timestamp: at(),
        read: true,
    };
    let view = MessageView { message, content_html: "<p><em>no</em></p>".to_owned(), acknowledged: true };
    insta::assert_snapshot!(round_trip(&view), @r#"{"id":7,"project_id":"PROJ-001","from_agent":"ben","to_agent":"human","content":"*no*","is_cc":false,"cc":["mara"],"task_id":"TASK-001","timestamp":"2026-01-31T09:05:00.000Z","read":true,"content_html":"<p><em>no</em></p>","acknowledged":true}"#);
}

#[test]
fn requests_reject_missing_and_unknown_fields() {
    assert_eq!(serde_json::from_str::<NewProject>(r#"{"title": "t"}"#).unwrap(), NewProject { title: "t".to_owned(), ..NewProject::default() });
    assert_eq!(serde_json::from_str::<TaskPatch>("{}").unwrap(), TaskPatch::default());
    assert_eq!(serde_json::from_str::<ProjectPatch>("{}").unwrap(), ProjectPatch::default());
    assert_eq!(serde_json::from_str::<NewProject>("{}").unwrap(), NewProject::default(), "an issue can give the title");
    assert!(serde_json::from_str::<NewProject>(r#"{"title": "t", "repo": "x"}"#).is_err());
    assert!(serde_json::from_str::<TaskPatch>(r#"{"state": "done"}"#).is_err());
    assert!(serde_json::from_str::<TaskPatch>(r#"{"status": "finished"}"#).is_err());
    assert!(serde_json::from_str::<ProjectPatch>(r#"{"status": "complete"}"#).is_err());
    assert!(serde_json::from_str::<TextBody>(r#"{"content": "x", "role": "human"}"#).is_err());
    assert!(serde_json::from_str::<Cancel>("{}").is_err());
    let full = r#"{"status":"done","title":"t","description":"d","reason":"r","depends_on":["TASK-002"],"priority":1,"files":["src/"],"model":"m","merge":false,"sha":"abc"}"#;
    assert_eq!(round_trip(&serde_json::from_str::<TaskPatch>(full).unwrap()), full);
}

#[test]
fn server_answers_have_a_stable_json_form() {
    let parking = Parking { reason: ParkReason::SignedOut, since: at(), until: at(), detail: "no key".to_owned(), failed_probes: 0 };
    let server = ServerInfo {
        version: "0.1.0".to_owned(),
        epoch: "e".to_owned(),
        person: Person { id: 1, name: "Ann".to_owned(), role: PersonRole::Owner, created_at: at(), removed_at: None },
        repo_path: None,
        project_budget_micro_usd: Some(5),
        config_notice: None,
        allowed_hosts: vec!["desk.example.org".to_owned()],
        runner: RunnerHealth {
            ticking_since: at(),
            last_tick_at: None,
            is_ticking: true,
            max_agents: 3,
            live_runs: vec![RunId::new(2)],
            parked: vec![parking],
        },
        paused_at: Some(at()),
        sandbox: Some(SandboxStatus { tier: None, detail: Some("choose".to_owned()), choices: vec![SandboxTier::None, SandboxTier::Jail] }),
        cost_today_micro_usd: 7,
        cost_per_hour_micro_usd: 8,
        demo: Some(DemoInfo { page_url: "/demo".to_owned(), scripted: true }),
    };
    let health = HealthResponse { status: "ok".to_owned(), version: "0.1.0".to_owned(), runner: None };
    let landed = LandingResult { base_branch: "main".to_owned(), sha: "a1".to_owned(), commits: 2, detail: "Landed.".to_owned() };
    let lines = [round_trip(&server), round_trip(&health), round_trip(&landed)];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"version":"0.1.0","epoch":"e","person":{"id":1,"name":"Ann","role":"owner","created_at":"2026-01-31T09:05:00.000Z"},"repo_path":null,"project_budget_micro_usd":5,"config_notice":null,"allowed_hosts":["desk.example.org"],"runner":{"ticking_since":"2026-01-31T09:05:00.000Z","last_tick_at":null,"is_ticking":true,"max_agents":3,"live_runs":["RUN-002"],"parked":[{"reason":"signed_out","since":"2026-01-31T09:05:00.000Z","until":"2026-01-31T09:05:00.000Z","detail":"no key","failed_probes":0}]},"paused_at":"2026-01-31T09:05:00.000Z","sandbox":{"tier":null,"detail":"choose","choices":["none","jail"]},"cost_today_micro_usd":7,"cost_per_hour_micro_usd":8,"demo":{"page_url":"/demo","scripted":true}}
    {"status":"ok","version":"0.1.0"}
    {"base_branch":"main","sha":"a1","commits":2,"detail":"Landed."}
    "#);
}

#[test]
fn wait_reasons_have_a_json_form_and_a_sentence() {
    let reasons = [
        WaitReason::BlockedBy { tasks: vec![TaskId::new(3), TaskId::new(4)] },
        WaitReason::Held { by: HeldBy::Human },
        WaitReason::Held { by: HeldBy::Plan },
        WaitReason::Held { by: HeldBy::Stop },
        WaitReason::Held { by: HeldBy::Takeover },
        WaitReason::NoFreeSlot { limit: 3 },
        WaitReason::KindLimitReached { phase: AgentKind::Reviewer },
        WaitReason::Backoff { until: at(), after: FailureClass::Crashed },
        WaitReason::Parked { reason: ParkReason::RateLimited, until: Some(at()) },
        WaitReason::Parked { reason: ParkReason::SignedOut, until: None },
        WaitReason::NeedsAttention,
        WaitReason::Paused,
        WaitReason::Archived,
        WaitReason::MergeQueued,
        WaitReason::PullRequest,
        WaitReason::Stopping,
        WaitReason::Assigned { name: "platform/mara".to_owned() },
        WaitReason::AwaitingLead { name: "platform/mara".to_owned() },
        WaitReason::PlanUnfinished { task: TaskId::new(1) },
        WaitReason::UnapprovedCommits { task: TaskId::new(1) },
    ];
    let lines: Vec<String> = reasons.iter().map(|reason| format!("{} {}", round_trip(reason), reason.sentence())).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"is":"blocked_by","tasks":["TASK-003","TASK-004"]} blocked by TASK-003, TASK-004
    {"is":"held","by":"human"} held until someone presses Start
    {"is":"held","by":"plan"} held until someone starts the plan
    {"is":"held","by":"stop"} stopped until someone presses Start or Retry
    {"is":"held","by":"takeover"} taken over until someone gives it back
    {"is":"no_free_slot","limit":3} no free slot: 3 agents running
    {"is":"kind_limit_reached","phase":"reviewer"} waiting for the running reviewer
    {"is":"backoff","until":"2026-01-31T09:05:00.000Z","after":"crashed"} retrying at 09:05 UTC (the agent's process crashed)
    {"is":"parked","reason":"rate_limited","until":"2026-01-31T09:05:00.000Z"} rate limited until 09:05 UTC
    {"is":"parked","reason":"signed_out","until":null} the agent program is not signed in
    {"is":"needs_attention"} needs you
    {"is":"paused"} paused by a human
    {"is":"archived"} the project is archived
    {"is":"merge_queued"} approved: waiting for the merge
    {"is":"pull_request"} its pull request is open on its host
    {"is":"stopping"} stopping
    {"is":"assigned","name":"platform/mara"} assigned to platform/mara
    {"is":"awaiting_lead","name":"platform/mara"} submitted by platform/mara: waiting for a lead
    {"is":"plan_unfinished","task":"TASK-001"} waiting for the plan TASK-001
    {"is":"unapproved_commits","task":"TASK-001"} the project branch has unapproved commits: waiting for a decision on TASK-001
    "#);
}
