//! The human intervenes while agents work: stops them, moves their cards and writes to them. No agent continues or starts against that.

use std::path::Path;

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::board::status::{HeldBy, Status};
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::output::OutputKind;
use domain::runs::run::{Run, RunChange};
use domain::wire::TaskView;
use reqwest::Method;
use serde_json::{Value, json};
use tests::claude;
use tests::git::git;
use tests::mcp;
use tests::server::TestServer;

use crate::support::{self, add, agents_of, at_work, done, nothing_left};

const SCENARIO: &str = include_str!("../../scenarios/intervention.json");

async fn standing_board() -> (TestServer, ProjectId) {
    let server = support::scripted(SCENARIO).await;
    let project = server.project("Errands", None).await.unwrap().id;
    (server, project)
}

async fn press(server: &TestServer, task: &TaskId, button: &str) -> TaskView {
    server.post(&format!("/api/tasks/{task}/{button}"), &json!({})).await.unwrap()
}

async fn change(server: &TestServer, task: &TaskId, patch: Value) -> TaskView {
    server.patch(&format!("/api/tasks/{task}"), &patch).await.unwrap()
}

async fn all_idle(server: &TestServer, project: &ProjectId) {
    let idle = |board: &Board| board.cards.iter().all(|card| card.run.is_none());
    server.until(project, "no agent is running", idle).await;
    assert_eq!(agents_of(server), Vec::<String>::new());
}

/// The runner schedules started cards before new ones. Once it has completed a new card, it has left this one alone.
async fn stays_idle(server: &TestServer, project: &ProjectId, task: &TaskId, runs: usize) {
    let other = add(server, project, "Quick errand").await;
    done(server, project, &other).await;
    assert_eq!(server.runs(task).await.unwrap().len(), runs, "no run of {task} starts by itself");
}

/// Asserts that the second run resumed the session in the same folder.
fn resumed(first: &Run, second: &Run) {
    assert_eq!((&first.session_id, &first.worktree_path), (&second.session_id, &second.worktree_path));
    assert!(first.session_id.is_some());
}

fn phases(runs: &[Run]) -> Vec<(AgentKind, Option<EndClass>)> {
    runs.iter().map(|run| (run.phase, run.end_class)).collect()
}

const STOPPED: (AgentKind, Option<EndClass>) = (AgentKind::Coder, Some(EndClass::Stopped));
const CODED: (AgentKind, Option<EndClass>) = (AgentKind::Coder, Some(EndClass::Finished));
const REVIEWED: (AgentKind, Option<EndClass>) = (AgentKind::Reviewer, Some(EndClass::Finished));

#[tokio::test]
async fn stop_holds_the_card_until_start_resumes_its_session() {
    let (mut server, project) = standing_board().await;
    let task = add(&server, &project, "Slow errand").await;
    let run = at_work(&server, &task).await;
    let token = mcp::token_of(&server, &run).unwrap();
    let impersonation = json!({"task_id": task, "content": "Fine.", "author_role": "reviewer"});
    let refused = mcp::call(&server, &token, "add_comment", impersonation).await.unwrap();
    assert_eq!((refused.is_error, refused.code.as_deref()), (true, Some("not-you")), "{refused:?}");

    let card = press(&server, &task, "stop").await.task.card;
    assert_eq!((card.status, card.held_by), (Status::InProgress, Some(HeldBy::Stop)), "the card stays where it is");
    assert!(card.run.is_some_and(|run| run.stopping));
    let late = mcp::call(&server, &token, "update_task_status", json!({"task_id": task, "status": "in_review"})).await.unwrap();
    assert_eq!((late.is_error, late.code.as_deref()), (true, Some("stale-run")), "{late:?}");
    all_idle(&server, &project).await;
    let later = mcp::call(&server, &token, "get_board", json!({})).await.unwrap();
    assert_eq!(later.code.as_deref(), Some("stale-run"), "a stopped run cannot read: {later:?}");
    assert_eq!(server.comments(&task).await.unwrap(), [], "nothing was written with it");

    stays_idle(&server, &project, &task, 1).await;
    assert!(server.stop().await.unwrap().success());
    server.serve().await.unwrap();
    stays_idle(&server, &project, &task, 1).await;
    let why = server.task(&task).await.unwrap().task.card.wait_reason;
    assert_eq!(why, Some(WaitReason::Held { by: HeldBy::Stop }));

    press(&server, &task, "start").await;
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(phases(&runs), [STOPPED, CODED, REVIEWED]);
    resumed(&runs[0], &runs[1]);
    let finished = mcp::token_of(&server, &runs[1].id).unwrap();
    let late = mcp::call(&server, &finished, "get_task", json!({"task_id": task})).await.unwrap();
    assert_eq!(late.code.as_deref(), Some("stale-run"), "a finished run is over: {late:?}");
}

#[tokio::test]
async fn paused_project_starts_nothing_across_a_restart() {
    let (mut server, project) = standing_board().await;
    let switch =
        async |server: &TestServer, verb: &str| -> Project { server.post(&format!("/api/projects/{project}/{verb}"), &json!({})).await.unwrap() };
    let working = add(&server, &project, "Slow errand").await;
    at_work(&server, &working).await;
    assert!(switch(&server, "pause").await.paused_at.is_some());
    support::open(&server, working.as_str());
    let waiting = add(&server, &project, "Quick errand").await;
    let is_paused = |card: &Card| card.run.is_none() && card.wait_reason == Some(WaitReason::Paused);
    let both_wait = |board: &Board| board.cards.len() == 2 && board.cards.iter().all(is_paused);
    let board = server.until(&project, "the agent at work ended, and both cards wait", both_wait).await;
    assert_eq!(board.card(&working).unwrap().status, Status::InReview, "its turn went on to the end");
    server.kill().await.unwrap();
    server.serve().await.unwrap();
    server.until(&project, "both cards still wait", both_wait).await;
    assert_eq!((server.runs(&working).await.unwrap().len(), server.runs(&waiting).await.unwrap().len()), (1, 0));

    assert_eq!(switch(&server, "resume").await.paused_at, None);
    done(&server, &project, &working).await;
    done(&server, &project, &waiting).await;
}

#[tokio::test]
async fn person_takes_a_task_over_and_gives_it_back() {
    let (server, project) = standing_board().await;
    let task = add(&server, &project, "Slow errand").await;
    at_work(&server, &task).await;
    let taken = press(&server, &task, "take-over").await;
    assert_eq!((taken.task.card.held_by, taken.takeover), (Some(HeldBy::Takeover), None), "not before its agent is gone");
    all_idle(&server, &project).await;
    let run = server.runs(&task).await.unwrap().remove(0);
    let takeover = server.task(&task).await.unwrap().takeover.unwrap();
    assert_eq!(Some(&takeover.folder), run.worktree_path.as_ref());
    let command = takeover.command.unwrap();
    assert!(command.starts_with(&format!("cd {} && ", takeover.folder)), "{command}");
    assert!(command.ends_with(&format!(" --resume {}", run.session_id.as_ref().unwrap())), "{command}");

    let folder = Path::new(&takeover.folder);
    std::fs::write(folder.join("mine.txt"), "by hand").unwrap();
    git(folder, &["add", "mine.txt"]).unwrap();
    git(folder, &["commit", "-qm", "By hand"]).unwrap();
    std::fs::write(folder.join("notes.md"), "not committed").unwrap();
    stays_idle(&server, &project, &task, 1).await;
    press(&server, &task, "give-back").await;
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(phases(&runs), [STOPPED, CODED, REVIEWED]);
    resumed(&runs[0], &runs[1]);
    let told = &server.comments(&task).await.unwrap()[0].comment.content;
    assert!(told.contains(" By hand") && told.contains("- mine.txt") && told.contains("- notes.md"), "{told}");
    for (file, content) in [("mine.txt", "by hand"), ("notes.md", "not committed")] {
        assert_eq!(git(&server.repository(), &["show", &format!("vibe-relay/{project}:{file}")]).unwrap(), content);
    }
}

#[tokio::test]
async fn person_continues_the_session_of_a_real_agent() {
    let (server, model) = support::real(SCENARIO).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Slow errand").await;
    at_work(&server, &task).await;
    press(&server, &task, "take-over").await;
    all_idle(&server, &project).await;
    let command = server.task(&task).await.unwrap().takeover.unwrap().command.unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test continues the session as a person does")]
    let mut shell = tokio::process::Command::new("sh");
    shell.arg("-c").arg(format!("{command} --print 'Where do we stand?'")).env_clear();
    let output = shell.envs(claude::environment(&server.root().join("home"), &model.base_url())).output().await.unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    let asked = model.requests().into_iter().map(|request| request.text()).find(|text| text.contains("Where do we stand?")).unwrap();
    assert!(asked.contains("I begin."), "the conversation goes on: {asked}");
}

#[tokio::test]
async fn retry_begins_again_in_a_new_session_and_worktree() {
    let (server, project) = standing_board().await;
    let task = add(&server, &project, "Slow errand").await;
    at_work(&server, &task).await;
    let options = json!({"session": "fresh", "tree": "base", "note": "Begin again."});
    let request = server.request(Method::POST, &format!("/api/tasks/{task}/retry")).json(&options);
    assert_eq!(server.refusal(request).await.unwrap().code, "run-ending", "its agent still works");
    press(&server, &task, "stop").await;
    all_idle(&server, &project).await;
    support::open(&server, task.as_str());
    let _: TaskView = server.post(&format!("/api/tasks/{task}/retry"), &options).await.unwrap();
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(phases(&runs), [STOPPED, CODED, REVIEWED]);
    assert!(runs[0].session_id.is_some() && runs[0].session_id != runs[1].session_id);
    let kept = format!("refs/vibe-relay/rescue/{task}/uncommitted");
    assert_eq!(git(&server.repository(), &["show", &format!("{kept}:{task}.txt")]).unwrap(), "half", "nothing was lost");
    assert_eq!(server.comments(&task).await.unwrap()[0].comment.content, "Begin again.");
}

#[tokio::test]
async fn moving_a_card_to_backlog_stops_its_agent() {
    let (mut server, project) = standing_board().await;
    let task = add(&server, &project, "Slow errand").await;
    let run = at_work(&server, &task).await;
    let token = mcp::token_of(&server, &run).unwrap();

    let moved = change(&server, &task, json!({"status": "backlog"})).await;
    let card = &moved.task.card;
    assert_eq!((card.status, card.held_by), (Status::Backlog, Some(HeldBy::Human)));
    assert!(card.run.as_ref().is_some_and(|run| run.stopping), "the card says so until the process is gone");
    assert_eq!(moved.note.as_deref(), Some("its agent is being stopped"));
    let late = mcp::call(&server, &token, "add_comment", json!({"task_id": task, "content": "But I was nearly done."})).await.unwrap();
    assert_eq!(late.code.as_deref(), Some("stale-run"), "{late:?}");
    all_idle(&server, &project).await;
    server.kill().await.unwrap();
    server.serve().await.unwrap();
    stays_idle(&server, &project, &task, 1).await;

    press(&server, &task, "start").await;
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(phases(&runs), [STOPPED, CODED, REVIEWED]);
    resumed(&runs[0], &runs[1]);
}

#[tokio::test]
async fn message_reaches_the_working_scripted_agent() {
    let (server, project) = standing_board().await;
    message_is_delivered(&server, &project).await;
}

#[tokio::test]
async fn message_reaches_the_working_real_agent() {
    let (server, model) = support::real(SCENARIO).await;
    let project = server.project("Errands", None).await.unwrap().id;
    message_is_delivered(&server, &project).await;
    let told = model.requests_of("coder").into_iter().filter(|request| request.text().contains("Use the blue paint."));
    assert!(told.count() > 0, "the model never saw the message");
}

async fn message_is_delivered(server: &TestServer, project: &ProjectId) {
    let task = add(server, project, "Slow errand").await;
    let run = at_work(server, &task).await;
    let _: Run = server.post(&format!("/api/runs/{run}/message"), &json!({"content": "Use the blue paint."})).await.unwrap();
    support::happens(server, project, &RunChange::MessageDelivered {}.into()).await;
    support::open(server, task.as_str());
    done(server, project, &task).await;
    let lines = server.output(&run).await.unwrap().lines;
    let begun = lines.iter().position(|line| line.text == "I begin.");
    let message = lines.iter().position(|line| line.kind == OutputKind::Message && format!("{line:?}").contains("Use the blue paint."));
    assert!(message > begun, "{lines:#?}");
    assert_eq!(phases(&server.runs(&task).await.unwrap()), [CODED, REVIEWED], "it went on in the same run");
    let gone = server.request(reqwest::Method::POST, &format!("/api/runs/{run}/message")).json(&json!({"content": "Too late."}));
    assert_eq!(server.refusal(gone).await.unwrap().code, "no-live-run");
}

#[tokio::test]
async fn interrupted_agents_go_on_with_a_message_in_the_same_run() {
    let (mut server, model) = support::real(SCENARIO).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let [told, waiting] = [add(&server, &project, "Slow errand").await, add(&server, &project, "Slower errand").await];
    let interrupt = async |run: &RunId, body: Value| -> Run { server.post(&format!("/api/runs/{run}/interrupt"), &body).await.unwrap() };
    let run = at_work(&server, &told).await;
    assert_eq!(interrupt(&run, json!({"message": "Use the blue paint."})).await.interrupt.unwrap().by, "human");
    let silent = at_work(&server, &waiting).await;
    interrupt(&silent, json!({})).await;
    done(&server, &project, &told).await;
    server.kill().await.unwrap();
    server.serve().await.unwrap();
    let card = server.task(&waiting).await.unwrap().task.card;
    assert_eq!((card.run.unwrap().id, card.attention.unwrap().kind), (silent.clone(), AttentionKind::Interrupted), "it waits");
    let _: Run = server.post(&format!("/api/runs/{silent}/message"), &json!({"content": "Use the red paint."})).await.unwrap();
    done(&server, &project, &waiting).await;
    for (task, message) in [(&told, "Use the blue paint."), (&waiting, "Use the red paint.")] {
        assert_eq!(phases(&server.runs(task).await.unwrap()), [CODED, REVIEWED], "no attempt was used for {task}");
        assert!(model.requests_of("coder").iter().any(|request| request.text().contains(message)), "{message}");
    }
    server.until(&project, "nothing is left, not even the command that was interrupted", |_| nothing_left(&server)).await;
}

#[tokio::test]
async fn human_done_approves_and_merges_the_newest_commit() {
    let (server, project) = standing_board().await;
    let task = add(&server, &project, "Commit an errand").await;
    at_work(&server, &task).await;
    let moved = change(&server, &task, json!({"status": "done"})).await;
    assert!(moved.task.card.is_approved());
    assert_eq!(moved.note.as_deref(), Some("approved: the merge is queued; its agent is being stopped"));
    done(&server, &project, &task).await;
    assert_eq!(phases(&server.runs(&task).await.unwrap()), [STOPPED], "no reviewer starts");
    let kept = git(&server.repository(), &["show", &format!("vibe-relay/{project}:{task}.txt")]).unwrap();
    assert_eq!(kept, "kept");
    server.until(&project, "nothing is left", |_| nothing_left(&server)).await;
}

#[tokio::test]
async fn closing_without_merge_keeps_a_rescue_ref() {
    let (server, project) = standing_board().await;
    let [closed, cancelled] = [add(&server, &project, "Commit one").await, add(&server, &project, "Commit two").await];
    at_work(&server, &closed).await;
    at_work(&server, &cancelled).await;
    let moved = change(&server, &closed, json!({"status": "done", "merge": false})).await;
    assert_eq!(moved.task.card.status, Status::Done);
    assert!(moved.note.unwrap().starts_with("closed without a merge: its commits are kept"));
    let cancelled_view: TaskView = server.post(&format!("/api/tasks/{cancelled}/cancel"), &json!({"reason": "obsolete"})).await.unwrap();
    assert_eq!(cancelled_view.task.card.status, Status::Cancelled);
    all_idle(&server, &project).await;
    server.until(&project, "nothing is left", |_| nothing_left(&server)).await;

    let repository = server.repository();
    let branches = git(&repository, &["branch", "--format=%(refname:short)"]).unwrap();
    assert_eq!(branches.lines().collect::<Vec<_>>(), ["main", "vibe-relay/PROJ-001"]);
    let merged = git(&repository, &["ls-tree", "--name-only", "vibe-relay/PROJ-001"]).unwrap();
    assert_eq!(merged.lines().collect::<Vec<_>>(), ["CLAUDE.md", "README.md"], "nothing of it was merged");
    for (task, title) in [(&closed, "Commit one"), (&cancelled, "Commit two")] {
        let kept = format!("refs/vibe-relay/rescue/{task}/*");
        assert_eq!(git(&repository, &["for-each-ref", "--format=%(subject)", &kept]).unwrap(), title, "the rescue ref of {task}");
    }
    assert_eq!(phases(&server.runs(&closed).await.unwrap()), [STOPPED]);
}
