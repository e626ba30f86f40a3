//! The person steps in while agents work: stops them, moves their cards, speaks to them, and no agent goes on or starts against their word.

use domain::board::status::{HeldBy, Status};
use domain::board::wait_reason::WaitReason;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::output::OutputKind;
use domain::runs::run::Run;
use domain::wire::TaskView;
use serde_json::{Value, json};
use tests::git::git;
use tests::mcp;
use tests::relay::Relay;

use crate::scene::{self, add, agents_of, at_work, done, nothing_left};

const SCENARIO: &str = include_str!("../../scenarios/intervention.json");

async fn standing_board() -> (Relay, ProjectId) {
    let relay = scene::scripted(SCENARIO).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    (relay, project)
}

async fn press(relay: &Relay, task: &TaskId, button: &str) -> TaskView {
    relay.post(&format!("/api/tasks/{task}/{button}"), &json!({})).await.unwrap()
}

async fn change(relay: &Relay, task: &TaskId, patch: Value) -> TaskView {
    relay.patch(&format!("/api/tasks/{task}"), &patch).await.unwrap()
}

async fn nobody_works(relay: &Relay, project: &ProjectId) {
    let idle = |board: &domain::board::reducer::Board| board.cards.iter().all(|card| card.run.is_none());
    relay.until(project, "nobody works", idle).await;
    assert_eq!(agents_of(relay), Vec::<String>::new());
}

/// The runner looks at all cards at once and takes begun ones first: when it has taken a new one to its end, it has left this one alone.
async fn is_left_alone(relay: &Relay, project: &ProjectId, task: &TaskId, runs: usize) {
    let other = add(relay, project, "Quick errand").await;
    done(relay, project, &other).await;
    assert_eq!(relay.runs(task).await.unwrap().len(), runs, "no run of {task} starts by itself");
}

/// The same session went on in the same folder.
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
    let (mut relay, project) = standing_board().await;
    let task = add(&relay, &project, "Slow errand").await;
    let run = at_work(&relay, &task).await;
    let token = mcp::token_of(&relay, &run).unwrap();
    let posing = json!({"task_id": task, "content": "Fine.", "author_role": "reviewer"});
    let posing = mcp::call(&relay, &token, "add_comment", posing).await.unwrap();
    assert_eq!((posing.is_error, posing.code.as_deref()), (true, Some("not-you")), "{posing:?}");

    let card = press(&relay, &task, "stop").await.task.card;
    assert_eq!((card.status, card.held_by), (Status::InProgress, Some(HeldBy::Stop)), "the card stays where it is");
    assert!(card.run.is_some_and(|run| run.stopping));
    let late = mcp::call(&relay, &token, "update_task_status", json!({"task_id": task, "status": "in_review"})).await.unwrap();
    assert_eq!((late.is_error, late.code.as_deref()), (true, Some("stale-run")), "{late:?}");
    nobody_works(&relay, &project).await;
    let later = mcp::call(&relay, &token, "get_board", json!({})).await.unwrap();
    assert_eq!(later.code.as_deref(), Some("stale-run"), "nor does it read any more: {later:?}");
    assert_eq!(relay.comments(&task).await.unwrap(), [], "nothing was written with it");

    is_left_alone(&relay, &project, &task, 1).await;
    assert!(relay.end().await.unwrap().success());
    relay.serve().await.unwrap();
    is_left_alone(&relay, &project, &task, 1).await;
    let why = relay.task(&task).await.unwrap().task.card.wait_reason;
    assert_eq!(why, Some(WaitReason::Held { by: HeldBy::Stop }));

    press(&relay, &task, "start").await;
    done(&relay, &project, &task).await;
    let runs = relay.runs(&task).await.unwrap();
    assert_eq!(phases(&runs), [STOPPED, CODED, REVIEWED]);
    resumed(&runs[0], &runs[1]);
    let finished = mcp::token_of(&relay, &runs[1].id).unwrap();
    let late = mcp::call(&relay, &finished, "get_task", json!({"task_id": task})).await.unwrap();
    assert_eq!(late.code.as_deref(), Some("stale-run"), "a finished run is over: {late:?}");
}

#[tokio::test]
async fn a_card_dragged_back_stops_its_agent_and_stays_back() {
    let (mut relay, project) = standing_board().await;
    let task = add(&relay, &project, "Slow errand").await;
    let run = at_work(&relay, &task).await;
    let token = mcp::token_of(&relay, &run).unwrap();

    let moved = change(&relay, &task, json!({"status": "backlog"})).await;
    let card = &moved.task.card;
    assert_eq!((card.status, card.held_by), (Status::Backlog, Some(HeldBy::Human)));
    assert!(card.run.as_ref().is_some_and(|run| run.stopping), "the card says so until the process is gone");
    assert_eq!(moved.note.as_deref(), Some("its agent is being stopped"));
    let late = mcp::call(&relay, &token, "add_comment", json!({"task_id": task, "content": "But I was nearly done."})).await.unwrap();
    assert_eq!(late.code.as_deref(), Some("stale-run"), "{late:?}");
    nobody_works(&relay, &project).await;
    relay.kill().await.unwrap();
    relay.serve().await.unwrap();
    is_left_alone(&relay, &project, &task, 1).await;

    press(&relay, &task, "start").await;
    done(&relay, &project, &task).await;
    let runs = relay.runs(&task).await.unwrap();
    assert_eq!(phases(&runs), [STOPPED, CODED, REVIEWED]);
    resumed(&runs[0], &runs[1]);
}

#[tokio::test]
async fn a_message_reaches_the_scripted_agent_at_work() {
    let (relay, project) = standing_board().await;
    message_is_taken(&relay, &project).await;
}

#[tokio::test]
async fn a_message_reaches_the_real_agent_at_work() {
    let (relay, model) = scene::real(SCENARIO).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    message_is_taken(&relay, &project).await;
    let told = model.requests_of("coder").into_iter().filter(|request| request.text().contains("Use the blue paint."));
    assert!(told.count() > 0, "the model never saw the message");
}

async fn message_is_taken(relay: &Relay, project: &ProjectId) {
    let task = add(relay, project, "Slow errand").await;
    let run = at_work(relay, &task).await;
    let _: Run = relay.post(&format!("/api/runs/{run}/message"), &json!({"content": "Use the blue paint."})).await.unwrap();
    scene::happens(relay, project, &Event::RunMessageDelivered {}).await;
    scene::open(relay, task.as_str());
    done(relay, project, &task).await;
    let lines = relay.output(&run).await.unwrap().lines;
    let begun = lines.iter().position(|line| line.text == "I begin.");
    let message = lines.iter().position(|line| line.kind == OutputKind::Message && format!("{line:?}").contains("Use the blue paint."));
    assert!(message > begun, "{lines:#?}");
    assert_eq!(phases(&relay.runs(&task).await.unwrap()), [CODED, REVIEWED], "it went on in the same run");
    let gone = relay.request(reqwest::Method::POST, &format!("/api/runs/{run}/message")).json(&json!({"content": "Too late."}));
    assert_eq!(relay.refusal(gone).await.unwrap().code, "no-live-run");
}

#[tokio::test]
async fn done_by_the_person_approves_the_newest_commit_and_merges_it() {
    let (relay, project) = standing_board().await;
    let task = add(&relay, &project, "Commit an errand").await;
    at_work(&relay, &task).await;
    let moved = change(&relay, &task, json!({"status": "done"})).await;
    assert!(moved.task.card.is_approved());
    assert_eq!(moved.note.as_deref(), Some("approved: the merge is queued; its agent is being stopped"));
    done(&relay, &project, &task).await;
    assert_eq!(phases(&relay.runs(&task).await.unwrap()), [STOPPED], "no reviewer is asked any more");
    let kept = git(&relay.repository(), &["show", &format!("vibe-relay/{project}:{task}.txt")]).unwrap();
    assert_eq!(kept, "kept");
    relay.until(&project, "nothing is left", |_| nothing_left(&relay)).await;
}

#[tokio::test]
async fn closed_without_a_merge_the_work_is_kept_aside() {
    let (relay, project) = standing_board().await;
    let [closed, cancelled] = [add(&relay, &project, "Commit one").await, add(&relay, &project, "Commit two").await];
    at_work(&relay, &closed).await;
    at_work(&relay, &cancelled).await;
    let moved = change(&relay, &closed, json!({"status": "done", "merge": false})).await;
    assert_eq!(moved.task.card.status, Status::Done);
    assert!(moved.note.unwrap().starts_with("closed without a merge: its commits are kept"));
    let given_up: TaskView = relay.post(&format!("/api/tasks/{cancelled}/cancel"), &json!({"reason": "obsolete"})).await.unwrap();
    assert_eq!(given_up.task.card.status, Status::Cancelled);
    nobody_works(&relay, &project).await;
    relay.until(&project, "nothing is left", |_| nothing_left(&relay)).await;

    let repository = relay.repository();
    let branches = git(&repository, &["branch", "--format=%(refname:short)"]).unwrap();
    assert_eq!(branches.lines().collect::<Vec<_>>(), ["main", "vibe-relay/PROJ-001"]);
    let merged = git(&repository, &["ls-tree", "--name-only", "vibe-relay/PROJ-001"]).unwrap();
    assert_eq!(merged.lines().collect::<Vec<_>>(), ["CLAUDE.md", "README.md"], "nothing of it was merged");
    for (task, title) in [(&closed, "Commit one"), (&cancelled, "Commit two")] {
        let kept = format!("refs/vibe-relay/rescue/{task}/*");
        assert_eq!(git(&repository, &["for-each-ref", "--format=%(subject)", &kept]).unwrap(), title, "the way back of {task}");
    }
    assert_eq!(phases(&relay.runs(&closed).await.unwrap()), [STOPPED]);
}
