//! Which bodies are accepted and which are rejected.

use serde::de::DeserializeOwned;

use super::*;

fn rejection<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    serde_json::from_str::<T>(text).unwrap_err().to_string()
}

#[test]
fn optional_fields_can_be_omitted() {
    let token = NewToken {
        agent: "mara".into(),
        roles: vec![Role::Builder, Role::Pen],
        team: Some("platform".into()),
        description: None,
        permissions: None,
        reach: None,
        expires_in: None,
    };
    assert_eq!(serde_json::from_str::<NewToken>(r#"{"agent": "mara", "roles": ["builder", "pen"], "team": "platform"}"#).unwrap(), token);
    assert_eq!(serde_json::from_str::<ReadInbox>("{}").unwrap(), ReadInbox { ack: None });
    assert_eq!(serde_json::from_str::<Notes>("{}").unwrap(), Notes { notes: None });
    let handshake = NewHandshake { message: "Begin".into(), agents: Vec::new() };
    assert_eq!(serde_json::from_str::<NewHandshake>(r#"{"message": "Begin"}"#).unwrap(), handshake);
    let answer = serde_json::to_string(&CreatedToken { token: "ab".into(), connect: "claude".into() }).unwrap();
    insta::assert_snapshot!(answer, @r#"{"token":"ab","connect":"claude"}"#);
}

#[test]
fn unknown_fields_and_values_are_rejected() {
    let unknown = [
        rejection::<NewToken>(r#"{"agent": "mara", "roles": [], "trusted": true}"#),
        rejection::<RemoveAgent>(r#"{"name": "mara", "force": true}"#),
        rejection::<ReadInbox>(r#"{"upto": 1}"#),
        rejection::<NewHandshake>(r#"{"message": "Begin", "to": []}"#),
        rejection::<SetSpawnPolicy>(r#"{"scope": "global", "enabled": true, "max_minions": 1, "by": "x"}"#),
        rejection::<Notes>(r#"{"note": "x"}"#),
        rejection::<RejectVerification>(r#"{"reason": "x", "status": "done"}"#),
        rejection::<Assign>(r#"{"assigned_to": "mara", "hat": "builder"}"#),
        rejection::<LinkGoal>(r#"{"goal_id": null, "goal": "x"}"#),
    ];
    assert!(unknown.iter().all(|error| error.contains("unknown field")), "{unknown:?}");
    assert!(rejection::<NewToken>(r#"{"agent": "mara", "roles": ["boss"]}"#).contains("unknown variant `boss`"));
    assert!(rejection::<SetSpawnPolicy>(r#"{"scope": "global", "enabled": true, "max_minions": -1}"#).contains("-1"));
    assert!(rejection::<LinkGoal>(r#"{"goal_id": "TASK-001"}"#).contains("GOAL-001"));
}

#[test]
fn omitted_field_is_not_null() {
    assert!(rejection::<Assign>("{}").contains("missing field `assigned_to`"));
    assert!(rejection::<LinkGoal>("{}").contains("missing field `goal_id`"));
    assert_eq!(serde_json::from_str::<Assign>(r#"{"assigned_to": null}"#).unwrap(), Assign { assigned_to: None, role_hat: None });
    assert_eq!(serde_json::from_str::<LinkGoal>(r#"{"goal_id": null}"#).unwrap(), LinkGoal { goal_id: None });
    let named = r#"{"assigned_to": "mara", "role_hat": "fixer"}"#;
    assert_eq!(serde_json::from_str::<Assign>(named).unwrap(), Assign { assigned_to: Some("mara".into()), role_hat: Some(Role::Fixer) });
    assert_eq!(serde_json::from_str::<LinkGoal>(r#"{"goal_id": "GOAL-002"}"#).unwrap(), LinkGoal { goal_id: Some(GoalId::new(2)) });
}
