//! Shared context as clients of shared-context-server and managed agents meet it: JSON, words, pages and bad input.

use db::Caller;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::wire::NewProject;
use http::StatusCode;
use serde_json::{Value, json};

use super::fixture::{Board, Era, PERSON, call, done, refused};
use crate::PATH;
use crate::page::MAX_BYTES;

/// The fields of an object in order.
fn fields(data: &Value) -> String {
    let mut names: Vec<&str> = data.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names.join(" ")
}

#[tokio::test]
async fn client_of_shared_context_server_finds_its_tools_in_both_revisions() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let server = board.serve().await;
        let (mara, ole) = (server.client(&board.agent("mara", &[]).await, era).await, server.client(&board.agent("ole", &[]).await, era).await);
        let metadata = json!({"test": true, "nested": {"a": [1]}});
        let created = done(&mara, "create_session", json!({"purpose": "Plan the search", "metadata": metadata})).await;
        assert_eq!(fields(&created.data), "created_at created_by project_id session_id success");
        assert_eq!((&created.data["created_by"], &created.data["success"]), (&json!("mara"), &json!(true)));
        assert_eq!(serde_json::from_str::<Value>(&created.text).unwrap(), created.data, "the text is the same JSON");
        let id = &created.data["session_id"];

        let token = json!("sct_0123");
        let first = done(&mara, "add_message", json!({"session_id": id, "content": "public", "metadata": "{\"a\": 1}", "auth_token": token})).await;
        assert_eq!(fields(&first.data), "message_id session_id success timestamp");
        let private = json!({"session_id": id, "content": "private", "visibility": "private", "parent_message_id": first.data["message_id"]});
        done(&mara, "add_message", private).await;

        let session = done(&mara, "get_session", json!({"session_id": id})).await.data;
        assert_eq!(fields(&session), "has_more message_count messages next_cursor session success total_count");
        assert_eq!(fields(&session["session"]), "created_at created_by id is_active kind metadata project_id purpose updated_at");
        assert_eq!((&session["session"]["metadata"], &session["message_count"]), (&metadata, &json!(2)));
        let message = &session["messages"][1];
        assert_eq!(fields(message), "content id metadata parent_message_id sender sender_type session_id timestamp visibility");
        assert_eq!((&message["sender"], &message["content"], &message["metadata"]), (&json!("mara"), &json!("public"), &json!({"a": 1})));
        assert_eq!(session["messages"][0]["parent_message_id"], first.data["message_id"], "the newest comes first");

        let seen = done(&ole, "get_messages", json!({"session_id": id, "visibility_filter": "", "limit": "50", "offset": 0})).await.data;
        assert_eq!(fields(&seen), "count has_more messages next_cursor success total_count");
        assert_eq!(
            (&seen["count"], &seen["total_count"], &seen["has_more"], &seen["next_cursor"]),
            (&json!(1), &json!(1), &json!(false), &Value::Null)
        );
        let hers = done(&ole, "search_by_sender", json!({"session_id": id, "sender": "mara", "limit": 20})).await.data;
        assert_eq!((&hers["count"], &hers["sender"], &hers["messages"][0]["content"]), (&json!(1), &json!("mara"), &json!("public")));
        let period = json!({"session_id": id, "start_time": "2026-01-01T00:00:00", "end_time": "2999-01-01T00:00:00+01:00"});
        let found = done(&mara, "search_by_timerange", period).await.data;
        assert_eq!((&found["count"], &found["messages"][0]["content"]), (&json!(2), &json!("public")), "oldest first");
        assert_eq!(found["timerange"], json!({"start": "2026-01-01T00:00:00", "end": "2999-01-01T00:00:00+01:00"}));

        let listed = done(&ole, "list_sessions", json!({})).await.data;
        assert_eq!((&listed["count"], &listed["sessions"][0]["id"]), (&json!(3), id));
        assert!(refused(&ole, "close_session", json!({"session_id": id})).await.contains("was created by mara"));
        let closed = done(&mara, "close_session", json!({"session_id": id})).await.data;
        assert_eq!(closed["is_active"], json!(false));
        let text = refused(&mara, "add_message", json!({"session_id": id, "content": "x"})).await;
        assert!(text.ends_with("is closed.\nNext: Read it with get_messages, and write into another one: list_sessions shows them."), "{text}");
    }
}

#[tokio::test]
async fn client_of_shared_context_server_finds_its_memory() {
    let board = Board::new().await;
    let server = board.serve().await;
    let (mara, ole) = (server.modern(&board.agent("mara", &[]).await).await, server.modern(&board.agent("ole", &[]).await).await);
    let set = done(&mara, "set_memory", json!({"key": "build", "value": "cargo build", "expires_in": "3600", "auth_token": null})).await;
    assert_eq!(fields(&set.data), "expires_at key scope session_scoped stored_at success");
    assert_eq!((&set.data["scope"], &set.data["session_scoped"]), (&json!("global"), &json!(false)));
    let got = done(&mara, "get_memory", json!({"key": "build"})).await;
    assert_eq!(fields(&got.data), "created_at expires_at key metadata scope success updated_at value");
    assert_eq!(got.data["value"], json!("cargo build"));
    let id = done(&mara, "get_session", json!({})).await.data["session"]["id"].clone();
    done(&mara, "set_memory", json!({"key": "state", "value": {"at": [1, 2]}, "session_id": id, "metadata": {"tag": "x"}})).await;
    let got = done(&mara, "get_memory", json!({"key": "state", "session_id": id})).await.data;
    assert_eq!((&got["value"], &got["metadata"], &got["scope"]), (&json!({"at": [1, 2]}), &json!({"tag": "x"}), &json!("session")));
    let keys = async |arguments: Value| {
        let listed = done(&mara, "list_memory", arguments).await.data;
        let keys: Vec<&str> = listed["entries"].as_array().unwrap().iter().map(|entry| entry["key"].as_str().unwrap()).collect();
        (keys.join(" "), listed["scope_filter"].as_str().unwrap().to_owned())
    };
    assert_eq!(keys(json!({})).await, ("build".to_owned(), "global".to_owned()));
    assert_eq!(keys(json!({"session_id": id})).await.0, "state");
    assert_eq!(keys(json!({"session_id": "all"})).await, ("state build".to_owned(), "all".to_owned()));
    assert_eq!(keys(json!({"prefix": "bu", "limit": 1})).await.0, "build");
    assert!(
        refused(&mara, "set_memory", json!({"key": "build", "value": 1, "overwrite": "false"}))
            .await
            .starts_with("an entry with the key build exists.")
    );
    for (tool, arguments) in [("get_memory", json!({"key": "build"})), ("delete_memory", json!({"key": "build"}))] {
        assert_eq!(refused(&ole, tool, arguments).await, "no entry has the key build.\nNext: Call list_memory to see your keys.");
    }
    done(&mara, "delete_memory", json!({"key": "build"})).await;
    assert_eq!(keys(json!({})).await.0, "");
}

#[tokio::test]
async fn coder_of_a_second_task_finds_with_one_search_what_the_first_wrote() {
    let board = Board::new().await;
    let server = board.serve().await;
    let (first, second) = (board.coder().await, board.coder().await);
    let writer = server.modern(&first.run.token).await;
    done(&writer, "add_message", json!({"content": "The prices are rounded in shop.js:12"})).await;
    let reader = server.modern(&second.run.token).await;
    let found = done(&reader, "search_context", json!({"query": "pricse rounded"})).await;
    assert_eq!(found.text, "#1 coder-TASK-002: The prices are rounded in shop.js:12");
    assert_eq!(done(&reader, "search_context", json!({"query": "zebra"})).await.text, "Nothing was found.");
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let query = json!({"query": "prices", "fuzzy_threshold": "60.0", "limit": 10, "search_metadata": "true", "search_scope": "public"});
    let data = done(&mara, "search_context", query).await.data;
    assert_eq!(fields(&data), "left_out message_count query results search_scope search_time_ms success threshold");
    assert_eq!(fields(&data["results"][0]), "match_preview message relevance score");
    assert_eq!((&data["results"][0]["score"], &data["results"][0]["relevance"]), (&json!(100.0), &json!("high")));
}

#[tokio::test]
async fn managed_agents_share_findings_in_few_words() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let client = server.modern(&coder.run.token).await;
    let shared = done(&client, "add_message", json!({"content": "The prices are in shop.js:12"})).await;
    assert_eq!(shared.text, "Shared as #1 (public).");
    done(&client, "add_message", json!({"content": "Check rounding", "visibility": "private"})).await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    done(&mara, "add_message", json!({"content": "Thanks", "parent_message_id": 1})).await;
    let seen = done(&client, "get_session", json!({})).await;
    let id = seen.data["session"]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        seen.text.replace(&id, "SESSION"),
        "SESSION (project): A shop\n#3 mara to #1: Thanks\n#2 coder-TASK-002 (private): Check rounding\n#1 coder-TASK-002: The prices are in shop.js:12"
    );
    assert_eq!(done(&client, "set_memory", json!({"key": "state", "value": "half done"})).await.text, "Kept state (task).");
    assert_eq!(done(&client, "list_memory", json!({})).await.text, "state (task)");
    assert_eq!(done(&client, "get_memory", json!({"key": "state"})).await.text, "half done");
    let planner = board.planner().await;
    let planner = server.modern(&planner.token).await;
    let plan = done(&planner, "get_session", json!({})).await.data["session"].clone();
    assert_eq!((&plan["kind"], &plan["task_id"]), (&json!("plan"), &json!("TASK-001")));
    assert_eq!(refused(&planner, "get_memory", json!({"key": "state"})).await.lines().next(), Some("no entry has the key state."));
}

#[tokio::test]
async fn reviewer_sees_neither_the_notes_nor_the_memory_of_the_coder() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let client = server.modern(&coder.run.token).await;
    for visibility in ["private", "agent_only"] {
        done(&client, "add_message", json!({"content": "SECRET", "visibility": visibility})).await;
    }
    for scope in ["task", "global"] {
        done(&client, "set_memory", json!({"key": "secret", "value": "SECRET", "scope": scope})).await;
    }
    let caller = board.db.caller(&coder.run.token).await.unwrap().unwrap();
    coder.commit();
    let wanted = board.db.required_evidence(&caller, &coder.task, Status::InReview).await.unwrap();
    let found = repo::collect_evidence(&wanted).unwrap();
    board.db.move_task(&caller, &coder.task, db::MoveRequest::to(Status::InReview), found).await.unwrap();
    board.end(&coder.run).await;
    let run = board.reserve(&coder.task, AgentKind::Reviewer, Status::InReview, Some("head".to_owned())).await;
    let reviewer = server.modern(&run.token).await;
    for (tool, arguments) in [
        ("get_session", json!({})),
        ("get_messages", json!({"visibility_filter": "private"})),
        ("get_messages", json!({"visibility_filter": "agent_only"})),
        ("search_by_sender", json!({"sender": "coder-TASK-002"})),
        ("search_context", json!({"query": "secret"})),
        ("search_context", json!({"query": "secret", "search_scope": "private"})),
        ("search_by_timerange", json!({"start_time": "2026-01-01T00:00:00Z", "end_time": "2999-01-01T00:00:00Z"})),
        ("list_memory", json!({"session_id": "all"})),
        ("get_memory", json!({"key": "secret"})),
    ] {
        let seen = call(&reviewer, tool, arguments).await;
        assert!(!format!("{} {}", seen.text, seen.data).contains("SECRET"), "{tool}: {}", seen.text);
    }
}

#[tokio::test]
async fn long_session_is_read_in_pages_that_fit() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    for number in 0..6 {
        done(&mara, "add_message", json!({"content": format!("{number} {}", "é".repeat(6_000))})).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = done(&mara, "get_messages", json!({"cursor": cursor})).await;
        assert!(page.text.len() < MAX_BYTES + 1_000, "{}", page.text.len());
        assert_eq!(page.data["total_count"], json!(6));
        seen.extend(page.data["messages"].as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()[..1].to_owned()));
        cursor = page.data["next_cursor"].clone();
        if page.data["has_more"] == json!(false) {
            break;
        }
    }
    assert_eq!(seen, ["5", "4", "3", "2", "1", "0"]);
    done(&mara, "add_message", json!({"content": "é".repeat(100_000)})).await;
    let alone = done(&mara, "get_messages", json!({})).await.data;
    assert_eq!((&alone["count"], &alone["has_more"]), (&json!(1), &json!(true)), "one message is always shown");
    let of_mara = done(&mara, "search_by_sender", json!({"sender": "mara"})).await.data;
    assert_eq!((&of_mara["count"], &of_mara["left_out"]), (&json!(1), &json!(6)));
}

#[tokio::test]
async fn person_has_sessions_without_a_project() {
    let board = Board::new().await;
    let server = board.serve().await;
    let person = server.modern(PERSON).await;
    assert_eq!(done(&person, "get_session", json!({})).await.data["session"]["kind"], json!("project"), "the only project");
    let alone = done(&person, "create_session", json!({"purpose": "Notes"})).await.data;
    assert_eq!(alone["project_id"], Value::Null);
    let there = done(&person, "create_session", json!({"purpose": "There", "project": "PROJ-001"})).await.data;
    assert_eq!(there["project_id"], json!("PROJ-001"));
    assert_eq!(done(&person, "list_sessions", json!({})).await.data["count"], json!(1));
    done(&person, "add_message", json!({"session_id": alone["session_id"], "content": "x", "visibility": "admin_only"})).await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let text = refused(&mara, "get_messages", json!({"session_id": alone["session_id"]})).await;
    assert!(text.contains("does not exist"), "{text}");
    assert_eq!(done(&mara, "get_session", json!({"session_id": there["session_id"]})).await.data["message_count"], json!(0));
    let probe = repo::probe(board.sample.top(), None).unwrap();
    board.db.create_project(&Caller::owner(), NewProject { title: "Other".to_owned(), ..NewProject::default() }, probe).await.unwrap();
    assert!(refused(&person, "get_session", json!({})).await.contains("there are PROJ-001, PROJ-002"));
}

#[tokio::test]
async fn bad_input_is_refused_with_a_next_step_and_writes_nothing() {
    let board = Board::new().await;
    let server = board.serve().await;
    let (mara, ole) = (server.modern(&board.agent("mara", &[]).await).await, server.modern(&board.agent("ole", &[]).await).await);
    let private = done(&ole, "add_message", json!({"content": "SECRET", "visibility": "private"})).await.data["message_id"].clone();
    let before = board.db.latest();
    let unknown = "session_ffffffffffffffff";
    let deep = (0..100).fold(json!(1), |inner, _| json!({"a": inner}));
    for (tool, arguments, words) in [
        ("get_session", json!({"session_id": unknown}), "does not exist"),
        ("get_session", json!({"session_id": "../etc/passwd"}), "is not a session id"),
        ("add_message", json!({"session_id": unknown, "content": "x"}), "does not exist"),
        ("add_message", json!({"content": "x".repeat(100_001)}), "100001 characters"),
        ("add_message", json!({"content": "a\u{0}b"}), "NUL"),
        ("add_message", json!({"content": "  "}), "it is empty"),
        ("add_message", json!({"content": "x", "visibility": "secret"}), "is not a valid visibility"),
        ("add_message", json!({"content": "x", "visibility": "admin_only"}), "admin permission"),
        ("add_message", json!({"content": "x", "metadata": deep}), "nested more than 32"),
        ("add_message", json!({"content": "x", "metadata": [1]}), "is not a JSON object"),
        ("add_message", json!({"content": "x", "metadata": "{"}), "is not a JSON object"),
        ("add_message", json!({"content": "x", "parent_message_id": private}), "does not exist"),
        ("add_message", json!({"content": "x", "parent_message_id": 999}), "does not exist"),
        ("get_messages", json!({"limit": 1_000_000_000}), "not between 1 and 1000"),
        ("get_messages", json!({"limit": -1}), "out of range"),
        ("get_messages", json!({"offset": 10_001}), "Use the cursor"),
        ("get_messages", json!({"cursor": "forged"}), "is not an integer"),
        ("get_messages", json!({"visibility_filter": "all"}), "is not a valid visibility"),
        ("search_by_sender", json!({"sender": "ole", "limit": 101}), "not between 1 and 100"),
        ("search_context", json!({"query": " "}), "it is empty"),
        ("search_context", json!({"query": "x", "fuzzy_threshold": -1}), "not between 0 and 100"),
        ("search_context", json!({"query": "x", "fuzzy_threshold": "101"}), "not between 0 and 100"),
        ("search_context", json!({"query": "x", "limit": 1_000_000_000}), "not between 1 and 100"),
        ("search_context", json!({"query": "x", "search_scope": "secret"}), "is unknown"),
        ("search_by_timerange", json!({"start_time": "yesterday", "end_time": "2026-01-01T00:00:00Z"}), "is not a time"),
        ("search_by_timerange", json!({"start_time": "2026-01-02T00:00:00Z", "end_time": "2026-01-01T00:00:00Z"}), "before start_time"),
        ("create_session", json!({"purpose": ""}), "it is empty"),
        ("list_sessions", json!({"limit": 1_000_000_000}), "not between 1 and 200"),
        ("set_memory", json!({"key": "k".repeat(1 << 20), "value": 1}), "more than the 255 allowed"),
        ("set_memory", json!({"key": "a b", "value": 1}), "white space"),
        ("set_memory", json!({"key": "a"}), "missing field `value`"),
        ("set_memory", json!({"key": "a", "value": 1, "expires_in": -1}), "not between 0 and 31536000"),
        ("set_memory", json!({"key": "a", "value": 1, "expires_in": 1_000_000_000_000_000_000_i64}), "not between 0 and 31536000"),
        ("set_memory", json!({"key": "a", "value": 1, "expires_in": 1e18}), "expires_in is invalid"),
        ("set_memory", json!({"key": "a", "value": deep}), "nested more than 32"),
        ("set_memory", json!({"key": "a", "value": "x".repeat(70_000)}), "more than the 65536 allowed"),
        ("list_memory", json!({"session_id": "x"}), "is not a session id"),
    ] {
        let text = refused(&mara, tool, arguments).await;
        assert!(text.contains(words) && !text.contains("SECRET"), "{tool}: {text}");
    }
    assert_eq!(board.db.latest(), before, "nothing is written");
}

#[tokio::test]
async fn broken_requests_are_refused_before_any_tool() {
    let board = Board::new().await;
    let server = board.serve().await;
    let token = board.agent("mara", &[]).await;
    let before = board.db.latest();
    let deep = format!("{}1{}", r#"{"a":"#.repeat(1_000), "}".repeat(1_000));
    let body = |metadata: &[u8]| {
        let head = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_message","arguments":{"content":"x","metadata":"#;
        [head.as_slice(), metadata, b"}}}"].concat()
    };
    for bad in [body(deep.as_bytes()), body(b"{\"a\":\"\xff\xfe\"}"), body(b"{")] {
        let request = reqwest::Client::new().post(format!("{}{PATH}", server.url)).bearer_auth(&token).body(bad);
        let request = request.header("content-type", "application/json").header("accept", "application/json, text/event-stream");
        let response = request.header("mcp-protocol-version", "2026-07-28").send().await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    }
    assert_eq!(board.db.latest(), before);
}
