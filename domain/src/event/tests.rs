//! The wire and disk format of events: stored logs must stay readable.

use super::*;
use crate::board::attention::AttentionKind;
use crate::board::project::tests::{card, project};

/// One event of each kind, in the order of the list.
fn every() -> Vec<Event> {
    let (sha, mara) = (|| "a1".to_owned(), || "platform/mara".to_owned());
    vec![
        Event::ProjectCreated {},
        Event::ProjectEdited {},
        Event::ProjectCompleted {},
        Event::ProjectReopened {},
        Event::ProjectBranchMoved { sha: sha() },
        Event::ProjectLanded { sha: sha() },
        Event::PlanApproved {},
        Event::PlanRevised {},
        Event::TaskCreated {},
        Event::TaskEdited { fields: vec!["title".to_owned()] },
        Event::TaskMoved { from: Status::Backlog, to: Status::InProgress, reason: None },
        Event::TaskApproved { sha: sha() },
        Event::ApprovalVoided { sha: sha() },
        Event::TaskMerged { sha: sha() },
        Event::TaskHeld { by: HeldBy::Stop },
        Event::TaskReleased {},
        Event::AttentionRequested { attention: Attention::new(AttentionKind::Conflict, "a.rs") },
        Event::AttentionCleared {},
        Event::WaitReasonChanged { wait_reason: Some(WaitReason::BlockedBy { tasks: vec![TaskId::new(2)] }) },
        Event::CheckoutCreated { branch: "vr/TASK-001/work".to_owned() },
        Event::CheckoutRemoved { rescue: None },
        Event::CommentAdded { comment: CommentId::new(4), author_role: AuthorRole::Coder },
        Event::QuestionAsked { question: QuestionId::new(5) },
        Event::QuestionAnswered { question: QuestionId::new(5) },
        Event::RunStarted { phase: AgentKind::Coder, attempt: 2 },
        Event::RunSessionSet { session_id: "s".to_owned() },
        Event::RunUsage { cost_micro_usd: 7 },
        Event::RunStopRequested {},
        Event::RunReminded {},
        Event::RunEnded { end: EndClass::Failed, failure: Some(FailureClass::Crashed) },
        Event::RunMessageQueued {},
        Event::RunMessageDelivered {},
        Event::AgentsParked {
            parking: Parking { reason: ParkReason::RateLimited, until: Timestamp::from_milliseconds(0), detail: "limit".to_owned() },
        },
        Event::AgentsResumed { reason: ParkReason::RateLimited },
        Event::TokenCreated {},
        Event::PersonAdded { person: "ann".to_owned(), role: PersonRole::Member },
        Event::PersonRoleChanged { person: "ann".to_owned(), role: PersonRole::Viewer },
        Event::PersonRemoved { person: "ann".to_owned() },
        Event::BrowserSessionOpened { session: 1 },
        Event::BrowserSessionRevoked { session: 1 },
        Event::AgentRegistered { agent: mara(), roles: vec![Role::Lead, Role::Tester] },
        Event::AgentStatus { agent: mara(), status: Some("Writes tests".to_owned()) },
        Event::AgentLeft { agent: mara() },
        Event::MessageSent { message: 8, from: mara(), to: "all".to_owned(), is_cc: false },
        Event::InboxDelivered { agent: mara(), messages: 3 },
        Event::TaskAssigned { to: Some(mara()) },
        Event::HatAssigned { agent: mara(), hat: Role::Tester },
        Event::SubmissionStored {},
        Event::TaskVerified { by: mara() },
        Event::TaskLinked { goal: Some(GoalId::new(6)) },
        Event::GoalCreated { goal: GoalId::new(6) },
        Event::GoalMoved { goal: GoalId::new(6), from: GoalStatus::Open, to: GoalStatus::Active },
        Event::HandshakeInitiated { handshake: 2 },
        Event::HandshakeAcknowledged { handshake: 2, agent: mara() },
        Event::HandshakeCompleted { handshake: 2 },
        Event::ContractDeclared { contract: 3, name: "save".to_owned(), contract_type: ContractType::Function, version: 2 },
        Event::SpawnPolicySet { scope: "global".to_owned() },
        Event::MinionLogged { minion: 4, status: MinionStatus::Spawned },
    ]
}

fn envelope(event: Event) -> Envelope {
    Envelope {
        seq: 9,
        at: Timestamp::from_milliseconds(0),
        project_id: Some(ProjectId::new(1)),
        task_id: Some(TaskId::new(1)),
        run_id: None,
        actor: Actor::Agent("coder-TASK-001".to_owned()),
        event,
        card: None,
        project: None,
    }
}

#[test]
fn every_kind_has_a_stable_json_form() {
    let every = every();
    assert_eq!(every.iter().map(Event::kind).collect::<Vec<_>>(), Event::KINDS);
    let lines: Vec<String> = every.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"kind":"project_created"}
    {"kind":"project_edited"}
    {"kind":"project_completed"}
    {"kind":"project_reopened"}
    {"kind":"project_branch_moved","sha":"a1"}
    {"kind":"project_landed","sha":"a1"}
    {"kind":"plan_approved"}
    {"kind":"plan_revised"}
    {"kind":"task_created"}
    {"kind":"task_edited","fields":["title"]}
    {"kind":"task_moved","from":"backlog","to":"in_progress","reason":null}
    {"kind":"task_approved","sha":"a1"}
    {"kind":"approval_voided","sha":"a1"}
    {"kind":"task_merged","sha":"a1"}
    {"kind":"task_held","by":"stop"}
    {"kind":"task_released"}
    {"kind":"task_needs_you","attention":{"kind":"conflict","detail":"a.rs"}}
    {"kind":"task_settled"}
    {"kind":"wait_reason_changed","wait_reason":{"is":"blocked_by","tasks":["TASK-002"]}}
    {"kind":"checkout_made","branch":"vr/TASK-001/work"}
    {"kind":"checkout_removed","rescue":null}
    {"kind":"comment_added","comment":"NOTE-004","author_role":"coder"}
    {"kind":"question_asked","question":"ASK-005"}
    {"kind":"question_answered","question":"ASK-005"}
    {"kind":"run_started","phase":"coder","attempt":2}
    {"kind":"run_session","session_id":"s"}
    {"kind":"run_usage","cost_micro_usd":7}
    {"kind":"run_stop_requested"}
    {"kind":"run_nudged"}
    {"kind":"run_ended","end":"failed","failure":"crashed"}
    {"kind":"message_queued"}
    {"kind":"message_delivered"}
    {"kind":"agents_parked","parking":{"reason":"rate_limited","until":"1970-01-01T00:00:00.000Z","detail":"limit"}}
    {"kind":"agents_resumed","reason":"rate_limited"}
    {"kind":"token_made"}
    {"kind":"person_added","person":"ann","role":"member"}
    {"kind":"person_role_changed","person":"ann","role":"viewer"}
    {"kind":"person_removed","person":"ann"}
    {"kind":"browser_session_opened","session":1}
    {"kind":"browser_session_revoked","session":1}
    {"kind":"agent_registered","agent":"platform/mara","roles":["lead","tester"]}
    {"kind":"agent_status","agent":"platform/mara","status":"Writes tests"}
    {"kind":"agent_left","agent":"platform/mara"}
    {"kind":"message_sent","message":8,"from":"platform/mara","to":"all","is_cc":false}
    {"kind":"inbox_read","agent":"platform/mara","messages":3}
    {"kind":"task_assigned","to":"platform/mara"}
    {"kind":"hat_assigned","agent":"platform/mara","hat":"tester"}
    {"kind":"result_stored"}
    {"kind":"task_verified","by":"platform/mara"}
    {"kind":"task_linked","goal":"GOAL-006"}
    {"kind":"goal_created","goal":"GOAL-006"}
    {"kind":"goal_moved","goal":"GOAL-006","from":"open","to":"active"}
    {"kind":"handshake_begun","handshake":2}
    {"kind":"handshake_acknowledged","handshake":2,"agent":"platform/mara"}
    {"kind":"handshake_completed","handshake":2}
    {"kind":"contract_declared","contract":3,"name":"save","contract_type":"function","version":2}
    {"kind":"spawn_policy_set","scope":"global"}
    {"kind":"minion_logged","minion":4,"status":"spawned"}
    "#);
}

#[test]
fn every_kind_parses_back() {
    for event in every() {
        let sent = Envelope { card: Some(card(1, AgentKind::Coder, Status::Done)), project: Some(project()), ..envelope(event) };
        let text = serde_json::to_string(&sent).unwrap();
        assert_eq!(serde_json::from_str::<Envelope>(&text).unwrap(), sent);
    }
}

#[test]
fn envelope_contains_ids_time_and_actor() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&envelope(Event::TaskReleased {})).unwrap(), @r#"
    {
      "seq": 9,
      "at": "1970-01-01T00:00:00.000Z",
      "project_id": "PROJ-001",
      "task_id": "TASK-001",
      "run_id": null,
      "actor": "coder-TASK-001",
      "event": {
        "kind": "task_released"
      }
    }
    "#);
}

#[test]
fn envelope_contains_card_and_project() {
    let full = Envelope { card: Some(card(1, AgentKind::Coder, Status::Backlog)), project: Some(project()), ..envelope(Event::TaskReleased {}) };
    let text = [serde_json::to_string_pretty(&full.card).unwrap(), serde_json::to_string_pretty(&full.project).unwrap()];
    insta::assert_snapshot!(text.join("\n"), @r#"
    {
      "id": "TASK-001",
      "project_id": "PROJ-001",
      "parent_task_id": null,
      "title": "Task 1",
      "phase": "coder",
      "status": "backlog",
      "held_by": null,
      "attention": null,
      "wait_reason": null,
      "cancel_reason": null,
      "depends_on": [],
      "priority": 0,
      "approved_sha": null,
      "verified_by": null,
      "round_of": null,
      "round": null,
      "run": null,
      "comments": 0,
      "runs": 0,
      "cost_micro_usd": 0,
      "created_at": "2026-01-31T09:05:00.000Z",
      "updated_at": "2026-01-31T09:05:00.000Z"
    }
    {
      "id": "PROJ-001",
      "title": "Site",
      "description": "Say hello",
      "status": "active",
      "repo_path": "/home/ann/site",
      "git_dir": "/home/ann/site/.git",
      "base_branch": "main",
      "integration_branch": "vibe-relay/PROJ-001",
      "integration_head": null,
      "landed_sha": null,
      "plan_approval": "auto",
      "created_at": "2026-01-31T09:05:00.000Z",
      "updated_at": "2026-01-31T09:05:00.000Z"
    }
    "#);
}
