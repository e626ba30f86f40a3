//! Tests the effect and the answer of each tool.

use db::Caller;
use domain::board::comment::AuthorRole;
use domain::board::status::Status;
use domain::board::transition::requested_statuses;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use serde_json::json;

use super::fixture::{Board, Era, PERSON, call, done, named_call, refused};

#[tokio::test]
async fn planner_plans_in_both_revisions() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let planner = board.planner().await;
        let client = board.serve().await.client(&planner.token, era).await;
        let mine = done(&client, "get_my_tasks", json!({})).await;
        insta::allow_duplicates!(
            insta::assert_snapshot!(mine.text, @"TASK-001 [in_progress] planner: A shop · RUN-001 running (planner, attempt 1)")
        );
        let tasks = json!([
            {"title": "Page"},
            {"title": "Style", "description": "Blue.", "depends_on": [0]},
            {"title": "Check", "phase": "coder", "depends_on": ["TASK-002", 1]},
        ]);
        let created = done(&client, "create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": tasks})).await;
        insta::allow_duplicates!(insta::assert_snapshot!(created.text, @"
        Created:
        TASK-002 Page
        TASK-003 Style
        TASK-004 Check
        They start when you call complete_task.
        "));
        assert_eq!(created.data["ids"], json!(["TASK-002", "TASK-003", "TASK-004"]));
        let one = done(&client, "create_task", json!({"title": "Words", "phase": "coder"})).await;
        assert_eq!(one.data["ids"], json!(["TASK-005"]));
        assert_eq!(board.db.card(&TaskId::new(5)).await.unwrap().parent_task_id, Some(TaskId::new(1)));
        done(&client, "add_comment", json!({"task_id": "TASK-004", "content": "Look at **all** pages.", "author_role": "planner"})).await;
        let seen = done(&client, "get_board", json!({})).await;
        insta::allow_duplicates!(insta::assert_snapshot!(seen.text, @"
        PROJ-001 A shop (active): 4 backlog, 1 in_progress. Project branch vibe-relay/PROJ-001.
        TASK-001 [in_progress] planner: A shop · RUN-001 running (planner, attempt 1)
        TASK-002 [backlog] coder: Page
        TASK-003 [backlog] coder: Style · after TASK-002
        TASK-004 [backlog] coder: Check · after TASK-002, TASK-003 · comments: 1
          planner: Look at **all** pages.
        TASK-005 [backlog] coder: Words
        "));
        let completed = done(&client, "complete_task", json!({"task_id": "TASK-001"})).await;
        insta::allow_duplicates!(insta::assert_snapshot!(completed.text, @"TASK-001 is done. The tasks of the plan start next. End your turn now."));
        assert_eq!(board.db.card(&TaskId::new(1)).await.unwrap().status, Status::Done);
    }
}

#[tokio::test]
async fn coder_submission_needs_git_evidence() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    let arguments = json!({"task_id": coder.task, "status": "in_review"});
    let text = refused(&client, "update_task_status", arguments.clone()).await;
    assert!(text.contains("has no commit beyond"), "{text}");
    repo::testing::write_in(&coder.worktree, "notes.txt", "x");
    let text = refused(&client, "update_task_status", arguments.clone()).await;
    insta::assert_snapshot!(text, @"
    TASK-002 has 1 uncommitted files: notes.txt.
    Next: Commit the files of the task, remove or ignore the others, then move the task again.
    ");
    coder.commit();
    let moved = done(&client, "update_task_status", arguments).await;
    insta::assert_snapshot!(moved.text, @"TASK-002 is in review: another agent reviews the commit. End your turn now.");
    let text = refused(&client, "update_task_status", json!({"task_id": coder.task, "status": "done"})).await;
    insta::assert_snapshot!(text, @"
    coder may not move TASK-002 from in_review to done.
    Next: A coder cannot move this task from in_review.
    ");
}

#[tokio::test]
async fn reviewer_approves_the_commit_or_sends_it_back() {
    let board = Board::new().await;
    let (coder, run, head) = board.reviewer().await;
    let client = board.serve().await.modern(&run.token).await;
    let back = json!({"task_id": coder.task, "status": "in_progress"});
    let text = refused(&client, "update_task_status", back.clone()).await;
    assert!(text.contains("Next: Call add_comment with the file, the line"), "{text}");
    let approved = done(&client, "update_task_status", json!({"task_id": coder.task, "status": "done"})).await;
    assert_eq!(approved.text, format!("{}: approved {}. It waits in the merge queue. End your turn now.", coder.task, &head[..12]));
    assert_eq!(approved.data["approved_sha"], json!(head));
    assert_eq!(board.db.card(&coder.task).await.unwrap().status, Status::InReview);

    done(&client, "add_comment", json!({"task_id": coder.task, "content": "page.html:1 has no title", "author_role": "reviewer"})).await;
    let sent = done(&client, "update_task_status", back).await;
    insta::assert_snapshot!(sent.text, @"TASK-002 returns to its coder, who reads your comment. End your turn now.");
    assert!(board.db.card(&coder.task).await.unwrap().approved_sha.is_none());
}

#[tokio::test]
async fn question_reaches_the_human() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    let asked = done(&client, "ask_human", json!({"question": "Which blue?", "options": ["light", "dark"], "default": "light"})).await;
    insta::assert_snapshot!(asked.text, @"The human was asked (ASK-001). End your turn now: you will be resumed with the answer.");
    let question = board.db.open_question(&coder.task).await.unwrap().unwrap();
    assert_eq!((question.options.len(), question.default.as_deref()), (2, Some("light")));
    assert!(refused(&client, "ask_human", json!({"question": "And the font?"})).await.contains("already has an open question"));
    let seen = done(&client, "get_task", json!({"task_id": coder.task})).await;
    assert_eq!(seen.data["task"]["branch"], json!("vr/TASK-002/work"));
    assert!(seen.text.contains("question to the human: Which blue?") && seen.text.contains("needs the human"), "{}", seen.text);
}

#[tokio::test]
async fn thread_is_read_whole_and_in_parts() {
    let board = Board::new().await;
    let coder = board.coder().await;
    for place in 1..=3 {
        let content = format!("{place} {}", "x".repeat(30_000));
        board.db.add_comment(&Caller::owner(), &coder.task, &content, Some(AuthorRole::Human)).await.unwrap();
    }
    board.db.add_comment(&Caller::owner(), &coder.task, "short", None).await.unwrap();
    let client = board.serve().await.modern(&coder.run.token).await;
    let newest = done(&client, "get_task", json!({"task_id": coder.task})).await;
    assert_eq!((newest.data["older_comments"].clone(), newest.data["comments"].as_array().unwrap().len()), (json!(2), 2));
    assert!(newest.text.contains("(2 older comments omitted: call get_task with before=NOTE-003)"), "{}", &newest.text[..300]);
    assert!(newest.text.len() < 45_000);
    let older = done(&client, "get_task", json!({"task_id": coder.task, "before": "NOTE-003"})).await;
    assert_eq!((older.data["older_comments"].clone(), older.data["comments"][0]["id"].clone()), (json!(1), json!("NOTE-002")));
}

#[tokio::test]
async fn long_board_is_paged() {
    let board = Board::new().await;
    let planner = board.planner().await;
    let client = board.serve().await.modern(&planner.token).await;
    for _ in 0..8 {
        let tasks: Vec<_> = (0..50).map(|place| json!({"title": format!("{place} {}", "t".repeat(100))})).collect();
        done(&client, "create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": tasks})).await;
    }
    let mut seen = 0;
    let mut arguments = json!({});
    loop {
        let page = done(&client, "get_board", arguments).await;
        assert!(page.text.len() <= 40_000 && page.data.to_string().len() <= 40_000, "{} {}", page.text.len(), page.data.to_string().len());
        seen += page.data["tasks"].as_array().unwrap().len();
        if page.data["next"].is_null() {
            break;
        }
        assert!(page.text.contains(&format!("call get_board with after={}", page.data["next"].as_str().unwrap())));
        arguments = json!({"after": page.data["next"]});
    }
    assert_eq!(seen, 401);
}

#[tokio::test]
async fn orchestrator_extends_the_plan_and_cancels_tasks() {
    let board = Board::new().await;
    let planner = board.planner().await;
    let server = board.serve().await;
    let client = server.modern(&planner.token).await;
    done(&client, "create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": [{"title": "Page"}]})).await;
    done(&client, "complete_task", json!({"task_id": "TASK-001", "reason": "one page is enough"})).await;
    board.end(&planner).await;
    let close = db::MoveRequest { to: Status::Done, reason: None, merge: false };
    for to in [db::MoveRequest::to(Status::InProgress), close] {
        board.db.move_task(&Caller::owner(), &TaskId::new(2), to, domain::runs::evidence::EvidenceResult::Nothing).await.unwrap();
    }
    let run = board.reserve(&TaskId::new(3), AgentKind::Orchestrator, Status::InProgress, None).await;
    let client = server.modern(&run.token).await;
    let created = done(&client, "create_task", json!({"title": "Imprint"})).await;
    assert_eq!(created.data["ids"], json!(["TASK-004"]));
    assert_eq!(board.db.card(&TaskId::new(4)).await.unwrap().parent_task_id, Some(TaskId::new(1)));
    let text = refused(&client, "update_task_status", json!({"task_id": "TASK-004", "status": "cancelled", "reason": "bored"})).await;
    assert!(text.contains("failed, abandoned, obsolete or duplicate"), "{text}");
    let gone = done(&client, "update_task_status", json!({"task_id": "TASK-004", "status": "cancelled", "reason": "obsolete"})).await;
    insta::assert_snapshot!(gone.text, @"TASK-004 is cancelled.");
}

#[tokio::test]
async fn human_may_use_their_own_client() {
    let board = Board::new().await;
    let client = board.serve().await.modern(PERSON).await;
    let created = done(&client, "create_task", json!({"title": "By hand", "description": "…"})).await;
    insta::assert_snapshot!(created.text, @"
    Created:
    TASK-002 By hand
    It waits until the human starts it on the board.
    ");
    assert!(done(&client, "get_board", json!({})).await.text.contains("TASK-002 [backlog] coder: By hand\n  held by the human\n"));
    let mine = done(&client, "get_my_tasks", json!({"phase": "planner"})).await;
    assert_eq!(mine.data["tasks"][0]["id"], json!("TASK-001"));
    assert_eq!(done(&client, "get_my_tasks", json!({"phase": "reviewer"})).await.text, "No tasks.\n");
    let text = refused(&client, "get_board", json!({"project_id": "PROJ-009"})).await;
    assert!(text.starts_with("project PROJ-009 does not exist."), "{text}");
    assert!(refused(&client, "ask_human", json!({"question": "?"})).await.contains("for agents only"));
}

#[tokio::test]
async fn call_with_an_id_takes_effect_once() {
    let board = Board::new().await;
    let planner = board.planner().await;
    let client = board.serve().await.modern(&planner.token).await;
    let arguments = json!({"parent_task_id": "TASK-001", "tasks": [{"title": "Page"}]});
    let first = named_call(&client, "create_subtasks", arguments.clone(), "toolu_1").await;
    let again = named_call(&client, "create_subtasks", arguments.clone(), "toolu_1").await;
    assert_eq!(first.data["ids"], again.data["ids"]);
    // The same name means nothing for another tool.
    named_call(&client, "add_comment", json!({"task_id": "TASK-001", "content": "x"}), "toolu_1").await;
    assert_eq!(board.db.board(&board.project.id).await.unwrap().board.cards.len(), 2);
    named_call(&client, "create_subtasks", arguments, "toolu_2").await;
    assert_eq!(board.db.board(&board.project.id).await.unwrap().board.cards.len(), 3);
}

#[tokio::test]
async fn wrong_arguments_are_tool_errors_that_name_the_field() {
    let board = Board::new().await;
    let planner = board.planner().await;
    let client = board.serve().await.modern(&planner.token).await;
    let wrong = [
        ("get_task", json!({}), "task_id"),
        ("get_task", json!({"task_id": "7"}), "task_id"),
        ("get_task", json!({"task_id": 7}), "task_id"),
        ("get_board", json!({"page": 2}), "page"),
        ("get_my_tasks", json!({"phase": "boss"}), "phase"),
        ("update_task_status", json!({"task_id": "TASK-001", "status": "finished"}), "status"),
        ("create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": [{"title": "a", "depends_on": [true]}]}), "tasks[0].depends_on[0]"),
        ("create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": [{"title": "a", "depends_on": ["first"]}]}), "tasks[0].depends_on[0]"),
        ("create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": [{"title": "a", "depends_on": [9]}]}), "depends_on"),
        ("create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": "a"}), "tasks"),
        ("create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": []}), "tasks"),
        ("create_task", json!({"title": ""}), "title"),
        ("create_task", json!({"title": "x".repeat(1 << 20)}), "title"),
        ("create_task", json!({"title": "a", "phase": "reviewer"}), "phase"),
        ("add_comment", json!({"task_id": "TASK-001", "content": "a\u{0}b"}), "content"),
        ("complete_task", json!({"task_id": "TASK-001", "status": "done"}), "status"),
        ("ask_human", json!({"question": "?", "options": "yes"}), "options"),
    ];
    for (tool, arguments, field) in wrong {
        let text = refused(&client, tool, arguments).await;
        assert!(text.lines().next().unwrap().contains(field), "{tool}: {text}");
    }
    insta::assert_snapshot!(call(&client, "get_task", json!({"task_id": "7"})).await.text, @r#"
    the argument task_id is invalid: "7" is not a task id: expected something like TASK-001.
    Next: Correct it and call get_task again.
    "#);
    let unknown = client.call_tool(rmcp::model::CallToolRequestParams::new("get_weather")).await.unwrap_err();
    assert!(unknown.to_string().contains("tool get_weather does not exist"), "{unknown}");
}

/// The list is no security boundary.
#[tokio::test]
async fn moves_and_arguments_that_are_not_listed_are_checked_by_the_store() {
    let board = Board::new().await;
    let (planner, coder) = (board.planner().await, board.coder().await);
    let server = board.serve().await;
    for (kind, run) in [(AgentKind::Planner, &planner), (AgentKind::Coder, &coder.run)] {
        let client = server.modern(&run.token).await;
        let offered = requested_statuses(kind);
        for status in Status::ALL.iter().filter(|status| !offered.contains(status)) {
            let text = refused(&client, "update_task_status", json!({"task_id": run.run.task_id, "status": status, "reason": "failed"})).await;
            assert!(text.contains("Next: "), "{kind} {status}: {text}");
        }
    }
    let client = server.modern(&coder.run.token).await;
    let own = json!({"task_id": coder.task, "content": "x", "author_role": "coder"});
    done(&client, "add_comment", own).await;
    let other = refused(&client, "add_comment", json!({"task_id": coder.task, "content": "x", "author_role": "reviewer"})).await;
    assert!(other.starts_with("this token belongs to coder"), "{other}");
    done(&client, "log_minion", json!({"task_description": "Looks", "status": "spawned"})).await;
}
