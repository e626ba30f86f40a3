//! A story that records every kind of event, for tests of the log, of migrations and of retention.

use std::time::Duration;

use domain::board::attention::AttentionKind;
use domain::board::goal::NewGoal;
use domain::board::project::PlanApproval;
use domain::board::status::Status;
use domain::board::task::TaskPatch;
use domain::board::wait_reason::WaitReason;
use domain::context::memory::NewMemoryEntry;
use domain::context::metadata::Metadata;
use domain::context::session::visibility::Visibility;
use domain::context::session::{NewContextSession, NewSessionMessage};
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::check::{CheckOutcome, CheckStage, CheckState, TaskChecks};
use domain::runs::checkout::KeptWork;
use domain::runs::checkpoint::Checkpoint;
use domain::runs::condition::RunCondition;
use domain::runs::evidence::{BaseEvidence, EvidenceResult, RepositoryPlace};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::limit::{LimitMeasure, LimitScope, LimitUse};
use domain::runs::parking::ParkReason;
use domain::runs::permission::PermissionAnswer;
use domain::runs::preview::PreviewSubject;
use domain::runs::profile::Profile;
use domain::runs::sandbox::{Access, AccessKind, SandboxTier};
use domain::runs::usage::{ModelInfo, Price, Usage};
use domain::team::contract::{ContractType, NewContract};
use domain::team::message::NewMessage;
use domain::team::minion::MinionStatus;
use domain::team::person::{NewPerson, OWNER, PersonRole};
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::warroom::battle_plan::BattlePlanStatus;
use domain::warroom::context_left::ContextReport;
use domain::warroom::debrief::NewDebrief;
use domain::warroom::knowledge::KnowledgeKind;
use domain::warroom::oracle::NewOracleQuestion;
use domain::warroom::raid_log::NewRaidLogEntry;
use domain::warroom::trigger::TriggerWord;
use domain::warroom::zone::NewZone;
use domain::wire::{NewProject, ProjectPatch, TokenPatch};

use crate::tests::external_agents::{assigned, completed, crew, leave_result, manifest, named};
use crate::tests::store::{Store, head, landing, new_task, probe, publication, whole_board};
use crate::tests::warroom::knowledge::{gone, intel, trap};
use crate::{BaseMerge, BattlePlanQuery, Caller, Db, LimitSubject, NewCheckResult, NewPermission, SessionMessageQuery, token_name};

/// Records what a check of a task showed.
async fn record_check(db: &Db, task: &TaskId) {
    let result = NewCheckResult {
        tree: "tree".to_owned(),
        profile_version: 1,
        command: "make test".to_owned(),
        outcome: CheckOutcome::Passed,
        attempts: 1,
        duration_ms: 12_000,
        tail: "ok".to_owned(),
        output: "/data/checks/output".into(),
    };
    let project = db.card(task).await.unwrap().project_id;
    db.record_check_result(&project, Some(task), result).await.unwrap();
    let (stage, state) = (CheckStage::Quick, CheckState::Passed);
    let checks = TaskChecks { stage, state, sha: "head".to_owned(), tree: "tree".to_owned(), profile_version: 1 };
    db.set_task_checks(task, checks).await.unwrap();
}

/// Records every event of collaboration.
async fn team(store: &Store) {
    let (db, project) = (&store.db, &store.project);
    let (lead, ole) = (store.member("ann", &[Role::Lead]).await, store.guest("ole").await);
    db.set_status(&ole, project, "Here").await.unwrap();
    let report = ContextReport { context: "The tests".to_owned(), tokens_used: Some(118_000), tokens_limit: Some(200_000) };
    db.set_context(&ole, project, report).await.unwrap();
    let handshake = db.initiate_handshake(&lead, project, "The plan", vec!["ole".to_owned()]).await.unwrap().id;
    store.inbox(&ole).await;
    db.acknowledge(&ole, handshake).await.unwrap();
    let new = NewContract { name: "save".to_owned(), kind: ContractType::Function, spec: "fn save()".to_owned() };
    db.declare_contract(&ole, project, new).await.unwrap();
    db.set_spawn_policy(&lead, project, "global", true, 1).await.unwrap();
    db.log_minion(&ole, project, "Looks around", MinionStatus::Spawned, None, None).await.unwrap();
    let to_human = NewMessage { to: "human".to_owned(), content: "Who owns it?".to_owned(), cc: Vec::new(), task_id: None, reply_to: None };
    store.inbox(&lead).await;
    let asked = db.send(&lead, project, to_human).await.unwrap().message.id;
    db.mark_message_read(&Caller::owner(), asked).await.unwrap();
    db.deregister(&lead, project, "ole").await.unwrap();
}

/// Takes a task with a hat and a goal through every gate.
async fn gates(store: &Store) {
    let (db, crew) = (&store.db, crew(store).await);
    let goal = db.create_goal(&crew.lena, &store.project, NewGoal { title: "All of it".to_owned(), description: None }).await.unwrap().id;
    let task = completed(store, "Submitted", &crew).await;
    db.link_task(&crew.lena, &task, Some(&goal)).await.unwrap();
    db.verify_task(&crew.tess, &task, None).await.unwrap();
    let note = db.add_comment(&Caller::owner(), &task, "One", None).await.unwrap().id;
    db.edit_comment(&Caller::owner(), &note, "Two").await.unwrap();
    db.remove_comment(&Caller::owner(), &note).await.unwrap();
    let next = assigned(store, "With a hat", "ben").await;
    db.assign_role_hat(&crew.lena, &next, Role::Builder).await.unwrap();
}

/// Replaces the base branch, decides about kept work, and moves the repository.
async fn repository(store: &Store) {
    let (db, project, human) = (&store.db, &store.project, &Caller::owner());
    let base = BaseEvidence { branch: "trunk".to_owned(), tip: "merge".to_owned(), base_head: "merge".to_owned(), holds_landed: true };
    let patch = ProjectPatch { base_branch: Some("trunk".to_owned()), ..ProjectPatch::default() };
    db.edit_project(human, project, patch, Some(base)).await.unwrap();
    db.record_restored_rescue(human, project, "refs/rescue", "again").await.unwrap();
    db.record_dropped_rescue(human, project, "refs/rescue", &"kept".to_owned()).await.unwrap();
    let place = RepositoryPlace { repo_path: "/home/ann/moved".to_owned(), git_dir: "/home/ann/moved/.git".to_owned() };
    db.relocate_project(human, project, place, Vec::new()).await.unwrap();
}

/// Records every event of shared context and of tokens.
async fn context(store: &Store) {
    let (db, project, human) = (&store.db, &store.project, &Caller::owner());
    let mara = store.member("mara", &[]).await;
    let new = NewContextSession { purpose: "Search".to_owned(), metadata: Metadata::new() };
    let session = db.create_context_session(&mara, Some(project), new).await.unwrap().id;
    let note = |visibility| NewSessionMessage {
        content: "The parser is in a.rs".to_owned(),
        visibility: Some(visibility),
        metadata: Metadata::new(),
        parent_message_id: None,
    };
    for visibility in [Visibility::Public, Visibility::Private] {
        db.add_session_message(&mara, &session, note(visibility)).await.unwrap();
    }
    let private = SessionMessageQuery { visibility: Some(Visibility::Private), ..SessionMessageQuery::default() };
    db.session_messages(human, &session, &private).await.unwrap();
    db.close_context_session(human, &session).await.unwrap();
    let entry = |key: &str| NewMemoryEntry {
        key: key.to_owned(),
        value: "make".into(),
        session_id: None,
        scope: None,
        expires_in: Some(60),
        metadata: Metadata::new(),
        overwrite: true,
    };
    db.set_memory(&mara, entry("build")).await.unwrap();
    db.set_memory(&mara, entry("test")).await.unwrap();
    db.delete_memory(&mara, "test", None).await.unwrap();
    store.import_shared_context().await;
    let token = db.create_agent_token(human, project, named("mara", &[]), TokenTerms::default()).await.unwrap();
    let fresh = db.refresh_token(&mara, &token).await.unwrap().token;
    let name = token_name(&fresh).parse().unwrap();
    db.change_token(human, &name, TokenPatch { expires_in: Some(60), ..TokenPatch::default() }).await.unwrap();
    db.revoke_token(human, &name).await.unwrap();
}

/// Takes a project through every kind of event.
pub(crate) async fn story() -> Store {
    let human = &Caller::owner();
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let db = &store.db;
    db.set_owner("owner", "token").await.unwrap();
    db.open_browser_session(OWNER, Some("A browser"), None).await.unwrap();
    let session = db.browser_sessions(human).await.unwrap()[0].id;
    db.revoke_browser_session(human, session).await.unwrap();
    let bea = db.add_person(human, NewPerson { name: "bea".to_owned(), role: None }).await.unwrap();
    db.change_person_role(human, bea.id, PersonRole::Viewer).await.unwrap();
    db.remove_person(human, bea.id).await.unwrap();
    let patch = ProjectPatch { title: Some("A better site".to_owned()), ..ProjectPatch::default() };
    db.edit_project(human, &store.project, patch, None).await.unwrap();
    db.pause_project(human, &store.project).await.unwrap();
    db.resume_project(human, &store.project).await.unwrap();
    db.pause_all(human).await.unwrap();
    db.resume_all(human).await.unwrap();
    store.planned(&planner, &["Too large"]).await;
    db.revise_plan(human, &store.project, "Smaller").await.unwrap();
    let tasks = store.planned(&planner, &["Page", "Style"]).await;
    db.approve_plan(human, &store.project).await.unwrap();
    let (page, style) = (&tasks[0], &tasks[1]);

    db.set_wait_reasons(vec![(style.clone(), Some(WaitReason::NoFreeSlot { limit: 1 }))]).await.unwrap();
    let coder = store.agent(page, AgentKind::Coder).await;
    db.run_usage(&coder.run, Usage { cost_micro_usd: 1, ..Usage::default() }).await.unwrap();
    db.record_models([("large".to_owned(), ModelInfo { price: Some(Price::new(4)), context_window: Some(200_000) })].into()).await.unwrap();
    let limit = LimitUse { scope: LimitScope::Task, measure: LimitMeasure::Cost, used: 8, limit: 10 };
    db.warn_of_limit(&LimitSubject::Task(page.clone()), limit).await.unwrap();
    db.raise_task_limit(human, page).await.unwrap();
    db.request_hand_over(&coder.run, limit).await.unwrap();
    db.mark_reminded(&coder.run).await.unwrap();
    db.choose_sandbox(human, SandboxTier::None).await.unwrap();
    db.record_refusals(&coder.run, vec![Access::new(AccessKind::Host, "example.org")]).await.unwrap();
    let checkpoint = Checkpoint { sha: "1".repeat(40), taken_at: crate::now(), files: 1, action: "edits a.rs".to_owned() };
    db.record_checkpoint(&coder.run, checkpoint).await.unwrap();
    db.message_run(human, &coder.run, "Use tabs").await.unwrap();
    db.message_delivered(&coder.run, db.undelivered(&coder.run).await.unwrap()[0].id).await.unwrap();
    let new = NewPermission { key: "a".to_owned(), tool: "Bash".to_owned(), input: "make".to_owned(), rule: None };
    db.ask_permission(&coder.caller, new).await.unwrap();
    db.answer_permission(human, &coder.run, 1, PermissionAnswer::Allow, None).await.unwrap();
    db.close_permission(&coder.run, "a").await.unwrap();
    record_check(db, page).await;
    let interrupted = db.interrupt_run(human, &coder.run, Some("Use spaces")).await.unwrap();
    db.interrupt_over(&coder.run, &interrupted.interrupt.unwrap().id).await.unwrap();
    db.ask_question(&coder.caller, "Which colour?", Vec::new(), None).await.unwrap();
    db.answer(human, page, "Green").await.unwrap();
    db.set_run_condition(&coder.run, Some(RunCondition::Unreachable { detail: "its folder is gone".to_owned() })).await.unwrap();
    db.stop_run(human, &coder.run).await.unwrap();
    store.end(&coder.run, EndClass::Stopped, None).await;
    db.start_task(human, page).await.unwrap();
    db.park_after_run(ParkReason::RateLimited, "limit".to_owned(), None).await.unwrap();
    db.resume(ParkReason::RateLimited).await.unwrap();
    store.work(page).await;
    store.move_with(human, page, Status::InReview, None, head("old")).await.unwrap();
    db.revoke_approval(page, "old").await.unwrap();
    preview(&store, page).await;
    store.review_and_merge(page).await;
    db.checkout_removed(page, KeptWork { own: Some("refs/rescue".to_owned()), nested: Vec::new() }).await.unwrap();
    db.edit_task(human, style, TaskPatch { priority: Some(1), ..TaskPatch::default() }).await.unwrap();
    db.request_attention(style, AttentionKind::Conflict, "a.rs").await.unwrap();
    store.cancel(style, "obsolete").await;
    let round = whole_board(db, &store.project).await.unwrap().cards.last().unwrap().id.clone();
    let orchestrator = store.agent(&round, AgentKind::Orchestrator).await;
    store.move_to(&orchestrator.caller, &round, Status::Done).await.unwrap();
    store.end(&orchestrator.run, EndClass::Failed, Some(FailureClass::Crashed)).await;
    db.record_base_tip(&store.project, &"base".to_owned(), &"newer base".to_owned()).await.unwrap();
    let landed = db.record_landing(human, &store.project, landing("merge", "merge")).await.unwrap().landed.unwrap();
    db.record_undone_landing(human, &store.project, landed.id).await.unwrap();
    db.record_landing(human, &store.project, landing("merge", "merge")).await.unwrap();
    db.record_publication(human, &store.project, publication("merge")).await.unwrap();
    crate::tests::runs::publication::every_end_of_a_pull_request(&store).await;
    db.set_checkout_left(&orchestrator.run, Some("permission denied".to_owned())).await.unwrap();
    repository(&store).await;
    base_merge(&store).await;
    other_projects(&store).await;
    store.move_with(human, page, Status::InProgress, Some("One thing more"), EvidenceResult::Nothing).await.unwrap();
    team(&store).await;
    context(&store).await;
    gates(&store).await;
    expired_work(&store).await;
    claims(&store).await;
    warroom(&store).await;
    crate::tests::runs::task_pull_request::merged(&store).await;
    store
}

/// Merges commits of the base branch into the project branch.
async fn base_merge(store: &Store) {
    let from = store.project().await.integration_head.unwrap();
    let (branch, base_branch) = ("vibe-relay/PROJ-001".to_owned(), "main".to_owned());
    for problem in [Some("origin: no route to host"), None] {
        store.db.record_fetch(&store.project, problem).await.unwrap();
    }
    store
        .db
        .record_base_merge(&store.project, BaseMerge { from, branch, head: "with base".to_owned(), base_branch, sha: "base".to_owned() })
        .await
        .unwrap();
}

/// Kept work whose time is over.
async fn expired_work(store: &Store) {
    let (db, reference) = (&store.db, "refs/vibe-relay/rescue/TASK-002/old");
    db.claim_reference(&store.project().await.git_dir, reference, None).await.unwrap();
    let expired = db.expired_rescues("refs/vibe-relay/rescue/", crate::now().after(Duration::from_secs(60))).await.unwrap();
    db.record_expired_rescue(&expired[0], Some(&"old".to_owned())).await.unwrap();
}

/// An app that answers, and one that fails.
async fn preview(store: &Store, task: &TaskId) {
    let (db, human, subject) = (&store.db, &Caller::owner(), PreviewSubject::Task(task.clone()));
    let profile = Profile { preview: Some("npm run dev".to_owned()), ..Profile::default() };
    db.edit_project(human, &store.project, ProjectPatch { profile: Some(profile), ..ProjectPatch::default() }, None).await.unwrap();
    let started_at = db.request_preview(human, &subject).await.unwrap().started_at;
    db.record_preview_start(&subject, started_at, &[4001]).await.unwrap();
    db.record_preview_answer(&subject, started_at, 4001).await.unwrap();
    db.end_preview(&subject, started_at, "nobody used it").await.unwrap();
    let started_at = db.request_preview(human, &subject).await.unwrap().started_at;
    db.fail_preview(&subject, started_at, "no module").await.unwrap();
}

/// A file that passes from a person to an agent, and for which the person waits then.
async fn claims(store: &Store) {
    let holly = store.member("holly", &[]).await;
    store.claim(&Caller::owner(), "a.rs").await.unwrap();
    store.claim(&holly, "a.rs").await.unwrap();
    store.db.release_file(&Caller::owner(), &store.project, &"a.rs".parse().unwrap(), None).await.unwrap();
    store.claim(&Caller::owner(), "a.rs").await.unwrap();
}

/// A battle plan that ends, an entry of the raid log, a handover that its agent reads itself, a result, an order that is withdrawn, and a session
/// that ends with its debrief.
async fn warroom(store: &Store) {
    store.plan_battle().await;
    let new = NewRaidLogEntry { entry: "The port is taken".to_owned(), priority: None };
    store.db.log_raid(&Caller::owner(), &store.project, new).await.unwrap();
    let active = store.db.battle_plans(&store.project, &BattlePlanQuery::default()).await.unwrap()[0].id;
    store.db.end_battle_plan(&Caller::owner(), active, BattlePlanStatus::Completed).await.unwrap();
    let ivy = store.member("ivy", &[]).await;
    store.db.hand_over(&ivy, &store.project, manifest("Next: the parser")).await.unwrap();
    store.db.cold_start(&ivy, &store.project, None).await.unwrap();
    store.member("kim", &[]).await;
    store.db.rename_agent(&Caller::owner(), &store.project, "kim", "kim-audio").await.unwrap();
    for topic in ["deps", "port"] {
        intel(store, &ivy, topic, "It breaks").await.unwrap();
        trap(store, &ivy, topic, &["src/"]).await.unwrap();
    }
    store.db.write_note(&ivy, &store.project, "Maybe it leaks", false).await.unwrap();
    for kind in [KnowledgeKind::Intel, KnowledgeKind::Trap] {
        store.db.close_knowledge(&ivy, &store.project, kind, "deps", gone()).await.unwrap();
    }
    let other = NewProject { title: "Session".to_owned(), ..NewProject::default() };
    let other = store.db.create_project(&Caller::owner(), other, probe()).await.unwrap().id;
    let task = store.db.create_task(&Caller::owner(), &other, new_task("Journey")).await.unwrap().card.id;
    store.move_to(&Caller::owner(), &task, Status::InProgress).await.unwrap();
    leave_result(store, &task, &Caller::owner()).await;
    store.move_to(&Caller::owner(), &task, Status::Done).await.unwrap();
    store.send(&Caller::owner(), "all", "retreat").await.unwrap();
    store.db.withdraw_trigger(&Caller::owner(), &store.project, TriggerWord::Retreat, None).await.unwrap();
    let zone = NewZone { name: "audio".to_owned(), paths: vec!["audio/".to_owned()], ..NewZone::default() };
    store.db.set_zone(&Caller::owner(), &other, zone.clone()).await.unwrap();
    store.db.remove_zone(&Caller::owner(), &other, "audio").await.unwrap();
    let uma = store.member("uma", &[]).await;
    store.db.set_zone(&Caller::owner(), &store.project, NewZone { oracle: Some("human".to_owned()), ..zone }).await.unwrap();
    let question = NewOracleQuestion { zones: vec!["audio".to_owned()], question: "Why?".to_owned() };
    let asked = store.db.ask_oracle(&uma, &store.project, question, Vec::new()).await.unwrap().questions.remove(0);
    let answer = NewMessage { to: "uma".to_owned(), content: "Because".to_owned(), cc: Vec::new(), task_id: None, reply_to: Some(asked.id) };
    store.db.send(&Caller::owner(), &store.project, answer).await.unwrap();
    store.db.debrief(&Caller::owner(), &other, NewDebrief { summary: "All is found".to_owned() }).await.unwrap();
    store.db.create_task(&Caller::owner(), &other, new_task("Later")).await.unwrap();
    store.db.end_session(&Caller::owner(), &other).await.unwrap();
}

/// A project that was archived and restored and is being deleted, and one of which only its empty events are left.
async fn other_projects(store: &Store) {
    let (db, human) = (&store.db, &Caller::owner());
    for title in ["Archived", "Removed"] {
        let new = NewProject { title: title.to_owned(), ..NewProject::default() };
        let id = db.create_project(human, new, probe()).await.unwrap().id;
        db.archive_project(human, &id).await.unwrap();
        db.restore_project(human, &id).await.unwrap();
        db.delete_project(human, &id, title).await.unwrap();
        if title == "Removed" {
            db.remove_deleted_project(&id).await.unwrap();
        }
    }
}
