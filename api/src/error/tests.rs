//! Every refusal has a status, and no internal detail leaks.

use axum::body::to_bytes;
use domain::board::comment::CommentRefusal;
use domain::board::dependency::DependencyRefusal;
use domain::board::goal::GoalRefusal;
use domain::board::plan::PlanRefusal;
use domain::board::project::refusal::ProjectRefusal;
use domain::board::question::QuestionRefusal;
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::refusal::TaskRefusal;
use domain::board::transition::Mover;
use domain::board::transition::refusal::MoveRefusal;
use domain::id::{CommentId, GoalId, ProjectId, RunId};
use domain::refusal::{GeneralRefusal, RepositoryRefusal};
use domain::runs::agent_kind::AgentKind;
use domain::runs::check::CheckRefusal;
use domain::runs::land::LandRefusal;
use domain::runs::permission::{PermissionAnswer, PermissionRefusal};
use domain::runs::run::RunRefusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::handshake::HandshakeRefusal;
use domain::team::hat::HatRefusal;
use domain::team::message::MessageRefusal;
use domain::team::minion::MinionRefusal;
use domain::team::pairing::PairingRefusal;
use domain::team::person::PersonRefusal;
use domain::team::role::Role;

use super::*;

/// One of each, for the snapshot. A new variant of `Refusal` does not compile until it has a category.
fn refusals() -> Vec<Refusal> {
    let task = TaskId::new(1);
    let run = RunId::new(1);
    vec![
        MoveRefusal::Illegal { task: task.clone(), phase: AgentKind::Coder, from: Status::Backlog, to: Status::Done, who: Mover::Human }.into(),
        Refusal::not_found("task", &task),
        Refusal::invalid("title", "it is empty", "Say something."),
        RunRefusal::Stale { run: run.clone() }.into(),
        RunRefusal::WrongAgentKind { phase: AgentKind::Coder, action: "create tasks".into(), hint: "Leave it.".into() }.into(),
        RunRefusal::WrongTask { task: task.clone(), own: TaskId::new(2) }.into(),
        AgentRefusal::WrongIdentity { own: "coder".into(), claimed: "human".into() }.into(),
        MoveRefusal::NotClean { task: task.clone(), count: 1, paths: vec!["a".into()] }.into(),
        MoveRefusal::NoCommits { task: task.clone(), base: "main".into() }.into(),
        MoveRefusal::EmptyDiff { task: task.clone() }.into(),
        MoveRefusal::NestedRepository { task: task.clone(), paths: vec!["a".into()] }.into(),
        MoveRefusal::AlreadySentBack { task: task.clone(), sha: "a".into() }.into(),
        MoveRefusal::CommentNeeded { task: task.clone(), to: Status::InProgress }.into(),
        MoveRefusal::ReasonNeeded { task: task.clone(), to: Status::Cancelled }.into(),
        PlanRefusal::Empty { task: task.clone() }.into(),
        MoveRefusal::SelfReview { task: task.clone() }.into(),
        MoveRefusal::PersonApproves { task: task.clone() }.into(),
        MoveRefusal::AgentApprovesFirst { task: task.clone(), sha: "a1".to_owned() }.into(),
        MoveRefusal::HeadMoved { task: task.clone(), head: "a".into(), judged: "b".into() }.into(),
        MoveRefusal::NothingToApprove { task: task.clone() }.into(),
        DependencyRefusal::Unfinished { task: task.clone(), open: vec![TaskId::new(2)] }.into(),
        DependencyRefusal::Cycle { cycle: vec![task.clone(), task.clone()] }.into(),
        RunRefusal::StillEnding { task: task.clone(), run }.into(),
        RunRefusal::NotLive(task.to_string()).into(),
        PermissionRefusal::Answered { request: 1, answer: PermissionAnswer::Deny }.into(),
        PermissionRefusal::Closed { request: 1 }.into(),
        CheckRefusal::NotPassed { task: TaskId::new(2), commands: vec!["npm test".to_owned()] }.into(),
        TaskRefusal::WrongStatus { task: task.clone(), status: Status::Done, problem: "it is over".into(), hint: "Leave it.".into() }.into(),
        QuestionRefusal::NoneOpen { task: task.clone() }.into(),
        CommentRefusal::NotYours { comment: CommentId::new(4), author: "coder".to_owned() }.into(),
        PlanRefusal::NonePending.into(),
        LandRefusal::SyncPending { base_branch: "main".to_owned(), task: TaskId::new(7) }.into(),
        LandRefusal::BaseChecking { project: ProjectId::new(1), base_branch: "main".into() }.into(),
        LandRefusal::BaseNotChecked { project: ProjectId::new(1), base_branch: "main".into(), why: "no setup".into() }.into(),
        LandRefusal::NothingToLand { detail: "nothing was merged".into() }.into(),
        ProjectRefusal::AgentsWork { project: ProjectId::new(1), runs: vec![RunId::new(3), RunId::new(4)] }.into(),
        ProjectRefusal::AtWork { project: ProjectId::new(1), runs: vec![RunId::new(3)], taken_over: vec![TaskId::new(2)] }.into(),
        ProjectRefusal::IsDeleted { project: ProjectId::new(1) }.into(),
        ProjectRefusal::OtherRepository {
            project: ProjectId::new(1),
            path: "/home/ann/other".to_owned(),
            missing: vec!["the tip of main (0123456)".to_owned()],
        }
        .into(),
        LandRefusal::NothingToUndo { project: ProjectId::new(1) }.into(),
        LandRefusal::NotTheLastLanding { project: ProjectId::new(1), landing: 1, last: 2 }.into(),
        LandRefusal::MovedSinceLanding { base_branch: "main".into(), landed: "a1".into(), found: None }.into(),
        LandRefusal::LandingPushed { remote_branch: "origin/main".into(), landed: "a1".into(), is_merge: false }.into(),
        LandRefusal::CheckoutDirty { action: "landing", files: Box::default() }.into(),
        LandRefusal::BaseMissing { project: ProjectId::new(1), base_branch: "main".into(), near: Vec::new() }.into(),
        LandRefusal::CommitsReturn { project: ProjectId::new(1), base_branch: "main".into(), returning: Box::default() }.into(),
        RepositoryRefusal { code: "not-a-repository", detail: "no".into(), hint: "yes".into() }.into(),
        GeneralRefusal::Unauthorized.into(),
        PersonRefusal::HumanOnly { action: "landing".into() }.into(),
        PairingRefusal::NoHost.into(),
        AgentRefusal::NotRegistered.into(),
        AgentRefusal::Left { agent: "mara".into() }.into(),
        AgentRefusal::Unknown { name: "mira".into(), nearest: vec!["mara".into()] }.into(),
        AgentRefusal::Ambiguous { name: "mara".into(), candidates: vec!["a/mara".into(), "b/mara".into()] }.into(),
        AgentRefusal::Unresponsive { name: "mara".into(), since: None }.into(),
        AgentRefusal::NameTaken { name: "mara".into() }.into(),
        MessageRefusal::Unread { count: 1 }.into(),
        AgentRefusal::LeadOnly { agent: "mara".into(), action: "assigning".into() }.into(),
        AgentRefusal::Untrusted { agent: "mara".into(), action: "approving".into() }.into(),
        TaskRefusal::NotAssignee { task: task.clone(), assignee: None, action: "handing in".into() }.into(),
        TaskRefusal::IllegalStage { task: task.clone(), from: Stage::Ready, to: Stage::Review, agent: "mara".into(), next: vec![Stage::InProgress] }
            .into(),
        HatRefusal::Conflict { agent: "mara".into(), hat: Role::Tester, worn: Role::Builder, task: task.clone() }.into(),
        MoveRefusal::NotIndependent { task: task.clone(), agent: "mara".into(), part: "built", action: "verify" }.into(),
        HandshakeRefusal::AlreadyAcknowledged { handshake: 1, agent: "mara".into() }.into(),
        HandshakeRefusal::NotATarget { handshake: 1, agent: "mara".into() }.into(),
        GoalRefusal::Unfinished { goal: GoalId::new(1), open: vec![task] }.into(),
        MinionRefusal::LimitReached { agent: "mara".into(), problem: "three work".into() }.into(),
    ]
}

#[test]
fn every_refusal_has_a_status() {
    let lines: Vec<String> =
        refusals().into_iter().map(Error::from).map(|error| format!("{} {}", error.answer().0.as_u16(), error.answer().1)).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    422 illegal-move
    404 not-found
    422 invalid
    409 stale-run
    403 not-your-role
    403 not-your-task
    403 not-you
    422 not-clean
    422 no-commits
    422 empty-diff
    422 nested-repository
    422 already-sent-back
    422 comment-needed
    422 reason-needed
    422 empty-plan
    422 own-work
    403 person-approves
    422 agent-approves-first
    422 head-moved
    422 nothing-to-approve
    422 dependencies-open
    422 dependency-circle
    422 run-ending
    422 no-live-run
    409 permission-answered
    422 permission-closed
    409 checks-not-passed
    422 not-now
    422 no-question
    403 not-yours
    422 no-plan-waiting
    409 sync-pending
    409 base-checking
    409 base-not-checked
    422 nothing-to-land
    409 agents-work
    409 project-at-work
    409 project-deleted
    422 other-repository
    422 nothing-to-undo
    409 not-the-last-landing
    409 moved-since-landing
    409 landing-pushed
    422 checkout-dirty
    422 base-missing
    409 commits-return
    422 not-a-repository
    401 unauthorized
    403 human-only
    422 no-allowed-host
    403 not-registered
    403 not-registered
    422 unknown-agent
    422 ambiguous-agent
    409 dead-agent
    409 name-taken
    409 unread
    403 lead-only
    403 unverified
    403 not-assignee
    422 illegal-stage
    409 hat-conflict
    403 not-independent
    409 acknowledged-before
    403 not-asked
    409 goal-open
    409 no-minion
    ");
}

#[test]
fn http_failures_have_codes_and_hints() {
    let errors = [
        Error::WrongHost("evil.example".into()),
        Error::WrongOrigin("http://evil.example".into()),
        Error::CrossSite,
        Error::Address("contains a NUL character"),
        Error::Query("after: invalid digit".into()),
        Error::Id("x".parse::<TaskId>().unwrap_err()),
        Error::ContentType("text/plain".into()),
        Error::Syntax("expected value".into()),
        Error::Field { field: "title".into(), problem: "expected a string".into() },
        Error::TooLarge { limit: 1_048_576 },
        Error::NoSuchPath("/api/x".into()),
        Error::Method { method: Method::DELETE, path: "/api/projects".into() },
        Error::NoDiff(TaskId::new(1)),
        Error::NoUpgrade,
        Error::Store(db::Error::Closed),
        Error::Store(db::Error::NoEvent),
    ];
    let lines: Vec<String> = errors
        .iter()
        .map(Error::problem)
        .map(|problem| format!("{} {}: {} | {}", problem.status, problem.code, problem.detail, problem.hint))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    403 foreign-host: this server does not accept the host "evil.example" | Use the address that `vibe-relay serve` printed, or add the name to `allowed_hosts` in the configuration file.
    403 foreign-origin: pages of "http://evil.example" are not allowed to use this server | Use the board's own page, or send `Authorization: Bearer` from a program.
    403 cross-site: the request does not come from the board's own page | Use the board's own page, or send `Authorization: Bearer` from a program.
    400 bad-address: the address contains a NUL character | See /api/openapi.json for the address.
    422 invalid: after: invalid digit | See /api/openapi.json for the parameters and their types.
    404 not-found: "x" is not a task id: expected something like TASK-001 | Look up the id on the board; ids look like TASK-001.
    415 not-json: content type text/plain is not supported; send JSON | Send it with `Content-Type: application/json`.
    400 bad-json: the body is not valid JSON: expected value | Send one JSON object in UTF-8.
    422 invalid: title: expected a string | See /api/openapi.json for the fields and their types.
    413 too-large: the request is larger than 1048576 bytes | Shorten it, or put the long part into a file of the repository and name that file.
    404 no-such-path: /api/x does not exist | See /api/openapi.json for all addresses.
    405 method-not-allowed: /api/projects does not support DELETE | Use one of the methods in the `Allow` header.
    404 no-diff: TASK-001 has no changes | Changes appear with the first commit on its branch, and disappear when it is closed without a merge.
    426 no-upgrade: this address accepts only WebSockets | Connect with a WebSocket client, or read /api/events.
    503 closed: the server is shutting down | Repeat the request when the server is running again.
    500 storage: the store failed, so the request was not carried out | See the server's output for the cause, then repeat the request.
    "#);
}

#[tokio::test]
async fn store_failure_is_logged_but_not_sent() {
    let secret = "/home/ann/.vibe-relay/vibe-relay.db is malformed";
    let response = Error::Store(db::Error::Storage(secret.into())).into_response();
    assert_eq!(response.status(), 500);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    assert!(!String::from_utf8_lossy(&body).contains("ann"));
}
