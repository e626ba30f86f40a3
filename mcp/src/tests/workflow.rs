//! Work of external agents: tasks with review gates, hats and goals.

use db::Caller;
use domain::board::stage::Stage;
use domain::id::TaskId;
use domain::team::role::Role;
use serde_json::json;

use super::fixture::{Board, Client, PERSON, RESULT, done, refused};

struct Team {
    board: Board,
    lena: Client,
    mara: Client,
    tess: Client,
    /// Assigned to mara.
    task: TaskId,
}

/// A lead, a builder and a tester, and a task for the builder.
async fn team() -> Team {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("platform/mara", &[Role::Builder, Role::Fixer]).await).await;
    let tess = server.modern(&board.agent("tess", &[Role::Tester]).await).await;
    let new =
        json!({"creator": "lena", "title": "Search", "description": "By name.", "assigned_to": "mara", "role_hat": "builder", "project": "PROJ-001"});
    let created = done(&lena, "create_task", new).await;
    assert_eq!(created.text, "Created:\nTASK-002 Search\nIt is assigned to platform/mara, who is notified.");
    let task = TaskId::new(2);
    Team { board, lena, mara, tess, task }
}

impl Team {
    async fn stage(&self) -> Stage {
        Stage::of(&self.board.db.card(&self.task).await.unwrap())
    }
}

#[tokio::test]
async fn build_approve_and_verify_by_three_agents() {
    let team = team().await;
    let task = &team.task;
    assert_eq!(team.stage().await, Stage::Assigned);
    let told = done(&team.mara, "check_inbox", json!({})).await;
    assert!(told.text.contains("TASK-002") && told.text.contains("Search"), "{}", told.text);
    let mine = done(&team.mara, "get_my_tasks", json!({})).await;
    assert_eq!(mine.data["tasks"][0]["id"], json!(task));
    let moved =
        done(&team.mara, "update_task", json!({"agent_name": "mara", "task_id": task, "status": "in_progress", "assigned_to": "", "result": ""}))
            .await;
    insta::assert_snapshot!(moved.text.lines().next().unwrap(), @"TASK-002 is in_progress.");
    let handed = json!({"task_id": task, "summary": "Search by name", "files_changed": "search.rs", "test_results": "12 passed"});
    done(&team.mara, "submit_for_review", handed).await;
    assert_eq!(team.stage().await, Stage::Review);
    done(&team.mara, "add_comment", json!({"task_id": task, "content": "Case does not matter."})).await;
    let seen = done(&team.lena, "get_task", json!({"task_id": task})).await;
    assert!(seen.text.contains("Submitted:\n") && seen.text.contains("12 passed") && seen.text.contains("[agent platform/mara] "), "{}", seen.text);
    done(&team.lena, "check_inbox", json!({})).await;
    done(&team.lena, "reject_task", json!({"task_id": task, "reason": "search.rs:3: umlauts"})).await;
    assert_eq!(team.stage().await, Stage::InProgress);
    done(&team.mara, "check_inbox", json!({})).await;
    done(&team.mara, "update_task", json!({"task_id": task, "status": "review", "result": "umlauts too"})).await;
    done(&team.mara, "submit_result", json!({"task_id": task, "content": RESULT})).await;
    done(&team.lena, "approve_task", json!({"agent_name": "lena", "task_id": task, "notes": "good"})).await;
    assert_eq!(team.stage().await, Stage::Completed);
    let text = refused(&team.tess, "reject_verification", json!({"task_id": task, "reason": ""})).await;
    assert!(text.contains("needs a reason") || text.contains("reason: it is empty"), "{text}");
    done(&team.tess, "reject_verification", json!({"task_id": task, "reason": "slow"})).await;
    assert_eq!(team.stage().await, Stage::InProgress);
    done(&team.mara, "update_task", json!({"task_id": task, "status": "review"})).await;
    done(&team.lena, "update_task", json!({"task_id": task, "status": "completed"})).await;
    let verified = done(&team.tess, "verify_task", json!({"agent_name": "tess", "task_id": task, "notes": "fast"})).await;
    assert!(verified.text.starts_with("TASK-002 is verified."), "{}", verified.text);
    let data = &verified.data["task"];
    assert_eq!((&data["built_by"], &data["approved_by"], &data["verified_by"]), (&json!(["platform/mara"]), &json!("lena"), &json!("tess")));
    assert_eq!(team.stage().await, Stage::Verified);
}

#[tokio::test]
async fn list_shows_open_tasks_and_warns_of_gone_assignees() {
    let team = team().await;
    done(&team.mara, "check_inbox", json!({})).await;
    done(&team.mara, "update_task", json!({"task_id": team.task, "status": "in_progress"})).await;
    let by_stage = done(&team.tess, "list_tasks", json!({"status": "in_progress", "assigned_to": "mara", "project": ""})).await;
    insta::assert_snapshot!(by_stage.text.lines().next().unwrap(), @"TASK-002 [in_progress] coder: Search · assigned to platform/mara as builder · activity: 1");
    assert_eq!(by_stage.data["warnings"], json!([]));
    assert_eq!(done(&team.tess, "list_tasks", json!({"assigned_to": "tess"})).await.text.lines().next(), Some("No tasks."));
    done(&team.mara, "fenix_down", json!({"manifest": "Nothing is open."})).await;
    done(&team.lena, "deregister", json!({"agent_name": "mara"})).await;
    let all = done(&team.tess, "list_tasks", json!({})).await;
    assert_eq!(all.data["tasks"].as_array().unwrap().len(), 2, "{}", all.text);
    assert!(all.text.contains("WARNING: TASK-002 is in progress, but its assignee platform/mara is gone since "), "{}", all.text);
    assert!(refused(&team.tess, "list_tasks", json!({"status": "finished"})).await.contains("expected one of pending, assigned"));
}

#[tokio::test]
async fn failed_task_can_be_reassigned() {
    let team = team().await;
    team.board.agent("kim", &[Role::Builder]).await;
    done(&team.mara, "update_task", json!({"task_id": team.task, "status": "in_progress"})).await;
    done(&team.mara, "update_task", json!({"task_id": team.task, "status": "failed", "result": "no access"})).await;
    assert_eq!(team.stage().await, Stage::Failed);
    assert_eq!(done(&team.lena, "list_tasks", json!({"status": "failed"})).await.data["tasks"][0]["id"], json!(team.task));
    done(&team.lena, "update_task", json!({"task_id": team.task, "status": "assigned", "assigned_to": "kim"})).await;
    assert_eq!(team.board.db.card(&team.task).await.unwrap().contributors.assigned_to.as_deref(), Some("kim"));
}

#[tokio::test]
async fn lead_assigns_hats_and_history_keeps_them() {
    let team = team().await;
    let given = done(&team.lena, "assign_role_hat", json!({"agent_name": "lena", "task_id": team.task, "role": "fixer"})).await;
    assert!(given.text.starts_with("platform/mara wears the hat fixer on TASK-002."), "{}", given.text);
    let history = done(&team.tess, "hat_history", json!({"project": "PROJ-001"})).await;
    let lines: Vec<&str> = history.text.lines().filter_map(|line| line.split(", since").next()).filter(|line| line.contains("wore")).collect();
    assert_eq!(lines, ["platform/mara wore builder for TASK-002 [backlog] Search", "platform/mara wore fixer for TASK-002 [backlog] Search"]);
    let text = refused(&team.mara, "assign_role_hat", json!({"task_id": team.task, "role": "builder"})).await;
    assert!(text.contains("requires a lead, and platform/mara is not one"), "{text}");
}

#[tokio::test]
async fn goal_follows_its_tasks_and_is_signed_off() {
    let team = team().await;
    let task = &team.task;
    let goal = done(&team.mara, "create_goal", json!({"creator": "mara", "title": "People find things", "project": ""})).await;
    assert!(goal.text.starts_with("GOAL-001 is open: People find things"), "{}", goal.text);
    let linked = done(&team.lena, "link_task_to_goal", json!({"agent_name": "lena", "task_id": task, "goal_id": "GOAL-001"})).await;
    assert!(
        linked.text.starts_with("TASK-002 now belongs to GOAL-001. GOAL-001 [open] People find things: 0/1 verified, 0/1 completed."),
        "{}",
        linked.text
    );
    done(&team.mara, "check_inbox", json!({})).await;
    done(&team.mara, "update_task", json!({"task_id": task, "status": "in_progress"})).await;
    done(&team.mara, "submit_for_review", json!({"task_id": task, "summary": "done"})).await;
    done(&team.mara, "submit_result", json!({"task_id": task, "content": RESULT})).await;
    done(&team.lena, "approve_task", json!({"task_id": task})).await;
    assert!(refused(&team.lena, "verify_goal", json!({"goal_id": "GOAL-001"})).await.contains("has unverified tasks: TASK-002"));
    done(&team.tess, "verify_task", json!({"task_id": task})).await;
    let status = done(&team.tess, "goal_status", json!({"goal_id": "GOAL-001"})).await;
    insta::assert_snapshot!(status.text.lines().take(2).collect::<Vec<_>>().join("\n"), @r"
    GOAL-001 [pending_verify] People find things: 1/1 verified, 1/1 completed.
    TASK-002 [verified] coder: Search · assigned to platform/mara as builder · activity: 1
    ");
    let signed = done(&team.lena, "verify_goal", json!({"goal_id": "GOAL-001", "notes": "found"})).await;
    assert!(signed.text.starts_with("GOAL-001 is signed off. GOAL-001 [verified]"), "{}", signed.text);
}

#[tokio::test]
async fn human_uses_the_same_tools() {
    let team = team().await;
    let person = team.board.serve().await.modern(PERSON).await;
    done(&team.mara, "update_task", json!({"task_id": team.task, "status": "in_progress"})).await;
    done(&team.mara, "submit_for_review", json!({"task_id": team.task, "summary": "done"})).await;
    done(&person, "approve_task", json!({"agent_name": "human", "task_id": team.task})).await;
    let text = refused(&person, "verify_task", json!({"task_id": team.task})).await;
    assert!(text.starts_with("human approved TASK-002, so another participant must verify it."), "{text}");
    done(&team.tess, "verify_task", json!({"task_id": team.task})).await;
    let made =
        done(&person, "create_task", json!({"title": "Sort", "assigned_to": "tess", "blocked_by": "TASK-002", "project_id": "PROJ-001"})).await;
    let card = team.board.db.card(&made.data["ids"][0].as_str().unwrap().parse().unwrap()).await.unwrap();
    assert_eq!((card.depends_on, card.contributors.assigned_to.as_deref()), (vec![team.task.clone()], Some("tess")));
    assert_eq!(team.board.db.task(&card.id).await.unwrap().created_by.as_deref(), Some("human"));
    assert!(
        team.board.db.history(&team.board.project.id, &db::HistoryQuery::default()).await.unwrap().iter().any(|message| message.to_agent == "tess")
    );
    assert_eq!(Caller::owner().name().as_deref(), Some("human"));
}
