//! The wire and disk format of events: stored logs must stay readable.

use super::*;
use crate::board::attention::Attention;
use crate::board::attention::AttentionKind;
use crate::board::comment::AuthorRole;
use crate::board::goal::GoalStatus;
use crate::board::project::tests::{card, project};
use crate::board::status::{HeldBy, Status};
use crate::board::wait_reason::WaitReason;
use crate::context::import::{ImportKind, ImportSource};
use crate::context::memory::MemoryScope;
use crate::context::session::ContextSessionId;
use crate::context::session::visibility::Visibility;
use crate::event::live::LiveEvent;
use crate::id::{CommentId, GoalId, QuestionId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::condition::RunCondition;
use crate::runs::failure::{EndClass, FailureClass};
use crate::runs::limit::{LimitMeasure, LimitScope, LimitUse};
use crate::runs::parking::{ParkReason, Parking};
use crate::runs::pause::PauseEvent;
use crate::runs::permission::{PermissionAnswer, PermissionEvent};
use crate::runs::sandbox::{Access, AccessKind, SandboxEvent, SandboxTier};
use crate::team::contract::ContractType;
use crate::team::minion::MinionStatus;
use crate::team::person::PersonRole;
use crate::team::role::Role;
use crate::warroom::battle_plan::{BattlePlanScope, BattlePlanStatus};
use crate::warroom::claim::ReleaseReason;
use crate::warroom::raid_log::Priority;

/// One event of each kind, in the order of the list.
fn every() -> Vec<Event> {
    let (sha, mara) = (|| "a1".to_owned(), || "platform/mara".to_owned());
    vec![
        ProjectEvent::Created {}.into(),
        ProjectEvent::Edited {}.into(),
        ProjectEvent::Completed {}.into(),
        ProjectEvent::Reopened {}.into(),
        ProjectEvent::Paused {}.into(),
        ProjectEvent::Resumed {}.into(),
        ProjectEvent::Archived {}.into(),
        ProjectEvent::Restored {}.into(),
        ProjectEvent::Deleted {}.into(),
        ProjectEvent::Removed { project: ProjectId::new(2), by: mara() }.into(),
        ProjectEvent::Erased {}.into(),
        ProjectEvent::BranchMoved { sha: sha() }.into(),
        ProjectEvent::BaseMoved { sha: sha() }.into(),
        ProjectEvent::BaseReplaced { branch: "trunk".to_owned(), sha: sha() }.into(),
        ProjectEvent::Relocated { repo_path: "/home/ann/moved".to_owned() }.into(),
        ProjectEvent::Landed { sha: sha(), base_branch: "main".to_owned(), tasks: 4 }.into(),
        PlanEvent::Approved {}.into(),
        PlanEvent::Revised {}.into(),
        TaskEvent::Created {}.into(),
        TaskEvent::Edited { fields: vec!["title".to_owned()] }.into(),
        TaskEvent::Moved { from: Status::Backlog, to: Status::InProgress, reason: None }.into(),
        TaskEvent::Approved { sha: sha() }.into(),
        TaskEvent::ApprovalVoided { sha: sha() }.into(),
        TaskEvent::Merged { sha: sha() }.into(),
        TaskEvent::Held { by: HeldBy::Stop }.into(),
        TaskEvent::Released {}.into(),
        TaskEvent::AttentionRequested { attention: Attention::new(AttentionKind::Conflict, "a.rs") }.into(),
        TaskEvent::AttentionCleared {}.into(),
        TaskEvent::WaitReasonChanged { wait_reason: Some(WaitReason::BlockedBy { tasks: vec![TaskId::new(2)] }) }.into(),
        TaskEvent::Assigned { to: Some(mara()) }.into(),
        TaskEvent::SubmissionStored {}.into(),
        TaskEvent::Verified { by: mara() }.into(),
        TaskEvent::Linked { goal: Some(GoalId::new(6)) }.into(),
        CommentEvent::Added { comment: CommentId::new(4), author_role: AuthorRole::Coder }.into(),
        CommentEvent::Edited { comment: CommentId::new(4) }.into(),
        CommentEvent::Removed { comment: CommentId::new(4) }.into(),
        QuestionEvent::Asked { question: QuestionId::new(5) }.into(),
        QuestionEvent::Answered { question: QuestionId::new(5) }.into(),
        GoalEvent::Created { goal: GoalId::new(6) }.into(),
        GoalEvent::Moved { goal: GoalId::new(6), from: GoalStatus::Open, to: GoalStatus::Active }.into(),
        RunChange::Started { phase: AgentKind::Coder, attempt: 2 }.into(),
        RunChange::SessionSet { session_id: "s".to_owned() }.into(),
        RunChange::UsageReported { cost_micro_usd: 7, tokens: 8 }.into(),
        RunChange::StopRequested {}.into(),
        RunChange::ConditionChanged { condition: Some(RunCondition::Unreachable { detail: "its folder is gone".to_owned() }) }.into(),
        RunChange::CheckoutLeft { detail: Some("permission denied".to_owned()) }.into(),
        RunChange::HandOverRequested { limit: limit_use() }.into(),
        RunChange::Reminded {}.into(),
        RunChange::Ended { end: EndClass::Failed, failure: Some(FailureClass::Crashed) }.into(),
        RunChange::AccessRefused { access: vec![Access::new(AccessKind::Write, "~/.bashrc")] }.into(),
        RunChange::CheckpointTaken { checkpoint: sha(), files: 2 }.into(),
        RunChange::MessageQueued {}.into(),
        RunChange::MessageDelivered {}.into(),
        InterruptEvent::Requested {}.into(),
        InterruptEvent::Over {}.into(),
        PermissionEvent::Asked { request: 1, tool: "Bash".to_owned() }.into(),
        PermissionEvent::Answered { request: 1, answer: PermissionAnswer::Deny }.into(),
        PermissionEvent::Closed { request: 1 }.into(),
        CheckoutEvent::Created { branch: "vr/TASK-001/work".to_owned() }.into(),
        CheckoutEvent::Removed { rescue: None }.into(),
        RescueEvent::Restored { reference: "refs/vibe-relay/rescue/TASK-001/uncommitted".to_owned(), branch: "again".to_owned() }.into(),
        RescueEvent::Dropped { reference: "refs/vibe-relay/rescue/TASK-001/uncommitted".to_owned(), sha: sha() }.into(),
        ParkingEvent::Parked {
            parking: Parking {
                reason: ParkReason::RateLimited,
                since: Timestamp::from_milliseconds(0),
                until: Timestamp::from_milliseconds(0),
                detail: "limit".to_owned(),
                failed_probes: 1,
            },
        }
        .into(),
        ParkingEvent::Resumed { reason: ParkReason::RateLimited }.into(),
        PauseEvent::Paused {}.into(),
        PauseEvent::Resumed {}.into(),
        LimitEvent::Near { limit: limit_use() }.into(),
        LimitEvent::Raised { scope: LimitScope::Day }.into(),
        SandboxEvent::Chosen { tier: SandboxTier::Jail }.into(),
        TokenEvent::Created {}.into(),
        TokenEvent::Changed { token: "0123456789ab".parse().unwrap() }.into(),
        TokenEvent::Refreshed { token: "0123456789ab".parse().unwrap() }.into(),
        TokenEvent::Revoked { token: "0123456789ab".parse().unwrap() }.into(),
        PersonEvent::Added { person: "ann".to_owned(), role: PersonRole::Member }.into(),
        PersonEvent::RoleChanged { person: "ann".to_owned(), role: PersonRole::Viewer }.into(),
        PersonEvent::Removed { person: "ann".to_owned() }.into(),
        BrowserSessionEvent::Opened { session: 1 }.into(),
        BrowserSessionEvent::Revoked { session: 1 }.into(),
        AgentEvent::Registered { agent: mara(), roles: vec![Role::Lead, Role::Tester] }.into(),
        AgentEvent::StatusSet { agent: mara(), status: Some("Writes tests".to_owned()) }.into(),
        AgentEvent::ContextReported { agent: mara(), percent_left: Some(41) }.into(),
        AgentEvent::Left { agent: mara() }.into(),
        MessageEvent::Sent { message: 8, from: mara(), to: "all".to_owned(), is_cc: false }.into(),
        MessageEvent::InboxDelivered { agent: mara(), messages: 3 }.into(),
        MessageEvent::Read { message: 8 }.into(),
        HatEvent::Assigned { agent: mara(), hat: Role::Tester }.into(),
        HandshakeEvent::Initiated { handshake: 2 }.into(),
        HandshakeEvent::Acknowledged { handshake: 2, agent: mara() }.into(),
        HandshakeEvent::Completed { handshake: 2 }.into(),
        ContractEvent::Declared { contract: 3, name: "save".to_owned(), contract_type: ContractType::Function, version: 2 }.into(),
        MinionEvent::SpawnPolicySet { scope: "global".to_owned() }.into(),
        MinionEvent::Logged { minion: 4, status: MinionStatus::Spawned }.into(),
        SessionEvent::Created { session: ContextSessionId::new(5) }.into(),
        SessionEvent::Closed { session: ContextSessionId::new(5) }.into(),
        SessionEvent::MessageAdded { session: ContextSessionId::new(5), message: 6, visibility: Visibility::Private }.into(),
        SessionEvent::PrivateRead { session: ContextSessionId::new(5), messages: 2 }.into(),
        MemoryEvent::Set { key: "build".to_owned(), scope: MemoryScope::Task, owner: "kind:coder".to_owned(), task: Some(TaskId::new(7)) }.into(),
        MemoryEvent::Deleted { key: "build".to_owned(), scope: MemoryScope::Global, owner: "name:mara".to_owned(), task: None }.into(),
        ImportEvent::Imported { source: ImportSource::DeadDrop, record: ImportKind::Message, records: 3 }.into(),
        ClaimEvent::Granted { agent: mara(), path: "src/lib.rs".to_owned() }.into(),
        ClaimEvent::Queued { agent: "ole".to_owned(), path: "src/lib.rs".to_owned(), holder: mara() }.into(),
        ClaimEvent::Released { agent: mara(), path: "src/lib.rs".to_owned(), reason: ReleaseReason::Forced }.into(),
        BattlePlanEvent::Set { plan: 3, scope: BattlePlanScope::Zone, zone: Some("audio".to_owned()) }.into(),
        BattlePlanEvent::Ended { plan: 3, status: BattlePlanStatus::Completed }.into(),
        RaidLogEvent::Logged { entry: 5, priority: Priority::High }.into(),
    ]
}

fn limit_use() -> LimitUse {
    LimitUse { scope: LimitScope::Task, measure: LimitMeasure::Cost, used: 8, limit: 10 }
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
    assert_eq!(every.iter().map(Event::kind).collect::<Vec<_>>(), Event::kinds());
    let lines: Vec<String> = every.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"kind":"project_created"}
    {"kind":"project_edited"}
    {"kind":"project_completed"}
    {"kind":"project_reopened"}
    {"kind":"project_paused"}
    {"kind":"project_resumed"}
    {"kind":"project_archived"}
    {"kind":"project_restored"}
    {"kind":"project_deleted"}
    {"kind":"project_removed","project":"PROJ-002","by":"platform/mara"}
    {"kind":"event_erased"}
    {"kind":"project_branch_moved","sha":"a1"}
    {"kind":"project_base_moved","sha":"a1"}
    {"kind":"project_base_replaced","branch":"trunk","sha":"a1"}
    {"kind":"project_relocated","repo_path":"/home/ann/moved"}
    {"kind":"project_landed","sha":"a1","base_branch":"main","tasks":4}
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
    {"kind":"task_assigned","to":"platform/mara"}
    {"kind":"result_stored"}
    {"kind":"task_verified","by":"platform/mara"}
    {"kind":"task_linked","goal":"GOAL-006"}
    {"kind":"comment_added","comment":"NOTE-004","author_role":"coder"}
    {"kind":"comment_edited","comment":"NOTE-004"}
    {"kind":"comment_removed","comment":"NOTE-004"}
    {"kind":"question_asked","question":"ASK-005"}
    {"kind":"question_answered","question":"ASK-005"}
    {"kind":"goal_created","goal":"GOAL-006"}
    {"kind":"goal_moved","goal":"GOAL-006","from":"open","to":"active"}
    {"kind":"run_started","phase":"coder","attempt":2}
    {"kind":"run_session","session_id":"s"}
    {"kind":"run_usage","cost_micro_usd":7,"tokens":8}
    {"kind":"run_stop_requested"}
    {"kind":"run_condition","condition":{"is":"unreachable","detail":"its folder is gone"}}
    {"kind":"run_checkout_left","detail":"permission denied"}
    {"kind":"run_hand_over_requested","limit":{"scope":"task","measure":"cost","used":8,"limit":10}}
    {"kind":"run_nudged"}
    {"kind":"run_ended","end":"failed","failure":"crashed"}
    {"kind":"run_access_refused","access":[{"kind":"write","target":"~/.bashrc"}]}
    {"kind":"run_checkpoint","checkpoint":"a1","files":2}
    {"kind":"message_queued"}
    {"kind":"message_delivered"}
    {"kind":"run_interrupted"}
    {"kind":"run_interrupt_over"}
    {"kind":"permission_asked","request":1,"tool":"Bash"}
    {"kind":"permission_answered","request":1,"answer":"deny"}
    {"kind":"permission_closed","request":1}
    {"kind":"checkout_made","branch":"vr/TASK-001/work"}
    {"kind":"checkout_removed","rescue":null}
    {"kind":"rescue_restored","reference":"refs/vibe-relay/rescue/TASK-001/uncommitted","branch":"again"}
    {"kind":"rescue_dropped","reference":"refs/vibe-relay/rescue/TASK-001/uncommitted","sha":"a1"}
    {"kind":"agents_parked","parking":{"reason":"rate_limited","since":"1970-01-01T00:00:00.000Z","until":"1970-01-01T00:00:00.000Z","detail":"limit","failed_probes":1}}
    {"kind":"agents_resumed","reason":"rate_limited"}
    {"kind":"work_paused"}
    {"kind":"work_resumed"}
    {"kind":"limit_near","limit":{"scope":"task","measure":"cost","used":8,"limit":10}}
    {"kind":"limit_raised","scope":"day"}
    {"kind":"sandbox_chosen","tier":"jail"}
    {"kind":"token_made"}
    {"kind":"token_changed","token":"0123456789ab"}
    {"kind":"token_refreshed","token":"0123456789ab"}
    {"kind":"token_revoked","token":"0123456789ab"}
    {"kind":"person_added","person":"ann","role":"member"}
    {"kind":"person_role_changed","person":"ann","role":"viewer"}
    {"kind":"person_removed","person":"ann"}
    {"kind":"browser_session_opened","session":1}
    {"kind":"browser_session_revoked","session":1}
    {"kind":"agent_registered","agent":"platform/mara","roles":["lead","tester"]}
    {"kind":"agent_status","agent":"platform/mara","status":"Writes tests"}
    {"kind":"agent_context","agent":"platform/mara","percent_left":41}
    {"kind":"agent_left","agent":"platform/mara"}
    {"kind":"message_sent","message":8,"from":"platform/mara","to":"all","is_cc":false}
    {"kind":"inbox_read","agent":"platform/mara","messages":3}
    {"kind":"message_read","message":8}
    {"kind":"hat_assigned","agent":"platform/mara","hat":"tester"}
    {"kind":"handshake_begun","handshake":2}
    {"kind":"handshake_acknowledged","handshake":2,"agent":"platform/mara"}
    {"kind":"handshake_completed","handshake":2}
    {"kind":"contract_declared","contract":3,"name":"save","contract_type":"function","version":2}
    {"kind":"spawn_policy_set","scope":"global"}
    {"kind":"minion_logged","minion":4,"status":"spawned"}
    {"kind":"session_created","session":"session_0000000000000005"}
    {"kind":"session_closed","session":"session_0000000000000005"}
    {"kind":"session_message_added","session":"session_0000000000000005","message":6,"visibility":"private"}
    {"kind":"session_private_read","session":"session_0000000000000005","messages":2}
    {"kind":"memory_set","key":"build","scope":"task","owner":"kind:coder","task":"TASK-007"}
    {"kind":"memory_deleted","key":"build","scope":"global","owner":"name:mara","task":null}
    {"kind":"imported","source":"dead_drop","record":"message","records":3}
    {"kind":"claim_granted","agent":"platform/mara","path":"src/lib.rs"}
    {"kind":"claim_queued","agent":"ole","path":"src/lib.rs","holder":"platform/mara"}
    {"kind":"claim_released","agent":"platform/mara","path":"src/lib.rs","reason":"forced"}
    {"kind":"battle_plan_set","plan":3,"scope":"zone","zone":"audio"}
    {"kind":"battle_plan_ended","plan":3,"status":"completed"}
    {"kind":"raid_logged","entry":5,"priority":"high"}
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
fn live_board_reads_every_kind() {
    for event in every() {
        let kind = event.kind();
        let sent = Envelope { card: Some(card(1, AgentKind::Coder, Status::Done)), project: Some(project()), ..envelope(event) };
        let live: LiveEvent = serde_json::from_str(&serde_json::to_string(&sent).unwrap()).unwrap();
        assert_eq!((live.kind(), live.seq, &live.task_id, &live.project_id), (kind, sent.seq, &sent.task_id, &sent.project_id));
        assert_eq!((&live.card, &live.project), (&sent.card, &sent.project), "{kind}");
        assert_eq!(live.moved_from(), (kind == "task_moved").then_some(Status::Backlog), "{kind}");
        assert_eq!(live.removed_project().is_some(), kind == "project_removed", "{kind}");
    }
}

#[test]
fn event_parses_with_its_kind_anywhere_and_names_an_unknown_kind() {
    let parse = |text: &str| serde_json::from_str::<Event>(text).map_err(|error| error.to_string());
    assert_eq!(parse(r#"{"name":"save","contract":3,"version":2,"kind":"contract_declared","contract_type":"function"}"#), {
        Ok(ContractEvent::Declared { contract: 3, name: "save".to_owned(), contract_type: ContractType::Function, version: 2 }.into())
    });
    assert!(parse(r#"{"kind":"task_lost"}"#).unwrap_err().starts_with("unknown kind of event `task_lost`"));
    assert!(parse(r#"{"sha":"a1"}"#).unwrap_err().starts_with("missing field `kind`"));
    assert!(parse(r#"{"kind":"task_merged"}"#).unwrap_err().starts_with("missing field `sha`"));
    assert!(parse("[]").unwrap_err().starts_with("missing field `kind`"));
}

#[test]
fn envelope_contains_ids_time_and_actor() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&envelope(TaskEvent::Released {}.into())).unwrap(), @r#"
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
    let full =
        Envelope { card: Some(card(1, AgentKind::Coder, Status::Backlog)), project: Some(project()), ..envelope(TaskEvent::Released {}.into()) };
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
      "tokens": 0,
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
      "base_head": "base",
      "integration_branch": "vibe-relay/PROJ-001",
      "integration_head": null,
      "landed_sha": null,
      "plan_approval": "auto",
      "claim_mode": "enforced",
      "allowed_access": [],
      "created_at": "2026-01-31T09:05:00.000Z",
      "updated_at": "2026-01-31T09:05:00.000Z"
    }
    "#);
}

#[test]
fn every_kind_has_a_sentence_and_every_detail_is_a_kind() {
    let reader = Actor::Agent("coder-TASK-001".to_owned());
    let told: Vec<String> = every().into_iter().map(|event| sentence::sentence(&envelope(event), &reader)).collect();
    insta::assert_snapshot!(told.join("\n"));
    for detail in sentence::DETAILS {
        assert!(Event::kinds().contains(detail), "{detail}");
    }
    let by = |actor: &str| sentence::sentence(&Envelope { actor: actor.to_owned().into(), ..envelope(TaskEvent::Created {}.into()) }, &Actor::Owner);
    let told = ["human", "human/ann", "runner", "reviewer-TASK-001", "platform/mara"].map(by);
    assert_eq!(told, ["You", "ann", "The runner", "The reviewer", "platform/mara"].map(|who| format!("{who} created TASK-001")));
}
