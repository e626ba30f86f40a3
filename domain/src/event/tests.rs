//! The wire and disk format of events: stored logs must stay readable.

mod every;

use self::every::every;
use super::*;
use crate::board::project::tests::{card, project};
use crate::board::status::Status;
use crate::event::live::LiveEvent;
use crate::runs::agent_kind::AgentKind;
use crate::team::contract::ContractType;

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
    {"kind":"project_base_merged","base_branch":"main","sha":"a1"}
    {"kind":"project_base_not_fetched","base_branch":"main","detail":"origin: no route to host"}
    {"kind":"project_base_fetched","base_branch":"main"}
    {"kind":"project_base_replaced","branch":"trunk","sha":"a1"}
    {"kind":"project_relocated","repo_path":"/home/ann/moved"}
    {"kind":"project_landed","sha":"a1","base_branch":"main","tasks":4}
    {"kind":"project_landing_undone","base_branch":"main","sha":"a1","before":"a0","tasks":4}
    {"kind":"pull_request_sent_back","pull_request":"https://github.com/ann/site/pull/7","task":"TASK-004"}
    {"kind":"pull_request_needs_you","pull_request":"https://github.com/ann/site/pull/7","detail":"test failed"}
    {"kind":"pull_request_merged","pull_request":"https://github.com/ann/site/pull/7","base_branch":"main","sha":"a1","tasks":4}
    {"kind":"pull_request_closed","pull_request":"https://github.com/ann/site/pull/7"}
    {"kind":"pull_request_settled","pull_request":"https://github.com/ann/site/pull/7"}
    {"kind":"project_published","remote":"origin","branch":"vibe-relay/PROJ-001","sha":"a1","pull_request":null}
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
    {"kind":"task_aged","old":"unreviewed"}
    {"kind":"task_published","pull_request":"https://github.com/ann/site/pull/7","sha":"a1"}
    {"kind":"task_pull_request_ended","pull_request":"https://github.com/ann/site/pull/7","state":"closed"}
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
    {"kind":"run_hand_over_requested","reason":{"is":"limit","limit":{"scope":"task","measure":"cost","used":8,"limit":10}}}
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
    {"kind":"checks_changed","stage":"full","state":"passed"}
    {"kind":"check_ended","command":"npm test","outcome":"failed"}
    {"kind":"preview_requested"}
    {"kind":"preview_started","port":4001}
    {"kind":"preview_answered","port":4001}
    {"kind":"preview_ended","why":"a person stopped it"}
    {"kind":"preview_failed","why":"Error: no module"}
    {"kind":"checkout_made","branch":"vr/TASK-001/work"}
    {"kind":"checkout_removed","rescue":null}
    {"kind":"rescue_restored","reference":"refs/vibe-relay/rescue/TASK-001/uncommitted","branch":"again"}
    {"kind":"rescue_dropped","reference":"refs/vibe-relay/rescue/TASK-001/uncommitted","sha":"a1"}
    {"kind":"rescue_expired","reference":"refs/vibe-relay/rescue/TASK-001/uncommitted","sha":"a1"}
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
    {"kind":"agent_renamed","agent":"platform/mara","new_name":"platform/mara-audio"}
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
    {"kind":"handover_recorded","agent":"platform/mara","handover":6,"automatic":true}
    {"kind":"handover_continued","agent":"platform/mara","handover":6}
    {"kind":"task_result_submitted","result":7}
    {"kind":"debrief_filed","debrief":2}
    {"kind":"war_room_session_ended"}
    {"kind":"trigger_given","trigger":8,"word":"stand_down","target":"platform/mara"}
    {"kind":"trigger_ended","trigger":9,"word":"retreat","target":null,"end":"withdrawn"}
    {"kind":"intel_written","knowledge":3,"topic":"deps","version":2}
    {"kind":"trap_written","knowledge":4,"topic":"port","version":1}
    {"kind":"note_written","knowledge":5,"topic":"platform/mara","version":1}
    {"kind":"intel_archived","knowledge":3,"topic":"deps"}
    {"kind":"trap_resolved","knowledge":4,"topic":"port"}
    {"kind":"zone_set","zone":"audio"}
    {"kind":"zone_removed","zone":"audio"}
    {"kind":"oracle_asked","question":7,"zones":["audio"],"oracle":"platform/mara"}
    {"kind":"oracle_answered","question":7,"oracle":"platform/mara","asker":"human"}
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
      "knowledge": "beside",
      "profile_version": 1,
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
