//! Clients of dead-drop go on: arguments and answers that they use mean here what they meant there.

use domain::team::role::Role;
use serde_json::json;

use super::fixture::{Board, PERSON, done, refused};

#[tokio::test]
async fn free_text_for_the_project_means_the_own_one() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let made = done(&lena, "create_goal", json!({"creator": "lena", "title": "Ship it", "project": "kaiju"})).await;
    assert_eq!(made.data["goal"]["project_id"], json!(board.project.id), "{}", made.text);
    done(&lena, "list_tasks", json!({"project": "kaiju"})).await;
    assert!(refused(&lena, "who", json!({"project": "PROJ-099"})).await.starts_with("project PROJ-099 does not exist."));
    let person = server.modern(PERSON).await;
    assert!(refused(&person, "who", json!({"project": "kaiju"})).await.starts_with("project: \"kaiju\" is not the id of a project."));
}

#[tokio::test]
async fn who_answers_role_and_times() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("platform/mara", &[Role::Builder, Role::Tester]).await).await;
    done(&mara, "check_inbox", json!({})).await;
    let agents = done(&mara, "who", json!({})).await.data["agents"].clone();
    let own = agents.as_array().unwrap().iter().find(|agent| agent["name"] == "platform/mara").unwrap();
    assert_eq!(own["role"], "builder,tester");
    assert!(own["registered_at"].is_string() && own["last_inbox_check"].is_string(), "{own}");
}

#[tokio::test]
async fn hat_waits_for_the_assignee_and_failed_tasks_are_listed() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let made = done(&lena, "create_task", json!({"title": "Sort the list", "role_hat": "builder"})).await;
    let task = made.data["ids"][0].as_str().unwrap();
    let read = done(&lena, "get_task", json!({"task_id": task})).await;
    assert_eq!(read.data["task"]["role_hat"], "builder", "{}", read.data);
    done(&lena, "update_task", json!({"task_id": task, "status": "assigned", "assigned_to": "mara"})).await;
    assert_eq!(done(&lena, "get_task", json!({"task_id": task})).await.data["task"]["role_hat"], "builder");
    done(&mara, "update_task", json!({"task_id": task, "status": "in_progress"})).await;
    done(&mara, "update_task", json!({"task_id": task, "status": "failed", "result": "It is sorted already."})).await;
    let listed = done(&lena, "list_tasks", json!({})).await;
    assert!(listed.text.contains(task) && listed.text.contains("failed"), "{}", listed.text);
}

#[tokio::test]
async fn lead_reads_the_spawn_policy_of_another_agent() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("platform/mara", &[]).await).await;
    done(&lena, "set_spawn_policy", json!({"scope": "mara", "max_minions": 1})).await;
    let policy = done(&lena, "get_spawn_policy", json!({"agent_name": "mara"})).await;
    assert_eq!((&policy.data["agent_name"], &policy.data["max_minions"]), (&json!("platform/mara"), &json!(1)));
    assert_eq!(done(&mara, "get_spawn_policy", json!({"agent_name": "mara"})).await.data["max_minions"], 1);
    assert!(refused(&mara, "get_spawn_policy", json!({"agent_name": "lena"})).await.contains("lead"));
}

#[tokio::test]
async fn trusted_name_is_a_mailbox_before_its_agent_calls_and_after_it_left() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let token = board.agent("mara", &[]).await;
    done(&lena, "send", json!({"to_agent": "mara", "message": "Welcome"})).await;
    let mara = server.modern(&token).await;
    assert!(done(&mara, "check_inbox", json!({})).await.text.contains("Welcome"));
    done(&mara, "fenix_down", json!({"manifest": "Nothing is open."})).await;
    done(&mara, "deregister", json!({})).await;
    done(&lena, "send", json!({"to_agent": "mara", "message": "For your return"})).await;
    let next = server.modern(&board.agent("mara", &[]).await).await;
    assert!(done(&next, "check_inbox", json!({})).await.text.contains("For your return"));
}

#[tokio::test]
async fn refused_send_back_names_the_argument() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let task = done(&lena, "create_task", json!({"title": "Sort", "assigned_to": "mara"})).await.data["ids"][0].clone();
    done(&mara, "update_task", json!({"task_id": task, "status": "in_progress"})).await;
    done(&mara, "update_task", json!({"task_id": task, "status": "review", "result": "Sorted."})).await;
    let told = refused(&lena, "update_task", json!({"task_id": task, "status": "in_progress"})).await;
    assert!(told.contains("`result`"), "{told}");
}
