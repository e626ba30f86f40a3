//! The form of ids, the limits of texts, and the JSON that clients know.

use serde_json::json;

use super::*;

#[test]
fn ids_have_8_to_64_letters_digits_dashes_and_underscores() {
    assert_eq!(ContextSessionId::new(0xabc).as_str(), "session_0000000000000abc");
    for given in ["session_0123456789abcdef", "abc-DE_9", &"x".repeat(64)] {
        assert_eq!(given.parse::<ContextSessionId>().unwrap().as_str(), given);
    }
    for given in ["", "short_1", "session id", "session_é", "session_1\n", "session_1\0", "a/b/c/d/e", &"x".repeat(65)] {
        let error = given.parse::<ContextSessionId>().unwrap_err().to_string();
        assert!(error.contains("expected something like session_0123456789abcdef"), "{error}");
    }
}

#[test]
fn content_has_at_most_100_000_characters() {
    assert!(validate_content(&"é".repeat(MAX_CONTENT)).is_ok());
    for bad in [&"é".repeat(MAX_CONTENT + 1), "", " \n", "a\0b"] {
        assert!(validate_content(bad).is_err(), "{}", &bad[..bad.len().min(9)]);
    }
}

#[test]
fn limits_out_of_range_are_refused() {
    assert_eq!((validate_limit(None, 50, 200).unwrap(), validate_limit(Some(200), 50, 200).unwrap()), (50, 200));
    for bad in [0, 201, 1_000_000_000] {
        assert!(validate_limit(Some(bad), 50, 200).is_err());
    }
}

#[test]
fn session_and_message_have_a_stable_json_form() {
    let at = Timestamp::from_milliseconds(1_769_850_300_000);
    let id = ContextSessionId::new(1);
    let session = ContextSession {
        id: id.clone(),
        project_id: Some(ProjectId::new(1)),
        kind: SessionKind::Plan,
        task_id: Some(TaskId::new(1)),
        purpose: "Sell things".to_owned(),
        metadata: Metadata::new(),
        created_by: "human".to_owned(),
        created_at: at,
        updated_at: at,
        is_active: true,
    };
    let message = SessionMessage {
        id: 7,
        session_id: id,
        sender: "coder-TASK-002".to_owned(),
        sender_type: "coder".to_owned(),
        run_id: Some(RunId::new(3)),
        content: "The parser is in a.rs".to_owned(),
        visibility: Visibility::AgentOnly,
        metadata: json!({"file": "a.rs"}).as_object().unwrap().clone(),
        timestamp: at,
        parent_message_id: None,
    };
    let lines = [serde_json::to_string(&session).unwrap(), serde_json::to_string(&message).unwrap()];
    assert_eq!(serde_json::from_str::<ContextSession>(&lines[0]).unwrap(), session);
    assert_eq!(serde_json::from_str::<SessionMessage>(&lines[1]).unwrap(), message);
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"id":"session_0000000000000001","project_id":"PROJ-001","kind":"plan","task_id":"TASK-001","purpose":"Sell things","metadata":{},"created_by":"human","created_at":"2026-01-31T09:05:00.000Z","updated_at":"2026-01-31T09:05:00.000Z","is_active":true}
    {"id":7,"session_id":"session_0000000000000001","sender":"coder-TASK-002","sender_type":"coder","run_id":"RUN-003","content":"The parser is in a.rs","visibility":"agent_only","metadata":{"file":"a.rs"},"timestamp":"2026-01-31T09:05:00.000Z","parent_message_id":null}
    "#);
}
